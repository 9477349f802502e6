"""ReadOnly: the SQL is one statement and it only reads data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from sqlglot import exp

from dbagenteval.rules.query.call_names import calls
from dbagenteval.rules.query.dialects import base_name
from dbagenteval.rules.query.known_functions import EFFECTS, known_functions
from dbagenteval.rules.query.sql import Sql
from dbagenteval.rules.sql_rule import SqlRule, names_of
from dbagenteval.traces import Trace

__all__ = ["DEFAULT_FORBIDDEN_FUNCTIONS", "ReadOnly"]

DEFAULT_FORBIDDEN_FUNCTIONS = frozenset(
    [
        "benchmark",
        "dblink",
        "dblink_connect",
        "dblink_exec",
        "lo_export",
        "lo_import",
        "lo_unlink",
        "load_file",
        "nextval",
        "pg_advisory_lock",
        "pg_cancel_backend",
        "pg_ls_dir",
        "pg_read_binary_file",
        "pg_read_file",
        "pg_sleep",
        "pg_sleep_for",
        "pg_sleep_until",
        "pg_stat_file",
        "pg_terminate_backend",
        "set_config",
        "setval",
        "sleep",
    ]
)
"""The documented list; what else each dialect's functions do is kept in `functions/`."""

_NOT_READING = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Alter,
    exp.TruncateTable,
    exp.Copy,
    exp.Grant,
    exp.Set,
    exp.Command,
    exp.Into,
    exp.Lock,
    exp.Pragma,
    exp.Use,
    exp.Attach,
    exp.Detach,
    exp.LoadData,
    exp.Kill,
    exp.Transaction,
    exp.Commit,
    exp.Rollback,
    exp.Cache,
    exp.Uncache,
    exp.Refresh,
    exp.NextValueFor,
    exp.PropertyEQ,
)
_HARMLESS_HINTS = frozenset(
    [
        "NOLOCK",
        "READUNCOMMITTED",
        "READPAST",
        "READCOMMITTED",
        "SNAPSHOT",
        "NOEXPAND",
        "INDEX",
        "FORCESEEK",
        "FORCESCAN",
        "NOWAIT",
        "KEEPIDENTITY",
        "KEEPDEFAULTS",
        "SPATIAL_WINDOW_MAX_CELLS",
    ]
)
_SEQUENCE_COLUMNS = ("", "oracle", "snowflake", "mysql", "exasol", "db2", "teradata")
_FILE_NAME = re.compile(
    r"[/\\*?]|://|\.(csv|tsv|txt|json|jsonl|ndjson|parquet|arrow|avro|orc|xlsx|db|duckdb|gz|zst)$",
    re.IGNORECASE,
)
_FILE_TABLES = ("", "duckdb", "spark", "databricks", "hive", "spark2")


class ReadOnly(SqlRule):
    """The SQL is one statement and it only reads data.

    **Passes when** there is one SELECT or set operation of SELECTs that, anywhere inside, doesn't
    write, lock, read files, reach the network, run text as SQL, change the session or call a
    function the rule can't see into.

    **Fails**

    ```sql
    DELETE FROM orders
    WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone
    SELECT * FROM orders FOR UPDATE
    SELECT nextval('order_ids')
    SELECT my_own_function(id) FROM orders
    ```

    **Passes**

    ```sql
    SELECT status, count(*) FROM orders GROUP BY status
    WITH o AS (SELECT * FROM orders) SELECT * FROM o
    ```

    **Limits** The functions of each dialect are kept as data (`docs/rules.md` names the sources);
    one that is missing there is refused as unknown, and `allowed_functions` lets it through. What
    a view or a trigger does is not seen. EXPLAIN, SHOW and DESCRIBE fail as no SELECT.

    Args:
        forbidden_functions: Names that must not be called; giving the argument replaces the list
            of `DEFAULT_FORBIDDEN_FUNCTIONS`. Other functions known to do more than read stay
            refused.
        stage: As in `SqlRule`.
        dialect: As in `SqlRule`.
        allowed_functions: Functions that may be called though the rule doesn't know them, or knows
            they do more; `*` lets every unknown one through.
        attempts: As in `SqlRule`.
    """

    name: ClassVar[str] = "read_only"

    def __init__(
        self,
        forbidden_functions: str | Iterable[str] = DEFAULT_FORBIDDEN_FUNCTIONS,
        stage: str | None = None,
        dialect: str | None = None,
        *,
        allowed_functions: str | Iterable[str] = (),
        attempts: str = "all",
    ) -> None:
        super().__init__(stage, dialect, attempts=attempts)
        self.forbidden = frozenset(name.lower() for name in names_of(forbidden_functions))
        allowed = {name.lower() for name in names_of(allowed_functions)}
        self.allowed = frozenset(allowed | (DEFAULT_FORBIDDEN_FUNCTIONS - self.forbidden))

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Not used: the rule looks at the whole text, see `sql_problem`."""
        raise NotImplementedError

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say what in the SQL does more than read."""
        del trace
        if len(sql.statements) != 1:
            return f"expected exactly one statement, found {len(sql.statements)}"
        key = ("read only", self.forbidden, self.allowed)
        return sql.memo(key, lambda: self._find(sql))

    def _find(self, sql: Sql) -> str | None:
        for node in sql.find(*_NOT_READING):
            if not isinstance(node, exp.PropertyEQ) or _is_assignment(node):
                return f"contains a write, DDL or locking operation ({type(node).__name__})"
        return (
            self._forbidden_call(sql)
            or _hint_problem(sql)
            or next(_source_problems(sql), None)
            or _state_problem(sql)
        )

    def _forbidden_call(self, sql: Sql) -> str | None:
        named = _names_with_columns(sql)
        for before, token in zip(sql.tokens, sql.tokens[1:], strict=False):
            name = before.text.lower()
            if token.text == "(" and name in self.forbidden and name not in named:
                return f"calls forbidden function {name}()"
        known = known_functions(base_name(sql.dialect))
        for call in calls(sql):
            if call.names & self.forbidden and not call.is_parsed:
                return f"calls forbidden function {call.name}()"
            if call.names & self.allowed:
                continue
            effect = call.effect(known)
            if effect is not None:
                return f"calls forbidden function {call.name}(), which {EFFECTS[effect]}"
            if "*" not in self.allowed and not call.is_known(known):
                return (
                    f"calls {call.name}(), which is no function known of the database; "
                    "allowed_functions can let it through"
                )
        return None


def _is_assignment(node: exp.Expr) -> bool:
    """True for `@x := 1`; the same node is a key in maps and named arguments elsewhere."""
    return isinstance(node.this, (exp.Parameter, exp.SessionParameter, exp.Var)) and not isinstance(
        node.parent, (exp.Func, exp.Struct)
    )


def _names_with_columns(sql: Sql) -> set[str]:
    """Give the names that a column list in brackets follows, so that they look like calls."""
    return {alias.name.lower() for alias in sql.find(exp.TableAlias) if alias.args.get("columns")}


def _hint_problem(sql: Sql) -> str | None:
    for hint in sql.find(exp.WithTableHint):
        for part in hint.expressions:
            name = part.name.upper() if isinstance(part, exp.Expr) else str(part).upper()
            if name not in _HARMLESS_HINTS:
                return f"locks by the table hint {name}"
    for hint in sql.find(exp.Hint):
        for part in hint.expressions:
            text = part.sql() if isinstance(part, exp.Expr) else str(part)
            if "SET_VAR" in text.upper():
                return "changes a setting by the hint SET_VAR"
    return None


def _source_problems(sql: Sql) -> Iterator[str]:
    """Find tables that are files, stages or other servers."""
    base = base_name(sql.dialect)
    for table in sql.find(exp.Table):
        if not isinstance(table, exp.Table):
            continue
        name, parts = table.name, table.parts
        quoted = isinstance(table.this, exp.Identifier) and bool(table.this.args.get("quoted"))
        if base in _FILE_TABLES and quoted and _FILE_NAME.search(name):
            yield f"reads the file {name!r}"
        if name.startswith("@") and base not in ("tsql", "fabric"):
            yield f"reads files of the stage {name!r}"
        if "@" in name and base == "oracle" and not quoted:
            yield f"reads another server by {name!r}"
        if len(parts) > 3 and base in ("tsql", "fabric"):  # server.database.schema.table
            yield f"reads another server by {table.sql(dialect='tsql')!r}"
    for with_ in sql.find(exp.With):
        if with_.args.get("udfs"):
            yield "defines a function inside WITH"


def _state_problem(sql: Sql) -> str | None:
    base = base_name(sql.dialect)
    if base in _SEQUENCE_COLUMNS:
        for column in sql.find(exp.Column):
            if column.name.lower() == "nextval" and column.args.get("table"):
                return f"advances the sequence {column.args['table'].name}"
    if base in ("tsql", "fabric", ""):
        for select in sql.find(exp.Select):
            for item in select.expressions:
                value = item.this if isinstance(item, exp.Alias) else item
                left = value.this if isinstance(value, exp.EQ) else None
                if isinstance(left, exp.Parameter) and isinstance(value, exp.EQ):
                    return f"assigns the variable {left.sql(dialect='tsql')}"
    return None
