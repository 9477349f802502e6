"""Values of the tenant analysis: what the rows of a query depend on and what its columns tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dbagenteval.rules.tenant.facts import Domain, Term

__all__ = ["Atom", "OutColumn", "Relation", "set_operation"]

OPEN = "*"
"""Name of the entry that stands for columns nobody knows: those of a star."""


@dataclass(eq=False, slots=True)
class OutColumn:
    """A column of a query's result.

    Args:
        name: Folded; empty if it has none, `*` for the unknown columns of a star.
        domain: The only values it has where it is not NULL, or None.
        terms: Columns of queries further out that it is equal to where it is not NULL.
        is_sure: It is not NULL.
        but_not: For a star: the one name known not to be among its unknown columns.
    """

    name: str
    domain: Domain | None = None
    terms: frozenset[Term] = frozenset()
    but_not: str = ""
    is_sure: bool = False


@dataclass(eq=False, slots=True)
class Atom:
    """One read of a guarded table whose tenant is not fixed yet.

    Each row of the result depends only on rows of the table that have one tenant: the value of
    any of `columns` in that row, or of any of `terms` in the row of the query further out.

    Args:
        label: Alias or name of the table as written.
        where: Which query reads it; empty at the top.
        columns: Columns of the result.
        terms: Columns of queries further out.
    """

    label: str
    where: str
    columns: frozenset[OutColumn] = frozenset()
    terms: frozenset[Term] = frozenset()


@dataclass(slots=True)
class Relation:
    """What a query's result depends on, and what its columns tell."""

    columns: list[OutColumn] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """True if the number of columns is not known."""
        return any(column.name == OPEN for column in self.columns)

    def named(self, name: str) -> list[OutColumn] | None:
        """Give the columns that a reference by this name may mean.

        Empty if there is surely none; None if a star may or may not hold it.
        """
        found: list[OutColumn] = []
        for column in self.columns:
            if column.name == OPEN and column.but_not != name and not found:
                return None
            if column.name == name:
                found.append(column)
        return found

    def renamed(self, names: tuple[str, ...]) -> Relation:
        """Give the relation under an alias column list."""
        if self.is_open:
            columns = [OutColumn(name) for name in names]
            return Relation(columns, [replace(atom, columns=frozenset()) for atom in self.atoms])
        twins = {
            old: OutColumn(
                names[i] if i < len(names) else old.name, old.domain, old.terms, is_sure=old.is_sure
            )
            for i, old in enumerate(self.columns)
        }
        atoms = [
            replace(atom, columns=frozenset(twins[old] for old in atom.columns))
            for atom in self.atoms
        ]
        return Relation(list(twins.values()), atoms)


def set_operation(
    arms: list[Relation], kinds: list[str], admits: Callable[[Domain], bool], *, by_name: bool
) -> Relation:
    """Put the arms of a set operation together, by position, left to right.

    Args:
        arms: At least two.
        kinds: `union`, `except` or `intersect` for each arm after the first.
        admits: Whether all these values are the tenant's.
        by_name: Columns are matched by name; then nothing is known of them.
    """
    widths = {len(arm.columns) for arm in arms}
    if by_name or len(widths) > 1 or any(arm.is_open for arm in arms):
        columns = [OutColumn(column.name, but_not=column.but_not) for column in arms[0].columns]
        atoms = [replace(atom, columns=frozenset()) for arm in arms for atom in arm.atoms]
        return Relation(columns, atoms)
    found = arms[0]
    for arm, kind in zip(arms[1:], kinds, strict=True):
        found = _pair(found, arm, kind, admits)
    return found


def _pair(left: Relation, right: Relation, kind: str, admits: Callable[[Domain], bool]) -> Relation:
    columns = [
        OutColumn(column.name, column.domain, column.terms, is_sure=column.is_sure)
        for column in left.columns
    ]
    if kind == "union":
        for mine, theirs in zip(columns, right.columns, strict=True):
            known = mine.domain is not None and theirs.domain is not None
            mine.domain = mine.domain | theirs.domain if known else None  # type: ignore[operator]
            mine.terms &= theirs.terms
            mine.is_sure = mine.is_sure and theirs.is_sure
    # Rows of the right side of EXCEPT matter only where they equal one of the left.
    lefts = _unmatched(left, right, admits) if kind == "intersect" else left.atoms
    rights = right.atoms if kind == "union" else _unmatched(right, left, admits)
    atoms: list[Atom] = []
    for side, held in ((left, lefts), (right, rights)):
        at = dict(zip(side.columns, columns, strict=True))
        atoms += [
            replace(atom, columns=frozenset(at[column] for column in atom.columns)) for atom in held
        ]
    return Relation(columns, atoms)


def _unmatched(side: Relation, other: Relation, admits: Callable[[Domain], bool]) -> list[Atom]:
    """Give the atoms of one side that the values of the other's columns don't fix."""
    fixed = {
        mine
        for mine, theirs in zip(side.columns, other.columns, strict=True)
        if theirs.is_sure and theirs.domain is not None and admits(theirs.domain)
    }
    return [atom for atom in side.atoms if atom.columns.isdisjoint(fixed)]
