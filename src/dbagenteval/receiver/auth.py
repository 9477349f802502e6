"""Who may send and who may read: bearer tokens or API keys, from a file or the environment."""

from __future__ import annotations

import hmac
import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from dbagenteval.errors import Forbidden, Unauthenticated, UserError

__all__ = ["INGEST", "READ", "TOKEN_VARIABLE", "Tokens"]

_log = logging.getLogger(__name__)

INGEST = "ingest"
READ = "read"
TOKEN_VARIABLE = "DBAGENTEVAL_TOKEN"
_ALL_RIGHTS = frozenset({INGEST, READ})


class Tokens:
    """The tokens that are accepted; a changed file is read again, so that tokens can rotate.

    A line of the file is a token, and behind a space `ingest` or `read` if it has one right only.

    Args:
        file: Path of the file, or None.
        environment: Where `DBAGENTEVAL_TOKEN` may hold one token with all rights.

    Raises:
        UserError: The file can't be read, or others can read it, or it holds no token.
    """

    def __init__(self, file: Path | None, environment: Mapping[str, str] = os.environ) -> None:
        self._file = file
        self._from_environment = environment.get(TOKEN_VARIABLE, "").strip()
        self._stamp: tuple[int, int] | None = None
        self._rights: dict[bytes, frozenset[str]] = {}
        self._load()

    @property
    def is_empty(self) -> bool:
        """True if nobody needs a token."""
        return not self._rights

    def check(self, headers: Mapping[str, str], right: str) -> None:
        """Check the credentials of a request.

        Args:
            headers: With lower-case names: HTTP headers or gRPC metadata.
            right: `INGEST` or `READ`.

        Raises:
            Unauthenticated: There are none, or they are wrong.
            Forbidden: They don't give this right.
        """
        self._reload()
        if not self._rights:
            return
        offered = _offered(headers)
        found: frozenset[str] | None = None
        for token, rights in self._rights.items():  # no early end: the time tells nothing
            if hmac.compare_digest(token, offered):
                found = rights
        if found is None:
            raise Unauthenticated("a valid bearer token is required")
        if right not in found:
            raise Forbidden(f"this token doesn't give the right to {right}")

    def _reload(self) -> None:
        if self._file is None:
            return
        try:
            if self._current_stamp() != self._stamp:
                self._load()
                _log.info("receiver.tokens_reloaded count=%d", len(self._rights))
        except (OSError, UserError) as error:
            _log.warning("receiver.tokens_not_reloaded error=%s", type(error).__name__)

    def _current_stamp(self) -> tuple[int, int]:
        if self._file is None:
            return (0, 0)
        found = self._file.stat()
        return found.st_mtime_ns, found.st_size

    def _load(self) -> None:
        rights: dict[bytes, frozenset[str]] = {}
        if self._from_environment:
            rights[self._from_environment.encode()] = _ALL_RIGHTS
        stamp = None
        if self._file is not None:
            try:
                stamp = self._current_stamp()
                text = self._file.read_text(encoding="utf-8-sig")
                mode = self._file.stat().st_mode
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"token file {self._file}: can't be read") from error
            if mode & (stat.S_IRGRP | stat.S_IROTH):
                raise UserError(f"token file {self._file}: others can read it", hint="chmod 600 it")
            rights |= self._parse(text)
            if not rights:
                raise UserError(f"token file {self._file}: holds no token")
        self._rights, self._stamp = rights, stamp

    def _parse(self, text: str) -> dict[bytes, frozenset[str]]:
        found: dict[bytes, frozenset[str]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            token, right = (*line.split(maxsplit=1), "", "")[:2]
            if not token or token.startswith("#"):
                continue
            right = right.strip()
            if right and right not in _ALL_RIGHTS:
                raise UserError(
                    f"token file {self._file}:{number}: unknown right; allowed: ingest, read"
                )
            found[token.encode()] = frozenset({right}) if right else _ALL_RIGHTS
        return found


def _offered(headers: Mapping[str, str]) -> bytes:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _wire(credentials)
    return _wire(headers.get("x-api-key", ""))


def _wire(text: str) -> bytes:
    """Give the bytes that were sent; headers are decoded as Latin-1, whatever they hold."""
    return text.strip(" \t").encode("latin-1", "replace")
