"""`dbagenteval slice`: from a trace or a query to a script."""

from __future__ import annotations

import json
import sqlite3

import pytest

from dbagenteval.cli import main
from tests.slices import shop

WRONG = "SELECT COUNT(*) AS n FROM customers"
RIGHT = f"{WRONG} WHERE tenant_id = 1"
CASES = f"- id: how-many\n  question: How many customers?\n  reference_sql: {RIGHT}\n"


@pytest.fixture
def url(tmp_path):
    """A shop with two tenants."""
    return shop.make_sqlite(tmp_path / "two tenants.db")


@pytest.fixture
def cases(tmp_path):
    """The case that the wrong query fails."""
    (tmp_path / "cases.yaml").write_text(CASES)
    return str(tmp_path / "cases.yaml")


def first_id(store, capsys):
    assert main(["traces", "export", "--store", store]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[0])["meta"]["trace_ids"][0]


def test_a_failed_trace_becomes_a_script(recorder, url, cases, tmp_path, capsys):
    """With the reference of its case; the script alone is what a user passes on."""
    recorder.turn("How many customers?", sql=WRONG, rows=[{"n": 24}], answer="24")
    store = recorder.save()
    trace_id = first_id(store, capsys)
    output = tmp_path / "slice.sql"
    given = ["slice", "--trace", trace_id[:12], "--store", store, "--cases", cases]
    assert main([*given, "--database", url, "-o", str(output)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 row(s): 2 of customers\nshows: the rows are not the reference's\n" in err
    assert f"sql: {WRONG}\nsql: {RIGHT}\n" in err
    database = sqlite3.connect(":memory:")
    database.executescript(output.read_text(encoding="utf-8"))
    assert database.execute(WRONG).fetchone() == (2,)
    assert database.execute(RIGHT).fetchone() == (1,)


def test_without_case_the_tenant_tells_what_is_wrong(recorder, url, capsys):
    """Rows of others that matter; the script goes to stdout."""
    recorder.turn("How many customers?", sql=WRONG, rows=[{"n": 24}])
    store = recorder.save()
    given = ["slice", "--trace", first_id(store, capsys), "--store", store]
    assert main([*given, "--database", url, "--tenant", "tenant_id=1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("-- dialect: sqlite\nCREATE TABLE")
    assert "shows: rows of other tenants change the result\n" in err


def test_two_queries_are_enough(url, capsys):
    """Without a store."""
    given = ["slice", "--sql", WRONG, "--reference", RIGHT, "--database", url]
    assert main(given) == 0
    redacted = capsys.readouterr().out
    assert "@example.com" not in redacted
    assert main([*given, "--keep-values"]) == 0
    assert "@example.com" in capsys.readouterr().out


def test_a_wrong_answer_keeps_what_it_was_made_from(url, capsys):
    """The query is right then."""
    given = ["slice", "--sql", f"{RIGHT} AND city = 'Wien'", "--wrong-answer", "--database", url]
    assert main(given) == 0
    assert "shows: the result that the answer was made from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "slice needs either --trace ID or --sql SQL"),
        (["--sql", WRONG, "--trace", "ab"], "slice needs either --trace ID or --sql SQL"),
        (["--trace", "ab"], "--trace needs --store"),
        (["--trace", "ab", "--store", "s", "--reference", RIGHT], "--reference goes with --sql"),
        (["--sql", WRONG, "--store", "s"], "--store goes with --trace"),
        (["--sql", WRONG, "--tenant", "x"], "--tenant: expected COLUMN=VALUE"),
        (["--sql", "DELETE FROM orders"], "the SQL is not run: not a SELECT statement"),
        (["--sql", RIGHT, "--reference", RIGHT, "--max-rows", "3"], "does not show on a copy"),
    ],
)
def test_mistakes_are_told(url, arguments, message, capsys):
    """In one line, with exit code 2, and no script."""
    assert main(["slice", *arguments, "--database", url]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_the_database_and_the_cases_are_never_written_over(recorder, url, cases, tmp_path, capsys):
    """Nor is the database changed."""
    before = (tmp_path / "two tenants.db").read_bytes()
    given = ["slice", "--sql", WRONG, "--reference", RIGHT, "--database", url]
    assert main([*given, "-o", str(tmp_path / "two tenants.db")]) == 2
    assert "the run reads that file" in capsys.readouterr().err
    recorder.turn("How many customers?", sql=WRONG, rows=[{"n": 24}])
    store = recorder.save()
    given = ["slice", "--trace", first_id(store, capsys), "--store", store, "--cases", cases]
    assert main([*given, "--database", url, "-o", cases]) == 2
    assert "the run reads that file" in capsys.readouterr().err
    assert (tmp_path / "two tenants.db").read_bytes() == before
    assert (tmp_path / "cases.yaml").read_text() == CASES


def test_a_trace_that_no_case_asks_is_told(recorder, url, cases, capsys):
    """As score tells it."""
    recorder.turn("What else?", sql=WRONG, rows=[{"n": 24}])
    store = recorder.save()
    given = ["slice", "--trace", first_id(store, capsys), "--store", store, "--cases", cases]
    assert main([*given, "--database", url]) == 2
    assert "no case asks this question" in capsys.readouterr().err
