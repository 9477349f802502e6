"""`score --replay-sql`: spans without rows are scored from the agent's SQL, run again."""

import json
import sqlite3

import pytest

from dbagenteval.cli.main import main

QUESTION = "How many are there?"
CASES = '- {id: one, question: "How many are there?", reference_sql: SELECT COUNT(*) FROM t}'


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with a database and its case."""
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect("t.db")
    connection.executescript("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)")
    connection.close()
    (tmp_path / "cases.yaml").write_text(CASES)
    return tmp_path


def asked(recorder, sql):
    """Record a turn whose database span has no rows, as plain instrumentations make it."""
    attributes = {"dbagenteval.question": QUESTION}
    with recorder.tracer.start_as_current_span("ask", attributes=attributes):
        with recorder.tracer.start_as_current_span("SELECT", attributes={"db.query.text": sql}):
            pass
        answer = {"dbagenteval.stage": "answer", "dbagenteval.output": "Three."}
        with recorder.tracer.start_as_current_span("answer", attributes=answer):
            pass
    return recorder.save()


def score(store, *options):
    report = "report.json"
    code = main(["score", "cases.yaml", "--store", store, "--database", "sqlite:///t.db",
                 "--json", report, *options])  # fmt: skip
    with open(report, encoding="utf-8") as file:
        (card,) = json.load(file)["cases"]
    return code, card


def results_of(card):
    return {result["check"]: result for result in card["results"]}


def test_without_it_the_rows_are_no_evidence(shop, recorder):
    """A check of rows that nobody saw is skipped, and that doesn't pass the gate."""
    code, card = score(asked(recorder, "SELECT COUNT(*) FROM t"))
    assert code == 1
    assert results_of(card)["reference_rows"]["status"] == "skip"
    assert "replayed" not in card["meta"]


@pytest.mark.parametrize(
    ("sql", "verdict", "code"),
    [("SELECT COUNT(*) FROM t", "PASS", 0), ("SELECT COUNT(*) FROM t WHERE n > 1", "FAIL", 1)],
)
def test_replayed_rows_decide_and_the_card_says_so(shop, recorder, capsys, sql, verdict, code):
    """Right and wrong SQL get their verdicts, with the time of the replay on the card."""
    got, card = score(asked(recorder, sql), "--replay-sql")
    assert (got, card["verdict"]) == (code, verdict)
    (told,) = card["meta"]["replayed"]
    assert told["stage"] == "execute"
    assert told["rows"] == 1
    assert f"rows replayed at {told['at']}" in results_of(card)["reference_rows"]["detail"]
    assert "replayed: rows of 1 executions, refused 0" in capsys.readouterr().out


def test_sql_that_writes_is_not_replayed(shop, recorder):
    """The database is as before, and the check is skipped with the reason."""
    code, card = score(asked(recorder, "DELETE FROM t RETURNING n"), "--replay-sql")
    assert code == 1
    assert results_of(card)["reference_rows"]["status"] == "skip"
    assert "not replayed: read_only" in results_of(card)["reference_rows"]["detail"]
    assert sqlite3.connect("t.db").execute("SELECT COUNT(*) FROM t").fetchone() == (3,)


def test_a_database_is_needed(shop, recorder, capsys):
    """A function of the user can't be limited, so it is refused."""
    store = asked(recorder, "SELECT 1")
    assert (
        main(["score", "cases.yaml", "--store", store, "--replay-sql", "--execute", "os:getcwd"])
        == 2
    )
    assert "--replay-sql needs --database" in capsys.readouterr().err
