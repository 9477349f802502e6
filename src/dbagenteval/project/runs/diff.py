"""What changed between two runs, result by result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CHANGES", "RunChange", "diff_runs"]

CHANGES = ("regression", "removed", "fix", "added", "changed", "same")
"""Kinds of change, those first that a gate must not overlook."""

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """One test, model and attempt in both runs.

    Args:
        key: Test name, model, attempt.
        change: One of `CHANGES`.
        before: Its number in the earlier run, or None.
        after: Its number in the later run, or None.
    """

    key: Key
    change: str
    before: int | None
    after: int | None


def diff_runs(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[RunChange]:
    """Compare the results of two runs; regressions first."""
    old, new = _by_key(before), _by_key(after)
    changes = [
        RunChange(
            key=key,
            change=_change(
                None if key not in old else before[old[key]],
                None if key not in new else after[new[key]],
            ),
            before=old.get(key),
            after=new.get(key),
        )
        for key in dict.fromkeys((*new, *old))
    ]
    return sorted(changes, key=lambda item: (CHANGES.index(item.change), item.key))


def _by_key(results: Sequence[Mapping[str, Any]]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for index, item in enumerate(results):
        attempt = item.get("attempt")
        number = attempt if isinstance(attempt, int) else 1
        found[str(item.get("name") or ""), str(item.get("model") or ""), number] = index
    return found


def _change(one: Mapping[str, Any] | None, two: Mapping[str, Any] | None) -> str:
    if one is None or two is None:
        return "added" if one is None else "removed"
    passed = one.get("passed") is True, two.get("passed") is True
    if passed[0] != passed[1]:
        return "fix" if passed[1] else "regression"
    return "same" if one.get("verdict") == two.get("verdict") else "changed"
