"""Plain data of a file, taken for what it should be: what is not so counts as not there."""

from __future__ import annotations

import datetime
from typing import Any

from dbagenteval.project.folder.document import Node

__all__ = ["data_of", "date_of", "entries_of", "flag", "listed", "mapping", "texts"]


def data_of(node: Node | None) -> dict[str, Any]:
    """Give the plain mapping of a file, empty if it is none."""
    return mapping(node.data()) if node is not None else {}


def entries_of(node: Node | None) -> dict[str, Node]:
    """Give the entries of a mapping with their lines, none if it is no mapping."""
    return (node.entries or {}) if node is not None else {}


def mapping(value: object) -> dict[str, Any]:
    """Give the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def flag(data: dict[str, Any], key: str, default: bool) -> bool:
    """Give a switch, or its default where it is not written."""
    return bool(data.get(key, default))


def listed(value: object) -> list[Any]:
    """Give the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def texts(value: object) -> tuple[str, ...]:
    """Give the texts of a list, or the one text."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in listed(value) if isinstance(item, str))


def date_of(value: object) -> datetime.date | None:
    """Give a date that is written as such or as text, else None."""
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, datetime.date) else None
