"""Expressions of SQL in one canonical spelling, with their literals taken out."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod

from sqlglot import exp

from dbagenteval.failures.literals import DATE, telling
from dbagenteval.failures.term import Term, joined

__all__ = ["TermReader"]

_SYMBOLS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.And: "AND",
    exp.Or: "OR",
}
_CHAINS = (exp.And, exp.Or, exp.Add, exp.Mul)
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_MIRRORED = {exp.GT: "<", exp.GTE: "<=", exp.LT: ">", exp.LTE: ">="}
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)
_LEAVES = (exp.Column, exp.DataType, exp.JSONPath, exp.Query, exp.Values)
_DATES = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.DATETIME)
_UNSEEN = frozenset(
    ("big_int", "quoted", "safe", "typed", "nulls_first", "only_json_types", "scalar_only")
)
"""Settings that the parser notes about how a node was written or how a dialect reads it."""


class TermReader:
    """Reads the expressions of one query.

    Args:
        column: Gives the term of a column reference.
        query: Gives the term of a query inside an expression.
        aggregate: Is told each aggregate function met: its name and its argument.
        nulls: Where the dialect sorts NULL if the SQL does not say: sqlglot's `NULL_ORDERING`.
    """

    def __init__(
        self,
        column: Callable[[exp.Column], Term],
        query: Callable[[exp.Expr], Term],
        aggregate: Callable[[str, Term], None],
        *,
        nulls: str,
    ) -> None:
        self._nulls = nulls
        self._column = column
        self._query = query
        self._aggregate = aggregate
        self._done: dict[int, Term] = {}

    def term(self, root: exp.Expr) -> Term:
        """Give the canonical form; without recursion, whatever the depth."""
        nodes = list(root.walk(bfs=False, prune=lambda node: isinstance(node, _LEAVES)))
        for node in reversed(nodes):
            if node is root or not _is_inside_chain(node):
                self._done[id(node)] = self._read(node)
        return self._done[id(root)]

    def conjuncts(self, condition: exp.Expr) -> list[Term]:
        """Give the conditions that AND joins; BETWEEN gives two."""
        self.term(condition)
        return self._operands(condition, exp.And)

    def direction(self, node: exp.Ordered) -> str:
        """Give DESC, and where NULL is sorted if that is not where the dialect sorts it."""
        is_down = bool(node.args.get("desc"))
        usual = {"nulls_are_small": not is_down, "nulls_are_large": is_down}.get(self._nulls, False)
        is_first = bool(node.args.get("nulls_first"))
        nulls = "" if is_first == usual else f" NULLS {'FIRST' if is_first else 'LAST'}"
        return f"{' DESC' if is_down else ''}{nulls}"

    def _operands(self, node: exp.Expr, kind: type[exp.Expr]) -> list[Term]:
        found: list[Term] = []
        todo = [node]
        while todo:
            part = todo.pop()
            while isinstance(part, exp.Paren):
                part = part.this
            if type(part) is kind:
                todo += [part.expression, part.this]
            elif kind is exp.And and isinstance(part, exp.Between) and not _is_symmetric(part):
                found += self._bounds(part)
            else:
                found.append(self._done[id(part)])
        return found

    def _bounds(self, node: exp.Between) -> list[Term]:
        value, low, high = (self._done[id(node.args[key])] for key in ("this", "low", "high"))
        return [joined([value, low], " >= "), joined([value, high], " <= ")]

    def _children(self, node: exp.Expr, *leave_out: str) -> list[Term]:
        return [
            self._done[id(child)]
            for child in node.iter_expressions()
            if child.arg_key not in leave_out
        ]

    def _this(self, node: exp.Expr) -> Term:
        return self._done[id(node.this)]

    @singledispatchmethod
    def _read(self, node: exp.Expr) -> Term:
        """Spell any node: its name, its settings, its parts."""
        name = node.sql_name() if isinstance(node, exp.Func) else node.key.upper()
        if isinstance(node, exp.Anonymous):
            name = str(node.this).upper()
        settings = [
            key.upper() if value is True else str(value).upper()
            for key, value in node.args.items()
            if (value is True or (isinstance(value, str) and key != "this")) and key not in _UNSEEN
        ]
        return joined(self._children(node, "alias"), ", ", f"{' '.join([name, *settings])}(", ")")

    @_read.register
    def _(self, node: exp.Column) -> Term:
        return self._column(node)

    @_read.register(exp.Query)
    @_read.register(exp.Values)
    def _(self, node: exp.Expr) -> Term:
        return self._query(node)

    @_read.register(exp.And)
    @_read.register(exp.Or)
    @_read.register(exp.Add)
    @_read.register(exp.Mul)
    def _(self, node: exp.Binary) -> Term:
        operands = self._operands(node, type(node))
        if not any(operand.text == ":text" for operand in operands):  # texts may be added too
            operands.sort()
        return joined(operands, f" {_SYMBOLS[type(node)]} ", "(", ")")

    @_read.register
    def _(self, node: exp.Binary) -> Term:
        kind = type(node)
        if isinstance(node, exp.Func) and kind not in _SYMBOLS:
            return joined(self._children(node), ", ", f"{node.sql_name()}(", ")")
        left, right = self._this(node), self._done[id(node.expression)]
        symbol = _SYMBOLS.get(kind, kind.__name__.upper())
        if left.side > right.side and (kind in _MIRRORED or kind in _SYMMETRIC):
            left, right, symbol = right, left, _MIRRORED.get(kind, symbol)
        frame = ("", "") if isinstance(node, _CONDITIONS) else ("(", ")")
        return joined([left, right], f" {symbol} ", *frame)

    @_read.register
    def _(self, node: exp.Between) -> Term:
        if _is_symmetric(node):
            return joined(self._children(node), ", ", "BETWEEN SYMMETRIC(", ")")
        return joined(self._bounds(node), " AND ", "(", ")")

    @_read.register
    def _(self, node: exp.In) -> Term:
        value = self._this(node)
        listed = sorted(set(self._children(node, "this")))
        if listed and all(item.is_literal for item in listed):
            kinds = ", ".join(sorted({item.text for item in listed}))
            values = ", ".join(value for item in listed for value in item.values)
            return Term(f"{value.text} IN ({kinds})", (*value.values, values))
        return joined([value, joined(listed, ", ", "(", ")")], " IN ")

    @_read.register
    def _(self, node: exp.Literal) -> Term:
        text = str(node.this)
        if not node.is_string:
            return Term(":number", (text,))
        told = telling(text) if isinstance(node.parent, exp.Func) else None
        if told is not None:
            return Term(f"'{told}'", (text,))
        return Term(":date" if DATE.fullmatch(text) else ":text", (text,))

    @_read.register
    def _(self, node: exp.Neg) -> Term:
        value = self._this(node)
        if value.text == ":number":
            return Term(":number", (f"-{value.values[0]}",))
        return joined([value], "", "-")

    @_read.register
    def _(self, node: exp.Cast) -> Term:
        value = self._this(node)
        if value.text in (":text", ":date") and node.to.this in _DATES:
            return Term(":date", value.values)
        return joined(self._children(node), " AS ", f"{node.sql_name()}(", ")")

    @_read.register
    def _(self, node: exp.AggFunc) -> Term:
        argument = joined(self._children(node), ", ")
        if isinstance(node, exp.Count) and (argument.is_literal or argument.text == "*"):
            argument = Term("*")
        self._aggregate(node.sql_name(), argument)
        return joined([argument], "", f"{node.sql_name()}(", ")")

    @_read.register
    def _(self, node: exp.Distinct) -> Term:
        return joined(self._children(node), ", ", "DISTINCT ")

    @_read.register
    def _(self, node: exp.Ordered) -> Term:
        return joined([self._this(node)], "", after=self.direction(node))

    @_read.register
    def _(self, node: exp.Order) -> Term:
        return joined(self._children(node), ", ", "ORDER BY ")

    @_read.register
    def _(self, node: exp.Window) -> Term:
        keys = sorted(self._done[id(key)] for key in node.args.get("partition_by") or ())
        parts = [joined(keys, ", ", "PARTITION BY ")] if keys else []
        parts += self._children(node, "this", "partition_by")
        return joined([self._this(node), joined(parts, " ", "(", ")")], " OVER ")

    @_read.register
    def _(self, node: exp.Case) -> Term:
        subject = [] if node.this is None else [self._this(node)]
        whens = [
            joined([self._this(branch), self._done[id(branch.args["true"])]], " THEN ", "WHEN ")
            for branch in node.args["ifs"]
        ]
        rest = [joined([term], "", "ELSE ") for term in self._children(node, "this", "ifs")]
        return joined([*subject, *whens, *rest], " ", "CASE ", " END")

    @_read.register
    def _(self, node: exp.Interval) -> Term:
        value, unit = node.args.get("this"), str(node.args.get("unit") or "")
        values = () if value is None else (value.name,)
        return Term(f"INTERVAL {unit.upper().removesuffix('S')}".rstrip(), values)

    @_read.register
    def _(self, node: exp.Not) -> Term:
        return joined([self._this(node)], "", "NOT ")

    @_read.register(exp.Paren)
    @_read.register(exp.Alias)
    def _(self, node: exp.Expr) -> Term:
        return self._this(node)

    @_read.register(exp.Var)
    def _(self, node: exp.Expr) -> Term:
        return Term(node.name.upper())

    @_read.register(exp.Identifier)
    def _(self, node: exp.Expr) -> Term:
        return Term(node.name.lower())

    @_read.register(exp.DataType)
    @_read.register(exp.JSONPath)
    @_read.register(exp.Boolean)
    @_read.register(exp.Null)
    def _(self, node: exp.Expr) -> Term:
        return Term(node.sql(comments=False))

    @_read.register(exp.Placeholder)
    @_read.register(exp.Parameter)
    @_read.register(exp.SessionParameter)
    def _(self, node: exp.Expr) -> Term:
        return Term(":value", (node.sql(comments=False),))

    @_read.register
    def _(self, node: exp.Star) -> Term:
        return joined(self._children(node), ", ", "*")


def _is_symmetric(node: exp.Between) -> bool:
    return bool(node.args.get("symmetric"))


def _is_inside_chain(node: exp.Expr) -> bool:
    """Whether it is an operand of another of its kind, which reads it too."""
    if not isinstance(node, _CHAINS):
        return False
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return type(parent) is type(node)
