"""The agent's rows against the reference's: what makes an answer test pass or fail."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

from dbagenteval.compare import RowComparison, RowOptions, compare_rows
from dbagenteval.project.verdict.dazense import compare_as_dazense
from dbagenteval.project.verdict.numbertext import is_ambiguous_number, number_of_text

__all__ = ["DEFAULT_TOLERANCE", "AnswerComparison", "compare_answer"]

Rows = Sequence[Mapping[str, Any]]

DEFAULT_TOLERANCE = {"relative": 1e-5, "absolute": 1e-8}
"""For numbers with a fraction; whole numbers must be equal unless a test sets a tolerance."""

_MOST_PLACES = 6
"""Columns of more decimals come from divisions, and are compared within the tolerance."""

_TAGGED = re.compile(r"'#(-?[\d.]+)'")

_BY_VALUE = {"relative": 1e-12, "absolute": 1e-12}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComparison:
    """What a comparison found.

    Args:
        equal: The rows are right.
        message: As the existing command says it: `match`, `values differ`, …
        reason: Stable code of the difference, empty if equal.
        detail: The difference in one line.
        notes: What a pass rests on.
        evidence: JSON-ready facts: missing and extra rows, first differing cells.
    """

    equal: bool
    message: str
    reason: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


def compare_answer(
    expected: Rows,
    actual: Rows,
    *,
    ordered: bool = False,
    order_columns: tuple[str, ...] = (),
    tolerance: Mapping[str, float] | None = None,
    extra_columns: str = "allow",
    empty_for_null: str = "allow",
    mode: str = "exact",
) -> AnswerComparison:
    """Compare an answer with the reference.

    Args:
        expected: The reference's rows.
        actual: The agent's rows, typed or as text.
        ordered: Whether the order of rows matters; rows that tie may change places.
        order_columns: The columns that the reference orders by, if known.
        tolerance: The test's; None is `DEFAULT_TOLERANCE` with whole numbers exact.
        extra_columns: `allow` or `fail`.
        empty_for_null: `allow` or `fail` an empty text where the other side has NULL.
        mode: `exact`, or `dazense` for the rules of the existing command.
    """
    if mode == "dazense":
        return _as_dazense(expected, actual)
    if not expected and not actual:
        return AnswerComparison(equal=True, message="match", notes=("both have no rows",))
    if not actual:
        return _differ("actual is empty", "row_count", f"no rows; expected {len(expected)}")
    if not expected:
        return _differ("expected is empty", "row_count", f"{len(actual)} row(s); expected none")
    expected, actual = (
        _with_seen_empty(_without_bytes(rows), empty_for_null) for rows in (expected, actual)
    )
    names = _aligned(expected, actual)
    notes: list[str] = []
    if names is not None:
        renamed = [{names.get(key, key): value for key, value in row.items()} for row in actual]
        left, right = _canonical(expected, renamed, exact_whole=tolerance is None, notes=notes)
        options = _options(ordered, order_columns, tolerance or DEFAULT_TOLERANCE, extra_columns)
        found = compare_rows(left, right, RowOptions(**options, columns="by_name"))
        if not found.equal and tolerance is None:
            found = _in_plain_numbers(found, expected, renamed, options)
        if found.equal or set(names) == set(names.values()):
            notes += [f"{old} is read as {new}" for old, new in names.items() if _other(old, new)]
            return _result(found, expected, actual, notes)
    by_value = _options(ordered, (), tolerance or _BY_VALUE, extra_columns)
    columns = list(expected[0])
    if len(columns) == len(actual[0]):
        return _result(
            compare_rows(list(expected), _read_numbers(expected, actual), RowOptions(**by_value)),
            expected,
            actual,
            notes,
        )
    missing = [name for name in columns if name.casefold() not in _folded(actual[0])]
    found = compare_rows(list(expected), _read_numbers(expected, actual), RowOptions(**by_value))
    if not found.equal and missing and len(actual[0]) < len(columns):
        return _differ(f"missing columns: {set(missing)}", "missing_columns", found.detail)
    return _result(found, expected, actual, notes)


def _options(
    ordered: bool,
    order_columns: tuple[str, ...],
    tolerance: Mapping[str, float],
    extra_columns: str,
) -> dict[str, Any]:
    return {
        "ordered": ordered,
        "order_columns": order_columns,
        "tolerance": dict(tolerance),
        "extra_columns": extra_columns,
        "empty": "fail",
        "text_numbers": "equal",
    }


def _without_bytes(rows: Rows) -> Rows:
    """Give binary values as hexadecimal text, as they are shown: JSON has no others."""
    if not any(isinstance(value, (bytes, bytearray)) for row in rows for value in row.values()):
        return rows
    return [
        {key: v.hex() if isinstance(v, (bytes, bytearray)) else v for key, v in row.items()}
        for row in rows
    ]


def _with_seen_empty(rows: Rows, empty_for_null: str) -> Rows:
    """Give empty texts as one that no NULL equals, where they must not stand for it."""
    if empty_for_null == "allow":
        return rows
    return [{key: "(empty text)" if v == "" else v for key, v in row.items()} for row in rows]


def _in_plain_numbers(
    found: RowComparison, expected: Rows, actual: Rows, options: Mapping[str, Any]
) -> RowComparison:
    """Tell a difference by the numbers themselves, not by the texts that make them exact."""
    left, right = _canonical(expected, actual, exact_whole=False, notes=[])
    told = compare_rows(
        left, right, RowOptions(**{**options, "tolerance": _BY_VALUE}, columns="by_name")
    )
    return found if told.equal else told


def _aligned(expected: Rows, actual: Rows) -> dict[str, str] | None:
    """Give actual name to expected name: by name, the last two by place; None if it is unclear."""
    wanted = list(expected[0])
    given = list(actual[0])
    by_fold = {_fold(name): name for name in given}
    names = {by_fold[_fold(name)]: name for name in wanted if _fold(name) in by_fold}
    rest = [name for name in wanted if name not in names.values()]
    free = [name for name in given if name not in names]
    if not rest:
        return names
    if len(rest) == len(free) == 1:
        return {**names, free[0]: rest[0]}
    return None


def _fold(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "")


def _folded(row: Mapping[str, Any]) -> set[str]:
    return {name.casefold() for name in row}


def _other(old: str, new: str) -> bool:
    return _fold(old) != _fold(new)


def _canonical(
    expected: Rows, actual: Rows, *, exact_whole: bool, notes: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Read texts as numbers where numbers are expected, and make whole numbers exact."""
    left = [dict(row) for row in expected]
    right = [dict(row) for row in actual]
    for name in expected[0]:
        values = [row.get(name) for row in expected if row.get(name) is not None]
        if not values or not all(_is_number(value) for value in values):
            continue
        scale = _scale(values) if exact_whole else None
        for row in right:
            value = row.get(name)
            if isinstance(value, str):
                value = _number_or_text(value, name, notes)
            elif isinstance(value, bool):
                notes.append(f"{name}: {value} is read as {int(value)}")
                value = int(value)
            row[name] = _exact(value, scale)
        for row in left:
            row[name] = _exact(row.get(name), scale)
    return left, right


def _number_or_text(text: str, name: str, notes: list[str]) -> Any:
    number = number_of_text(text)
    if is_ambiguous_number(text):
        read = "not read" if number is None else f"read as {number}"
        notes.append(f"{name}: {text!r} means other numbers in other countries, and is {read}")
    if number is None:
        return text
    return int(number) if number == number.to_integral_value() else number


def _read_numbers(expected: Rows, actual: Rows) -> list[dict[str, Any]]:
    """Read texts that only people write as numbers, where the reference has numbers at all."""
    has_numbers = any(_is_number(value) for row in expected for value in row.values())
    if not has_numbers:
        return [dict(row) for row in actual]
    return [
        {name: _loose(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in actual
    ]


def _loose(text: str) -> Any:
    number = number_of_text(text)
    return text if number is None else number


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _scale(values: Sequence[Any]) -> int | None:
    """Give the decimals that a column of exact numbers has; None for floats and long fractions."""
    places = 0
    for value in values:
        if isinstance(value, Decimal) and value.is_finite():
            places = max(places, -int(value.as_tuple().exponent))
        elif not isinstance(value, int):
            return None
    return places if places <= _MOST_PLACES else None


def _exact(value: Any, scale: int | None) -> Any:
    """Give a number as a text that equals only itself, rounded to the column's decimals."""
    if scale is None or not _is_number(value):
        return value
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite():
        return value
    with localcontext() as context:
        context.prec = max(len(exact.as_tuple().digits), 28) + scale + 28
        rounded = exact.quantize(Decimal(1).scaleb(-scale))
    # A whole number must be whole in the answer too: 99.6 orders are not 100.
    return f"#{rounded}" if scale or rounded == exact else value


def _result(
    found: RowComparison, expected: Rows, actual: Rows, notes: list[str]
) -> AnswerComparison:
    if found.equal:
        approximate = any("tolerance" in note for note in found.notes)
        message = "match (approximate)" if approximate else "match"
        return AnswerComparison(
            equal=True, message=message, notes=(*found.notes, *notes), evidence=found.evidence
        )
    message = "values differ"
    if len(expected) != len(actual):
        message = f"row count: {len(actual)} vs {len(expected)}"
    detail = found.detail + (f"; perhaps {found.guess}" if found.guess else "")
    return AnswerComparison(
        equal=False,
        message=message,
        reason="different_values" if found.reason == "different_text" else found.reason,
        detail=_untagged(detail),
        notes=tuple(notes),
        evidence=found.evidence,
    )


def _untagged(text: str) -> str:
    return _TAGGED.sub(r"\1", text)


def _as_dazense(expected: Rows, actual: Rows) -> AnswerComparison:
    equal, message = compare_as_dazense(expected, actual)
    return AnswerComparison(
        equal=equal, message=message, reason="" if equal else "different_values"
    )


def _differ(message: str, reason: str, detail: str) -> AnswerComparison:
    return AnswerComparison(equal=False, message=message, reason=reason, detail=detail)
