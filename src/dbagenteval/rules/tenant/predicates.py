"""From predicates to facts: which conditions bind a column, and which only look as if they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from sqlglot import exp

from dbagenteval.rules.query.queries import unwrap
from dbagenteval.rules.tenant.facts import Const, Domain, Facts, Term

__all__ = ["Operand", "PredicateReader", "Surroundings", "constant", "plain_cast"]

Operand = Term | Domain


class Surroundings(Protocol):
    """What a predicate may refer to."""

    def resolve(self, column: exp.Column) -> Term | None:
        """Give the column that a reference means."""

    def query_columns(self, query: exp.Expr) -> list[list[Operand]] | None:
        """Give, for each column of a subquery's row, what it is equal to; None if unknown."""

    def query_value(self, query: exp.Expr) -> Operand | None:
        """Give what the value of a scalar subquery is, where it is not NULL."""

    def query_facts(self, query: exp.Expr) -> Facts:
        """Give what holds further out if a subquery has a row."""


_MAX_VALUES = 200
_TEXT_TYPES = ("TEXT", "VARCHAR", "NVARCHAR")
_SHORT_VARCHAR = ("tsql", "fabric", "oracle")
_INTEGER_TYPES = ("INT", "BIGINT", "SMALLINT", "TINYINT", "UBIGINT", "UINT", "INT128", "DECIMAL")
_MYSQL = ("mysql", "doris", "starrocks", "singlestore")


def plain_cast(node: exp.Expr, dialect: str) -> exp.Expr:
    """Take brackets and casts off that keep different values different: to text of any length."""
    node = unwrap(node)
    while isinstance(node, exp.Cast) and _is_lossless_text(node, dialect):
        node = unwrap(node.this)
    return node


def _is_lossless_text(node: exp.Cast, dialect: str) -> bool:
    kind = node.to
    if kind.expressions or node.args.get("format"):
        return False
    name = str(getattr(kind.this, "value", kind.this))
    if name in ("VARCHAR", "NVARCHAR") and dialect in _SHORT_VARCHAR:
        return False
    return name in _TEXT_TYPES or (name == "CHAR" and dialect in _MYSQL)


def constant(node: exp.Expr, dialect: str) -> Const | None:
    """Give the constant that an expression is, or None."""
    node = plain_cast(node, dialect)
    if isinstance(node, exp.Cast):
        return _cast_constant(node, dialect)
    if isinstance(node, exp.Neg):
        inner = constant(node.this, dialect)
        return Const("number", f"-{inner.value}") if inner and inner.kind == "number" else None
    if isinstance(node, exp.Literal):
        return Const("text" if node.is_string else "number", str(node.this))
    if isinstance(node, (exp.National, exp.RawString)):
        return Const("text", str(node.this))
    if isinstance(node, exp.Introducer):
        return constant(node.expression, dialect)
    if isinstance(node, exp.ByteString) and dialect in ("", "postgres", "redshift", "duckdb"):
        text = str(node.this)
        return None if "\\" in text else Const("text", text)
    if isinstance(node, exp.HexString | exp.BitString | exp.Null | exp.Boolean):
        return None
    if isinstance(node, (exp.Placeholder, exp.Parameter)):
        name = node.this if isinstance(node.this, str) else node.name
        return Const("parameter", str(name or "?"))
    return None


def _cast_constant(node: exp.Cast, dialect: str) -> Const | None:
    """A cast of a constant is one when it can't change or shorten the value."""
    inner = constant(node.this, dialect)
    kind = node.to
    if inner is None or not isinstance(kind, exp.DataType):
        return None
    name = str(getattr(kind.this, "value", kind.this))
    if inner.kind == "parameter":
        return inner
    if name in _INTEGER_TYPES and inner.value.strip().lstrip("-").isdigit():
        return Const("number", inner.value.strip())
    if name == "UUID" and inner.kind == "text":
        return inner
    if name in ("CHAR", *_TEXT_TYPES) and inner.kind == "text":
        sizes = [part.name for part in kind.expressions]
        limit = int(sizes[0]) if sizes and sizes[0].isdigit() else None
        is_free = not sizes and name != "CHAR"
        return inner if is_free or (limit is not None and limit >= len(inner.value)) else None
    return None


class PredicateReader:
    """Reads the facts of predicates of one query.

    Args:
        dialect: Base name of the dialect.
        around: What the predicates may refer to.
        is_value: Whether a text is the tenant's value; in some dialects double quotes hold it.
    """

    def __init__(self, dialect: str, around: Surroundings, is_value: Callable[[str], bool]) -> None:
        self._dialect = dialect
        self._around = around
        self._is_value = is_value

    def facts(self, node: exp.Expr, *, negated: bool = False) -> Facts:
        """Give what holds when the predicate is TRUE (or, negated, when it is FALSE)."""
        node = unwrap(node)
        while isinstance(node, exp.Not):
            node, negated = unwrap(node.this), not negated
        if isinstance(node, (exp.And, exp.Or)):
            both = isinstance(node, exp.And) is not negated
            return self._all(node, negated) if both else self._any(node, negated)
        if isinstance(node, exp.Boolean):
            return Facts(never=bool(node.this) is negated)
        if isinstance(node, exp.Null):
            return Facts(never=True)
        return self._negative(node) if negated else self._positive(node)

    def _all(self, node: exp.Expr, negated: bool) -> Facts:
        found = Facts()
        for part in _flat(node):
            found.add(self.facts(part, negated=negated))
        return found

    def _any(self, node: exp.Expr, negated: bool) -> Facts:
        found = Facts(never=True)
        for part in _flat(node):
            found = found.either(self.facts(part, negated=negated))
            if found.is_empty:
                break
        return found

    def _negative(self, node: exp.Expr) -> Facts:
        if isinstance(node, (exp.NEQ, exp.NullSafeNEQ)):
            # NOT (x <> ANY (…)) is TRUE for every x when there is nothing to compare with.
            is_quantified = any(
                isinstance(unwrap(side), exp.Any) for side in node.iter_expressions()
            )
            return Facts() if is_quantified else self._equal(node.this, node.expression)
        if isinstance(node, exp.Is) and isinstance(unwrap(node.expression), exp.Null):
            return self._present(node.this)
        return Facts()

    def _positive(self, node: exp.Expr) -> Facts:
        if isinstance(node, exp.EQ):
            return self._equal(node.this, node.expression)
        if isinstance(node, exp.NullSafeEQ):
            return self._null_safe(node)
        if isinstance(node, exp.Is):
            return self._is(node)
        if isinstance(node, exp.In):
            return self._in(node)
        if isinstance(node, exp.Exists):
            return self._around.query_facts(node.this)
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Between) and node.args.get("low") == node.args.get("high"):
            return self._equal(node.this, node.args["low"])
        if isinstance(node, (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.Like, exp.Between)):
            return self._present(node.this)
        if isinstance(node, exp.Literal) and node.this == "0":
            return Facts(never=True)
        return Facts()

    def _case(self, node: exp.Case, value: exp.Expr | None = None) -> Facts:
        """Facts of a CASE that is TRUE, or equal to a value: of the branches that can be it."""
        if node.this is not None:
            return Facts()
        found = Facts(never=True)
        for branch in node.args.get("ifs") or ():
            arm = self.facts(branch.this).copy()
            arm.add(self._result(branch.args["true"], value))
            found = found.either(arm)
        default = node.args.get("default")
        return found if default is None else found.either(self._result(default, value))

    def _result(self, node: exp.Expr, value: exp.Expr | None) -> Facts:
        return self.facts(node) if value is None else self._equal(node, value)

    def _is(self, node: exp.Is) -> Facts:
        right = unwrap(node.expression)
        if isinstance(right, exp.Boolean):
            return self.facts(node.this, negated=not right.this)
        return Facts() if isinstance(right, exp.Null) else self._null_safe(node)

    def _null_safe(self, node: exp.Binary) -> Facts:
        """`IS NOT DISTINCT FROM` is equality when one side is a constant."""
        inner, right_node = unwrap(node.this), unwrap(node.expression)
        if isinstance(inner, (exp.Predicate, exp.Connector)) and right_node.name == "1":
            return self.facts(inner)
        left, right = self.operand(node.this), self.operand(node.expression)
        one_is_constant = isinstance(left, frozenset) or isinstance(right, frozenset)
        return self._equal(node.this, node.expression) if one_is_constant else Facts()

    def _equal(self, left: exp.Expr, right: exp.Expr) -> Facts:
        left, right = unwrap(left), unwrap(right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, exp.Boolean):
                return self.facts(other, negated=not one.this)
            if isinstance(one, (exp.Any,)):
                return self._equals_any(other, one)
            if isinstance(one, exp.Case) and isinstance(other, exp.Literal):
                return self._case(one, other)
        if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
            found = Facts()
            if len(left.expressions) == len(right.expressions):
                for one, other in zip(left.expressions, right.expressions, strict=True):
                    found.add(self._equal(one, other))
            return found
        if isinstance(right, exp.Query) and isinstance(left, exp.Tuple):
            return self._match(left.expressions, right)
        return _equate(self.operand(left), self.operand(right))

    def _equals_any(self, node: exp.Expr, any_: exp.Any) -> Facts:
        held = unwrap(any_.this)
        if isinstance(held, exp.Query):
            return self._match([node], held)
        if isinstance(held, (exp.Array, exp.Tuple)):
            return self._among(node, held.expressions)
        return Facts()

    def _in(self, node: exp.In) -> Facts:
        unnest = node.args.get("unnest")
        if unnest is not None:
            held = unnest.expressions
            is_array = len(held) == 1 and isinstance(held[0], exp.Array)
            return self._among(unwrap(node.this), held[0].expressions) if is_array else Facts()
        if node.args.get("field"):
            return Facts()
        left = unwrap(node.this)
        lefts = left.expressions if isinstance(left, exp.Tuple) else [left]
        query = node.args.get("query")
        if query is not None:
            return self._match(lefts, query)
        items = node.expressions
        if len(items) == 1 and isinstance(items[0], (exp.Query, exp.Values)):
            return self._match(lefts, items[0])
        return self._among(left, items)

    def _among(self, left: exp.Expr, items: list[exp.Expr]) -> Facts:
        if isinstance(left, exp.Tuple):
            found = Facts(never=True)
            for item in items[:_MAX_VALUES]:
                found = found.either(self._equal(left, item))
            return found if len(items) <= _MAX_VALUES else Facts()
        operand = self.operand(left)
        if not isinstance(operand, tuple):
            return Facts()
        if len(items) > _MAX_VALUES:  # more than anyone admits as tenants
            return Facts(present={operand[0]})
        values: set[Const] = set()
        for item in items:
            value = self.operand(item)
            if not isinstance(value, frozenset):
                return Facts(present={operand[0]})
            values |= value
        return _equate(operand, frozenset(values))

    def _match(self, lefts: list[exp.Expr], query: exp.Expr) -> Facts:
        """Facts of `lefts IN (query)`: each is equal to its column of the query."""
        rights = self._around.query_columns(query)
        found = self._around.query_facts(query).copy()
        if rights is not None and len(rights) == len(lefts):
            for left, several in zip(lefts, rights, strict=True):
                operand = self.operand(left)
                for right in several:
                    found.add(_equate(operand, right))
        return found

    def _present(self, node: exp.Expr) -> Facts:
        operand = self.operand(node)
        return Facts(present={operand[0]}) if isinstance(operand, tuple) else Facts()

    def operand(self, node: exp.Expr) -> Operand | None:
        """Give the column or the possible constants that one side of a comparison is."""
        node = plain_cast(node, self._dialect)
        if isinstance(node, exp.Column):
            return self._quoted_value(node) or self._around.resolve(node)
        if isinstance(node, exp.Query):
            return self._around.query_value(node)
        value = constant(node, self._dialect)
        if value is None or (
            self._dialect in _MYSQL and value.key == ("number", 0) and not self._is_value("0")
        ):
            return None
        return frozenset((value,))

    def _quoted_value(self, node: exp.Column) -> Domain | None:
        """SQLite and others read "s1" as text where no column has that name."""
        name = node.this
        is_text = self._dialect in ("", "sqlite") and not node.table
        if is_text and name.args.get("quoted") and self._is_value(name.name):
            return frozenset((Const("text", name.name),))
        return None


def _equate(left: Operand | None, right: Operand | None) -> Facts:
    found = Facts()
    if isinstance(left, frozenset) and isinstance(right, tuple):
        left, right = right, left
    if isinstance(left, tuple) and isinstance(right, frozenset):
        found.limit(left, right)
    elif isinstance(left, tuple) and isinstance(right, tuple):
        found.equate(left, right)
    elif isinstance(left, frozenset) and isinstance(right, frozenset):
        keys = {const.key for const in left} & {const.key for const in right}
        kinds = {const.key[0] for const in left | right}
        found.never = not keys and len(kinds) == 1 and "parameter" not in kinds
    return found


def _flat(node: exp.Expr) -> Iterator[exp.Expr]:
    """Give the operands of a chain of one connector, left to right, without recursion."""
    kind = type(node)
    todo = [node]
    while todo:
        part = unwrap(todo.pop())
        if type(part) is kind:
            todo += [part.expression, part.this]
        else:
            yield part
