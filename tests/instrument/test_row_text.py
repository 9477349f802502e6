"""Recorded rows as text: exact values, hidden ones, and what a statement can give at most."""

import datetime
import json
import uuid
from decimal import Decimal

import pytest

from dbagenteval.instrument.cells import RowsText
from dbagenteval.instrument.row_bound import at_most
from dbagenteval.instrument.row_settings import RowSettings


def text_of(rows, columns=("a",), **settings):
    written = RowsText(list(columns), RowSettings(**settings))
    written.add(rows)
    return written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (2**200, str(2**200)),
        (Decimal("12.50"), "12.50"),
        (Decimal("1234567890123456789.0123456789"), "1234567890123456789.0123456789"),
        (Decimal("NaN"), '"NaN"'),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
        (0.1, "0.1"),
        ('ü\u2028"', '"ü\u2028\\""'),
        ("\ud800", '"\\ud800"'),
        (b"\x00\xff", '"00ff"'),
        (datetime.date(2026, 1, 31), '"2026-01-31"'),
        (
            datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc),
            '"2026-01-31T12:00:00+00:00"',
        ),
        (datetime.timedelta(hours=1), '"1:00:00"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ([1, None, {"k": float("nan")}], '[1,null,{"k":"NaN"}]'),
        ({1: 2**70}, '{"1":1180591620717411303424}'),
        ({"x"}, '["x"]'),
    ],
)
def test_values_are_exact(value, text):
    """Numbers keep their digits, nothing becomes NULL that is not, and the text is JSON."""
    written = text_of([(value,)]).text()
    assert written == f'{{"columns":["a"],"rows":[[{text}]]}}'
    json.loads(written)


def test_the_text_ends_with_a_whole_row_within_its_bytes():
    """No limit gives broken JSON or more bytes than allowed."""
    rows = [(n, "x" * n) for n in range(60)]
    for limit in range(40, 2500, 7):
        written = text_of(rows, ("n", "t"), max_bytes=limit)
        assert len(written.text()) <= limit
        assert json.loads(written.text())["rows"] == [list(row) for row in rows[: written.count]]
        assert written.is_full is (written.count < 60)


def test_columns_and_matches_and_a_hook_hide_values():
    """What is hidden doesn't stand in the text, and the record knows that something is hidden."""
    import re

    settings = {
        "redact": re.compile(r"\d{3}-\d{4}"),
        "redact_columns": re.compile("(?i)mail"),
        "hook": lambda column, value: "***" if column == "salary" else value,
    }
    columns = ("id", "EMail", "note", "salary")
    written = text_of([(1, "a@b.c", "call 555-1234", 10), (2, None, None, 20)], columns, **settings)
    assert json.loads(written.text())["rows"] == [
        [1, "__REDACTED__", "__REDACTED__", "***"],
        [2, "__REDACTED__", None, "***"],
    ]
    assert written.has_hidden
    assert not text_of([(1, "x", "y", "***")], ("id", "a", "b", "c"), **settings).has_hidden


def test_a_hook_that_fails_lets_nothing_out(recorded, connect):
    """Rather no rows than rows that should be hidden; the program goes on."""

    def hook(column, value):
        raise RuntimeError("broken")

    connection = connect(hook=hook)(":memory:")
    assert connection.execute("SELECT 'secret' AS s").fetchall() == [("secret",)]
    span = recorded.span()
    assert "dbagenteval.rows" not in span.attributes
    assert "secret" not in str([event.attributes for event in span.events])


@pytest.mark.parametrize(
    "environment",
    [
        {"DBAGENTEVAL_ROWS": "many"},
        {"DBAGENTEVAL_ROWS_REDACT": "("},
        {"DBAGENTEVAL_ROWS_HOOK": "no_such_module:hook"},
        {"DBAGENTEVAL_ROWS_HOOK": "json:__doc__"},
        {"DBAGENTEVAL_ROWS_HOOK": "json"},
    ],
)
def test_a_setting_that_is_wrong_records_nothing(environment):
    """A mistake in what hides values must not show them."""
    assert RowSettings.from_environment(environment).max_rows == 0


def test_settings_come_from_the_environment():
    """Limits, patterns and the hook are read; the SDK's own limit counts too."""
    settings = RowSettings.from_environment(
        {
            "DBAGENTEVAL_ROWS": "7",
            "DBAGENTEVAL_ROWS_BYTES": "5000",
            "DBAGENTEVAL_ROWS_REDACT": "x+",
            "DBAGENTEVAL_ROWS_REDACT_COLUMNS": "mail",
            "DBAGENTEVAL_ROWS_HOOK": "operator:add",
            "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "400",
        }
    )
    assert (settings.max_rows, settings.max_bytes) == (7, 400)
    assert settings.redact.search("axb")
    assert settings.redact_columns.search("email")
    assert settings.hook(1, 2) == 3


@pytest.mark.parametrize(
    ("sql", "bound"),
    [
        ("SELECT COUNT(*) FROM t", 1),
        ("select sum(a) / count(*), max(b) from t where c = 'group by'", 1),
        ("SELECT ROUND(AVG(a), 2) AS avg_a FROM t JOIN u ON t.id = u.id;", 1),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT a FROM t)", 1),
        ("SELECT COUNT(DISTINCT a) FROM t HAVING COUNT(*) > 1", 1),
        ("SELECT MAX(a) FROM t", 1),
        ("SELECT 1 AS one", 1),
        ("SELECT * FROM t LIMIT 5", 5),
        ("SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 2 -- limit 1", 5),
        ("SELECT a FROM t FETCH FIRST 3 ROWS ONLY", 3),
        ("SELECT a FROM t FETCH FIRST ROW ONLY", 1),
        # Nothing is certain of these.
        ("SELECT a FROM t", None),
        ("SELECT MAX(a, b) FROM t", None),
        ("SELECT a, COUNT(*) FROM t GROUP BY a", None),
        ("SELECT COUNT(*) FROM t UNION ALL SELECT 1", None),
        ("SELECT COUNT(*) OVER () FROM t", None),
        ("SELECT (SELECT COUNT(*) FROM t) FROM u", None),
        ("SELECT COUNT(*), generate_series(1, 3) FROM t", None),
        ("SELECT generate_series(1, 3)", None),
        ("SELECT unnest(ARRAY[1, 2])", None),
        ("SELECT * FROM (SELECT a FROM t LIMIT 5) x", None),
        ("SELECT * FROM t LIMIT 5, 10", None),
        ("SELECT a FROM t # LIMIT 1", None),
        ("SELECT a FROM t FETCH FIRST 3 ROWS WITH TIES", None),
        ("SELECT 1; SELECT a FROM t LIMIT 1", None),
        ("SELECT a FROM t -- LIMIT 1", None),
        ("SELECT 'x' FROM t /* LIMIT 1 */", None),
        ("SELECT a FROM t WHERE b = ' LIMIT 1'", None),
        ("SELECT EXTRACT(year FROM a), COUNT(*) FROM t", None),
        ("WITH x AS (SELECT COUNT(*) FROM t) SELECT * FROM u", None),
        ("EXPLAIN SELECT a FROM t LIMIT 1", None),
        ("PRAGMA table_info(t)", None),
        ("", None),
    ],
)
def test_the_most_rows_that_a_statement_gives(sql, bound):
    """Only what the text says for sure is a bound: a false one would make a cut result whole."""
    assert at_most(sql) == bound
