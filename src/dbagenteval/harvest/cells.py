"""The texts in the cells of rows, and what personal data they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dbagenteval.harvest.personal import personal_kind

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
            items = [(item, personal_kind(str(key)) or kind) for key, item in part.items()]
            todo += reversed(items)
        elif isinstance(part, (list, tuple)):
            todo += [(item, kind) for item in reversed(part)]


def _parsed(text: str) -> Any:
    """Give what a text of JSON holds, None for other texts."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None
