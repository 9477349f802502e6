"""The slice for a failed trace: what it shows is found out."""

from __future__ import annotations

import sqlite3

import pytest

from dbagenteval.cases import Case
from dbagenteval.errors import SliceError
from dbagenteval.slices import dataset_executor, replay_on, slice_failure
from dbagenteval.traces import Stage, Trace
from tests.slices import shop

COUNT = "SELECT COUNT(*) AS n FROM customers"
OWN = f"{COUNT} WHERE tenant_id = 1"
CITY = "SELECT city FROM customers WHERE full_name = '田中 花子'"
TOP = (
    "SELECT c.full_name, SUM(o.total) AS spend FROM orders o JOIN customers c "
    "ON c.customer_id = o.customer_id WHERE o.tenant_id = 1 GROUP BY c.customer_id, c.full_name "
    "ORDER BY spend DESC LIMIT 3"
)

CUT = {"observed": {"output": {"state": "cut", "why": "too long"}}}


@pytest.fixture
def url(tmp_path):
    """The shop in SQLite."""
    return shop.make_sqlite(tmp_path / "shop.db")


def traced(sql, rows=None, error=None, answer="…"):
    """Give a trace of one statement."""
    return Trace.simple("?", answer=answer, sql=sql, rows=rows, error=error)


def test_rows_that_differ_from_the_reference_are_shown(url):
    """Where a case has one."""
    found = slice_failure(traced(COUNT, [{"n": 24}]), Case("?", reference_sql=OWN), url)
    assert found.shows == "the rows are not the reference's"
    assert found.statements == (COUNT, OWN)
    assert sorted(row[1] for row in found.rows["customers"]) == [1, 2]


def test_an_error_is_shown_with_what_would_be_right(url):
    """The reference still has something to give on the slice."""
    wrong = "SELECT COUNT(*) FROM orders WHERE order_status = 'pending'"
    right = "SELECT COUNT(*) FROM orders WHERE status = 'pending'"
    trace = traced(wrong, error="no such column: order_status")
    found = slice_failure(trace, Case("?", reference_sql=right), url)
    assert found.shows == "the SQL fails"
    assert [row[4] for row in found.rows["orders"]] == ["pending"]


def test_an_error_of_production_that_the_copy_does_not_show_is_not_made_up(url):
    """SQL that timed out there has its rows compared."""
    trace = traced(COUNT, error="canceling statement due to statement timeout")
    found = slice_failure(trace, Case("?", reference_sql=OWN), url)
    assert found.shows == "the rows are not the reference's"


def test_rows_that_leak_are_shown_without_reference(url):
    """The tenant's own rows are what the result should rest on."""
    found = slice_failure(traced(COUNT, [{"n": 24}]), None, url, tenant=("tenant_id", 1))
    assert found.shows == "rows of other tenants change the result"
    assert sorted(row[1] for row in found.rows["customers"]) == [1, 2]


@pytest.mark.parametrize("reference", [f"{CITY} AND tenant_id = 1", None])
def test_a_leak_that_no_row_shows_gets_a_row_that_does(url, reference, tmp_path):
    """Right rows by luck: another tenant is given a customer of that name."""
    case = Case("?", reference_sql=reference) if reference else None
    trace = traced(CITY, [{"city": "Wien"}])
    found = slice_failure(trace, case, url, tenant=("tenant_id", 1))
    assert found.shows.endswith("once another tenant has rows like the tenant's")
    own, planted = found.rows["customers"]
    assert (own[1], planted[1]) == (1, 2)
    assert own[2:] == planted[2:]
    assert own[0] != planted[0]
    if case is not None:
        path = tmp_path / "data.sql"
        path.write_text(found.script, encoding="utf-8")
        data = dataset_executor(path)
        assert replay_on(traced(found.statements[0]), data).stages[1].rows != data(
            found.statements[1]
        )


def test_planted_rows_refer_to_planted_rows(url):
    """A copied order belongs to the copy of its customer."""
    agent = (
        "SELECT COUNT(*) AS n FROM orders o JOIN customers c ON c.customer_id = o.customer_id "
        "AND c.tenant_id = o.tenant_id WHERE o.tenant_id = 1 OR c.full_name = 'Anna Schmidt'"
    )
    reference = agent.replace("o.tenant_id = 1 OR c", "o.tenant_id = 1 AND c")
    right = "SELECT COUNT(*) AS n FROM orders o WHERE o.tenant_id = 1"
    case = Case("?", reference_sql=[right, reference])
    found = slice_failure(traced(agent, [{"n": 40}]), case, url, tenant=("tenant_id", 1))
    assert found.shows.endswith("once another tenant has rows like the tenant's")
    tenants = {row[0]: row[1] for row in found.rows["customers"]}
    assert {row[1] for row in found.rows["orders"]} >= {2}
    assert all(tenants[row[3]] == row[1] for row in found.rows["orders"])
    database = sqlite3.connect(":memory:")
    database.executescript(found.script)
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []


def test_a_wrong_answer_keeps_its_right_rows(url):
    """As they were, where that takes few rows."""
    sql = "SELECT COUNT(*) AS n FROM products WHERE tenant_id = 1 AND category = 'Books'"
    trace = traced(sql, [{"n": 3}], answer="17 books")
    found = slice_failure(trace, Case("?", reference_sql=sql), url, stage="answer")
    assert found.shows == "the result that the answer was made from"
    assert len(found.rows["products"]) == 3


@pytest.mark.parametrize("select", ["name", "COUNT(*) AS n"])
def test_a_result_that_says_nothing_is_not_shown(url, select):
    """No rows would show it as well, and on them any SQL that finds nothing passes."""
    sql = f"SELECT {select} FROM products WHERE tenant_id = 1 AND category = 'Boats'"
    case = Case("?", reference_sql=sql)
    with pytest.raises(SliceError, match="the failure does not show"):
        slice_failure(traced(sql, [], answer="17 boats"), case, url, stage="answer")


def test_a_wrong_answer_from_many_rows_keeps_a_result_like_theirs(url):
    """Three customers with something to rank."""
    trace = traced(TOP, [{"full_name": "x", "spend": 1}] * 3, answer="the second")
    case = Case("?", reference_sql=TOP)
    found = slice_failure(trace, case, url, stage="answer", max_rows=10)
    assert found.shows == "a result like the one that the answer was made from"
    assert len(found.rows["customers"]) == 3
    assert found.row_count <= 10


def test_what_cannot_be_shown_is_said(url):
    """With each thing that was tried."""
    sql = "SELECT order_id FROM orders WHERE tenant_id = 1"
    trace = traced(sql, [{"order_id": 1}])
    with pytest.raises(SliceError) as raised:
        slice_failure(trace, Case("?", reference_sql=sql), url)
    assert "the rows are not the reference's: the failure does not show" in str(raised.value)
    assert "takes" in str(raised.value)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (Trace("?", [Stage("answer", output="42")]), "the trace has no SQL"),
        (
            Trace("?", [Stage("generate", output="SELECT 1 FR", meta=CUT)]),
            "not seen whole: too long",
        ),
        (traced("DELETE FROM orders"), "the SQL is not run"),
        (traced("SELECT pg_sleep(100)"), "the SQL is not run: calls forbidden function"),
    ],
)
def test_only_sql_that_reads_is_run(url, trace, message):
    """Nothing else, not even on a copy."""
    with pytest.raises(SliceError, match=message):
        slice_failure(trace, None, url)
