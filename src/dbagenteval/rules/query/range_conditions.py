"""Which columns of which tables a SELECT's conditions restrict to a range or to values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from dbagenteval.rules.query.columns import ColumnResolver
from dbagenteval.rules.query.names import GivenName
from dbagenteval.rules.query.output_names import OutputNames
from dbagenteval.rules.query.queries import Join, Query, Source, columns_in, unwrap
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.sql import Sql

__all__ = ["guarded_sources", "restricted", "unrestricted"]

_LOWER = (exp.GT, exp.GTE)
_UPPER = (exp.LT, exp.LTE)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How conditions count.

    Args:
        bare: Only the column itself counts, not an expression over it.
        needs_lower: There must be a lower bound (or equality): `< x` alone doesn't count.
    """

    bare: bool
    needs_lower: bool


def guarded_sources(query: Query, tables: tuple[GivenName, ...] | None) -> list[Source]:
    """Give the base tables that a query reads, those of the list if there is one."""
    found = [source for source in query.sources if source.kind == "table"]
    if tables is None:
        return found
    wanted = [tuple(text.casefold() for text, _ in name.parts) for name in tables]

    def is_wanted(source: Source) -> bool:
        name = tuple(part.casefold() for part in source.name)
        return any(name[-len(one) :] == one or one[-len(name) :] == name for one in wanted)

    return [source for source in found if is_wanted(source)]


def unrestricted(
    sql: Sql,
    column: str,
    tables: tuple[GivenName, ...] | None,
    *,
    bare: bool,
    needs_lower: bool,
) -> list[str]:
    """Give the labels of guarded tables that no condition on the column restricts.

    Raises:
        Undecided: A form that can't be analysed.
    """
    reading = _Reading(bare, needs_lower)
    resolver = ColumnResolver(sql.fold, OutputNames(sql).has)
    names = {form[0] for form in GivenName(column).forms(sql.fold, column=True)}
    found: list[str] = []
    for top in read_queries(sql):
        for query in top.all():
            guarded = guarded_sources(query, tables)
            if guarded:
                fine = restricted(query, _finder(resolver, query, names, guarded), reading)
                found += [source.label for source in guarded if source not in fine]
    return list(dict.fromkeys(found))


_Find = Callable[[exp.Column, Join | None], Source | None]


def _finder(
    resolver: ColumnResolver, query: Query, names: set[str], guarded: list[Source]
) -> _Find:
    """Give a function that tells whose column of these names a reference is."""

    def find(column: exp.Column, join: Join | None) -> Source | None:
        owner = resolver.find(column, query, join)
        if owner is None or owner[1] not in names:
            return None
        if isinstance(owner[0], Source):
            return owner[0]
        return guarded[0] if owner[0] is query and len(guarded) == 1 else None

    return find


def restricted(query: Query, find: _Find, reading: _Reading) -> set[Source]:
    """Give the sources whose column is restricted for every row that they contribute."""
    where = query.node.args.get("where")
    found = set() if where is None else _of(where.this, find, None, reading)
    todo: list[Join | Source] = [] if query.tree is None else [query.tree]
    while todo:
        tree = todo.pop()
        if isinstance(tree, Source):
            continue
        todo += [tree.left, tree.right]
        if tree.on is not None:
            bound = _of(tree.on, find, tree, reading)
            optional = {"left": tree.right, "anti": tree.right, "right": tree.left}.get(tree.kind)
            if tree.kind in ("inner", "semi"):
                found |= bound
            elif optional is not None:
                side = optional.sources() if isinstance(optional, Join) else [optional]
                found |= bound & set(side)
    return found


def _of(node: exp.Expr, find: _Find, join: Join | None, reading: _Reading) -> set[Source]:
    found: set[Source] = set()
    for part in _flat(node, exp.And):
        if isinstance(part, exp.Or):
            arms = [_of(arm, find, join, reading) for arm in _flat(part, exp.Or)]
            found |= set.intersection(*arms)
        else:
            found |= _of_comparison(part, find, join, reading)
    return found


def _flat(node: exp.Expr, kind: type[exp.Connector]) -> Iterator[exp.Expr]:
    todo = [node]
    while todo:
        part = unwrap(todo.pop())
        if isinstance(part, kind):
            todo += [part.expression, part.this]
        else:
            yield part


def _of_comparison(
    node: exp.Expr, find: _Find, join: Join | None, reading: _Reading
) -> set[Source]:
    if isinstance(node, exp.Between):
        sides = [(node.this, [node.args["low"], node.args["high"]])]
    elif isinstance(node, exp.In):
        sides = [(node.this, [*node.expressions])] if node.expressions else []
    elif isinstance(node, (exp.EQ, *_LOWER, *_UPPER)):
        left, right = (node.this, [node.expression]), (node.expression, [node.this])
        lower_left = isinstance(node, (exp.EQ, *_LOWER)) or not reading.needs_lower
        lower_right = isinstance(node, (exp.EQ, *_UPPER)) or not reading.needs_lower
        sides = [side for side, counts in ((left, lower_left), (right, lower_right)) if counts]
    else:
        return set()
    found: set[Source] = set()
    for side, others in sides:
        value = unwrap(side)
        columns = [value] if isinstance(value, exp.Column) else list(columns_in(value))
        if (reading.bare and not isinstance(value, exp.Column)) or len(columns) != 1:
            continue
        if any(next(columns_in(other), None) is not None for other in others):
            continue
        owner = find(columns[0], join)
        if owner is not None:
            found.add(owner)
    return found
