"""The tenant analysis: whether each guarded row that can influence the result has one tenant.

For each query, bottom up, a `Relation` says on which guarded reads the result still depends and by
which of its columns a reader further out can still fix their tenant. LIMIT, aggregates, windows
and the like mix rows: what is not fixed before them is lost. What is not fixed at the top leaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.queries import Cte, Query, Source, Undecided
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.tenant.facts import Domain, Facts
from dbagenteval.rules.tenant.predicates import PredicateReader
from dbagenteval.rules.tenant.relations import OPEN, Atom, OutColumn, Relation, set_operation
from dbagenteval.rules.tenant.selects import SelectAnalysis

__all__ = ["Leak", "TenantFlow"]

_MAX_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Leak:
    """A guarded read whose tenant is not fixed.

    Args:
        label: Alias or name of the table as written.
        where: Which query reads it; empty at the top.
        outside: The query's readers could fix it, but that is not accepted.
    """

    label: str
    where: str
    outside: bool = False


@dataclass(slots=True)
class TenantFlow:
    """One analysis of one SQL text.

    Args:
        sql: The text.
        column: Folded name of the tenant column.
        is_guarded: Whether the rule applies to a table.
        admits: Whether all values of a column are the tenant's; notes those it saw.
        is_value: Whether a text is the tenant's value.
        outer_filter: A filter outside a WITH item counts for it.
        keys: Folded names of columns whose values never cross tenants.
    """

    sql: Sql
    column: str
    is_guarded: Callable[[Source], bool]
    admits: Callable[[Domain], bool]
    is_value: Callable[[str], bool]
    outer_filter: bool
    keys: frozenset[str] = frozenset()
    leaks: list[Leak] = field(default_factory=list)
    has_unqualified: bool = False
    row_facts: dict[Query, Facts] = field(default_factory=dict)
    _of_cte: dict[Cte, Relation] = field(default_factory=dict)
    _of_source: dict[Source, Relation] = field(default_factory=dict)

    def check(self, query: Query) -> None:
        """Analyse one statement; leaks are noted.

        Raises:
            Undecided: A form that can't be analysed.
        """
        top = [replace(atom, terms=frozenset()) for atom in self.relation(query).atoms]
        self.commit(top)

    def relation(self, query: Query) -> Relation:
        """Analyse one query."""
        for cte in query.ctes:
            self._cte(cte)
        if isinstance(query.node, exp.SetOperation):
            found = self._set_operation(query)
        elif isinstance(query.node, exp.Values):
            found = self._values(query)
        else:
            found = SelectAnalysis(self, query).relation()
        if query.is_limited:
            found = self._mixed(found)
        return found

    def commit(self, atoms: list[Atom], *, outside: bool = False) -> list[Atom]:
        """Note the atoms that nobody further out can fix; give the others."""
        kept = []
        for atom in atoms:
            if atom.terms:
                kept.append(atom)
            else:
                leak = Leak(atom.label, atom.where, outside and bool(atom.columns))
                if leak not in self.leaks:
                    self.leaks.append(leak)
        return kept

    def _mixed(self, relation: Relation) -> Relation:
        """The rows depend on one another: only what is fixed further out row by row remains."""
        atoms = [replace(atom, columns=frozenset()) for atom in relation.atoms]
        return Relation(relation.columns, atoms)

    def _set_operation(self, query: Query) -> Relation:
        arms = [self.relation(arm) for arm in query.arms]
        kinds = [type(operator).__name__.lower() for operator in query.operators]
        by_name = any(operator.args.get("by_name") for operator in query.operators)
        found = set_operation(arms, kinds, self.admits, by_name=by_name)
        for subquery in query.subqueries:
            found.atoms += self._mixed(self.relation(subquery.query)).atoms
        return found

    def _values(self, query: Query) -> Relation:
        atoms: list[Atom] = []
        for subquery in query.subqueries:
            atoms += self._mixed(self.relation(subquery.query)).atoms
        reader = PredicateReader(base_name(self.sql.dialect), _Nothing(), self.is_value)
        columns: list[OutColumn] = []
        for index, row in enumerate(query.node.expressions):
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            domains = [reader.operand(cell) for cell in cells]
            if index == 0:
                columns = [OutColumn(f"column{i}", frozenset()) for i in range(len(cells))]
            for column, domain in zip(columns, domains, strict=False):
                is_known = isinstance(domain, frozenset) and column.domain is not None
                column.domain = column.domain | domain if is_known else None  # type: ignore[operator]
        return Relation(columns, atoms)

    def _cte(self, cte: Cte) -> Relation:
        known = self._of_cte.get(cte)
        if known is not None or cte.query is None:
            return known or Relation([OutColumn(OPEN)])
        found = self._recursive(cte) if cte.is_recursive else self.relation(cte.query)
        if not self.outer_filter:
            found = Relation(found.columns, self.commit(found.atoms, outside=True))
        if cte.columns is not None:
            found = found.renamed(cte.columns)
        self._of_cte[cte] = found
        return found

    def _recursive(self, cte: Cte) -> Relation:
        """What the columns tell is true if it follows for the next rows from the rows before."""
        query = cte.query
        if query is None or not query.arms:
            raise Undecided(f"has a recursive WITH item {cte.name!r} that cannot be analysed")
        anchor = self.relation(query.arms[0])
        leaks = list(self.leaks)
        guess = [OutColumn(one.name, one.domain, is_sure=one.is_sure) for one in anchor.columns]
        for _ in range(_MAX_ROUNDS):
            self.leaks = list(leaks)
            self._of_source.clear()
            held = Relation(guess)
            self._of_cte[cte] = held.renamed(cte.columns) if cte.columns is not None else held
            found = self.relation(query)
            is_stable = True
            for mine, theirs in zip(guess, found.columns, strict=False):
                if mine.domain is not None and not (
                    theirs.domain is not None and theirs.domain <= mine.domain
                ):
                    mine.domain = None
                    is_stable = False
                if mine.is_sure and not theirs.is_sure:
                    mine.is_sure = False
                    is_stable = False
            if is_stable:
                break
        else:
            raise Undecided(f"has a recursive WITH item {cte.name!r} that cannot be analysed")
        atoms = self._mixed(found).atoms
        if found.atoms:
            keys = [at for at in range(len(guess)) if self._is_key(cte, guess, at)]
            atoms = [replace(atom, columns=frozenset(guess[at] for at in keys)) for atom in atoms]
        self._of_source.clear()
        del self._of_cte[cte]
        return Relation(guess, atoms)

    def _is_key(self, cte: Cte, columns: list[OutColumn], at: int) -> bool:
        """Whether rows of a recursive item depend only on the tenant in their column `at`.

        True if it follows for the next rows from the rows before.
        """
        query = cte.query
        if query is None:
            return False
        held = Relation(columns, [Atom("", "", frozenset((columns[at],)))])
        self._of_cte[cte] = held.renamed(cte.columns) if cte.columns is not None else held
        self._of_source.clear()
        found = self.relation(query)
        return not found.is_open and all(found.columns[at] in atom.columns for atom in found.atoms)

    def of_source(self, source: Source) -> Relation:
        """What a source's rows depend on; a guarded table depends on itself."""
        known = self._of_source.get(source)
        if known is None:
            known = self._of_source[source] = self._read_source(source)
        return known

    def _read_source(self, source: Source) -> Relation:
        if source.kind == "table":
            found = self._table(source)
        elif source.cte is not None:
            held = self._of_cte.get(source.cte) or self._cte(source.cte)
            found = Relation(held.columns, [replace(atom) for atom in held.atoms])
        elif source.query is not None:
            found = self.relation(source.query)
        else:
            found = Relation([OutColumn(OPEN, but_not=self.column)])
        if source.is_distorted:
            found = Relation([OutColumn(OPEN)], self._mixed(found).atoms)
        if source.columns is not None and source.kind != "table":
            found = found.renamed(source.columns)
        return found

    def _table(self, source: Source) -> Relation:
        if not self.is_guarded(source):
            return Relation([OutColumn(OPEN)])
        if source.columns is not None:
            raise Undecided(f"renames the columns of {source.label!r} with an alias column list")
        tenant = OutColumn(self.column)
        return Relation(
            [OutColumn(OPEN, but_not=self.column), tenant],
            [Atom(source.label, "", frozenset((tenant,)))],
        )

    def has(self, source: Source, name: str) -> bool | None:
        """Whether a source has a column of that name; None if that is not known."""
        named = self.of_source(source).named(name)
        return None if named is None else bool(named)


class _Nothing:
    """The surroundings of constants: no columns, no queries."""

    def resolve(self, column: exp.Column) -> None:
        """No column is known."""

    def query_columns(self, query: exp.Expr) -> None:
        """No query is known."""

    def query_value(self, query: exp.Expr) -> None:
        """No query is known."""

    def query_facts(self, query: exp.Expr) -> Facts:
        """No query is known."""
        del query
        return Facts()
