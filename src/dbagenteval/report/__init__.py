"""Reports: scorecards as text, Markdown and JSON, and what changed between two."""

from dbagenteval.report.diff import diff_reports, passes_that_are_gone
from dbagenteval.report.markdown import diff_to_markdown, to_markdown
from dbagenteval.report.saved import (
    check_writable,
    read_report,
    report_of,
    save,
    write_json,
    write_markdown,
)
from dbagenteval.report.text import render_card, render_totals

__all__ = [
    "check_writable",
    "diff_reports",
    "diff_to_markdown",
    "passes_that_are_gone",
    "read_report",
    "render_card",
    "render_totals",
    "report_of",
    "save",
    "to_markdown",
    "write_json",
    "write_markdown",
]
