"""The pages about test runs, as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.project.runs.diff import CHANGES, diff_runs
from dbagenteval.web.rendering import render
from dbagenteval.web.shown import cards_of, diff_lines, tables_of

__all__ = ["compare_page", "detail_of", "detail_page", "error_page", "run_page"]


def run_page(
    run: Mapping[str, Any], name: str, names: Sequence[str], *, details: bool = False, **values: Any
) -> str:
    """Give the page of one run: cards and the table of results.

    Args:
        run: The results file.
        name: Its name.
        names: All results files, for choosing.
        details: Put every detail into this page, so that it stands alone.
        values: Further values of the template.
    """
    results = [_row(item, index) for index, item in enumerate(run["results"])]
    return render(
        "run.html",
        run=run,
        name=name,
        names=names,
        cards=cards_of(run),
        results=results,
        details=[detail_of(run, index) for index in range(len(results))] if details else [],
        **values,
    )


def _row(item: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Give what the table shows of a result; a file of another version may lack anything."""
    verdict = item.get("verdict") or ("pass" if item.get("passed") else "fail")
    return {
        "index": index,
        "name": _word(item.get("name")),
        "attempt": item["attempt"] if isinstance(item.get("attempt"), int) else 1,
        "model": _word(item.get("model")),
        "passed": item.get("passed") is True,
        "verdict": _word(verdict),
        "message": _word(item.get("message"))[:200],
        "reason": _word(item.get("reason")),
        "tokens": item.get("tokens"),
        "cost": item.get("cost"),
        "duration_ms": item.get("duration_ms"),
        "tools": item.get("tool_call_count"),
        "tags": [_word(tag) for tag in item.get("tags") or ()],
    }


def _word(value: Any) -> str:
    return "" if value is None else str(value)[:2_000]


def detail_of(run: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Give what the detail of one result shows."""
    item = run["results"][index]
    details = item.get("details") or {}
    actual, expected = tables_of(details.get("actual_data"), details.get("expected_data"))
    passed = item.get("passed") is True
    calls = [
        {"toolName": call.get("toolName"), "args": call.get("args"), "result": call.get("result")}
        for call in details.get("tool_calls") or ()
        if isinstance(call, Mapping)
    ]
    sql = item.get("sql")
    return {
        **_row(item, index),
        "prompt": item.get("prompt"),
        "turns": item.get("turns") or [],
        "file": item.get("file"),
        "sql": [sql] if isinstance(sql, str) else sql or [],
        "executed_sql": details.get("executed_sql") or [],
        "error": item.get("error"),
        "failed_assertions": item.get("failed_assertions") or [],
        "response_text": details.get("response_text"),
        "notes": details.get("notes") or [],
        "comparison": details.get("comparison"),
        "calls": calls,
        "actual": actual,
        "expected": expected,
        "diff": []
        if passed
        else diff_lines(details.get("actual_data"), details.get("expected_data")),
    }


def detail_page(run: Mapping[str, Any], name: str, index: int) -> str:
    """Give the page of one result."""
    return render("detail.html", run=run, name=name, item=detail_of(run, index))


def compare_page(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    names: tuple[str, str],
    all_names: Sequence[str],
) -> str:
    """Give the page of two runs side by side, changes first."""
    shown = [
        [_row(item, index) for index, item in enumerate(run["results"])] for run in (before, after)
    ]
    rows = [
        {
            "key": item.key,
            "change": item.change,
            "before": None if item.before is None else shown[0][item.before],
            "after": None if item.after is None else shown[1][item.after],
        }
        for item in diff_runs(before["results"], after["results"])
    ]
    counts = {change: sum(row["change"] == change for row in rows) for change in CHANGES}
    return render(
        "compare.html",
        names=names,
        all_names=all_names,
        rows=rows,
        counts=counts,
        before=cards_of(before),
        after=cards_of(after),
    )


def error_page(message: str, names: Sequence[str] = ()) -> str:
    """Give a page that says what went wrong."""
    return render("error.html", message=message, names=names)
