"""What a person sees of a draft, and what it takes to accept one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import Executor
from dbagenteval.errors import described
from dbagenteval.failures import sql_edit
from dbagenteval.harvest.redact import stand_in_of
from dbagenteval.printable import printable
from dbagenteval.rules.query.dialects import from_system_name
from dbagenteval.rules.query.sql import read_sql
from dbagenteval.slices import dataset_executor
from dbagenteval.suite.reading import why_not_run
from dbagenteval.traces import Rows

__all__ = ["ReferenceRun", "refusal", "run_reference", "sheet"]

_MAX_ROWS = 10
_MAX_CHARS = 2_000
_MARGIN = "      "


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRun:
    """What became of the reference when it was run for the review.

    Args:
        rows: Its rows, None if it was not run or failed.
        error: Why it failed, empty if it did not.
    """

    rows: Rows | None = None
    error: str = ""


def run_reference(case: Case, execute: Executor | None) -> ReferenceRun:
    """Run the reference of a draft, if there is one and a database to run it on."""
    sqls = case.reference_sqls
    if not sqls or execute is None or why_not_run(sqls[0], case.dialect) is not None:
        return ReferenceRun()
    try:
        return ReferenceRun(rows=execute(sqls[0]))
    except Exception as error:  # noqa: BLE001 whatever the database says is shown
        return ReferenceRun(error=described(error))


def refusal(case: Case, run: ReferenceRun) -> str | None:
    """Say why a draft can't be accepted as it is, or give None.

    A case that expects nothing would pass whatever the agent answers.
    """
    expects = case.reference_sqls or case.expect or case.sql != "any" or case.turns
    if not expects:
        return "it has no reference SQL and expects nothing"
    for sql in case.reference_sqls:
        reason = why_not_run(sql, case.dialect)
        if reason is not None:
            return f"its reference SQL does not plainly read: {reason}"
    if run.error:
        return f"its reference SQL fails: {run.error}"
    return _shows_nothing(case)


def _shows_nothing(case: Case) -> str | None:
    """Say why the reference would find nothing, so that all SQL that finds nothing would pass."""
    if not case.reference_sqls:
        return None
    if case.data is not None:
        has_rows = dataset_executor(case.data, dialect=case.dialect).has_rows
        return (
            None if has_rows else "its data has no rows, so any SQL that finds nothing would pass"
        )
    if not case.harvested.get("redacted"):
        return None
    found = next(filter(None, map(stand_in_of, case.reference_sqls)), None)
    if found is None:
        return None
    return (
        f"its reference SQL looks for {found}, which stands for personal data and is in no "
        "database, so any SQL that finds nothing would pass; harvest it with --slice, or edit it"
    )


def sheet(case: Case, run: ReferenceRun) -> Iterator[str]:
    """Give the lines that show a draft: what was asked, what the agent did, what is proposed.

    Args:
        case: The draft.
        run: What its reference gives now.
    """
    seen = case.harvested
    yield f"  question   {printable(case.question, _MAX_CHARS)}"
    for question in seen.get("asked_before") or ():
        yield f"  before     {printable(question, _MAX_CHARS)}"
    yield f"  seen       {_provenance(seen)}"
    if seen.get("failed"):
        yield f"  failed     {printable(_colon(seen['failed'], seen.get('why')), _MAX_CHARS)}"
    yield from _sql("agent's SQL", str(seen.get("sql") or ""))
    yield from _rows("agent's rows", seen.get("rows"), seen.get("row_count"))
    if seen.get("answer"):
        yield f"  answer     {printable(seen['answer'], _MAX_CHARS)}"
    yield from _reference(case, run)
    if case.data:
        shows = printable(seen.get("data_shows") or "", _MAX_CHARS)
        yield f"  data       {printable(case.data)}: {shows}"
    if seen.get("redacted"):
        kinds = printable(", ".join(map(str, seen["redacted"])))
        where = "" if case.data else ", which the database does not have"
        yield f"  redacted   {kinds}: there are stand-ins{where}"


def _reference(case: Case, run: ReferenceRun) -> Iterator[str]:
    seen = case.harvested
    agent = str(seen.get("sql") or "")
    if not case.reference_sqls:
        yield "  reference  none"
    for sql in case.reference_sqls:
        source = printable(seen.get("reference_from") or "", _MAX_CHARS)
        yield from _sql(f"reference ({source})" if source else "reference", sql)
        if agent:
            yield f"  edit       the agent's SQL: {sql_edit(agent, sql, case.dialect).words}"
            yield from (_MARGIN + line for line in _diff(agent, sql, case.dialect))
    if run.error:
        yield f"  fails      {printable(run.error, _MAX_CHARS)}"
    elif run.rows is not None:
        where = "on the case's data" if case.data else "now"
        yield from _rows(f"reference's rows {where}", run.rows, len(run.rows))
    else:
        when = printable(seen.get("reference_run") or "")
        count = seen.get("reference_row_count")
        yield from _rows(f"reference's rows of {when}", seen.get("reference_rows"), count)


def _provenance(seen: dict[str, Any]) -> str:
    facts = [
        seen.get("time"),
        " ".join(str(part) for part in (seen.get("service"), seen.get("version")) if part),
        f"{seen['count']} times" if seen.get("count", 1) != 1 else "once",
        f"trace {seen['trace']}" if seen.get("trace") else "",
    ]
    return printable(", ".join(str(fact) for fact in facts if fact), _MAX_CHARS)


def _colon(first: object, second: object) -> str:
    return f"{first}: {second}" if second else str(first)


def _sql(title: str, sql: str) -> Iterator[str]:
    if sql:
        yield f"  {title}"
        yield from (_MARGIN + line for line in _lines(sql))


def _rows(title: str, rows: object, count: object) -> Iterator[str]:
    if not isinstance(rows, list):
        return
    yield f"  {title} ({printable(count)})"
    for row in rows[:_MAX_ROWS]:
        cells = row.items() if isinstance(row, dict) else ()
        yield _MARGIN + printable(", ".join(f"{name}: {cell}" for name, cell in cells), 400)
    if len(rows) > _MAX_ROWS:
        yield _MARGIN + "…"


def _lines(text: str) -> list[str]:
    return [_line(line) for line in text.rstrip().split("\n")]


def _line(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + printable(line, _MAX_CHARS, collapse=False)


def _diff(agent: str, reference: str, dialect: str | None) -> list[str]:
    """Give the lines that differ, each statement written a clause a line."""
    compared = difflib.ndiff(_pretty(agent, dialect), _pretty(reference, dialect))
    return [line for line in compared if line[:1] in "-+"]


def _pretty(sql: str, dialect: str | None) -> list[str]:
    parsed = read_sql(sql, None if dialect is None else from_system_name(dialect))
    if parsed.problem is not None:
        return _lines(sql)
    texts = (each.sql(dialect=parsed.dialect, pretty=True) for each in parsed.statements)
    return [line for text in texts for line in _lines(text)]
