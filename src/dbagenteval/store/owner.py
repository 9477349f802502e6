"""The owner of a served store: it writes the journal, a process of its own stores it.

Storing keeps a core busy and holds the interpreter lock for long, so the process that answers
exporters does none of it. If the store process ends, it is started again; nothing is lost, since
the journal holds what it has not stored.
"""

from __future__ import annotations

import json
import logging
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from dbagenteval.errors import Overloaded, StoreError, StoreTooNew
from dbagenteval.store.feed import CLOSE, encode_position
from dbagenteval.store.journal import Journal
from dbagenteval.store.layout import Layout, write_private
from dbagenteval.store.lock import StoreLock
from dbagenteval.store.records import segments
from dbagenteval.store.replay import cut_torn_tail

__all__ = ["StoreOwner"]

_log = logging.getLogger(__name__)

_LOCK_WAIT_S = 3.0
_RESTART_DELAY_S = 1.0
_MAX_ENDS = 3
"""So often the store process may end with nothing stored before exporters are told to wait."""

_ADDED_UP = (
    "dbagenteval_journal_damaged_records",
    "dbagenteval_store_spans_added",
    "dbagenteval_store_logs_added",
    "dbagenteval_store_duplicate_spans",
    "dbagenteval_store_requests_set_aside",
)
"""Figures that go on where an ended store process left off."""

_ERRORS = {"StoreTooNew": StoreTooNew}


class StoreOwner:
    """Own a store for a receiver; takes requests as `Store` does.

    Args:
        directory: The store, made if missing.
        command: Runs the store process; the directory and the lock's descriptor are appended.
        max_backlog_bytes: How much may wait in the journal before exporters are told to wait.

    Raises:
        StoreError: It can't be opened, and nothing was started.
    """

    def __init__(
        self,
        directory: str | Path,
        command: Sequence[str],
        *,
        max_backlog_bytes: int = 2 << 30,
    ) -> None:
        self._layout = Layout(Path(directory))
        self._command = command
        if not self._layout.check():
            self._layout.create()
        self._lock = StoreLock(self._layout, shared=False, wait_s=_LOCK_WAIT_S)
        self._facts: dict[str, Any] = {}
        self._earlier = dict.fromkeys(_ADDED_UP, 0.0)
        self._running = False
        self._ends = 0
        self._closing = False
        self._switching = threading.Lock()
        try:
            self._process = self._start()
            position = self._first_report(self._process)
            end = self._cut_torn_tail(position)
        except BaseException:
            self._lock.release()
            raise
        self._journal = Journal(self._layout.journal, end=end, max_backlog_bytes=max_backlog_bytes)
        self._journal.mark_applied(position)
        self._threads = [
            threading.Thread(target=self._follow_reports, name="reports", daemon=True),
            threading.Thread(target=self._send_positions, name="positions", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def append(self, signal: str, body: bytes) -> Future[int]:
        """Add a checked request; see `Store.append`.

        Raises:
            Overloaded: Not now: what was acknowledged before can't be stored, or too much waits.
        """
        problem = self._trouble() or self._journal.apply_problem
        if problem is not None:
            raise Overloaded(problem)
        return self._journal.append(signal, body)

    def problem(self) -> str | None:
        """Say why requests can't be stored at present, None if they can."""
        if not self._running:
            return self._trouble() or "the store process is starting"
        return self._trouble() or self._journal.problem()

    def _trouble(self) -> str | None:
        """Say that the store process can't be kept running; that it ended once is no trouble."""
        if self._ends < _MAX_ENDS:
            return None
        return "the store process can't start, or ends again and again"

    def gauges(self) -> dict[str, float]:
        """Give figures on the journal and the store process by metric name."""
        backlog = float(self._journal.durable - self._journal.applied)
        current = self._facts.get("gauges", {})
        earlier = self._earlier
        return {
            **current,
            **{name: current.get(name, 0.0) + earlier[name] for name in _ADDED_UP},
            "dbagenteval_journal_backlog_bytes": backlog,
        }

    @property
    def service(self) -> tuple[str, str]:
        """Address and token of the store process's own service."""
        return self._facts.get("address", ""), self._facts.get("token", "")

    def close(self, timeout_s: float | None = None) -> None:
        """Write what is pending, let the process store it, and give the store back.

        Args:
            timeout_s: How long storing may take; what is left stays in the journal for the next
                start. None waits until all is stored.
        """
        self._journal.close()
        with self._switching:
            self._closing = True
            process = self._process
            self._send(self._journal.durable, CLOSE)
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            _log.warning("store.left_in_journal position=%d", self._journal.applied)
            process.kill()
            process.wait()
        for thread in self._threads:
            thread.join()
        if self._journal.applied >= self._journal.durable:
            for _, path in segments(self._layout.journal):
                path.unlink(missing_ok=True)
        self._layout.owner_file.unlink(missing_ok=True)
        self._lock.release()

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._lock.descriptor
        return subprocess.Popen(  # noqa: S603 our own command
            [*self._command, str(self._layout.root), str(descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
            start_new_session=True,  # an interrupt from the terminal is for the owner only
        )

    def _first_report(self, process: subprocess.Popen[bytes]) -> int:
        """Wait until the database is open; give the position that it holds."""
        line = process.stdout.readline() if process.stdout is not None else b""
        facts = json.loads(line) if line else {"error": "the store process ended at once"}
        if "error" in facts:
            process.wait()
            kind = _ERRORS.get(facts.get("kind", ""), StoreError)
            raise kind(facts["error"], hint=facts.get("hint"))
        try:
            self._note(facts)
        except OSError as error:
            raise self._unwritable(error) from error
        self._running = True
        return int(facts["position"])

    def _cut_torn_tail(self, position: int) -> int:
        try:
            return cut_torn_tail(self._layout.journal, position, set_aside=self._layout.set_aside)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(f"store {self._layout.root}: can't be written: {error.strerror}")

    def _note(self, facts: dict[str, Any]) -> None:
        self._facts = {**self._facts, **facts}
        if "address" in facts:
            content = {"address": facts["address"], "token": facts["token"]}
            write_private(self._layout.owner_file, json.dumps(content).encode())

    def _follow_reports(self) -> None:
        while True:
            stdout = self._process.stdout
            for line in stdout or ():
                facts = json.loads(line)
                self._note(facts)
                if "applied" in facts:
                    self._ends = 0
                    self._journal.mark_applied(facts["applied"])
                if "problem" in facts:
                    self._journal.mark_failed(facts["problem"])
            self._running = False
            self._ends += 1
            if self._closing:
                return
            self._restart()

    def _restart(self) -> None:
        code = self._process.wait()
        ended = self._facts.pop("gauges", {})
        for name in _ADDED_UP:
            self._earlier[name] += ended.get(name, 0.0)
        _log.error("store.process_ended code=%d", code)
        while True:
            time.sleep(_RESTART_DELAY_S)
            with self._switching:
                if self._closing:
                    return
                try:
                    process = self._start()
                    self._journal.mark_applied(self._first_report(process))
                except (StoreError, OSError, ValueError):
                    _log.exception("store.process_not_restarted")
                    self._ends += 1
                    continue
                if self._journal.applied >= self._journal.durable:
                    self._ends = 0  # nothing waits that could prove that storing works
                self._process = process
                self._send(self._journal.durable)
                return

    def _send_positions(self) -> None:
        sent = self._journal.applied
        self._send(self._journal.durable)
        while not self._journal.is_closing:
            self._journal.wait_beyond(sent, None)
            sent = self._journal.durable
            with self._switching:
                if not self._closing:
                    self._send(sent)

    def _send(self, *positions: int) -> None:
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(b"".join(map(encode_position, positions)))
                stdin.flush()
        except (OSError, ValueError):
            _log.debug("store.position_not_sent")  # the next process gets a newer one
