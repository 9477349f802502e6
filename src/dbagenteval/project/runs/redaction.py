"""Results without personal data, for files that are passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbagenteval.otlp.redaction import DETECTORS
from dbagenteval.project.folder.model import Project

__all__ = ["result_redactor"]

_KEPT = ("name", "model", "file", "file_sha256", "verdict", "reason", "tags", "started_at")
_MASK = "[REDACTED:pii]"
_SHORTEST = 3
"""A value of fewer characters, such as a country, would be found in too many other words."""


def result_redactor(project: Project) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Give what takes personal data out of a result.

    Values of columns that the policy calls PII are replaced in rows, and wherever else they
    stand in the result; so are e-mail addresses, phone and card numbers and secrets. Names and
    verdicts stay.

    Args:
        project: Whose policy it is.
    """
    policy = project.policy
    columns = frozenset().union(*(policy.pii_columns.values() if policy is not None else ()))

    def redacted(result: Mapping[str, Any]) -> dict[str, Any]:
        values = sorted({*_values_of(result, columns)}, key=len, reverse=True)
        return {
            name: value if name in _KEPT else _without(value, columns, values)
            for name, value in result.items()
        }

    return redacted


def _values_of(value: Any, columns: frozenset[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if str(name).casefold() in columns and isinstance(item, str) and len(item) >= _SHORTEST:
                yield item
            else:
                yield from _values_of(item, columns)
    elif isinstance(value, list):
        for item in value:
            yield from _values_of(item, columns)


def _without(value: Any, columns: frozenset[str], values: list[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _MASK
            if str(name).casefold() in columns and item is not None
            else _without(item, columns, values)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_without(item, columns, values) for item in value]
    if not isinstance(value, str):
        return value
    for known in values:
        value = value.replace(known, _MASK)
    for replace_found in DETECTORS.values():
        value = replace_found(value)
    return value
