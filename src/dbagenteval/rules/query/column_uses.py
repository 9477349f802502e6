"""Every use of a column in a statement: references, stars, whole rows, USING, NATURAL, fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbagenteval.rules.query.columns import ColumnResolver
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.output_names import OutputNames
from dbagenteval.rules.query.queries import Join, Query, Source, Undecided
from dbagenteval.rules.query.reader import read_queries
from dbagenteval.rules.query.sql import Sql

__all__ = ["Use", "column_uses"]

_WHOLE_ROWS = ("", "postgres", "duckdb", "bigquery", "redshift", "materialize", "risingwave")
_NO_ALIAS_IN_HAVING = ("postgres", "redshift", "tsql", "oracle", "trino", "presto", "athena")
_NO_ALIAS_IN_ORDER_TERMS = ("postgres", "materialize", "risingwave")
_LATERAL_ALIASES = ("snowflake", "redshift", "databricks", "spark", "duckdb", "clickhouse")
_STRUCTS = ("bigquery", "snowflake", "duckdb", "spark", "databricks", "clickhouse", "hive")
_ALIAS_CLAUSES = ("group", "having", "order", "qualify")
_PSEUDO = {
    "oracle": ("rownum", "rowid", "level", "sysdate", "systimestamp", "user", "uid"),
    "sqlite": ("rowid", "oid", "_rowid_"),
    "duckdb": ("rowid",),
    "postgres": ("ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"),
    "snowflake": ("rownum",),
}
_UNITS = frozenset(
    [
        "year",
        "quarter",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "millisecond",
        "microsecond",
        "yy",
        "mm",
        "dd",
        "hh",
        "mi",
        "ss",
    ]
)


@dataclass(frozen=True, slots=True)
class Use:
    """One use of columns of base tables.

    Args:
        kind: `column`, `star`, `pattern` (COLUMNS), `row` (a whole row), `natural` or `field`.
        name: Folded name of the column; the alias for a whole row.
        tables: The base tables that the column may belong to.
        written: Name as written.
        is_qualified: A table is named with it.
    """

    kind: str
    name: str
    tables: tuple[Source, ...]
    written: str = ""
    is_qualified: bool = False


def column_uses(sql: Sql) -> list[Use]:
    """Give all uses of base tables' columns in all statements.

    Raises:
        Undecided: A form that can't be analysed.
    """
    return sql.memo("column uses", lambda: list(_Walker(sql).uses()))


class _Walker:
    def __init__(self, sql: Sql) -> None:
        self.sql = sql
        self.fold = sql.fold
        self.base = base_name(sql.dialect)
        self.outputs = OutputNames(sql)
        self.resolver = ColumnResolver(sql.fold, self.outputs.has)

    def uses(self) -> Iterator[Use]:
        for top in read_queries(self.sql):
            for query in top.all():
                for source in query.sources:
                    if source.alias:
                        self.resolver.qualified(source.alias, query)
                    if source.kind == "table" and source.columns is not None:
                        raise Undecided(
                            f"renames the columns of {source.label!r} with an alias column list"
                        )
                    if source.is_distorted:
                        yield Use("star", "*", _tables([source]))
                yield from self._query(query)

    def _query(self, query: Query) -> Iterator[Use]:
        if isinstance(query.node, exp.SetOperation):
            order = query.node.args.get("order")
            names = self.outputs.of(query) or []
            if order is not None and query.arms:
                for node in self._own(order):
                    if isinstance(node, exp.Column) and self.fold.of_column(node.this) not in names:
                        yield self._use(node, query.arms[0], None)
            return
        for key, value in query.node.args.items():
            if key in ("with_", "from_", "joins"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    yield from self._part(part, query, key, None)
        yield from self._sources(query)

    def _sources(self, query: Query) -> Iterator[Use]:
        todo = [query.tree] if query.tree is not None else []
        while todo:
            tree = todo.pop()
            if isinstance(tree, Source):
                if tree.kind in ("function", "values"):
                    yield from self._part(tree.node, query, "from_", None)
                continue
            todo += [tree.right, tree.left]
            if tree.on is not None:
                yield from self._part(tree.on, query, "on", tree)
            for name in tree.using:
                tables = _tables(tree.sources())
                yield Use("column", name, tables, name)
            if tree.is_natural:
                yield Use("natural", "", _tables(tree.sources()))

    def _own(self, part: exp.Expr) -> Iterator[exp.Expr]:
        return part.walk(bfs=False, prune=lambda node: isinstance(node, (exp.Query, exp.Values)))

    def _part(self, part: exp.Expr, query: Query, clause: str, join: Join | None) -> Iterator[Use]:
        nodes = self._own(part)
        if isinstance(part, (exp.Values,)):
            nodes = (node for item in part.expressions for node in self._own(item))
        for node in nodes:
            if isinstance(node, exp.Star):
                yield from self._star(node, query)
            elif isinstance(node, exp.Columns):
                yield Use("pattern", "*", _tables(query.sources), "COLUMNS")
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                if not self._is_free(node, query, clause):
                    yield from self._column(node, query, join)
            elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
                yield Use("field", self.fold.of_column(node.expression), (), node.expression.name)

    def _star(self, node: exp.Star, query: Query) -> Iterator[Use]:
        parent = node.parent
        if isinstance(parent, exp.Count):
            return
        qualifier = parent.args.get("table") if isinstance(parent, exp.Column) else None
        top = parent if isinstance(parent, exp.Column) else node
        if _is_exists(query.node) and top.parent is query.node:
            return
        sources = query.sources
        if qualifier is not None:
            alias = self.fold.of_table(qualifier)
            sources = [source for source in sources if source.alias == alias]
        yield Use("star", "*", _tables(sources), is_qualified=qualifier is not None)

    def _is_free(self, node: exp.Column, query: Query, clause: str) -> bool:
        """True for what only looks like a column: an alias of this SELECT, a unit, ROWNUM."""
        if node.args.get("table"):
            return False
        name = self.fold.of_column(node.this)
        if name.lower() in _PSEUDO.get(self.base, ()):
            return True
        if name.lower() in _UNITS and _is_unit(node):
            return True
        aliases = {
            self.fold.of_column(item.args["alias"]): index
            for index, item in enumerate(query.node.expressions)
            if isinstance(item, exp.Alias)
        }
        if name not in aliases:
            return False
        if clause == "expressions" and self.base in _LATERAL_ALIASES:
            return self._is_earlier(node, query, aliases[name])
        if clause not in _ALIAS_CLAUSES or not _stands_alone(node):
            return False
        if clause == "having" and self.base in _NO_ALIAS_IN_HAVING:
            # There a bare name is a column, which must be grouped by or depend on a grouped key:
            # where only expressions are grouped by, the name can read nothing.
            return not _groups_by_columns(query, aliases)
        is_bare = isinstance(node.parent, (exp.Ordered, exp.Group))
        return is_bare or clause != "order" or self.base not in _NO_ALIAS_IN_ORDER_TERMS

    @staticmethod
    def _is_earlier(node: exp.Column, query: Query, index: int) -> bool:
        """An alias may be used in the items after it, unless a column has its name."""
        item: exp.Expr | None = node
        while item is not None and item.parent is not query.node:
            item = item.parent
        items = list(query.node.expressions)
        return any(item is other for other in items[index + 1 :])

    def _column(self, node: exp.Column, query: Query, join: Join | None) -> Iterator[Use]:
        qualifier = node.args.get("table")
        if qualifier is None and self.base in _WHOLE_ROWS:
            row = self._row(node, query)
            if row is not None:
                yield Use("row", row.alias, _tables([row]), node.name)
                return
        yield self._use(node, query, join)

    def _row(self, node: exp.Column, query: Query) -> Source | None:
        """A bare name that is a source's alias may be its whole row."""
        name = self.fold.of_table(node.this)
        at: Query | None = query
        while at is not None:
            for source in at.sources:
                is_named = isinstance(source.node.args.get("alias"), exp.TableAlias)
                if source.alias == name and source.kind in ("table", "cte", "query"):
                    inner = self.outputs.has(source, self.fold.of_column(node.this))
                    return source if inner is None and (self.base or is_named) else None
            at = at.parent
        return None

    def _use(self, node: exp.Column, query: Query, join: Join | None) -> Use:
        name = self.fold.of_column(node.this)
        qualifier = node.args.get("table")
        found = self.resolver.find(node, query, join)
        if found is None and qualifier is not None and self.base in _STRUCTS:
            root = next(
                node.args[part] for part in ("catalog", "db", "table") if node.args.get(part)
            )
            return Use("column", self.fold.of_column(root), _tables(query.sources), root.name)
        if found is None:
            return Use("column", name, self._anywhere(query), node.name, qualifier is not None)
        owner = found[0]
        sources = [owner] if isinstance(owner, Source) else owner.sources
        maybe = [source for source in sources if self.outputs.has(source, name) is not False]
        tables = _tables(maybe)
        if not tables and not self._is_elsewhere(name, maybe, is_bare=qualifier is None):
            return Use("inner", name, ())
        return Use(
            "column", name, tables or self._anywhere(query), node.name, qualifier is not None
        )

    def _is_elsewhere(self, name: str, maybe: list[Source], *, is_bare: bool) -> bool:
        """True if no derived source has the column for sure, so that it may be a table's."""
        if not maybe:
            return True
        return is_bare and all(
            source.kind == "function"
            and source.alias != name
            and self.outputs.has(source, name) is None
            for source in maybe
        )

    def _anywhere(self, query: Query) -> tuple[Source, ...]:
        found: list[Source] = []
        at: Query | None = query
        while at is not None:
            found += at.sources
            at = at.parent
        return _tables(found)


def _tables(sources: list[Source]) -> tuple[Source, ...]:
    return tuple(source for source in sources if source.kind == "table")


def _is_exists(node: exp.Expr) -> bool:
    """True for the query of EXISTS, whose columns don't matter."""
    parent = node.parent
    while isinstance(parent, exp.Subquery):
        parent = parent.parent
    return isinstance(parent, exp.Exists)


def _groups_by_columns(query: Query, aliases: Mapping[str, int]) -> bool:
    group = query.node.args.get("group")
    for item in group.expressions if group is not None else ():
        if not isinstance(item, exp.Column):
            continue
        index = aliases.get(item.name.lower())
        if index is None or isinstance(query.node.expressions[index].this, exp.Column):
            return True
    return False


def _is_unit(node: exp.Column) -> bool:
    parent = node.parent
    if isinstance(parent, (exp.Anonymous, exp.Func)):
        name = parent.name if isinstance(parent, exp.Anonymous) else parent.sql_name()
        return any(word in name.lower() for word in ("date", "time", "extract", "trunc"))
    return False


def _stands_alone(node: exp.Expr) -> bool:
    """True if only comparisons, connectors and arithmetic lie between it and its clause."""
    part = node.parent
    while part is not None and not isinstance(
        part, (exp.Group, exp.Having, exp.Order, exp.Qualify)
    ):
        if isinstance(part, exp.Func) and not isinstance(part, (exp.And, exp.Or)):
            return False
        if isinstance(part, (exp.Neg, exp.Window, exp.Query, exp.Case, exp.Cast)):
            return False
        part = part.parent
    return part is not None
