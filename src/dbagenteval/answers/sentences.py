"""Cuts a text into lines and sentences, so that what stands together is known."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Sentence", "Sentences", "sentences_of", "stretch"]

_END = re.compile(r"[.!?;](?=[\s\"')\]*_])|[。！？；]|\n")
_BULLET = re.compile(r"^(?:[ \t]+|[ \t]*(?:[-*+•–]|\d{1,9}[.)])[ \t])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or one line of a list or table.

    Args:
        text: Its text.
        start: Index of its first character.
        end: Index after its last character.
        line: Number of the line it stands in.
        is_item: True if that line is indented or an item of a list.
    """

    text: str
    start: int
    end: int
    line: int
    is_item: bool = False

    @property
    def is_table_row(self) -> bool:
        """True for a line of a Markdown table."""
        return self.text.count("|") > 1


def sentences_of(text: str) -> list[Sentence]:
    """Cut a text into sentences; a semicolon ends one, a table row is one."""
    found: list[Sentence] = []
    start = line = 0
    is_item = _BULLET.match(text[:200]) is not None
    for match in _END.finditer(text):
        end = match.end()
        # "3. Ann" and "approx. 5" don't end a sentence; nor does anything within a table row.
        before = text[start : match.start()].strip()
        if match[0] != "\n" and (before.isdigit() or len(before) < 3 or before.count("|") > 1):
            continue
        if before:
            found.append(Sentence(text[start:end], start, end, line, is_item))
        start = end
        if match[0] == "\n":
            line += 1
            is_item = _BULLET.match(text[end : end + 200]) is not None
    if text[start:].strip():
        found.append(Sentence(text[start:], start, len(text), line, is_item))
    return found


class _Placed(Protocol):
    @property
    def start(self) -> int: ...


_P = TypeVar("_P", bound=_Placed)


def stretch(items: Sequence[_P], sentence: Sentence) -> Sequence[_P]:
    """Give those of some items, sorted by their place, that start within a sentence."""
    first = bisect_left(items, sentence.start, key=lambda item: item.start)
    last = bisect_left(items, sentence.end, lo=first, key=lambda item: item.start)
    return items[first:last]


class Sentences:
    """The sentences of a text, to be found by position.

    Args:
        text: What `normal_text` gave.
    """

    def __init__(self, text: str) -> None:
        self.all = sentences_of(text)
        self._starts = [sentence.start for sentence in self.all]

    def at(self, position: int) -> Sentence | None:
        """Give the sentence that a position stands in."""
        index = bisect_right(self._starts, position) - 1
        return self.all[index] if index >= 0 else None
