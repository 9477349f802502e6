"""From a parsed statement to its queries: who reads what under which name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.queries import Cte, Join, Query, Source, Subquery, Undecided
from dbagenteval.rules.query.sql import Sql

__all__ = ["read_queries"]

_Env = Mapping[str, Cte]

_IMPLICIT_RECURSION = ("sqlite", "tsql", "fabric", "oracle", "snowflake", "teradata")
"""Dialects where a WITH item whose body is a set operation may read itself without RECURSIVE."""

_PATH_SOURCES = ("bigquery", "redshift")
"""Dialects where `FROM t, t.items` reads an array of the row, not a table."""

_LIMITS = ("limit", "offset")
_OWN_PARTS = ("from_", "joins", "laterals", "with_")
_NOT_ANALYSED = {
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "pivots": "PIVOT",
    "sample": "a sample of its rows",
}


def read_queries(sql: Sql) -> list[Query]:
    """Give the top query of each statement.

    Raises:
        Undecided: A form that can't be analysed, or a table that no query was seen to read.
    """
    return sql.memo("queries", lambda: _Reader(sql).read())


class _Reader:
    def __init__(self, sql: Sql) -> None:
        self.sql = sql
        self.fold = sql.fold
        self.base = base_name(sql.dialect)
        self.tables = 0
        # Looking for subqueries inside expressions is worth it only if there is one anywhere.
        selects = sum(1 for _ in sql.find(exp.Select))
        self.is_flat = selects == len(sql.statements) and not any(
            True for _ in sql.find(exp.Values, exp.SetOperation)
        )

    def read(self) -> list[Query]:
        found = [self.query(statement, None, {}, "") for statement in self.sql.statements]
        written = list(self.sql.find(exp.Table))
        if self.tables != len(written):
            names = sorted({table.name for table in written})
            raise Undecided(f"cannot tell which query reads {', '.join(map(repr, names))}")
        return found

    def query(
        self,
        node: exp.Expr,
        parent: Query | None,
        env: _Env,
        label: str,
        cte: Cte | None = None,
    ) -> Query:
        """Read a query that may stand in brackets with a WITH or LIMIT of their own."""
        ctes: list[Cte] = []
        is_limited = False
        wrappers: list[exp.Expr] = []
        while isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            _refuse_parts(node)
            env = self._with(node, parent, env, ctes)
            is_limited = is_limited or any(node.args.get(part) for part in _LIMITS)
            wrappers.append(node)
            node = node.this
        if isinstance(node, exp.SetOperation):
            found = self._set_operation(node, parent, env, label, cte)
        elif isinstance(node, exp.Select):
            found = self._select(node, parent, env, label, cte)
        elif isinstance(node, exp.Values):
            found = Query(node, parent, label, from_cte=cte)
            self._subqueries(found, node.expressions, env)
        else:
            raise Undecided(f"holds a {type(node).__name__}, which cannot be analysed")
        for wrapper in wrappers:
            self._subqueries(
                found, [wrapper.args[p] for p in ("order", *_LIMITS) if wrapper.args.get(p)], env
            )
        found.ctes = ctes + found.ctes
        found.is_limited = found.is_limited or is_limited
        return found

    def _set_operation(
        self, node: exp.SetOperation, parent: Query | None, env: _Env, label: str, cte: Cte | None
    ) -> Query:
        found = Query(node, parent, label, from_cte=cte)
        env = self._with(node, parent, env, found.ctes)
        rights: list[exp.Expr] = []
        left: exp.Expr = node
        # Chains lean left and can be long, so they are unrolled, not recursed into.
        while isinstance(left, exp.SetOperation) and (left is node or _is_plain(left)):
            found.operators.append(left)
            rights.append(left.expression)
            left = left.this
        found.operators.reverse()
        for arm in [left, *reversed(rights)]:
            found.arms.append(self.query(arm, parent, env, label, cte))
        found.is_limited = any(node.args.get(part) for part in _LIMITS)
        _refuse_parts(node)
        parts = [node.args[part] for part in ("order", *_LIMITS) if node.args.get(part)]
        self._subqueries(found, parts, env)
        return found

    def _select(
        self, node: exp.Select, parent: Query | None, env: _Env, label: str, cte: Cte | None
    ) -> Query:
        found = Query(node, parent, label, from_cte=cte)
        env = self._with(node, parent, env, found.ctes)
        _refuse_parts(node)
        found.is_limited = any(node.args.get(part) for part in _LIMITS)
        start = node.args.get("from_")
        if start is not None:
            found.tree = self._side(start.this, found, env)
        for join in node.args.get("joins") or ():
            found.tree = self._join(join, found.tree, found, env)
        for lateral in node.args.get("laterals") or ():
            right = self._source(lateral, found, env)
            found.tree = right if found.tree is None else Join("inner", found.tree, right)
        for key, value in node.args.items():
            if key not in _OWN_PARTS:
                self._subqueries(found, value if isinstance(value, list) else [value], env)
        _check_comma(found)
        return found

    def _with(self, node: exp.Expr, parent: Query | None, env: _Env, into: list[Cte]) -> _Env:
        with_ = node.args.get("with_")
        if with_ is None:
            return env
        if with_.args.get("udfs"):
            raise Undecided("defines a function inside WITH, which cannot be analysed")
        later = {self.fold.of_table(item.args["alias"].this) for item in with_.expressions}
        for item in with_.expressions:
            alias = item.args["alias"]
            name = self.fold.of_table(alias.this)
            columns = tuple(
                self.fold.of_column(column) for column in alias.args.get("columns") or ()
            )
            cte = Cte(alias.name, columns or None)
            recursive = bool(with_.args.get("recursive")) or self.base in _IMPLICIT_RECURSION
            body_env: _Env = env
            if recursive and isinstance(_bare(item.this), exp.SetOperation):
                body_env = {**env, name: cte}
            if with_.args.get("recursive"):
                self._refuse_forward(item.this, later - {name}, env)
            later.discard(name)
            cte.query = self._cte_body(item, cte, parent, body_env)
            env = {**env, name: cte}
            into.append(cte)
        return env

    def _cte_body(self, item: exp.Expr, cte: Cte, parent: Query | None, env: _Env) -> Query:
        body = item.this
        if item.args.get("scalar"):
            raise Undecided("has a scalar WITH item, which cannot be analysed")
        if not isinstance(body, (exp.Query, exp.Values)):
            raise Undecided(f"has a {type(body).__name__} in WITH, which cannot be analysed")
        return self.query(body, parent, env, f"the CTE {cte.name!r}", cte)

    def _refuse_forward(self, body: exp.Expr, later: set[str], env: _Env) -> None:
        """With RECURSIVE some databases let an item read a later one, others read a table."""
        for table in body.find_all(exp.Table):
            name = self.fold.of_table(table.this)
            if not table.args.get("db") and name in later and name not in env:
                raise Undecided(f"cannot tell which query reads {table.name!r}")

    def _side(self, node: exp.Expr, query: Query, env: _Env) -> Join | Source:
        """Read one side of a join: a source, or a bracketed or nested group of joins."""
        inside = node.this if isinstance(node, exp.Subquery) else None
        if inside is not None and not isinstance(inside, (exp.Query, exp.Values)):
            if node.args.get("alias") is not None:
                raise Undecided("gives an alias to a bracketed join, which cannot be analysed")
            side = self._side(inside, query, env)
        elif isinstance(inside, exp.Subquery) and not isinstance(
            _bare(inside), (exp.Select, exp.SetOperation, exp.Values)
        ):
            side = self._side(inside, query, env)
        else:
            side = self._source(node, query, env)
        for join in node.args.get("joins") or ():
            side = self._join(join, side, query, env)
        for lateral in node.args.get("laterals") or ():
            side = Join("inner", side, self._source(lateral, query, env))
        return side

    def _join(
        self, node: exp.Join, left: Join | Source | None, query: Query, env: _Env
    ) -> Join | Source:
        right = self._side(node.this, query, env)
        if left is None:
            return right
        kind, is_natural = _join_kind(node)
        on = node.args.get("on")
        using = tuple(self.fold.of_column(name) for name in node.args.get("using") or ())
        is_bare = on is None and not using and not is_natural and not node.kind
        join = Join(kind, left, right, on, using, is_natural, is_bare)
        if on is not None:
            self._subqueries(query, [on], env, join)
        return join

    def _source(self, node: exp.Expr, query: Query, env: _Env) -> Source:
        inner = node.this if isinstance(node, exp.Final) else node
        if isinstance(inner, exp.Table):
            self.tables += 1
            source = self._table(inner, query, env)
        elif isinstance(inner, exp.Subquery):
            source = self._derived(inner, query, env, is_lateral=False)
        elif isinstance(inner, exp.Lateral) and isinstance(inner.this, exp.Subquery):
            source = self._derived(inner, query, env, is_lateral=True)
        elif isinstance(inner, exp.Values):
            label = inner.alias or "VALUES"
            held = Query(inner, query, query.label)
            self._subqueries(held, inner.expressions, env)
            source = Source("values", inner, label=label, query=held)
        elif isinstance(inner, (exp.UDTF, exp.Func)):
            source = Source("function", inner, label=inner.alias or inner.name, is_lateral=True)
            self._subqueries(query, [inner], env)
        else:
            raise Undecided(f"reads from a {type(inner).__name__}, which cannot be analysed")
        self._alias(source, inner)
        source.is_distorted = any(inner.args.get(part) for part in ("pivots", "sample", "match"))
        query.sources.append(source)
        return source

    def _alias(self, source: Source, node: exp.Expr) -> None:
        alias = node.args.get("alias")
        if isinstance(alias, exp.TableAlias):
            if alias.this is not None:
                source.alias = self.fold.of_table(alias.this)
            columns = tuple(self.fold.of_column(name) for name in alias.args.get("columns") or ())
            source.columns = columns or None

    def _table(self, node: exp.Table, query: Query, env: _Env) -> Source:
        if not isinstance(node.this, exp.Identifier):
            if not isinstance(node.this, exp.Func):
                raise Undecided(
                    f"reads from a {type(node.this).__name__}, which cannot be analysed"
                )
            self._subqueries(query, [node.this], env)
            label = node.alias or node.this.name
            return Source("function", node, label=label, is_lateral=True)
        parts = tuple(self.fold.of_table(part) for part in node.parts)
        label = node.alias or node.name
        cte = env.get(parts[0]) if len(parts) == 1 else None
        if cte is not None:
            cte.is_recursive = cte.is_recursive or cte.query is None
            return Source("cte", node, parts[-1], label, cte=cte)
        known = {source.alias for source in query.sources}
        if len(parts) > 1 and parts[0] in known and self.base in _PATH_SOURCES:
            return Source("function", node, parts[-1], label, is_lateral=True)
        return Source("table", node, parts[-1], label, parts)

    def _derived(self, node: exp.Expr, query: Query, env: _Env, *, is_lateral: bool) -> Source:
        held = node.this
        label = node.alias or "a derived table"
        if isinstance(node, exp.Subquery):
            _refuse_parts(node, allowed=("pivots", "sample"))
            env = self._with(node, query, env, query.ctes)
        where = f"the derived table {node.alias!r}" if node.alias else "a derived table"
        # Even without LATERAL some databases let a derived table see its siblings.
        found = self.query(held, query, env, where, query.from_cte)
        found.is_limited = found.is_limited or any(node.args.get(part) for part in _LIMITS)
        return Source("query", node, label=label, query=found, is_lateral=is_lateral)

    def _subqueries(
        self, query: Query, parts: Iterable[object], env: _Env, join: Join | None = None
    ) -> None:
        """Read the queries inside expressions, without going into them twice."""
        if self.is_flat:
            return
        for part in parts:
            if not isinstance(part, exp.Expr):
                continue
            walk = part.walk(bfs=False, prune=_is_query)
            for node in walk:
                if _is_query(node):
                    held = self.query(node, query, env, "a subquery", query.from_cte)
                    query.subqueries.append(Subquery(held, node, join))
                elif isinstance(node, exp.Table):
                    raise Undecided(f"cannot tell which query reads {node.name!r}")


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, (exp.Query, exp.Values))


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery):
        node = node.this
    return node


def _is_plain(node: exp.SetOperation) -> bool:
    """True if nothing but arms stands at this link of a chain."""
    held = (*_LIMITS, "order", "with_", *_NOT_ANALYSED)
    return not any(node.args.get(part) for part in held)


def _refuse_parts(node: exp.Expr, allowed: tuple[str, ...] = ()) -> None:
    for part, name in _NOT_ANALYSED.items():
        if node.args.get(part) and part not in allowed:
            raise Undecided(f"uses {name}, which cannot be analysed")


def _join_kind(node: exp.Join) -> tuple[str, bool]:
    """Give inner, left, right, full, semi or anti, and whether the join is NATURAL."""
    side, kind, method = (
        str(node.args.get(key) or "").upper() for key in ("side", "kind", "method")
    )
    if node.args.get("match_condition") or node.args.get("nearest") or node.args.get("pivots"):
        raise Undecided("uses a join that picks rows, which cannot be analysed")
    if method not in ("", "NATURAL", "GLOBAL", "HASH", "LOOP", "MERGE", "REMOTE"):
        raise Undecided(f"uses {method} JOIN, which cannot be analysed")
    if kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
        return kind.lower(), method == "NATURAL"
    if kind not in ("", "INNER", "CROSS", "OUTER", "STRAIGHT_JOIN", "STRAIGHT"):
        raise Undecided(f"uses {side} {kind} JOIN, which cannot be analysed".replace("  ", " "))
    is_outer_apply = (
        isinstance(node.this, exp.Lateral) and node.this.args.get("cross_apply") is False
    )
    return ("left" if is_outer_apply else side.lower() or "inner"), method == "NATURAL"


def _check_comma(query: Query) -> None:
    """A comma binds weaker than JOIN in most databases and as strong in some.

    Only RIGHT and FULL JOIN make a difference between the two.
    """
    kinds: set[str] = set()
    tree = query.tree
    while isinstance(tree, Join):
        kinds.add("comma" if tree.is_comma else tree.kind)
        tree = tree.left
    if "comma" in kinds and kinds & {"right", "full"}:
        raise Undecided("mixes commas with RIGHT or FULL JOIN, which cannot be analysed")
