"""The columns of a SELECT's result, and which columns inside it they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from dbagenteval.rules.query.names import Folding
from dbagenteval.rules.query.queries import Join, Query, Source, unwrap
from dbagenteval.rules.tenant.facts import Classes, Domain, Term
from dbagenteval.rules.tenant.joins import JoinContexts
from dbagenteval.rules.tenant.predicates import PredicateReader
from dbagenteval.rules.tenant.relations import OPEN, OutColumn, Relation

__all__ = ["Output", "output_of"]

_VALUE_KEEPING = (exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last)
"""Aggregates whose value is one of the values."""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result and the column it is, if it is one."""

    column: OutColumn
    term: Term | None = None


class _Flow(Protocol):
    @property
    def sql(self) -> _Sql: ...

    def of_source(self, source: Source) -> Relation: ...


class _Sql(Protocol):
    fold: Folding


class _Select(Protocol):
    query: Query
    node: exp.Expr
    reader: PredicateReader

    @property
    def flow(self) -> _Flow: ...

    def is_outer(self, term: Term) -> bool: ...


def output_of(select: _Select, classes: Classes, contexts: JoinContexts | None) -> list[Output]:
    """Give the result's columns in order; a star is spread as far as its columns are known.

    Args:
        select: The SELECT.
        classes: What its conditions tell.
        contexts: What holds for each source, for columns that an outer join may fill with NULL.
    """
    found: list[Output] = []
    for node in select.node.expressions:
        star = _star(node)
        if star is not None:
            found += _spread(select, node, star, classes, contexts)
        elif isinstance(unwrap(node), (exp.Columns, exp.Aliases, exp.UDTF, exp.Dot)):
            found.append(Output(OutColumn(OPEN)))
        else:
            found.append(_one(select, node, classes, contexts))
    return found


def _star(node: exp.Expr) -> exp.Star | None:
    if isinstance(node, exp.Star):
        return node
    inner = node.this if isinstance(node, exp.Column) else None
    return inner if isinstance(inner, exp.Star) else None


def _one(
    select: _Select, node: exp.Expr, classes: Classes, contexts: JoinContexts | None
) -> Output:
    fold = select.flow.sql.fold
    if isinstance(node, exp.Alias):
        name, value = fold.of_column(node.args["alias"]), node.this
    else:
        value = unwrap(node)
        name = fold.of_column(value.this) if isinstance(value, exp.Column) else ""
    inner = unwrap(value)
    is_same_value = not isinstance(inner, _VALUE_KEEPING)
    operand = select.reader.operand(value if is_same_value else inner.this)
    if isinstance(operand, frozenset):
        is_constant = not isinstance(inner, exp.Query) and is_same_value
        return Output(OutColumn(name, operand, is_sure=is_constant))
    if operand is None:
        return Output(OutColumn(name))
    domain = _domain(operand, classes, contexts)
    if not is_same_value:
        return Output(OutColumn(name, domain))
    terms = frozenset(term for term in classes.equals(operand) if select.is_outer(term))
    is_sure = contexts is not None and operand in contexts.result.sure
    return Output(OutColumn(name, domain, terms, is_sure=is_sure), operand)


def _domain(term: Term, classes: Classes, contexts: JoinContexts | None) -> Domain | None:
    domain = classes.domain(term)
    source = term[0]
    if domain is None and contexts is not None and isinstance(source, Source):
        facts = contexts.at_source.get(source)
        domain = None if facts is None else Classes(facts).domain(term)
    return domain


def _spread(
    select: _Select,
    node: exp.Expr,
    star: exp.Star,
    classes: Classes,
    contexts: JoinContexts | None,
) -> list[Output]:
    fold = select.flow.sql.fold
    changed = _changed(star, fold)
    if star.args.get("ilike"):
        return [Output(OutColumn(OPEN))]
    qualifier = node.args.get("table") if isinstance(node, exp.Column) else None
    if qualifier is not None:
        alias = fold.of_table(qualifier)
        sources = [
            (source, frozenset[str]()) for source in select.query.sources if source.alias == alias
        ]
    else:
        sources = list(_visible(select.query.tree))
    if not sources:
        return [Output(OutColumn(OPEN))]
    found: list[Output] = []
    for source, merged in sources:
        for column in select.flow.of_source(source).columns:
            if column.name == OPEN:
                found.append(Output(OutColumn(OPEN, but_not=column.but_not)))
            elif column.name in changed:
                found.append(Output(OutColumn(column.name)))
            elif column.name not in merged:
                term = (source, column.name)
                is_sure = contexts is not None and term in contexts.result.sure
                domain = _domain(term, classes, contexts)
                domain = column.domain if domain is None else domain
                twin = OutColumn(column.name, domain, column.terms, is_sure=is_sure)
                found.append(Output(twin, term if column.name else None))
    return found


def _changed(star: exp.Star, fold: Folding) -> set[str]:
    """Give the names that EXCEPT, REPLACE or RENAME of a star take away or give anew."""
    found: set[str] = set()
    for part in ("except_", "replace", "rename"):
        for item in star.args.get(part) or ():
            found.add(fold.of_column(item.args.get("alias") or item))
            found.add(fold.of_column(item.this if isinstance(item.this, exp.Expr) else item))
    return found


def _visible(tree: Join | Source | None) -> Iterator[tuple[Source, frozenset[str]]]:
    """Give the sources that a star shows, each with the names that USING took from it."""
    if isinstance(tree, Source):
        yield tree, frozenset()
    elif isinstance(tree, Join):
        yield from _visible(tree.left)
        if tree.kind not in ("semi", "anti"):
            for source, merged in _visible(tree.right):
                yield source, merged | frozenset(tree.using)
