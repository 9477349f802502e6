"""Keys of JSON values and arrays: key order is free, number types do not matter."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import Any

__all__ = ["nested_key", "read_json"]

_TOKENS_MAX = 200_000
"""A value with more parts than this (or one that holds itself) equals only itself."""


def nested_key(value: object, leaf: Callable[[Any], Hashable]) -> Hashable:
    """Flatten a mapping or array into a tuple of tokens.

    Args:
        value: dict, list, tuple, set or frozenset, nested to any depth.
        leaf: Gives the key of a value that is none of these.
    """
    tokens: list[Hashable] = ["json"]
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if len(tokens) > _TOKENS_MAX:
            return ("opaque", id(value))
        if isinstance(item, Mapping):
            names = sorted(item, key=str, reverse=True)
            tokens.append(("{", len(names)))
            for name in names:
                stack.append(item[name])
                stack.append(_Name(str(name)))
        elif isinstance(item, (list, tuple)):
            tokens.append(("[", len(item)))
            stack.extend(reversed(item))
        elif isinstance(item, (set, frozenset)):
            tokens.append(("[", len(item)))
            stack.extend(sorted(item, key=repr, reverse=True))
        elif isinstance(item, _Name):
            tokens.append(("name", item.text))
        else:
            tokens.append(("value", leaf(item)))
    return tuple(tokens)


class _Name:
    """A key of a mapping, apart from text values."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def read_json(text: str) -> Any:
    """Read text that is a JSON object or array, or give None."""
    if text[:1] + text[-1:] not in ("{}", "[]"):
        return None
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None
