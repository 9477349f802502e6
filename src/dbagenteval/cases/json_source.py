"""Cases in JSON and in JSON lines."""

from __future__ import annotations

import json
from typing import Any

from dbagenteval.cases.source import Item, Source, case_items

__all__ = ["decode", "read_json", "read_jsonl"]


def read_json(text: str, path: str) -> Source:
    """Read a JSON document: a list of cases, or a mapping with a `cases` list."""
    source = Source()
    try:
        document = _decode(text)
    except json.JSONDecodeError as error:
        source.problems.append(f"{path}:{error.lineno}: invalid JSON ({error.msg})")
        return source
    except (ValueError, RecursionError) as error:
        source.problems.append(f"{path}: invalid JSON ({_why(error)})")
        return source
    for number, data in enumerate(case_items(document, path, source.problems), start=1):
        _add(source, f"{path}: case {number}", data)
    return source


def read_jsonl(text: str, path: str) -> Source:
    """Read one case a line; blank lines are left out, every bad line is a problem."""
    source = Source()
    # Only a line feed ends a line: splitlines() would also cut at U+2028 inside a string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            data = _decode(line)
        except (ValueError, RecursionError) as error:
            source.problems.append(f"{where}: invalid JSON ({_why(error)})")
            continue
        _add(source, where, data)
    return source


class _Doubled(dict[str, Any]):
    """A mapping in which a key was written twice."""

    key = ""


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = _Doubled(found)
    names = [name for name, _ in pairs]
    doubled.key = next(name for name in names if names.count(name) > 1)
    return doubled


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _decode(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse_constant)


def decode(text: str) -> Any:
    """Decode JSON that stands within another format.

    Raises:
        ValueError: It is malformed, or a key is written twice.
        RecursionError: It is nested too deeply.
    """
    value = _decode(text)
    doubled = _doubled_keys(value)
    if doubled:
        raise ValueError(f"duplicate key {doubled[0]!r}")
    return value


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _add(source: Source, where: str, data: Any) -> None:
    doubled = _doubled_keys(data)
    source.problems.extend(f"{where}: duplicate key {key!r}" for key in doubled)
    if not doubled:
        source.items.append(Item(where=where, data=data))


def _doubled_keys(value: Any) -> list[str]:
    found = [value.key] if isinstance(value, _Doubled) else []
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    for item in inner:
        found.extend(_doubled_keys(item))
    return found
