"""Whether the names in an answer are names of the rows, the question or the SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.finding import Finding
from dbagenteval.answers.labels import Labels
from dbagenteval.answers.language import writing_of
from dbagenteval.answers.sentences import Sentence, sentences_of
from dbagenteval.traces import Rows

__all__ = ["name_findings"]

_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(
    r"\"([^\"\n]{2,60})\"|“([^”\n]{2,60})”|„([^“”\n]{2,60})[“”]|«\s?([^»\n]{2,60}?)\s?»"
    r"|「([^」\n]{1,60})」"
)
_ITEM = re.compile(
    r"^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+(?:\*\*|__)?([^\n:*_(|]{2,60}?)(?:\*\*|__)?\s?"
    r"(?::(?:\*\*)?|\s[-–—]\s|\s\()"
)
_CELL = re.compile(r"^\s*\|\s*(?:\*\*)?([^|\n]{1,80}?)(?:\*\*)?\s*\|")
_CAPITALISED = re.compile(
    r"(?<=[a-z,] )[A-Z][a-z'\u2019]+(?: (?:&|of|and) (?=[A-Z])|[ -]?[A-Z][a-z'\u2019]+)*"
)
_SUBJECT = re.compile(
    r"^[\s*_]*([A-Z][\w'\u2019&-]*(?: [A-Z][\w'\u2019&-]*){0,3})[*_]* (?:is|was|are|were|has"
    r"|had|have|sold|leads|led|made"
    r"|generated|brought|ranks|comes|came|with|tops)\b"
)
_EVERYDAY_WORDS = """
a an the it this that these those there here i we you he she they our your their its his her my in
on at for of from to with by as and or but if no yes none all each every both some most total
overall sum average note please also what which who how when where based according so then thus ok
sure however first second third last table database euro euros dollar dollars sql db q1 q2 q3 q4
january february march april may june july august september october november december jan feb mar
apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
one two three four five six seven eight nine ten
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())


class _Known:
    """Words that the rows, the column names, the question and the SQL have."""

    def __init__(self, results: Sequence[Rows], question: str, sql: Sequence[str]) -> None:
        self._results = results
        self._others = (question, *sql)
        self.labels = [Labels(rows) for rows in results]

    @cached_property
    def words(self) -> frozenset[str]:
        found: set[str] = set(_EVERYDAY)
        for text in self._others:
            found.update(_WORD.findall(normal_text(text).casefold()))
        for rows in self._results:
            for row in rows[:20_000]:
                for cell in row.values():
                    if isinstance(cell, str):
                        found.update(_WORD.findall(normal_text(cell).casefold()))
            for name in rows[0] if rows else ():
                found.update(_WORD.findall(normal_text(name).casefold().replace("_", " ")))
        return frozenset(found)

    def has(self, name: str) -> bool:
        """Tell whether all words of a name are known, a plural or genitive ending left out."""
        words = _WORD.findall(normal_text(name).casefold())
        return all(word in self.words or word.rstrip("s") in self.words for word in words)

    def mentions_in(self, text: str) -> bool:
        """Tell whether a text mentions a label."""
        return any(labels.mentions(text) for labels in self.labels)

    @property
    def has_labels(self) -> bool:
        """Tell whether the rows have names at all."""
        return any(labels.has_any for labels in self.labels)


def name_findings(
    text: str, question: str, results: Sequence[Rows], sql: Sequence[str] = ()
) -> list[Finding]:
    """Compare the names in an answer with those of the rows.

    Names are looked for where they are sure to be some: at the start of list items and table
    rows, in quotation marks, and in English as words with a capital within a sentence.

    Args:
        text: The answer.
        question: The question.
        results: The rows of each execution.
        sql: Texts of the statements that were run.
    """
    text = normal_text(text)
    known = _Known(results, question, sql)
    if not known.has_labels:
        return []
    sentences = sentences_of(text)
    found = _of_lists(sentences, known)
    found += [
        Finding("unclear", f"{name!r} is neither in the rows nor in the question")
        for match in _QUOTED.finditer(text)
        if not known.has(name := next(filter(None, match.groups())))
    ]
    if writing_of(text).languages == ("en",):
        found += _of_sentences(sentences, known)
    holding = sum(1 for labels in known.labels for _ in labels.mentions(text))
    if holding and not any(one.state == "fails" for one in found):
        found.append(Finding("holds", f"{holding} name(s) of the rows"))
    return found


def _of_lists(sentences: list[Sentence], known: _Known) -> list[Finding]:
    """Judge list items and table rows; a list counts as one of names if some are of the rows."""
    names: list[str] = []
    rows_seen = 0
    for sentence in sentences:
        if sentence.is_table_row:
            rows_seen += 1
            match = _CELL.match(sentence.text) if rows_seen > 2 else None
        else:
            rows_seen = 0
            match = _ITEM.match(sentence.text)
        if match and any(sign.isalpha() for sign in match[1]):
            names.append(match[1].strip())
    if not any(known.mentions_in(name) for name in names):
        return []
    return [
        Finding("fails", f"the answer lists {name!r}, which is not in the rows")
        for name in names
        if not known.has(name)
    ]


def _of_sentences(sentences: list[Sentence], known: _Known) -> list[Finding]:
    found = []
    for sentence in sentences:
        if sentence.is_table_row or _ITEM.match(sentence.text) or known.mentions_in(sentence.text):
            continue
        names = [match[0] for match in _CAPITALISED.finditer(sentence.text)]
        subject = _SUBJECT.match(sentence.text)
        if subject and subject[1].split()[0].casefold() not in _EVERYDAY:
            names.append(subject[1])
        found += [
            Finding("fails", f"the answer names {name!r}, which is neither in the rows nor asked")
            for name in dict.fromkeys(names)
            if not known.has(name)
        ]
    return found
