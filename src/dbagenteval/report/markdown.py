"""Reports in Markdown, for sharing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbagenteval.printable import printable
from dbagenteval.report.text import percent
from dbagenteval.scorecard import EXPECTATIONS

__all__ = ["diff_to_markdown", "to_markdown"]

_Report = Mapping[str, Any]
_MAX_EVIDENCE_CASES = 50
# HTML, links and images, mentions, entities, and what starts a heading, list, quote or fence; with
# the backslashes before it, which would undo the escape.
_MARKS = r"<|\](?=[(\[:])|(?<![\w@])@(?=\w)|&(?=#?\w+;)|(?<!.)(?:[#>+*~`=-])(?=[#>+*~`=\s-]|\Z)"
_ACTIVE = re.compile(rf"(?P<slashes>\\*)(?P<mark>{_MARKS})")
_ACTIVE_IN_CELLS = re.compile(rf"(?P<slashes>\\*)(?P<mark>{_MARKS}|\|)")


def to_markdown(report: _Report) -> str:
    """Give a report as Markdown: totals, tables by tag and stage, and what did not pass.

    Args:
        report: What `SuiteResult.to_dict()` gives, or a saved JSON report.
    """
    summary = report["summary"]
    rate = percent(summary["passed"], summary["total"])
    drafts = f" ({summary['drafts']} drafts)" if summary.get("drafts") else ""
    lines = [
        "# dbagenteval report",
        "",
        f"**{summary['passed']} of {summary['total']} passed ({rate})** · "
        f"{summary['failed']} failed · {summary['errors']} errors · "
        f"{summary['skipped']} skipped{drafts}",
    ]
    tags = sorted(summary.get("by_tag", {}).items())
    lines += _table(
        "By tag",
        ("Tag", "Passed", "Total"),
        ((tag, counts["passed"], counts["total"]) for tag, counts in tags),
    )
    stages = sorted(summary.get("failed_stages", {}).items(), key=lambda item: -item[1])
    lines += _table("First failing stage", ("Stage", "Cases"), stages)
    not_passed = [case for case in report["cases"] if case["verdict"] != "PASS"]
    lines += _table(
        "Not passed",
        ("Case", "Verdict", "Stage", "Check", "Detail"),
        (
            (
                name_of(case),
                case["verdict"],
                case.get("failed_stage"),
                case.get("failed_check"),
                detail_of(case),
            )
            for case in not_passed
        ),
    )
    lines += _evidence(not_passed)
    lines += _judging(report.get("meta", {}))
    return "\n".join(lines) + "\n"


def name_of(case: _Report) -> str:
    """Give the id of a case of a report, else its question."""
    return str(case.get("id") or case.get("question") or "")


def detail_of(case: _Report) -> str | None:
    """Give why a case did not pass: its error, else the detail of its first failing check.

    Of a SKIP it is what the case expects and could not be checked.
    """
    if case.get("error"):
        return str(case["error"])
    for result in case.get("results", ()):
        if (
            case["verdict"] == "SKIP"
            and result["status"] == "skip"
            and result.get("check") in EXPECTATIONS
        ):
            return str(result.get("detail", ""))
        if (
            result["status"] == "fail"
            and result.get("check") == case.get("failed_check")
            and result.get("stage") == case.get("failed_stage")
        ):
            return str(result.get("detail", "")) + _goes_back(case)
    return None


def _goes_back(case: _Report) -> str:
    blame = case.get("meta", {}).get("blame")
    if not blame or blame.get("stage") == case.get("failed_stage"):
        return ""
    return f"; goes back to {blame.get('words')}"


def diff_to_markdown(changes: Mapping[str, Sequence[_Report]]) -> str:
    """Give what `diff_reports` found as Markdown."""
    counts = {name: len(changes.get(name, ())) for name in ("regressions", "fixes", "added")}
    lines = [
        "# dbagenteval diff",
        "",
        f"**{counts['regressions']} regressions, {counts['fixes']} fixes, "
        f"{counts['added']} added, {len(changes.get('removed', ()))} removed**",
    ]
    lines += _table(
        "Regressions",
        ("Case", "Now", "Stage", "Detail"),
        (
            (each["case"], each["now"], each.get("failed_stage"), each.get("detail"))
            for each in changes.get("regressions", ())
        ),
    )
    lines += _list(
        "Fixes",
        (f"{_line(each['case'])} ({each['was']} -> PASS)" for each in changes.get("fixes", ())),
    )
    lines += _table(
        "Changed",
        ("Case", "Was", "Now", "Was at stage", "Now at stage", "Detail"),
        (
            (
                each["case"],
                each["was"],
                each["now"],
                each.get("was_stage"),
                each.get("failed_stage"),
                each.get("detail"),
            )
            for each in changes.get("changed", ())
        ),
    )
    lines += _list(
        "Fewer checks",
        (
            f"{_line(each['case'])}: {_line(', '.join(each['gone']))} gone"
            for each in changes.get("unchecked", ())
        ),
    )
    lines += _list(
        "Renamed",
        (
            f"{_line(each['was_case'])} -> {_line(each['case'])} ({each['was']} -> {each['now']})"
            for each in changes.get("renamed", ())
        ),
    )
    for name in ("added", "removed"):
        entries = changes.get(name, ())
        lines += _list(
            name.capitalize(), (f"{_line(each['case'])} ({each['verdict']})" for each in entries)
        )
    return "\n".join(lines) + "\n"


def _line(text: object) -> str:
    return _shown(text, _ACTIVE)


def _shown(text: object, active: re.Pattern[str]) -> str:
    """Give text of agents and databases so that Markdown shows it and renders nothing of it."""
    return active.sub(_inactive, printable(text, collapse=False))


def _inactive(found: re.Match[str]) -> str:
    slashes, mark = found["slashes"], found["mark"]
    if mark == "<":
        return f"{slashes * 2}&lt;"
    if mark == "&":
        return f"{slashes * 2}&amp;"
    if mark == "@":  # GitHub mentions people and teams whatever is escaped, but for a comment
        return f"{slashes * 2}@<!-- -->"
    return f"{slashes * 2}\\{mark}"


def _cell(value: object) -> str:
    return _shown("" if value is None else value, _ACTIVE_IN_CELLS)


def _table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not lines:
        return []
    rule = "|" + "---|" * len(columns)
    return ["", f"## {heading}", "", f"| {' | '.join(columns)} |", rule, *lines]


def _list(heading: str, entries: Iterable[str]) -> list[str]:
    lines = [f"- {entry}" for entry in entries]
    return ["", f"## {heading}", "", *lines] if lines else []


def _evidence(cases: Sequence[_Report]) -> list[str]:
    """Show what each case that did not pass was judged by."""
    lines: list[str] = []
    for case in cases[:_MAX_EVIDENCE_CASES]:
        meta = case.get("meta", {})
        references = meta.get("reference", ())
        parts = [
            *_block("SQL", "sql", "\n\n".join(meta.get("sql", ()))),
            *_block("Rows", "json", _rows_text(meta.get("rows"))),
            *_block("Answer", "text", meta.get("answer", "")),
            *_block("Reference SQL", "sql", "\n\n".join(each["sql"] for each in references)),
            *(
                line
                for each in references
                for line in _block("Reference rows", "json", _rows_text(each["rows"]))
            ),
        ]
        if parts:
            lines += ["", f"### {_cell(name_of(case))}", *parts]
    left_out = len(cases) - _MAX_EVIDENCE_CASES
    if left_out > 0:
        lines += ["", f"{left_out} more cases: see the JSON report."]
    return ["", "## Evidence", *lines] if lines else []


def _rows_text(rows: Mapping[str, Any] | None) -> str:
    if rows is None:
        return ""
    shown = [json.dumps(row, ensure_ascii=False, default=str) for row in rows["first"]]
    if rows["count"] > len(shown):
        shown.append(f"(the first {len(shown)} of {rows['count']} rows)")
    return "\n".join(shown) or "(no rows)"


def _block(title: str, language: str, text: str) -> list[str]:
    if not text:
        return []
    # A fence longer than any run of backticks in the text can't be closed by it.
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return ["", f"{title}:", "", f"{fence}{language}", text, fence]


def _judging(meta: Mapping[str, Any]) -> list[str]:
    judge = meta.get("judge")
    if not judge:
        return []
    facts = ", ".join(f"{name} {value}" for name, value in judge.items() if value is not None)
    return ["", f"Judge: {_cell(facts)}"]
