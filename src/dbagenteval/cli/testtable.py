"""The summary table of `dbagenteval test`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbagenteval.printable import printable

__all__ = ["render_results"]

_HEADS = ("Test", "Model", "Status", "Message", "Tokens", "Cost", "Time (s)", "Tools")


def render_results(document: Mapping[str, Any]) -> str:
    """Give the table of a results file, its totals, and how sure the pass rate is."""
    results, summary = document["results"], document["summary"]
    rows = [_HEADS]
    rows += [
        (
            item["name"] + (f" #{item['attempt']}" if document["k"] > 1 else ""),
            item["model"] or "-",
            "PASS" if item["passed"] else item["verdict"].upper(),
            printable(item["message"], 40),
            _number(item["tokens"]),
            _money(item["cost"]),
            _seconds(item["duration_ms"]),
            _number(item["tool_call_count"]),
        )
        for item in results
    ]
    rows.append(
        (
            "Total",
            "",
            f"{summary['passed']}/{summary['total']}",
            "",
            _number(summary["total_tokens"]),
            _total_cost(summary),
            _seconds(summary["total_duration_ms"]),
            _number(summary["total_tool_calls"]),
        )
    )
    widths = [max(len(row[index]) for row in rows) for index in range(len(_HEADS))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    lines = [line.rstrip() for line in lines]
    rule = "-" * max(map(len, lines))
    table = [lines[0], rule, *lines[1:-1], rule, lines[-1]]
    return "\n".join([*table, "", *_metrics(document), _closing(summary)])


def _metrics(document: Mapping[str, Any]) -> list[str]:
    lines = []
    listed = document["by_model"] if len(document["by_model"]) > 1 else [document["pass_metrics"]]
    for metrics in listed:
        low, high = metrics["pass_at_1_interval"]
        text = f"pass@1 {metrics['pass_at_1']:.0%} (95 %: {low:.0%} to {high:.0%})"
        if metrics["k"] > 1:
            text += (
                f", pass@{metrics['k']} {metrics['pass_at_k']:.0%}, "
                f"pass^{metrics['k']} {metrics['pass_hat_k']:.0%}, {metrics['flaky']} flaky"
            )
        lines.append(f"{metrics['model']}: {text}" if metrics.get("model") else text)
    return lines


def _closing(summary: Mapping[str, Any]) -> str:
    if summary["passed"] == summary["total"]:
        return f"all {summary['total']} passed"
    verdicts = sorted(summary["verdicts"].items())
    kinds = ", ".join(f"{count} {verdict}" for verdict, count in verdicts)
    counts = f"{summary['passed']} passed, {summary['failed']} failed"
    return f"{counts}, {summary['total']} total ({kinds})"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _total_cost(summary: Mapping[str, Any]) -> str:
    is_partly_known = summary["cost_unknown"] and summary["total_cost"] is not None
    return _money(summary["total_cost"]) + (" + unknown" if is_partly_known else "")


def _money(value: float | None) -> str:
    return "unknown" if value is None else f"${value:.4f}"


def _seconds(value: int | None) -> str:
    return "-" if value is None else f"{value / 1000:.1f}"
