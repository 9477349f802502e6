"""The differences between the facts of two statements, part by part, with their codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from dbagenteval.failures.facts import Facts, column_of
from dbagenteval.failures.terms import Term

__all__ = ["Differences", "apart"]

_LONGEST_NAME = 80


class Differences:
    """Compares the facts of two statements, part by part."""

    def __init__(self, got: Facts, wanted: Facts) -> None:
        self.got = got
        self.wanted = wanted
        self.found: dict[str, str] = {}

    def all(self) -> list[tuple[str, str]]:
        """Give codes with words, each once."""
        self._tables()
        self._filters()
        self._links()
        self._aggregates()
        self._groups()
        self._having()
        self._select()
        self._ends()
        return list(self.found.items())

    def _note(self, kind: str, words: str, subject: str = "") -> None:
        code = f"{kind}:{_short(subject)}" if subject else kind
        self.found.setdefault(code, words)

    def _tables(self) -> None:
        missing, extra = apart(self.wanted.tables, self.got.tables)
        if len(missing) == len(extra) == 1:
            words = f"reads {extra[0]} instead of {missing[0]}"
            self._note("other_table", words, f"{missing[0]}->{extra[0]}")
            return
        for table in missing:
            self._note("missing_join", f"does not read {table}", table)
        for table in extra:
            self._note("extra_join", f"reads {table}, which the reference does not", table)

    def _filters(self) -> None:
        missing, extra = apart(self.wanted.filters, self.got.filters)
        lost, added = _by_column(missing), _by_column(extra)
        for column in list(lost):
            if column in added:
                self._changed_filter(column, lost.pop(column), added.pop(column))
        for column, other in _same_but_column(lost, added):
            words = f"filters on {other} instead of {column}"
            self._note("other_column", words, f"{column}->{other}")
            del lost[column], added[other]
        for column in lost:
            self._note("missing_filter", f"no filter on {column}", column)
        for column in added:
            words = f"filters on {column}, which the reference does not"
            self._note("extra_filter", words, column)

    def _changed_filter(self, column: str, lost: list[Term], added: list[Term]) -> None:
        if sorted(term.text for term in lost) != sorted(term.text for term in added):
            self._note("other_filter", f"another condition on {column}", column)
        elif not _agree(sorted(lost), sorted(added)):
            self._note("wrong_literal", f"another value for {column}", column)

    def _links(self) -> None:
        for kinds in _changed_joins(self.wanted, self.got):
            table, wanted, got = kinds
            words = f"{got} JOIN of {table} instead of {wanted} JOIN"
            self._note("join_kind", words, f"{table} {wanted}->{got}")
        if any(code.startswith(_TABLES) for code in self.found):
            return  # another table comes with its own join conditions
        missing, extra = apart(self.wanted.links, self.got.links)
        if missing and extra:
            words = f"joins by {extra[0].text} instead of {missing[0].text}"
            self._note("other_link", words, missing[0].text)
            return
        for link in missing:
            self._note("missing_link", f"does not join by {link.text}", link.text)
        for link in extra:
            words = f"joins by {link.text}, which the reference does not"
            self._note("extra_link", words, link.text)

    def _aggregates(self) -> None:
        missing, extra = apart(self.wanted.aggregates, self.got.aggregates)
        for place in (1, 0, None):
            for wanted in list(missing):
                found = [got for got in extra if place is None or got[place] == wanted[place]]
                if found:
                    self._other_aggregate(wanted, found[0])
                    missing.remove(wanted)
                    extra.remove(found[0])
        for name, argument in missing:
            self._note("missing_aggregate", f"no {name} of {argument}", name)
        for name, argument in extra:
            words = f"{name} of {argument}, which the reference does not have"
            self._note("extra_aggregate", words, name)

    def _other_aggregate(self, wanted: tuple[str, str], got: tuple[str, str]) -> None:
        if wanted[0] == got[0]:
            words = f"{got[0]} of {got[1]} instead of {wanted[1]}"
            self._note("other_argument", words, f"{wanted[0]}({wanted[1]}->{got[1]})")
        else:
            words = f"{got[0]} instead of {wanted[0]}"
            self._note("aggregate", words, f"{wanted[0]}->{got[0]}")

    def _groups(self) -> None:
        missing, extra = apart(self.wanted.groups, self.got.groups)
        for key in missing:
            self._note("missing_group", f"does not group by {key.text}", key.text)
        for key in extra:
            words = f"groups by {key.text}, which the reference does not"
            self._note("extra_group", words, key.text)

    def _having(self) -> None:
        missing, extra = apart(self.wanted.having, self.got.having)
        if not _agree(missing, extra):
            words = "another HAVING" if missing and extra else "no HAVING"
            self._note("having", words if missing else "HAVING, which the reference does not have")

    def _select(self) -> None:
        wanted, got = self.wanted.select, self.got.select
        missing, extra = apart(Counter(wanted), Counter(got))
        if not missing and not extra:
            if wanted != got:
                self._note("column_order", "gives the columns in another order")
            return
        if any(code.startswith(_PROJECTED) for code in self.found):
            return  # what is aggregated or grouped otherwise is selected otherwise
        if not _agree(missing, extra):
            self._projection(missing, extra)

    def _projection(self, missing: list[Term], extra: list[Term]) -> None:
        if [term.text for term in missing] == [term.text for term in extra]:
            column = column_of(missing[0])
            self._note("wrong_literal", f"another value with {column}", column)
        elif [_unrounded(term) for term in missing] == [_unrounded(term) for term in extra]:
            self._note("rounding", "rounds in another way")
        elif len(missing) == len(extra):
            for one, other in zip(missing, extra, strict=True):
                words = f"selects {other.text} instead of {one.text}"
                self._note("other_column", words, f"{one.text}->{other.text}")
        else:
            for term in missing:
                self._note("missing_column", f"does not select {term.text}", term.text)
            for term in extra:
                words = f"selects {term.text}, which the reference does not"
                self._note("extra_column", words, term.text)

    def _ends(self) -> None:
        if self.wanted.operators != self.got.operators:
            self._note("set_operation", "combines queries in another way")
        if self.wanted.distincts != self.got.distincts:
            more = self.got.distincts > self.wanted.distincts
            self._note("distinct", f"{'a' if more else 'no'} DISTINCT{_UNWANTED if more else ''}")
        if self.wanted.places != self.got.places:
            self._end("order", "ORDER BY", self.wanted.order, self.got.order)
        self._end("limit", "LIMIT", self.wanted.limit, self.got.limit)

    def _end(self, kind: str, clause: str, wanted: list[Term], got: list[Term]) -> None:
        if not _agree(wanted, got):
            added = f"{clause}{_UNWANTED}" if got else f"no {clause}"
            self._note(kind, f"another {clause}" if wanted and got else added)


_UNWANTED = ", which the reference does not have"
_TABLES = ("other_table", "missing_join", "extra_join")
_PROJECTED = ("aggregate", "other_argument", "missing_", "extra_", "other_table")
_Item = TypeVar("_Item", Term, str, tuple[str, str])


def apart(wanted: Counter[_Item], got: Counter[_Item]) -> tuple[list[_Item], list[_Item]]:
    """Give what only the first has and what only the second has, sorted."""
    return sorted((wanted - got).elements()), sorted((got - wanted).elements())


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
    if [term.text for term in wanted] != [term.text for term in got]:
        return False
    return all(
        len(one.values) == len(other.values)
        and all(
            a == b or _PARAMETER.match(a) or _PARAMETER.match(b)
            for a, b in zip(one.values, other.values, strict=True)
        )
        for one, other in zip(wanted, got, strict=True)
    )


_PARAMETER = re.compile(r"[?$:@%]")


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


_ROUND = re.compile(r"ROUND\((.*), :value\)")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
