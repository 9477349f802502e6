"""RowsFromSql: the agent's SQL run again, for those who ask for it."""

from __future__ import annotations

from typing import Any

import pytest

from dbagenteval import Case, Stage, Trace
from dbagenteval.checks import RowsFromSql

CASE = Case("q")


def broken(sql: str) -> list[dict[str, Any]]:
    """A database that refuses."""
    raise KeyError("no such table")


@pytest.mark.parametrize(
    ("trace", "execute", "status", "detail"),
    [
        (Trace.simple("q", sql="S", rows=[{"n": 1}]), lambda sql: [{"m": 1}], "pass", "1 row(s)"),
        (
            Trace.simple("q", sql="S", rows=[{"n": 1}]),
            lambda sql: [{"n": 2}],
            "fail",
            "the trace has 1 row(s), first: [{'n': 1}]; its SQL returns 1 row(s), first: [{'n': 2}]",
        ),
        (
            Trace.simple("q", sql="S", rows=[{"n": 1}]),
            broken,
            "fail",
            "the agent's SQL does not run: KeyError: 'no such table'",
        ),
        (Trace.simple("q", rows=[{"n": 1}]), broken, "skip", "no SQL to run"),
        (Trace.simple("q", sql=" ", rows=[{"n": 1}]), broken, "skip", "no SQL to run"),
        (Trace.simple("q", sql="S"), broken, "skip", "no rows to compare"),
        (Trace.simple("q", sql="S", error="boom"), broken, "skip", "no rows to compare"),
        (
            Trace(
                "q",
                [
                    Stage("generate", output="S"),
                    Stage("execute", rows=[], meta={"observed": {"rows": {"state": "cut"}}}),
                ],
            ),
            broken,
            "skip",
            "rows cut",
        ),
        (
            Trace(
                "q",
                [
                    Stage("generate", meta={"observed": {"output": {"state": "masked"}}}),
                    Stage("execute", rows=[]),
                ],
            ),
            broken,
            "skip",
            "output masked",
        ),
    ],
)
def test_rows_from_sql(trace: Trace, execute: Any, status: str, detail: str) -> None:
    """It fails made-up rows and SQL that does not run, and skips without evidence."""
    result = RowsFromSql(execute).run(trace, CASE)
    assert (result.check, result.status, result.detail) == ("rows_from_sql", status, detail)


def test_the_last_sql_is_run() -> None:
    """The one that gave the rows."""
    ran: list[str] = []

    def execute(sql: str) -> list[dict[str, Any]]:
        ran.append(sql)
        return []

    stages = [
        Stage("generate", "first", output="SELECT 1"),
        Stage("generate", "second", output="SELECT 2"),
        Stage("execute", rows=[]),
    ]
    assert RowsFromSql(execute).run(Trace("q", stages), CASE).status == "pass"
    assert ran == ["SELECT 2"]
