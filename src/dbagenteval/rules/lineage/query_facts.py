"""Read a query text into its facts, and mask columns in it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbagenteval.rules.lineage.facts import QueryFacts, Schema
from dbagenteval.rules.lineage.walk import NotUnderstood, QueryWalk
from dbagenteval.rules.query.sql import Sql, read_sql

__all__ = ["mask_columns", "query_facts"]

_WRITES = (
    exp.DML,
    exp.DDL,
    exp.Command,
    exp.Into,
    exp.Lock,
    exp.Drop,
    exp.Alter,
    exp.Set,
    exp.Pragma,
    exp.Use,
    exp.Transaction,
    exp.Commit,
    exp.Rollback,
    exp.Attach,
    exp.Detach,
    exp.Copy,
    exp.Kill,
)


def query_facts(text: str, dialect: str, schema: Schema) -> QueryFacts:
    """Say what a query reads and how.

    Args:
        text: The SQL.
        dialect: sqlglot's name of the dialect.
        schema: What is known of the database.

    Returns:
        The facts; `problem` or `statement` is set where the text can't be judged or is none that
        only reads, and nothing else may then be concluded.
    """
    sql = read_sql(text, dialect)
    facts = QueryFacts(statement_count=len(sql.statements))
    facts.statement = _statement_problem(sql)
    if facts.statement:
        return facts
    if sql.problem:
        facts.problem = sql.problem
        return facts
    try:
        for statement in sql.statements:
            outputs = QueryWalk(sql, schema, facts).run(statement)
            _read_limit(statement, facts, is_raw=outputs.is_raw)
            _read_order(statement, facts)
    except NotUnderstood as error:
        facts.problem = f"not understood: {error}"
    except RecursionError:
        facts.problem = "the query is nested too deeply"
    return facts


def mask_columns(
    text: str,
    dialect: str,
    schema: Schema,
    columns: Mapping[str, frozenset[str]],
    text_columns: frozenset[tuple[str, str]],
    mask: str,
) -> str | None:
    """Rewrite a query so that it never sees the values of some columns.

    Every occurrence of a table is replaced by a subquery that gives a constant in place of each
    masked column: the mask where the column is text, else NULL.

    Args:
        text: The SQL, which `query_facts` found no fault with.
        dialect: sqlglot's name of the dialect.
        schema: What is known of the database.
        columns: Table to the columns to mask.
        text_columns: `(table, column)` of those that hold text.
        mask: What stands in place of a text.

    Returns:
        The new SQL, or None if a table's columns are not all known.
    """
    sql = read_sql(text, dialect)
    facts = QueryFacts()
    statement = sql.statements[0].copy()
    walk = QueryWalk(sql, schema, facts)
    try:
        walk.run(statement)
    except NotUnderstood:
        return None
    done: set[int] = set()
    for use, node in zip(facts.uses, walk.tables, strict=True):
        masked = columns.get(use.table)
        if not masked or id(node) in done:
            continue
        done.add(id(node))
        if use.table not in schema.complete:
            return None
        _replace(node, schema.columns[use.table], use.table, masked, text_columns, mask)
    return str(statement.sql(dialect=dialect))


def _replace(
    node: exp.Table,
    names: tuple[str, ...],
    table: str,
    masked: frozenset[str],
    text_columns: frozenset[tuple[str, str]],
    mask: str,
) -> None:
    shown: list[exp.Expr] = []
    for name in names:
        identifier = exp.to_identifier(name)
        if name not in masked:
            shown.append(exp.column(identifier))
            continue
        value = exp.Literal.string(mask) if (table, name) in text_columns else exp.Null()
        shown.append(exp.alias_(value, identifier))
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
    joins = node.args.get("joins")
    plain = exp.Table(
        this=node.this.copy(), db=node.args.get("db"), catalog=node.args.get("catalog")
    )
    node.replace(
        exp.Subquery(this=exp.select(*shown).from_(plain), alias=alias, joins=joins or None)
    )


def _statement_problem(sql: Sql) -> str:
    for statement in sql.statements:
        for node in statement.walk():
            if isinstance(node, _WRITES):
                return f"{type(node).__name__.upper()} is no reading statement"
        if not isinstance(statement, exp.Query):
            return f"{type(statement).__name__.upper()} is no SELECT"
    return ""


def _read_order(statement: exp.Expr, facts: QueryFacts) -> None:
    order = statement.args.get("order")
    facts.is_ordered = order is not None
    if order is None or not isinstance(statement, exp.Query):
        return
    names = []
    for item in order.expressions:
        key = item.this if isinstance(item, exp.Ordered) else item
        if isinstance(key, exp.Literal) and not key.is_string:
            place = int(str(key.this)) - 1
            selected = statement.selects
            names.append(selected[place].output_name if 0 <= place < len(selected) else "")
        else:
            names.append(key.output_name)
    facts.order_columns = tuple(names) if all(names) else ()


def _read_limit(statement: exp.Expr, facts: QueryFacts, *, is_raw: bool) -> None:
    """Note the outermost limit; of several statements, that of the one that gives most."""
    limit, problem = _limit_of(statement)
    unbounded = facts.is_raw_rows and facts.limit is None
    facts.is_raw_rows = facts.is_raw_rows or is_raw
    facts.limit_problem = facts.limit_problem or problem
    if unbounded or (is_raw and limit is None):
        facts.limit = None
    elif limit is not None:
        facts.limit = max(limit, facts.limit or 0)


def _limit_of(statement: exp.Expr) -> tuple[int | None, str]:
    """Give the outermost limit, or why it is no plain number."""
    node: exp.Expr = statement
    while isinstance(node, exp.Subquery) and node.args.get("limit") is None:
        node = node.this
    limit = node.args.get("limit")
    if limit is None:
        return None, ""
    value = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
    options = limit.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return None, "the limit is a percentage or counts ties"
    if limit.args.get("expressions"):
        return None, "the limit is for each group"
    if isinstance(value, exp.Literal) and not value.is_string and str(value.this).isdigit():
        return int(str(value.this)), ""
    return None, "the limit is no plain number"
