"""The tenant analysis of one SELECT."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from dbagenteval.rules.query import select_parts
from dbagenteval.rules.query.columns import ColumnResolver
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.queries import Join, Query, Source
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.tenant.facts import Classes, Domain, Facts, Term
from dbagenteval.rules.tenant.joins import JoinContexts
from dbagenteval.rules.tenant.output import Output, output_of
from dbagenteval.rules.tenant.predicates import Operand, PredicateReader
from dbagenteval.rules.tenant.relations import Atom, Relation

__all__ = ["Flow", "SelectAnalysis"]

_ALIAS_FIRST = ("clickhouse",)
"""Dialects where an alias of the SELECT list hides a column in WHERE too."""


class Flow(Protocol):
    """The analysis of the whole text, as one SELECT needs it."""

    sql: Sql
    column: str
    keys: frozenset[str]
    has_unqualified: bool
    row_facts: dict[Query, Facts]

    @property
    def admits(self) -> Callable[[Domain], bool]:
        """Whether all values of a column are the tenant's."""

    @property
    def is_value(self) -> Callable[[str], bool]:
        """Whether a text is the tenant's value."""

    def relation(self, query: Query) -> Relation:
        """Analyse a query."""

    def of_source(self, source: Source) -> Relation:
        """What a source's rows depend on."""

    def has(self, source: Source, name: str) -> bool | None:
        """Whether a source has a column."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """An atom that this SELECT's conditions don't fix.

    Args:
        atom: Where it comes from.
        terms: Columns, here or further out, that hold its rows' tenant.
    """

    atom: Atom
    terms: frozenset[Term]


class SelectAnalysis:
    """Finds what the rows of a SELECT depend on.

    Args:
        flow: The analysis of the whole text.
        query: The SELECT.
    """

    def __init__(self, flow: Flow, query: Query) -> None:
        self.flow = flow
        self.query = query
        self.node = query.node
        self._resolver = ColumnResolver(flow.sql.fold, flow.has)
        self._held: dict[int, tuple[Query, Relation]] = {}
        self._own: set[Source | Query] = {query, *query.sources}
        self._join: Join | None = None
        self._hidden: frozenset[str] = frozenset()
        self.reader = PredicateReader(base_name(flow.sql.dialect), self, flow.is_value)

    def relation(self) -> Relation:
        """Analyse the SELECT."""
        for source in self.query.sources:
            if source.alias:
                self._resolver.qualified(source.alias, self.query)
        for sub in self.query.subqueries:
            self._held[id(sub.node)] = (sub.query, self.flow.relation(sub.query))
            self._own.add(sub.query)
        shadowed = select_parts.shadowed_names(self.node, self.flow.sql.fold)
        contexts = self._contexts(self._where(shadowed))
        result = contexts.result if contexts else self._where(shadowed)
        classes = Classes(result)
        self._hidden = shadowed
        pending = self._unbound(contexts, result)
        pending = self._after_grouping(pending, classes)
        pending = self._after_windows(pending, result)
        self._hidden = frozenset()
        self.flow.row_facts[self.query] = self._outer_facts(result, classes)
        return self._result(pending, output_of(self, classes, contexts))

    # What the predicates may refer to.

    def resolve(self, column: exp.Column) -> Term | None:
        """Give the column that a reference means, as seen from the clause being read."""
        if not column.args.get("table"):
            name = self.flow.sql.fold.of_column(column.this)
            if name in self._hidden:
                return None
            if name == self.flow.column and len(self.query.sources) > 1:
                self.flow.has_unqualified = True
        return self._resolver.find(column, self.query, self._join)

    def query_columns(self, query: exp.Expr) -> list[list[Operand]] | None:
        """Give, for each column of a subquery's row, what it is equal to; None if unknown."""
        held = self._held.get(id(query))
        if held is None or held[1].is_open:
            return None
        found: list[list[Operand]] = []
        for index, column in enumerate(held[1].columns):
            several: list[Operand] = [(held[0], f"#{index}"), *column.terms]
            found.append([*several, column.domain] if column.domain is not None else several)
        return found

    def query_value(self, query: exp.Expr) -> Operand | None:
        """Give what the value of a scalar subquery is, where it is not NULL."""
        held = self._held.get(id(query))
        if held is None or len(held[1].columns) != 1:
            return None
        column = held[1].columns[0]
        return column.domain if column.domain is not None else next(iter(column.terms), None)

    def query_facts(self, query: exp.Expr) -> Facts:
        """Give what holds here if a subquery has a row."""
        held = self._held.get(id(query))
        return Facts() if held is None else self.flow.row_facts.get(held[0], Facts())

    # Steps.

    def _where(self, shadowed: frozenset[str]) -> Facts:
        found = Facts()
        if base_name(self.flow.sql.dialect) in _ALIAS_FIRST:
            self._hidden = shadowed
        for part in ("where", "prewhere"):
            clause = self.node.args.get(part)
            if clause is not None:
                found.add(self.reader.facts(clause.this))
        counted = select_parts.aggregate_conditions(self.node)
        if counted is not None:
            rows = Facts(never=True)
            for conditions in counted:
                for condition in conditions:
                    rows = rows.either(self.reader.facts(condition))
            rows.never = False  # there is a row of the result even if nothing counts in it
            found.add(rows)
        having = self.node.args.get("having")
        if having is not None:
            self._hidden = shadowed
            found.add(self._of_keys(self.reader.facts(having.this)))
        self._hidden = frozenset()
        return self._tied(found)

    def _of_keys(self, facts: Facts) -> Facts:
        """HAVING on a group key is WHERE on it; on anything else it chooses among mixed groups."""
        keys = self._group_keys()
        if keys is None:
            return Facts()
        return Facts(
            pairs=[(one, two) for one, two in facts.pairs if one in keys and two in keys],
            domains={term: domain for term, domain in facts.domains.items() if term in keys},
            sure={term for term in facts.sure if term in keys},
            never=facts.never,
        )

    def _group_keys(self) -> frozenset[Term] | None:
        """The columns among the group keys; None if groups are not simply by keys."""
        keys = select_parts.group_keys(self.node)
        if keys is None:
            return None
        return self._terms(keys)

    def _terms(self, nodes: Iterable[exp.Expr]) -> frozenset[Term]:
        operands = [self.reader.operand(node) for node in nodes]
        return frozenset(operand for operand in operands if isinstance(operand, tuple))

    def _contexts(self, where: Facts) -> JoinContexts | None:
        tree = self.query.tree
        return (
            None if tree is None else JoinContexts(tree, where, self._on_facts, self._source_facts)
        )

    def _on_facts(self, join: Join) -> Facts:
        self._join = join
        try:
            found = Facts() if join.on is None else self.reader.facts(join.on)
            names = list(join.using)
            if join.is_natural:
                names.append(self.flow.column)
            for name in names:
                left, right = (self._merged(side, name, join) for side in (join.left, join.right))
                if left is not None and right is not None:
                    found.equate(left, right)
            return self._tied(found)
        finally:
            self._join = None

    def _tied(self, facts: Facts) -> Facts:
        """Rows that are equal in a key which never crosses tenants have one tenant."""
        for one, other in list(facts.pairs):
            if {one[1], other[1]} <= self.flow.keys:
                facts.pairs.append(((one[0], self.flow.column), (other[0], self.flow.column)))
        return facts

    def _merged(self, side: Join | Source, name: str, join: Join) -> Term | None:
        """The column of one side that USING or NATURAL means."""
        surely, maybe = self._resolver.search(side, name)
        if len(surely) == 1:
            return surely[0], name
        if not surely and len(maybe) == 1 and not join.is_natural:
            return maybe[0], name
        return None

    def _source_facts(self, source: Source) -> Facts:
        found = Facts()
        relation = self.flow.of_source(source)
        for name in {column.name for column in relation.columns}:
            named = relation.named(name)
            if not named or not name:
                continue
            domains = [column.domain for column in named]
            known = [domain for domain in domains if domain is not None]
            if len(known) == len(domains):
                found.domains[(source, name)] = frozenset().union(*known)
            if all(column.is_sure for column in named):
                found.sure.add((source, name))
            if len(named) == 1 and named[0].is_sure:
                found.pairs.extend(((source, name), term) for term in named[0].terms)
        return found

    def _unbound(self, contexts: JoinContexts | None, result: Facts) -> list[_Pending]:
        found: list[_Pending] = []
        known: dict[int, Classes] = {}

        def look(atom: Atom, terms: set[Term], facts: Facts) -> None:
            classes = known.setdefault(id(facts), Classes(facts))
            pending = _Pending(atom, classes.all_equals(terms))
            if not self._is_bound(pending, classes):
                found.append(pending)

        for source in self.query.sources:
            relation = self.flow.of_source(source)
            facts = contexts.at_source[source] if contexts else result
            for atom in relation.atoms:
                look(atom, self._exposed(source, relation, atom), facts)
        for sub in self.query.subqueries:
            facts = contexts.at_join[id(sub.join)] if contexts and sub.join else result
            query, relation = self._held[id(sub.node)]
            for atom in relation.atoms:
                indexes = [i for i, column in enumerate(relation.columns) if column in atom.columns]
                links: set[Term] = (
                    set() if relation.is_open else {(query, f"#{i}") for i in indexes}
                )
                look(atom, links | set(atom.terms), facts)
        return found

    @staticmethod
    def _exposed(source: Source, relation: Relation, atom: Atom) -> set[Term]:
        """The columns by which this SELECT can fix an atom of a source."""
        terms: set[Term] = set(atom.terms)
        for column in atom.columns:
            named = relation.named(column.name)
            if column.name and named and all(other in atom.columns for other in named):
                terms.add((source, column.name))
        return terms

    def _is_bound(self, pending: _Pending, classes: Classes) -> bool:
        if classes.never:
            return True
        domains = [classes.domain(term) for term in pending.terms]
        return any(domain is not None and self.flow.admits(domain) for domain in domains)

    def is_outer(self, term: Term) -> bool:
        """Whether a column belongs to a query further out."""
        return term[0] not in self._own

    def _mixed(self, pending: _Pending) -> _Pending:
        return replace(pending, terms=frozenset(t for t in pending.terms if self.is_outer(t)))

    def _after_grouping(self, pending: list[_Pending], classes: Classes) -> list[_Pending]:
        if not pending or not select_parts.is_aggregated(self.node):
            return pending
        keys = self._group_keys() or frozenset()
        del classes
        return [item if item.terms & keys else self._mixed(item) for item in pending]

    def _after_windows(self, pending: list[_Pending], result: Facts) -> list[_Pending]:
        if not pending:
            return pending
        for partition in select_parts.partitions(self.node):
            terms = self._terms(partition)
            pending = [item if item.terms & terms else self._mixed(item) for item in pending]
        qualify = self.node.args.get("qualify")
        if qualify is not None:
            facts = result.copy()
            facts.add(self.reader.facts(qualify.this))
            classes = Classes(facts)
            pending = [item for item in pending if not self._is_bound(item, classes)]
        return pending

    def _outer_facts(self, result: Facts, classes: Classes) -> Facts:
        """What a row of this query tells of the columns further out."""
        found = Facts(never=classes.never)
        found.sure = {term for term in result.sure if self.is_outer(term)}
        found.present = {term[0] for term in found.sure}
        if select_parts.always_has_row(self.node):
            return Facts()
        for term in classes.terms:
            if self.is_outer(term):
                domain = classes.domain(term)
                if domain is not None:
                    found.limit(term, domain)
                for twin in classes.equals(term):
                    if self.is_outer(twin) and twin != term:
                        found.equate(term, twin)
        return found

    def _result(self, pending: list[_Pending], output: list[Output]) -> Relation:
        atoms: list[Atom] = []
        for item in pending:
            columns = frozenset(
                out.column for out in output if out.term is not None and out.term in item.terms
            )
            terms = frozenset(term for term in item.terms if self.is_outer(term))
            where = item.atom.where or self.query.label
            atom = Atom(item.atom.label, where, columns, terms)
            atoms.append(atom)
        return Relation([out.column for out in output], atoms)
