"""The texts in the cells of rows, and what personal data they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dbagenteval.harvest.personal import NAME_PARTS, personal_kind

__all__ = ["texts_of"]


def texts_of(cell: Any, kind: str | None) -> Iterator[tuple[str, str | None]]:
    """Give the texts of a cell, however deep they nest, with the kind that the nearest key says.

    Args:
        cell: The cell; a text that is JSON holds others.
        kind: Of personal data in the cell, or None.
    """
    todo = [(cell, kind)]
    while todo:
        part, kind = todo.pop()
        if isinstance(part, str):
            text, part = part, _parsed(part)
            yield text, kind if part is None else None
        if isinstance(part, dict):
            items = [(item, _kind_at(str(key), kind)) for key, item in part.items()]
            todo += reversed(items)
        elif isinstance(part, (list, tuple)):
            todo += [(item, kind) for item in reversed(part)]


def _kind_at(key: str, kind: str | None) -> str | None:
    """Give the kind of what stands at a key; of a person not all is the name."""
    if kind != "name":
        return personal_kind(key) or kind
    own = personal_kind(key, ("people",))
    return "name" if own is None and key.casefold() in NAME_PARTS else own


def _parsed(text: str) -> Any:
    """Give what a text of JSON holds, None for other texts."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None
