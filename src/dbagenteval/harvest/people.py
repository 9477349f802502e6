"""Names of people that the database has, found in running text that no rule would find them in."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from sqlglot import exp

from dbagenteval.harvest.personal import personal_kind
from dbagenteval.slices.schema import Schema, Table
from dbagenteval.suite.replay_session import ReplayLimits, limited_executor_for

__all__ = ["People", "read_people"]

_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS = 2
_MOST_WORDS = 5
_MOST_NAMES = 100_000
_MOST_SECONDS = 30.0

_Words = tuple[str, ...]


class People:
    """Full names. One word of a name tells nobody: `May` is a month as well.

    Args:
        rows: The cells of each person's columns of names: a full name, or a first and a last one.
    """

    def __init__(self, rows: Iterable[Sequence[Any]] = ()) -> None:
        self._names: set[_Words] = set()
        for row in rows:
            cells = [words for cell in row if isinstance(cell, str) and (words := _words(cell))]
            self._names.update(cells)
            self._names.update(first + last for first, last in permutations(cells, 2))
        self._names = {n for n in self._names if _FEWEST_WORDS <= len(n) <= _MOST_WORDS}

    def named_in(self, text: str) -> Iterator[str]:
        """Give the names in a text as they are written there, the longest at each place."""
        if not self._names:
            return
        found = list(_WORD.finditer(text))
        words = tuple(word[0].casefold() for word in found)
        at = 0
        while at < len(words):
            name = self._at(words[at : at + _MOST_WORDS])
            if not name:
                at += 1
                continue
            last = found[at + len(name) - 1]
            is_genitive = words[at + len(name) - 1] != name[-1]
            yield text[found[at].start() : last.end() - is_genitive]
            at += len(name)

    def _at(self, words: _Words) -> _Words:
        """Give the longest name that words begin with, or with its genitive; else nothing."""
        for length in range(len(words), _FEWEST_WORDS - 1, -1):
            name = words[:length]
            for each in (name, (*name[:-1], name[-1].removesuffix("s"))):
                if each in self._names:
                    return each
        return ()


def read_people(schema: Schema, database_url: str, dialect: str) -> People:
    """Read the names in the columns of people's names, 100,000 of each table at most.

    Args:
        schema: The tables; one that can't be read in 10 seconds, or at all, is passed over, and so
            is what is left after 30 seconds.
        database_url: A SQLAlchemy URL; the database is only read.
        dialect: sqlglot's name of its dialect.
    """
    execute = limited_executor_for(database_url, ReplayLimits(rows=_MOST_NAMES))
    rows: list[Sequence[Any]] = []
    ends = time.monotonic() + _MOST_SECONDS
    for table in schema:
        names = _columns_of_names(table)
        if not names or time.monotonic() > ends:
            continue
        columns = [exp.column(name, quoted=True) for name in names]
        source = exp.table_(table.name, db=table.namespace, quoted=True)
        query = exp.select(*columns).distinct().from_(source).limit(_MOST_NAMES)
        try:
            rows += [tuple(row.values()) for row in execute(query.sql(dialect=dialect))]
        except Exception:  # noqa: BLE001, S112 what can't be read names nobody
            continue
    return People(rows)


def _columns_of_names(table: Table) -> list[str]:
    return [
        column.name
        for column in table.columns
        if column.kind == "text" and personal_kind(column.name, (table.name,)) == "name"
    ]


def _words(text: str) -> _Words:
    return tuple(word.casefold() for word in _WORD.findall(text))
