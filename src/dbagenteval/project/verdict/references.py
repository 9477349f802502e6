"""The reference queries of answer tests, run before any agent is asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from dbagenteval.errors import UserError
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.folder.databases import ProjectData
from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.schema import schema_of
from dbagenteval.rules.lineage.query_facts import query_facts

__all__ = ["Reference", "run_references"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a test's reference gave.

    Args:
        rows: For each of its queries the rows; empty if the test has none.
        problem: Why the test is broken, or empty.
        is_ordered: Whether the first query orders its result.
        order_columns: The columns it orders by, as far as they are named.
        tables: Keys of the tables that its queries read, as far as they can be told.
        database: Name of the database that it ran on.
    """

    rows: tuple[list[dict[str, Any]], ...] = ()
    problem: str = ""
    is_ordered: bool = False
    order_columns: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    database: str | None = None


def run_references(
    tests: Sequence[AnswerTest],
    project: Project,
    data: ProjectData,
    *,
    threads: int,
    timeout_s: float,
    max_rows: int,
) -> dict[str, Reference]:
    """Run the references of all tests; a broken one is noted, and the rest go on.

    Args:
        tests: The tests.
        project: Their project.
        data: Opens its databases.
        threads: How many run at once.
        timeout_s: Seconds that one may take.
        max_rows: Rows that one may give.

    Returns:
        Test name to its reference.
    """

    def one(test: AnswerTest) -> Reference:
        try:
            return _run(test, project, data, timeout_s, max_rows)
        except UserError as error:
            return Reference(problem=str(error))

    with ThreadPoolExecutor(max_workers=threads) as pool:
        found = list(pool.map(one, tests))
    return {test.name: reference for test, reference in zip(tests, found, strict=True)}


def _run(
    test: AnswerTest, project: Project, data: ProjectData, timeout_s: float, max_rows: int
) -> Reference:
    if not test.sqls:
        return Reference()
    database = project.config.database(test.database)
    if database is None:
        return Reference(problem="the project has no database to run the reference on")
    schema = schema_of(project, None, None)
    results: list[list[dict[str, Any]]] = []
    is_ordered, order_columns = False, tuple[str, ...]()
    tables: set[str] = set()
    for index, sql in enumerate(test.sqls):
        facts = query_facts(sql, database.dialect, schema)
        if facts.statement:
            return Reference(problem=f"the reference must only read: {facts.statement}")
        if facts.statement_count > 1:
            return Reference(problem="the reference is more than one statement")
        if index == 0:
            is_ordered, order_columns = facts.is_ordered, facts.order_columns
        tables.update(facts.tables)
        rows = _within(timeout_s, partial(data.executor(database.name), sql))
        if isinstance(rows, str):
            return Reference(problem=rows)
        if len(rows) > max_rows:
            return Reference(problem=f"the reference gives over {max_rows:,} rows")
        results.append(rows)
    return Reference(
        rows=tuple(results),
        is_ordered=is_ordered,
        order_columns=order_columns,
        tables=tuple(sorted(tables)),
        database=database.name,
    )


def _within(timeout_s: float, run: Any) -> list[dict[str, Any]] | str:
    """Give the rows, or what went wrong; a query that hangs is left behind."""
    found: list[list[dict[str, Any]] | str] = []

    def work() -> None:
        try:
            found.append(run())
        except Exception as error:  # noqa: BLE001 whatever the driver raises is the finding
            text = " ".join(str(error).split())
            found.append(f"the reference SQL failed: {type(error).__name__}: {text[:300]}")

    thread = threading.Thread(target=work, name="dbagenteval-reference", daemon=True)
    thread.start()
    thread.join(timeout_s)
    return found[0] if found else f"the reference SQL took over {timeout_s:g} s"
