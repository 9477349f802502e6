"""What a cases file holds before its items become Cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Item", "Source", "case_items"]

_NOT_A_LIST = "expected a list of cases, or a mapping with a 'cases' list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a cases file.

    Args:
        where: `path:line`, or `path: case N` where the format knows no lines.
        data: What was read there; a mapping unless the author made a mistake.
    """

    where: str
    data: Any


@dataclass(slots=True, kw_only=True)
class Source:
    """The entries of one file, and what was found on the way.

    Args:
        items: In file order.
        problems: Faults, one line each; any makes the file unusable.
        warnings: Values that are probably not what the author meant, one line each.
    """

    items: list[Item] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def case_items(document: object, path: str, problems: list[str]) -> list[Any]:
    """Give the list of cases of a document, or note why there is none."""
    items = document.get("cases") if isinstance(document, dict) else document
    if isinstance(items, list):
        return items
    problems.append(f"{path}: {_NOT_A_LIST}")
    return []
