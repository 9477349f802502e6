"""What a predicate tells about columns: which are equal, which have only certain values.

A fact holds for every row for which the predicate is TRUE. Facts join by AND and meet by OR, so a
condition binds a column only if each way to fulfil it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from dbagenteval.rules.query.queries import Query, Source

__all__ = ["Classes", "Const", "Domain", "Facts", "Term"]

Term = tuple[Source | Query, str]
"""A column: who has it, and its folded name. A `Query` stands for an unqualified name of which
only that query's sources are known to be meant."""


@dataclass(frozen=True, slots=True)
class Const:
    """A constant in the SQL.

    Args:
        kind: `text`, `number` or `parameter`.
        value: The literal's text, or the parameter's name.
    """

    kind: str
    value: str

    @property
    def key(self) -> tuple[str, object]:
        """Equal for constants that some column type holds for one value."""
        if self.kind == "parameter":
            return ("parameter", self.value)
        try:
            number = Decimal(self.value.strip())
            if number.is_finite():
                return ("number", number)
        except InvalidOperation:
            pass
        return ("text", self.value.strip().casefold())


Domain = frozenset[Const]
"""A column's values where it is not NULL are among these."""


def meet(one: Domain, other: Domain) -> Domain:
    """Give the values in both; empty only if the two exclude each other in any column type."""
    kinds = {const.key[0] for const in one | other}
    if "parameter" in kinds:
        return one if all(const.kind != "parameter" for const in one) else other
    if len(kinds) > 1:
        return min(one, other, key=len)
    keys = {const.key for const in other}
    return frozenset(const for const in one if const.key in keys)


@dataclass(slots=True)
class Facts:
    """What holds for every row that matters.

    Args:
        pairs: Columns with equal values where they are not NULL.
        domains: The only values a column has where it is not NULL.
        sure: Columns that are not NULL.
        present: Sources that have a row, i.e. an outer join did not fill them with NULLs.
        never: No row fulfils the predicate.
    """

    pairs: list[tuple[Term, Term]] = field(default_factory=list)
    domains: dict[Term, Domain] = field(default_factory=dict)
    sure: set[Term] = field(default_factory=set)
    present: set[Source | Query] = field(default_factory=set)
    never: bool = False

    @property
    def is_empty(self) -> bool:
        """True if nothing is known."""
        return not (self.pairs or self.domains or self.present or self.never)

    def copy(self) -> Facts:
        """Give an independent copy."""
        return Facts(
            list(self.pairs), dict(self.domains), set(self.sure), set(self.present), self.never
        )

    def add(self, other: Facts) -> None:
        """Take over what also holds."""
        self.pairs.extend(other.pairs)
        for term, domain in other.domains.items():
            self.narrow(term, domain)
        self.sure |= other.sure
        self.present |= other.present
        self.never = self.never or other.never

    def narrow(self, term: Term, domain: Domain) -> None:
        """Note that a column has only these values where it is not NULL."""
        before = self.domains.get(term)
        self.domains[term] = domain if before is None else meet(before, domain)
        self.never = self.never or (not self.domains[term] and term in self.sure)

    def limit(self, term: Term, domain: Domain) -> None:
        """Note that a column has one of these values."""
        self.sure.add(term)
        self.present.add(term[0])
        self.narrow(term, domain)

    def equate(self, one: Term, other: Term) -> None:
        """Note that two columns are equal and not NULL."""
        self.pairs.append((one, other))
        self.sure |= {one, other}
        self.present |= {one[0], other[0]}

    def either(self, other: Facts) -> Facts:
        """Give what holds when this or the other does."""
        if self.never:
            return other
        if other.never:
            return self
        mine, theirs = Classes(self), Classes(other)
        found = Facts(sure=self.sure & other.sure, present=self.present & other.present)
        for term in mine.terms & theirs.terms:
            one, two = mine.domain(term), theirs.domain(term)
            if one is not None and two is not None:
                found.domains[term] = one | two
            for twin in mine.equals(term) & theirs.equals(term):
                if twin is not term and twin != term:
                    found.pairs.append((term, twin))
        return found


class Classes:
    """Facts thought through: columns in classes of equals, each with its values."""

    def __init__(self, facts: Facts) -> None:
        self.never = facts.never
        self._class: dict[Term, frozenset[Term]] = {}
        self._domain: dict[Term, Domain] = {}
        groups: dict[Term, set[Term]] = {}
        for one, other in facts.pairs:
            merged = groups.get(one, {one}) | groups.get(other, {other})
            for term in merged:
                groups[term] = merged
        for term in facts.domains:
            groups.setdefault(term, {term})
        done: set[int] = set()
        for group in groups.values():
            if id(group) not in done:
                done.add(id(group))
                self._settle(group, facts)

    def _settle(self, group: set[Term], facts: Facts) -> None:
        whole = frozenset(group)
        domain: Domain | None = None
        for term in group:
            known = facts.domains.get(term)
            if known is not None:
                domain = known if domain is None else meet(domain, known)
            self._class[term] = whole
        if domain is not None:
            self.never = self.never or (not domain and not group.isdisjoint(facts.sure))
            for term in group:
                self._domain[term] = domain

    @property
    def terms(self) -> set[Term]:
        """All columns that anything is known of."""
        return set(self._class)

    def equals(self, term: Term) -> frozenset[Term]:
        """The columns equal to this one, itself among them."""
        return self._class.get(term, frozenset((term,)))

    def all_equals(self, terms: Iterable[Term]) -> frozenset[Term]:
        """The columns equal to any of these."""
        return frozenset().union(*(self.equals(term) for term in terms))

    def domain(self, term: Term) -> Domain | None:
        """The only values of a column, or None if it may have any."""
        return self._domain.get(term)
