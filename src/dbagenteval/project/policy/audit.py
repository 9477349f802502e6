"""An append-only record of every decision, refusals included.

Each line is a JSON object that holds the SHA-256 of the line before it, so that a line that was
changed or taken out shows.
"""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

import orjson

from dbagenteval.project.folder.model import Project
from dbagenteval.project.policy.request import Decision, Request

__all__ = ["AUDIT_FILE", "AuditLog", "audit_faults"]

AUDIT_FILE = "contracts/audit.jsonl"
_START = "0" * 64


class AuditLog:
    """Appends to the audit file of a project; several processes may do so at once.

    Args:
        path: The file; its folder is made when the first record is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, project: Project) -> AuditLog:
        """Give the log of a project."""
        return cls(project.root / AUDIT_FILE)

    def append(
        self, request: Request, decision: Decision, project: Project, *, source: str = ""
    ) -> str:
        """Write one decision, and return once it is on disk.

        Args:
            request: What was asked.
            decision: What was decided.
            project: Whose policy decided; its digest is kept.
            source: Where the request came from, such as a case id or a trace id.

        Returns:
            The id of the record.
        """
        record: dict[str, Any] = {
            "version": 1,
            "id": uuid.uuid4().hex,
            "time": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "source": source,
            "actor": request.actor,
            "roles": list(request.roles),
            "policy_sha256": _digest(project.root / "policies" / "policy.yml"),
            "request": _request(request),
            "decision": decision.to_dict(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            record["previous"] = _last_digest(file.fileno())
            file.write(orjson.dumps(record, default=str) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return str(record["id"])


def audit_faults(path: Path) -> list[str]:
    """Check the chain of an audit file; gives a line for each break."""
    faults: list[str] = []
    expected = _START
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        try:
            previous = orjson.loads(line).get("previous")
        except (orjson.JSONDecodeError, AttributeError):
            previous = None
        if previous != expected:
            faults.append(f"{path.name}:{number}: the record does not follow the one before it")
        expected = hashlib.sha256(line).hexdigest()
    return faults


def _request(request: Request) -> dict[str, Any]:
    metric = request.metric
    return {
        "question": request.question,
        "sql": request.sql,
        "metric": None
        if metric is None
        else {
            "model": metric.model,
            "measures": list(metric.measures),
            "dimensions": list(metric.dimensions),
        },
        "bundle": request.bundle,
        "has_run": request.has_run,
    }


def _last_digest(descriptor: int) -> str:
    """Give the digest of the file's last line; a torn one, too, is the one before."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return _START
    chunk, tail = 65_536, b""
    while size > 0:
        start = max(size - chunk, 0)
        tail = os.pread(descriptor, size - start, start) + tail
        size = start
        if tail.rstrip(b"\n").count(b"\n"):
            break
    lines = tail.splitlines(keepends=True)
    if not lines[-1].endswith(b"\n"):
        os.write(descriptor, b"\n")  # the torn line ends here, and shows as a fault
        lines[-1] += b"\n"
    return hashlib.sha256(lines[-1]).hexdigest()


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
