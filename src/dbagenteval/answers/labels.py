"""Labels: the texts that name rows, and where an answer mentions them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from dbagenteval.answers.columns import as_number
from dbagenteval.answers.digits import normal_text
from dbagenteval.traces import Rows

__all__ = ["Labels", "Mention"]

_SCRIPTS_WITHOUT_BLANKS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_UNSPACED = re.compile(f"[{_SCRIPTS_WITHOUT_BLANKS}]")
# Toys in のはToysです is a word of its own.
_WORD = re.compile(f"[{_SCRIPTS_WITHOUT_BLANKS}]+|(?:(?![{_SCRIPTS_WITHOUT_BLANKS}])[^\\W_])+")
_LONGEST_LABEL = 120
_MOST_ROWS = 20_000
_MOST_UNSPACED = 500


@dataclass(frozen=True, slots=True)
class Mention:
    """A label in a text.

    Args:
        label: The cell's text.
        column: Its column.
        start: Index of its first character.
        end: Index after its last character.
        rows: Indexes of the rows that hold it.
    """

    label: str
    column: str
    start: int
    end: int
    rows: frozenset[int]


class Labels:
    """Text cells of the first 20,000 rows, by column.

    Args:
        rows: Result rows.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows[:_MOST_ROWS]
        self.is_whole = len(rows) <= _MOST_ROWS

    @cached_property
    def _by_label(self) -> dict[tuple[str, str], frozenset[int]]:
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for index, row in enumerate(self.rows):
            for column, cell in row.items():
                if _names_something(cell):
                    found[column, cell].add(index)
        return {key: frozenset(rows) for key, rows in found.items()}

    @cached_property
    def _by_words(self) -> dict[tuple[str, ...], list[tuple[str, str]]]:
        found: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for column, cell in self._by_label:
            words = tuple(_WORD.findall(normal_text(cell).casefold()))
            # One letter names nothing in running text.
            if words and len("".join(words)) > 1:
                found[words].append((column, cell))
        return found

    @cached_property
    def _lengths(self) -> dict[str, list[int]]:
        """By the first word of labels, how many words they have, most first."""
        found: dict[str, set[int]] = defaultdict(set)
        for words in self._by_words:
            found[words[0]].add(len(words))
        return {word: sorted(lengths, reverse=True) for word, lengths in found.items()}

    @cached_property
    def _unspaced(self) -> list[tuple[str, str]]:
        found = [key for key in self._by_label if _UNSPACED.search(key[1]) and len(key[1]) > 1]
        return found[:_MOST_UNSPACED]

    @property
    def has_any(self) -> bool:
        """Tell whether the rows have a label at all."""
        return bool(self._by_label)

    def mentions(self, text: str) -> list[Mention]:
        """Find the labels in a text, the longest where several start at one place.

        Args:
            text: What `normal_text` gave.
        """
        found: list[Mention] = []
        words = list(_WORD.finditer(text))
        folded = [word[0].casefold() for word in words]
        at = 0
        while at < len(words):
            here = self._longest_at(at, words, folded, text)
            found += here[1]
            at += here[0]
        taken = {(mention.label, mention.start) for mention in found}
        for column, cell in self._unspaced:
            start = text.find(normal_text(cell))
            if start >= 0 and (cell, start) not in taken:
                found.append(self._mention(column, cell, start, start + len(cell)))
        return sorted(found, key=lambda mention: mention.start)

    def _longest_at(
        self, at: int, words: list[re.Match[str]], folded: list[str], text: str
    ) -> tuple[int, list[Mention]]:
        """Give the longest labels that start at a word, and the number of their words."""
        for length in self._lengths.get(folded[at], ()):
            stretch = words[at : at + length]
            start, end = stretch[0].start(), stretch[-1].end()
            here = [
                self._mention(column, cell, start, end)
                for column, cell in self._by_words.get(tuple(folded[at : at + length]), ())
                if _fits_case(cell, text[start:end])
            ]
            if here:
                return length, here
        return 1, []

    def _mention(self, column: str, cell: str, start: int, end: int) -> Mention:
        return Mention(cell, column, start, end, self._by_label[column, cell])

    def labels_at(self, index: int) -> list[str]:
        """Give the labels of a row."""
        return [
            cell
            for column, cell in self.rows[index].items()
            if isinstance(cell, str) and (column, cell) in self._by_label
        ]

    def rows_named_in(self, text: str) -> list[int]:
        """Give the rows that a sentence names, each by a label of its own."""
        named = (mention.rows for mention in self.mentions(text) if len(mention.rows) == 1)
        return list(dict.fromkeys(next(iter(rows)) for rows in named))

    def distinct_counts(self) -> dict[str, int]:
        """Count the distinct labels of each column."""
        found: dict[str, int] = defaultdict(int)
        for column, _ in self._by_label:
            found[column] += 1
        return dict(found)

    def counts_named_in(self, text: str) -> list[tuple[str, int]]:
        """Give each label that a sentence names and several rows hold, and how many do."""
        return [
            (mention.label, len(mention.rows))
            for mention in self.mentions(text)
            if len(mention.rows) > 1
        ]


def _names_something(cell: object) -> bool:
    """Tell labels from numbers, empty texts and long ones."""
    return (
        isinstance(cell, str)
        and 0 < len(cell) <= _LONGEST_LABEL
        and as_number(cell) is None
        and _WORD.search(cell) is not None
    )


def _fits_case(cell: str, printed: str) -> bool:
    """Short labels such as IN, A or US count only in their own capitals."""
    return len(cell) > 3 or not cell.isupper() or printed == cell
