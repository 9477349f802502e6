"""What all SQL rules have in common: which SQL they look at, in which dialect, what they say."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from dbagenteval.cases import Case
from dbagenteval.rules import (
    DEFAULT_FORBIDDEN_FUNCTIONS,
    AllowedColumns,
    AllowedTables,
    NoJoins,
    NoSubqueries,
    ReadOnly,
    SqlRule,
    TenantFilter,
)
from dbagenteval.scorecard import CheckResult
from dbagenteval.traces import Stage, Trace

RULES: list[SqlRule] = [
    ReadOnly(),
    TenantFilter("store_id"),
    AllowedTables("orders"),
    AllowedColumns("status"),
    NoJoins(),
    NoSubqueries(),
]


def run(rule: SqlRule, sql: Any, case: Case | None = None, **meta: Any) -> CheckResult:
    trace = Trace("q", [Stage("generate", output=sql)], meta)
    return rule.run(trace, case or Case("q"))


def test_the_guide_example() -> None:
    """The message of the user's guide."""
    result = run(TenantFilter("store_id"), "SELECT SUM(amount) AS total FROM orders")
    assert (result.stage, result.check) == ("generate", "tenant_filter")
    assert result.detail == "no store_id filter on ['orders']"


@pytest.mark.parametrize(
    ("rule", "sql", "detail"),
    [
        (ReadOnly(), "SELECT 1; SELECT 2", "expected exactly one statement, found 2"),
        (ReadOnly(), "DELETE FROM t", "not a SELECT statement (Delete)"),
        (ReadOnly(), "SELECT * INTO x FROM t", "contains a write, DDL or locking operation (Into)"),
        (ReadOnly(), "SELECT pg_sleep(1)", "calls forbidden function pg_sleep()"),
        (ReadOnly(), ";", "no SQL statement found"),
        (TenantFilter("t", 7), "SELECT * FROM o", "no t = '7' filter on ['o']"),
        (
            TenantFilter("t"),
            "SELECT * FROM a JOIN b ON a.x = b.x WHERE t = 1",
            "no t filter on ['a', 'b']; name the table in the filter, as in alias.column = value",
        ),
        (
            TenantFilter("t"),
            "SELECT * FROM a x, b x WHERE x.t = 1",
            "two sources are both called 'x'; give each a distinct alias",
        ),
        (
            TenantFilter("t"),
            "SELECT * FROM a AS x(t, u) WHERE x.t = 1",
            "renames the columns of 'x' with an alias column list",
        ),
        (AllowedTables("a"), "SELECT * FROM c, b", "reads table(s) outside the allowed set: ['b', 'c']"),
        (AllowedTables(from_stage="view"), "SELECT 1", "cannot check: stage 'view' is missing from the trace"),
        (AllowedColumns("a"), "SELECT * FROM t", "uses * (it reads columns nobody listed)"),
        (AllowedColumns("a"), "SELECT b, c FROM t", "uses column(s) outside the allowed set: ['b', 'c']"),
        (NoJoins(), "SELECT 1 FROM a, b", "contains a JOIN"),
        (NoSubqueries(), "SELECT 1 UNION SELECT 2", "is not a single flat SELECT"),
        (ReadOnly(), "TABLE t", "TABLE statements are not supported; write SELECT * FROM ..."),
        (
            ReadOnly(),
            "SELECT (TABLE t)",
            "uses the TABLE shorthand, which cannot be analysed; write SELECT ... FROM",
        ),
        (ReadOnly(), "SELECT 1 {# x #}", "contains '{#', which is read as a comment here but not by databases"),
        (
            ReadOnly(dialect="mysql"),
            "SELECT 1 /*! x */",
            "contains a MySQL executable comment (/*! ... */), which hides SQL",
        ),
        (
            ReadOnly(),
            "SELECT 1 /* a /* b */ c */",
            "contains a nested block comment; set `dialect` so it is read correctly",
        ),
        (
            ReadOnly(),
            r"SELECT 'a\'b'",
            "contains a backslash before a quote; set `dialect` so it is read correctly",
        ),
    ],
)  # fmt: skip
def test_documented_messages(rule: SqlRule, sql: str, detail: str) -> None:
    """The documented texts, word for word."""
    result = run(rule, sql)
    assert (result.status, result.detail) == ("fail", detail)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM orders", "EXPLAIN ANALYZE SELECT 1", "TABLE orders", "SELECT 1 /*! x */", ";", "SELEC",
     "SELECT * FROM ROWS FROM (f(1)) a", "SELECT * FROM IDENTIFIER('x')", "SELECT * FROM TABLE(f(1))",
     "```sql\nSELECT 1\n```", "SELECT 1\0", "SELECT"],
)  # fmt: skip
def test_every_rule_fails_what_cant_be_analysed(rule: SqlRule, sql: str) -> None:
    """What is no analysable query fails every rule, and the detail says why, without colours."""
    result = run(rule, sql)
    assert result.status == "fail"
    assert result.detail
    assert "\x1b" not in result.detail


def test_sql_that_is_no_text_fails() -> None:
    """A stage output that is no text fails; no output and blank text are skipped."""
    assert run(ReadOnly(), {"sql": "SELECT 1"}).detail.startswith(
        "the stage output must be the SQL"
    )
    assert [run(ReadOnly(), none).status for none in (None, "", "  ")] == ["skip"] * 3
    assert run(ReadOnly(), None).detail == "no SQL to check"


def test_every_attempt_is_checked() -> None:
    """A bad earlier attempt fails at its stage; `attempts='final'` looks at the last only."""
    stages = [
        Stage("generate", "first", output="DELETE FROM t"),
        Stage("generate", "second", output="SELECT 1"),
    ]
    result = ReadOnly().run(Trace("q", stages), Case("q"))
    assert (result.status, result.stage) == ("fail", "first")
    result = ReadOnly(attempts="final").run(Trace("q", stages), Case("q"))
    assert (result.status, result.stage) == ("pass", "second")
    result = ReadOnly(stage="second").run(Trace("q", stages), Case("q"))
    assert (result.status, result.stage) == ("pass", "second")


def test_a_mistyped_stage_fails() -> None:
    """A stage that is not there fails and the detail lists those that are."""
    result = ReadOnly(stage="sql").run(Trace.simple("q", sql="SELECT 1"), Case("q"))
    assert (result.status, result.stage) == ("fail", "sql")
    assert result.detail == "stage 'sql' is not in the trace (found ['generate'])"


def test_what_was_not_seen_is_skipped() -> None:
    """SQL that a span hid is no evidence."""
    note = {"observed": {"output": {"state": "masked", "why": "redacted by the Collector"}}}
    stage = Stage("generate", output="***", meta=note)
    result = ReadOnly().run(Trace("q", [stage]), Case("q"))
    assert (result.status, result.detail) == (
        "skip",
        "the SQL was not seen: redacted by the Collector",
    )


@pytest.mark.parametrize("dialect", ["postgresql", "mssql", "mariadb", "db2", "klingon"])
def test_an_unknown_dialect_is_an_error(dialect: str) -> None:
    """A rule's own dialect is sqlglot's name; any other is a ValueError."""
    with pytest.raises(ValueError, match="Unknown dialect"):
        ReadOnly(dialect=dialect)


def test_dialect_settings_are_known() -> None:
    """sqlglot's dialect settings are accepted."""
    assert (
        run(ReadOnly(dialect="mysql, normalization_strategy = case_sensitive"), "SELECT 1").status
        == "pass"
    )


@pytest.mark.parametrize(
    ("named", "sql"),
    [
        ("postgresql", "SELECT * FROM t WHERE a ~ 'x'"),
        ("microsoft.sql_server", "SELECT TOP 5 a FROM [t]"),
        ("mariadb", 'SELECT `a` FROM t WHERE b = "x"'),
        ("mysql", "SELECT 'it\\'s'"),
        ("gcp.bigquery", 'SELECT * FROM `p.d.t` WHERE b = "x"'),
        ("spark sql", "SELECT `a` FROM t"),
    ],
)
def test_the_dialect_comes_from_the_case_or_the_span(named: str, sql: str) -> None:
    """Without an own dialect the case's counts, then the trace's; databases' own names are known."""
    assert run(ReadOnly(), sql, dialect=named).status == "pass"
    assert run(ReadOnly(), sql, Case("q", dialect=named)).status == "pass"


def test_the_rules_own_dialect_comes_first() -> None:
    """A rule's dialect beats the case's, and the case's the trace's."""
    mysql = r"SELECT 'a\'; DELETE FROM t; -- '"
    assert run(ReadOnly(dialect="mysql"), mysql, Case("q", dialect="postgres")).status == "pass"
    assert run(ReadOnly(), mysql, Case("q", dialect="mysql"), dialect="postgresql").status == "pass"
    assert run(ReadOnly(), mysql, dialect="postgresql").status == "fail"


def test_an_unknown_name_in_a_span_is_as_none() -> None:
    """A span's database that nobody knows leaves the standard's reading."""
    assert run(ReadOnly(), "SELECT 1", dialect="other_sql").status == "pass"


class NoStatus(SqlRule):
    """A rule of one's own."""

    name = "no_status"

    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Use the parsed statements."""
        del trace
        found = [column for tree in statements for column in tree.find_all(exp.Column)]
        return "reads status" if any(column.name == "status" for column in found) else None

    def text_problem(self, sql: str) -> str | None:
        """Use the raw text."""
        return "shouts" if "!!" in sql else None


def test_a_rule_of_ones_own() -> None:
    """The documented hooks: parsed statements, and the raw text before them."""
    assert run(NoStatus(), "SELECT id FROM t").status == "pass"
    assert run(NoStatus(), "SELECT status FROM t").detail == "reads status"
    assert run(NoStatus(), "SELECT '!!', status FROM t").detail == "shouts"
    assert run(NoStatus(), "SELECT 1").check == "no_status"


@pytest.mark.parametrize("rule", [AllowedTables, AllowedColumns])
def test_exactly_one_source_of_names(rule: type[Any]) -> None:
    """The list or the stage, not both and not neither."""
    what = "tables" if rule is AllowedTables else "columns"
    for arguments in ({}, {what: ["a"], "from_stage": "b"}):
        with pytest.raises(ValueError, match=f"give exactly one of `{what}` or `from_stage`"):
            rule(**arguments)


def test_constructor_mistakes_are_named() -> None:
    """Arguments that could never match are refused at once."""
    with pytest.raises(ValueError, match="without a table"):
        TenantFilter("o.store_id")
    with pytest.raises(ValueError, match="empty list"):
        TenantFilter("store_id", value=[])
    with pytest.raises(ValueError, match="attempts must be"):
        ReadOnly(attempts="last")


def test_positional_arguments_keep_their_places() -> None:
    """The published order of arguments."""
    assert TenantFilter("t", 7, ["a"], "s", "mysql").stage == "s"
    assert ReadOnly(["f"], "s", "mysql").dialect == "mysql"
    assert AllowedTables(["a"], None, "s", "mysql").stage == "s"
    assert AllowedColumns(["a"], None, ("b",), "s", "mysql").stage == "s"
    assert NoJoins("s", "mysql").stage == NoSubqueries("s", "mysql").stage == "s"
    assert len(DEFAULT_FORBIDDEN_FUNCTIONS) == 22


@pytest.mark.parametrize("name", ["now", "date_part", "strpos", "position", "unnest"])
def test_forbidden_names_count_as_written(name: str) -> None:
    """A forbidden name is found though the parser knows the function by another."""
    sql = {
        "position": "SELECT position('a' IN x) FROM t",
        "unnest": "SELECT * FROM unnest(ARRAY[1])",
    }.get(name, f"SELECT {name}('a', x) FROM t" if name != "now" else "SELECT now()")
    result = run(ReadOnly(forbidden_functions=name, dialect="postgres"), sql)
    assert result.detail == f"calls forbidden function {name}()"


def test_a_double_quoted_value_passes_with_a_warning() -> None:
    """Without a dialect the documented leniency stays, and the detail says what it rests on."""
    sql = 'SELECT * FROM orders WHERE store_id = "s1"'
    result = run(TenantFilter("store_id", "s1"), sql)
    assert result.status == "pass"
    assert result.detail.startswith('warning: "s1" is text in SQLite')
    assert run(TenantFilter("store_id", "s1", dialect="postgres"), sql).status == "fail"


def test_a_bind_parameter_is_not_evidence_of_a_value() -> None:
    """With a value a bind parameter skips, without one it passes."""
    sql = "SELECT * FROM orders WHERE store_id = $1"
    assert run(TenantFilter("store_id", "s1", dialect="postgres"), sql).status == "skip"
    assert run(TenantFilter("store_id", dialect="postgres"), sql).status == "pass"


@pytest.mark.parametrize(
    ("value", "sql_value", "status"),
    [
        (-1, "-1", "pass"), (1, "1.0", "pass"), (1, "01", "pass"), (1, "'1'", "pass"), ("1", "1", "pass"),
        (1, "2", "fail"), ("s1", "'S1'", "fail"), ("s1", "N's1'", "pass"), (1, "1.5", "fail"), (7, "'07'", "fail"),
    ],
)  # fmt: skip
def test_value_forms(value: Any, sql_value: str, status: str) -> None:
    """Text by its letters, numbers by their worth."""
    sql = f"SELECT * FROM orders WHERE store_id = {sql_value}"
    assert run(TenantFilter("store_id", value), sql).status == status
