"""SQL that an agent has a part in is run only where it plainly reads."""

from __future__ import annotations

from dbagenteval.rules import ReadOnly
from dbagenteval.rules.sql import read_sql
from dbagenteval.traces import Trace

__all__ = ["why_not_run"]

_READ_ONLY = ReadOnly()


def why_not_run(sql: str, dialect: str | None) -> str | None:
    """Say why a statement is not run, or give None if it does nothing but read."""
    parsed = read_sql(sql, dialect)
    return parsed.problem or _READ_ONLY.sql_problem(parsed, Trace("-"))
