"""The differences between the facts of two statements, part by part, with their codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from dbagenteval.failures.facts import Facts, column_of
from dbagenteval.failures.term import Term

__all__ = ["Differences", "apart"]

_LONGEST_NAME = 60
_TABLES = ("other_table", "missing_join", "extra_join")
_PROJECTED = ("aggregate", "other_argument", "missing_", "extra_", "other_table")
_PARAMETER = re.compile(r"[?$:@%]")
_ROUND = re.compile(r"ROUND\((.*), :value\)")
_Item = TypeVar("_Item", Term, str, tuple[str, str])


class Differences:
    """Compares the facts of two statements, part by part.

    Args:
        got: Of the agent's SQL.
        wanted: Of the reference.
    """

    def __init__(self, got: Facts, wanted: Facts) -> None:
        self.got = got
        self.wanted = wanted
        self.found: dict[str, None] = {}

    def codes(self) -> tuple[str, ...]:
        """Give the code of each difference once, in the order of the parts."""
        self._tables()
        self._filters()
        self._links()
        self._aggregates()
        self._having()
        self._groups()
        self._select()
        self._ends()
        return tuple(self.found)

    def _note(self, kind: str, was: str = "", now: str = "") -> None:
        code = f"{kind}:{_short(was)}" if was else kind
        self.found.setdefault(f"{code}->{_short(now)}" if now else code)

    def _one_sided(self, what: str, missing: Iterable[str], extra: Iterable[str]) -> None:
        for item in missing:
            self._note(f"missing_{what}", item)
        for item in extra:
            self._note(f"extra_{what}", item)

    def _tables(self) -> None:
        missing, extra = apart(self.wanted.tables, self.got.tables)
        if len(missing) == len(extra) == 1:
            self._note("other_table", missing[0], extra[0])
        else:
            self._one_sided("join", missing, extra)

    def _filters(self) -> None:
        missing, extra = apart(self.wanted.filters, self.got.filters)
        lost, added = _by_column(missing), _by_column(extra)
        for column in list(lost):
            if column in added:
                self._changed_filter(column, lost.pop(column), added.pop(column))
        for column, other in _same_but_column(lost, added):
            self._note("other_column", column, other)
            del lost[column], added[other]
        self._one_sided("filter", lost, added)

    def _changed_filter(self, column: str, lost: list[Term], added: list[Term]) -> None:
        if _texts(lost) != _texts(added):
            self._note("other_filter", column)
        elif not _agree(lost, added):
            self._note("wrong_literal", column)

    def _links(self) -> None:
        for table, was, now in _changed_joins(self.wanted, self.got):
            self._note("join_kind", f"{was} JOIN {table}", f"{now} JOIN {table}")
        if any(code.startswith(_TABLES) for code in self.found):
            return  # another table comes with its own join conditions
        missing, extra = apart(self.wanted.links, self.got.links)
        if missing and extra:
            self._note("other_link", missing[0].text, extra[0].text)
        else:
            self._one_sided("link", _texts(missing), _texts(extra))

    def _aggregates(self) -> None:
        missing, extra = apart(self.wanted.aggregates, self.got.aggregates)
        for place in (1, 0, None):
            for wanted in list(missing):
                found = [got for got in extra if place is None or got[place] == wanted[place]]
                if found:
                    self._other_aggregate(wanted, found[0])
                    missing.remove(wanted)
                    extra.remove(found[0])
        self._one_sided("aggregate", map(_call, missing), map(_call, extra))

    def _other_aggregate(self, wanted: tuple[str, str], got: tuple[str, str]) -> None:
        if wanted[0] == got[0]:
            self._note("other_argument", _call(wanted), _call(got))
        else:
            self._note("aggregate", wanted[0], got[0])

    def _groups(self) -> None:
        missing, extra = apart(self.wanted.groups, self.got.groups)
        self._one_sided("group", _texts(missing), _texts(extra))

    def _having(self) -> None:
        missing, extra = apart(self.wanted.having, self.got.having)
        if not _agree(missing, extra):
            self._note("having")

    def _select(self) -> None:
        wanted, got = self.wanted.select, self.got.select
        missing, extra = apart(Counter(wanted), Counter(got))
        if not missing and not extra:
            if wanted != got:
                self._note("column_order")
        elif any(code.startswith(_PROJECTED) for code in self.found):
            return  # what is aggregated or grouped otherwise is selected otherwise
        elif not _agree(missing, extra):
            self._projection(missing, extra)

    def _projection(self, missing: list[Term], extra: list[Term]) -> None:
        if _texts(missing) == _texts(extra):
            self._note("wrong_literal", column_of(missing[0]))
        elif [_unrounded(term) for term in missing] == [_unrounded(term) for term in extra]:
            self._note("rounding")
        elif len(missing) == len(extra):
            for one, other in zip(missing, extra, strict=True):
                self._note("other_column", one.text, other.text)
        else:
            self._one_sided("column", _texts(missing), _texts(extra))

    def _ends(self) -> None:
        if self.wanted.operators != self.got.operators:
            self._note("set_operation")
        if self.wanted.distincts != self.got.distincts:
            self._note("distinct")
        is_sorted_alike = self.wanted.places == self.got.places
        if not is_sorted_alike and not _agree(self.wanted.order, self.got.order):
            self._note("order")
        if not _agree(self.wanted.limit, self.got.limit):
            self._note("limit")


def apart(wanted: Counter[_Item], got: Counter[_Item]) -> tuple[list[_Item], list[_Item]]:
    """Give what only the first has and what only the second has, sorted."""
    return sorted((wanted - got).elements()), sorted((got - wanted).elements())


def _call(aggregate: tuple[str, str]) -> str:
    name, argument = aggregate
    return f"{name}({argument})"


def _texts(terms: Iterable[Term]) -> list[str]:
    return [term.text for term in terms]


def _by_column(terms: Iterable[Term]) -> dict[str, list[Term]]:
    found: dict[str, list[Term]] = {}
    for term in terms:
        found.setdefault(column_of(term), []).append(term)
    return found


def _same_but_column(
    lost: dict[str, list[Term]], added: dict[str, list[Term]]
) -> list[tuple[str, str]]:
    """Pair the columns that the same conditions with the same values are about."""
    pairs = []
    free = dict(added)
    for column, terms in lost.items():
        for other, others in free.items():
            renamed = [Term(term.text.replace(other, column), term.values) for term in others]
            if sorted(renamed) == sorted(terms):
                pairs.append((column, other))
                del free[other]
                break
    return pairs


def _agree(wanted: Sequence[Term], got: Sequence[Term]) -> bool:
    """Whether terms are the same; a value bound as a parameter may be any."""
    if _texts(wanted) != _texts(got):
        return False
    return all(
        len(one.values) == len(other.values)
        and all(
            a == b or _PARAMETER.match(a) or _PARAMETER.match(b)
            for a, b in zip(one.values, other.values, strict=True)
        )
        for one, other in zip(wanted, got, strict=True)
    )


def _changed_joins(wanted: Facts, got: Facts) -> list[tuple[str, str, str]]:
    """Give table, the reference's kind of join and the agent's, where they differ."""
    before, after = dict(sorted(wanted.joins)), dict(sorted(got.joins))
    return [
        (table, before.get(table, "INNER"), after.get(table, "INNER"))
        for table in sorted({*before, *after})
        if table in wanted.tables and table in got.tables and before.get(table) != after.get(table)
    ]


def _unrounded(term: Term) -> str:
    match = _ROUND.fullmatch(term.text)
    return match[1] if match else term.text


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
