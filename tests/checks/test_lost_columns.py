"""Columns of the reference that a dict could not hold."""

import pytest

from dbagenteval import Case, Trace, evaluate

TRACE = Trace.simple("q", sql="SELECT COUNT(a) FROM t", rows=[{"n": 2}])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(a), COUNT(b) FROM t",
        "SELECT a.id, b.id FROM a, b",
        "SELECT SUM(CASE WHEN a THEN 1 END), SUM(b) FROM t",
        "SELECT a + 1, CASE WHEN b THEN 1 END FROM t",
    ],
)
def test_a_reference_that_lost_a_column_is_an_error(sql):
    """Comparing the rest would hide a difference."""
    with pytest.raises(ValueError, match="gives 2 columns but the rows have 1: name each column"):
        evaluate(TRACE, Case("q", reference_sql=sql), execute=lambda _: [{"n": 2}])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(a) FROM t",
        "SELECT COALESCE(a, b) FROM t",
        "SELECT {'a': 1, 'b': 2} AS s",
        "SELECT [[1, 2], [3, 4]] AS l",
        "SELECT ARRAY[1,\n2] AS l",
        "SELECT STRUCT<a INT64, b STRING>(1, 'x')",
        "SELECT t.* EXCLUDE (a), b FROM t",
        "SELECT a, SUM(b) AS total, SUM(c) d FROM t",  # the executor is a stand-in
        "SELECT COLUMNS('x|y'), b FROM t",
        "SELECT a, FROM t",
        "SELECT *, a FROM t",
        "SELECT 'a, b' AS c -- , d",
    ],
)
def test_commas_that_separate_no_columns(sql):
    """Literals, types, stars and a comma at the end."""
    card = evaluate(TRACE, Case("q", reference_sql=sql), execute=lambda _: [{"n": 2}])
    assert card.verdict == "PASS"


def test_a_column_that_only_later_rows_have_is_there():
    """A missing cell reads as null."""
    rows = [{"a": 1}, {"a": 1, "b": 2}]
    case = Case("q", reference_sql="SELECT f(a), f(b) FROM t")
    card = evaluate(Trace.simple("q", rows=rows), case, execute=lambda _: rows)
    assert card.verdict == "PASS"
