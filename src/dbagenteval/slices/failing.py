"""How a failure is recognised on other data: what the agent's SQL does there, what it should do."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from decimal import Decimal
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import check_reference, run_references
from dbagenteval.compare import compare_rows
from dbagenteval.executors import Executor
from dbagenteval.rules.query.sql import read_sql
from dbagenteval.scorecard import FAIL
from dbagenteval.slices.sandbox import SandboxRefused
from dbagenteval.slices.schema import Schema
from dbagenteval.slices.tables import base_tables, rows_of_tenant, tenant_in
from dbagenteval.traces import Rows, Trace

__all__ = ["Failure", "SameFailure", "leaks_tenant", "result_shown", "rows_differ", "sql_fails"]

Failure = Callable[[Executor], "Hashable | None"]
"""Runs SQL on some data and says how it fails there, in a value equal for equal failures; None
if it does not fail."""


class SameFailure:
    """Says of less and less data whether it fails as the first, which was all of it.

    Args:
        failure: How it is recognised.
    """

    def __init__(self, failure: Failure) -> None:
        self._failure = failure
        self._first: Hashable | None = None

    def __call__(self, execute: Executor) -> bool:
        """Say whether the data fails as the data asked of first."""
        found = self._failure(execute)
        if self._first is None:
            self._first = found
        return found is not None and found == self._first


def rows_differ(agent_sql: str, case: Case) -> Failure:
    """The agent's SQL gives other rows than every reference of the case, as the evaluator judges.

    The same failure has the same reason code, numbers that are wrong in the same direction,
    and a result that says something (more than NULL, zero or no rows) wherever it did: without
    that, less and less data would end at a difference that nobody has asked about.

    Args:
        agent_sql: What the agent ran.
        case: Has the reference SQL, and says how rows are compared.
    """

    def failure(execute: Executor) -> Hashable | None:
        try:
            actual = execute(agent_sql)
            references = run_references(case, execute)
        except Exception:  # noqa: BLE001 whatever a database raises, it is another failure
            return None
        if not references:
            return None
        trace = Trace.simple(case.question, sql=agent_sql, rows=actual)
        result = check_reference(trace, case, references)[0]
        if result.status != FAIL:
            return None
        expected = references[0].rows
        return result.reason, _says(actual), _says(expected), _direction(actual, expected)

    return failure


def sql_fails(agent_sql: str, case: Case | None = None) -> Failure:
    """The agent's SQL is refused or breaks off, with an error of the same kind.

    Args:
        agent_sql: What the agent ran.
        case: Its references, if it has any, still give a result that says something if they did:
            an agent that is right then has something to give.
    """

    def failure(execute: Executor) -> Hashable | None:
        try:
            execute(agent_sql)
        except SandboxRefused:
            return None
        except Exception as error:  # noqa: BLE001 whatever a database raises
            return _kind_of(error), _expected_says(execute, case)
        return None

    return failure


def _expected_says(execute: Executor, case: Case | None) -> bool:
    try:
        return case is not None and any(_says(execute(sql)) for sql in case.reference_sqls)
    except Exception:  # noqa: BLE001 whatever a database raises, there is no result
        return False


def leaks_tenant(agent_sql: str, column: str, value: Any, schema: Schema, dialect: str) -> Failure:
    """Rows of other tenants change the result of the agent's SQL.

    Args:
        agent_sql: What the agent ran.
        column: Of the tenant, in every table that has one.
        value: The tenant who asked.
        schema: The tables; those with the column are looked at.
        dialect: Of the SQL.
    """
    own = _over_own_rows(agent_sql, column, value, schema, dialect)

    def failure(execute: Executor) -> Hashable | None:
        try:
            actual, expected = execute(agent_sql), execute(own)
        except Exception:  # noqa: BLE001 whatever a database raises, it is another failure
            return None
        if compare_rows(expected, actual).equal:
            return None
        return _says(actual), _says(expected)

    return failure


def result_shown(statements: Sequence[str], *, exactly: bool) -> Failure:
    """The statements give what they gave on all data: what a wrong answer was made from.

    A result that says nothing can't be shown: any SQL that finds nothing gives the same.

    Args:
        statements: The agent's and the reference's.
        exactly: The same rows; else as many rows that say something wherever they did.
    """

    def failure(execute: Executor) -> Hashable | None:
        try:
            results = [execute(sql) for sql in statements]
        except Exception:  # noqa: BLE001 whatever a database raises, that is no result
            return None
        if not any(map(_says, results)):
            return None
        if exactly:
            return repr(results)
        return tuple((len(rows), _says(rows)) for rows in results)

    return failure


def _says(rows: Rows) -> bool:
    """Say whether a result holds anything but NULL and zero."""
    return any(cell not in (None, 0) for row in rows for cell in row.values())


def _direction(actual: Rows, expected: Rows) -> int:
    """Give 1 if the numbers are too large all in all, -1 if too small, 0 if neither can be said."""
    difference = _sum(actual) - _sum(expected)
    return (difference > 0) - (difference < 0)


def _sum(rows: Rows) -> float:
    cells = (cell for row in rows for cell in row.values())
    return sum(float(cell) for cell in cells if isinstance(cell, (int, float, Decimal)))


_KINDS = {
    "missing table": r"no such table|table .*does not exist|relation .*does not exist",
    "missing column": r"no such column|column .*(does not exist|not found)|not found in FROM",
    "missing function": r"no such function|function .*does not exist",
    "syntax": r"syntax error|parser error|incomplete input|unrecognized token",
}


def _kind_of(error: Exception) -> str:
    text = str(error)
    for kind, pattern in _KINDS.items():
        if re.search(pattern, text, re.IGNORECASE):
            return kind
    return type(error).__name__


def _over_own_rows(sql: str, column: str, value: Any, schema: Schema, dialect: str) -> str:
    """Let every table with the tenant's column show the tenant's rows alone."""
    parsed = read_sql(sql, dialect)
    if parsed.problem or len(parsed.statements) != 1:
        return sql
    tree = parsed.statements[0].copy()
    for node in base_tables(tree):
        table = schema.get(node.name)
        own = None if table is None else table.column(column)
        if own is not None:
            node.replace(rows_of_tenant(node, own.name, tenant_in(own, value)))
    return tree.sql(dialect=dialect)
