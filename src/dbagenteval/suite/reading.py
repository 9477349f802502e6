"""SQL that an agent has a part in is run only where it plainly reads."""

from __future__ import annotations

from dbagenteval.cases import Case
from dbagenteval.rules import ReadOnly
from dbagenteval.scorecard import PASS
from dbagenteval.traces import Stage, Trace

__all__ = ["why_not_run"]

_READ_ONLY = ReadOnly()


def why_not_run(sql: str, dialect: str | None) -> str | None:
    """Say why a text is not run, or give None if it is one statement that does nothing but read.

    Args:
        sql: The text; one that can't be analysed is not run.
        dialect: sqlglot's name of its dialect or a database's own, or None.
    """
    alone = Trace("-", [Stage("generate", output=sql)], {"dialect": dialect})
    result = _READ_ONLY.run(alone, Case("-"))
    return None if result.status == PASS else result.detail
