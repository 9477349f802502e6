"""A script of data as a database that queries run on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dbagenteval.errors import SliceError, first_line, quoted
from dbagenteval.rules.query.dialects import from_system_name
from dbagenteval.slices.sandbox import Sandbox
from dbagenteval.traces import Rows

__all__ = ["Dataset", "dataset_executor"]

_DIALECT = re.compile(r"\s*--\s*dialect:\s*(\S+)\s*$", re.MULTILINE)
_PART = re.compile(
    r"(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^'\"/;-]+)"
    r"|(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<end>;)|(?P<other>.)",
    re.DOTALL,
)
_ALLOWED = re.compile(
    r"CREATE\s+TABLE\b|CREATE\s+(UNIQUE\s+)?INDEX\b|INSERT\s+INTO\b", re.IGNORECASE
)
_MAX_BYTES = 64 * 1024 * 1024
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Dataset:
    """An executor over the data of a script.

    Args:
        dialect: In which the queries are written.
        sandbox: Holds the data.
        has_rows: Any table has rows.
    """

    dialect: str
    sandbox: Sandbox
    has_rows: bool = True

    def __call__(self, sql: str) -> Rows:
        """Run a query that only reads; see `Sandbox.run`."""
        return self.sandbox.run(sql)


def dataset_executor(path: str | Path, *, dialect: str | None = None) -> Dataset:
    """Load a script of data into a database of its own, in memory.

    A file that was loaded before and has not changed since is not loaded again.

    Args:
        path: The script: CREATE TABLE, INSERT and CREATE INDEX statements, and comments.
        dialect: Of the queries to come, where no comment `-- dialect: NAME` in the script says;
            SQLite's without either.

    Raises:
        SliceError: The file can't be read, holds other statements, or one of them fails.
    """
    file = Path(path)
    try:
        facts = file.stat()
        if facts.st_size > _MAX_BYTES:
            raise SliceError(f"{path}: {facts.st_size} bytes of data; at most {_MAX_BYTES}")
        return _loaded(str(file.resolve()), facts.st_mtime_ns, facts.st_size, dialect, str(path))
    except OSError as error:
        raise SliceError(f"{path}: cannot read the data: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SliceError(f"{path}: the data is not UTF-8 text") from error


@lru_cache(maxsize=_KEPT)
def _loaded(path: str, _changed_ns: int, _bytes: int, dialect: str | None, shown: str) -> Dataset:
    script = Path(path).read_text(encoding="utf-8-sig")
    said = _DIALECT.search(script)
    line = 1 if said is None else _line(script, said.start(1))
    name = said[1] if said is not None else dialect or "sqlite"
    dialect = from_system_name(name)
    if dialect is None:
        raise SliceError(f"{shown}:{line}: unknown dialect {quoted(name)}")

    has_rows = False

    def statements() -> Iterator[str]:
        nonlocal line, has_rows
        for at, text in _statements(script, shown):
            line = at
            has_rows = has_rows or text[:6].upper() == "INSERT"
            yield text

    try:
        sandbox = Sandbox(statements(), dialect=dialect)
        return Dataset(dialect, sandbox, has_rows)
    except SliceError:
        raise
    except Exception as error:
        raise SliceError(f"{shown}:{line}: {first_line(error)}") from error


def _statements(script: str, shown: str) -> Iterator[tuple[int, str]]:
    """Give line and text of each statement, without comments.

    Raises:
        SliceError: A quote is not closed, or a statement does anything else than make data.
    """
    parts: list[str] = []
    line, counted, start = 1, 0, 0
    for part in _PART.finditer(f"{script}\n;"):  # the last one need not end in a semicolon
        if part["other"] in ("'", '"'):
            at = f"{shown}:{_line(script, part.start())}"
            raise SliceError(f"{at}: the quote that opens here is not closed")
        text = "" if part.lastgroup in ("comment", "end") else part[0]
        if not parts:
            text = text.lstrip()
            start = part.end() - len(text)
        if text:
            parts.append(text)
        if part.lastgroup != "end" or not parts:
            continue
        text, parts = "".join(parts).strip(), []
        line, counted = line + script.count("\n", counted, start), start
        if not _ALLOWED.match(text):
            raise SliceError(
                f"{shown}:{line}: {quoted(text[:40])} is not allowed in data; "
                "allowed: CREATE TABLE, CREATE INDEX, INSERT INTO"
            )
        yield line, text


def _line(script: str, position: int) -> int:
    return script.count("\n", 0, position) + 1
