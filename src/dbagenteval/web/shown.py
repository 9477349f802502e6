"""What the pages show of a run: the numbers of the cards, and cells that differ."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "TableView", "cards_of", "diff_lines", "pairs_of", "shown_json", "tables_of"]

MAX_ROWS = 500
"""Rows of a table that a page shows; the rest is in the file."""
MAX_CHARS = 200_000
"""Characters of a text that a page shows at once."""
_MAX_CELL_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, and whether the other table has another there."""

    text: str
    differs: bool = False
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as far as it is shown.

    Args:
        columns: Names.
        rows: Cells of the first rows; `missing` rows are in this table alone.
        alone: For each shown row whether the other table has no such row.
        total: Number of all rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    alone: tuple[bool, ...]
    total: int


def cards_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Count a run for the cards, from its results alone."""
    results = run["results"]
    passed = sum(item.get("passed") is True for item in results)
    known_costs = [item["cost"] for item in results if isinstance(item.get("cost"), (int, float))]
    durations = [v for item in results if isinstance(v := item.get("duration_ms"), (int, float))]
    return {
        "total": len(results),
        "passed": passed,
        "failed": len(results) - passed,
        "rate": passed / len(results) if results else None,
        "tokens": _sum(results, "tokens"),
        "cost": sum(known_costs) if known_costs else None,
        "cost_unknown": len(results) - len(known_costs),
        "tools": _sum(results, "tool_call_count"),
        "duration_ms": sum(durations),
        "mean_ms": sum(durations) / len(durations) if durations else None,
    }


def _sum(results: Sequence[Mapping[str, Any]], key: str) -> int | None:
    known = [item[key] for item in results if isinstance(item.get(key), int)]
    return sum(known) if known else None


def tables_of(actual: Any, expected: Any) -> tuple[TableView | None, TableView | None]:
    """Give both tables with the cells marked that differ.

    Rows that both have are paired first, whatever their place; the others by place.
    """
    left, right = _rows(actual), _rows(expected)
    if left is None or right is None:
        return _view(left, {}), _view(right, {})
    names = {name.casefold() for row in left[:1] for name in row}
    shared = [name for row in right[:1] for name in row if name.casefold() in names]
    left_pairs, right_pairs = pairs_of(left, right, shared)
    return _view(left, left_pairs, right), _view(right, right_pairs, left)


def pairs_of(
    left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]], shared: Sequence[str]
) -> tuple[dict[int, int | None], dict[int, int | None]]:
    """Pair the rows of two tables: equal ones first, the rest by place; None has no partner."""
    waiting: dict[str, list[int]] = {}
    for index, row in enumerate(right):
        waiting.setdefault(_key(row, shared), []).append(index)
    forth: dict[int, int | None] = {}
    for index, row in enumerate(left):
        same = waiting.get(_key(row, shared))
        if same:
            forth[index] = same.pop(0)
    taken = set(forth.values())
    free = [index for index in range(len(right)) if index not in taken]
    for index in range(len(left)):
        if index not in forth:
            forth[index] = free.pop(0) if free else None
    back: dict[int, int | None] = dict.fromkeys(range(len(right)))
    back.update({there: here for here, there in forth.items() if there is not None})
    return forth, back


def _key(row: Mapping[str, Any], shared: Sequence[str]) -> str:
    folded = {str(name).casefold(): value for name, value in row.items()}
    values = [folded.get(name.casefold()) for name in shared] if shared else list(row.values())
    return json.dumps([_text(value) for value in values])


def _view(
    rows: list[dict[str, Any]] | None,
    pairs: Mapping[int, int | None],
    others: Sequence[Mapping[str, Any]] = (),
) -> TableView | None:
    if rows is None:
        return None
    columns = tuple(dict.fromkeys(name for row in rows[:MAX_ROWS] for name in row))
    shown, alone = [], []
    for index, row in enumerate(rows[:MAX_ROWS]):
        partner = pairs.get(index)
        other = None if partner is None else others[partner]
        folded = {str(name).casefold(): value for name, value in (other or {}).items()}
        alone.append(bool(pairs) and other is None)
        shown.append(
            tuple(
                Cell(
                    _text(row.get(name))[:_MAX_CELL_CHARS],
                    other is not None
                    and name.casefold() in folded
                    and _text(folded[name.casefold()]) != _text(row.get(name)),
                    row.get(name) is None,
                )
                for name in columns
            )
        )
    return TableView(columns, tuple(shown), tuple(alone), len(rows))


def _rows(value: Any) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [{str(k): v for k, v in row.items()} for row in value if isinstance(row, dict)]


def _text(value: Any) -> str:
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def diff_lines(actual: Any, expected: Any) -> list[tuple[str, str]]:
    """Give a unified diff of both tables as `(kind, text)`: ` `, `+` (actual) or `-` (expected)."""
    wanted, given = (
        [_line(row) for row in (_rows(rows) or [])[:MAX_ROWS]] for rows in (expected, actual)
    )
    found = difflib.unified_diff(wanted, given, "expected", "actual", lineterm="", n=2)
    return [(line[:1], line[:_MAX_CELL_CHARS]) for line in found]


def _line(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_text(value)}" for name, value in row.items())


def shown_json(value: Any) -> str:
    """Give JSON text of a value, cut where it is too long to show."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, indent=1, default=str)
    )
    return cut(text)


def cut(text: str) -> str:
    """Cut a text that is too long to show at once, saying so."""
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:MAX_CHARS]}\n… ({len(text):,} characters; the rest is in the results file)"
