"""Fields of a case that are written down and hold nothing: probably lost expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["emptied_fields"]

_WHAT_IS_RIGHT = ("reference_sql", "expect", "turns")


def emptied_fields(data: Mapping[Any, Any]) -> list[str]:
    """Name the fields that should say what is right and are empty, in an entry of a cases file.

    A case without them is one that its author wrote so. One that names a field and leaves it
    blank has most likely lost its expectation, and would pass whatever the agent answers.
    `expect.rows: []` is an expectation: no rows.
    """
    return list(_emptied(data))


def _emptied(data: Mapping[Any, Any]) -> Iterator[str]:
    for name in _WHAT_IS_RIGHT:
        if name in data and _is_empty(data[name]):
            yield name
    expect = data.get("expect")
    if isinstance(expect, Mapping):
        for name, value in expect.items():
            if name != "rows" and _is_empty(value):
                yield f"expect.{name}"
    turns = data.get("turns")
    for number, turn in enumerate(turns if isinstance(turns, list) else (), start=1):
        if isinstance(turn, Mapping):
            yield from (f"turn {number}: {name}" for name in _emptied(turn))


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)
