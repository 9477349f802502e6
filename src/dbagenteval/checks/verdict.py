"""The verdict in a judge's reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["parse_verdict", "verdicts_disagree"]

_Verdict = tuple[bool, str] | None
"""Whether it passes and why; None for one that is meant as a verdict and can't be read."""

_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_NAMES_PASS = re.compile(r"""[^{}]*?(?:["']\s*pass\s*\\?["']|[{,\s]pass)\s*[:=]""", re.IGNORECASE)


def parse_verdict(reply: str) -> tuple[bool, str]:
    """Read the verdict of a judge's reply: the last JSON object with a boolean `pass`.

    An object inside another is looked at only if no outer one has a verdict. What a model writes
    between `<think>` marks at the start is no verdict. Line breaks within texts are read.

    Returns:
        Whether it passes, and the `reason` (empty if there is none).

    Raises:
        ValueError: No such object, or the last one that names `pass` can't be read: broken JSON,
            another value than true and false, or `pass` given twice. An earlier verdict is then
            a draft, or quoted, and stands for nothing.
    """
    found = _verdicts(reply)
    if not found or found[-1] is None:
        raise ValueError(f"judge reply has no JSON object with a boolean 'pass': {reply[:200]!r}")
    return found[-1]


def verdicts_disagree(reply: str) -> bool:
    """Say whether a reply holds readable verdicts for and against."""
    return len({verdict[0] for verdict in _verdicts(reply) if verdict is not None}) > 1


class _Object(dict[str, Any]):
    """A decoded object that remembers every value written for `pass`, however spelled."""

    written: tuple[tuple[str, Any], ...] = ()


def _verdicts(reply: str) -> list[_Verdict]:
    thinking = _THINKING.match(reply)
    objects = list(_objects(reply[thinking.end() :] if thinking else reply))
    outer = [_read(each) for each in objects if each is None or each.written]
    if outer:
        return outer
    inner = [value for each in objects for value in (each or {}).values()]
    return [_read(each) for each in inner if isinstance(each, _Object) and each.written]


def _read(value: _Object | None) -> _Verdict:
    if value is None or len(value.written) != 1 or not isinstance(value.get("pass"), bool):
        return None
    reason = value.get("reason")
    return value["pass"], "" if reason is None else str(reason)


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    made.written = tuple(pair for pair in pairs if pair[0].strip().casefold() == "pass")
    return made


def _objects(text: str) -> Iterator[_Object | None]:
    """Decode the JSON objects in a text, outermost ones only, left to right.

    Yields:
        Each object; None for broken text that was meant as a verdict.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, strict=False)
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
            if _NAMES_PASS.match(text, position + 1) or _NAMES_PASS.match(text, position):
                yield None
                end = _end_of_braces(text, position)
        else:
            yield value
        position = text.find("{", end)


def _end_of_braces(text: str, start: int) -> int:
    """Give where the braces that open at `start` are closed, else the end of the text."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return position + 1
    return len(text)
