"""`run` with a function in the process that emits spans: they make the Traces."""

import json
import os
import subprocess
import sys

AGENT = """
import sqlite3

from opentelemetry import baggage, trace
from opentelemetry.sdk.trace import TracerProvider

trace.set_tracer_provider(TracerProvider())
tracer = trace.get_tracer("agent")
SQL = {"How many?": "SELECT COUNT(*) AS n FROM t", "How much?": "SELECT SUM(n) AS total FROM t WHERE n > 1"}
ANSWERS = {"How many?": "There are 3.", "How much?": "It is 5."}


def run_sql(sql):
    with tracer.start_as_current_span("SELECT", attributes={"db.query.text": sql}) as span:
        rows = sqlite3.connect("t.db").execute(sql).fetchall()
        span.set_attribute("dbagenteval.rows", '{"columns": ["n"], "rows": [[%s]]}' % rows[0][0])
        span.set_attribute("case", str(baggage.get_baggage("dbagenteval.case.id")))


def ask(question):
    with tracer.start_as_current_span("agent"):
        run_sql(SQL[question])
    return ANSWERS[question]


async def ask_later(question, session_id):
    assert session_id
    return ask(question)


def ask_and_tell(question):
    from dbagenteval import Trace

    ask(question)
    return Trace.simple(question, answer="own", sql="SELECT 1", rows=[{"n": 1}])
"""
CASES = """
- {id: many, question: "How many?", reference_sql: SELECT COUNT(*) FROM t}
- {id: much, question: "How much?", reference_sql: SELECT SUM(n) FROM t}
"""
SETUP = "import sqlite3; sqlite3.connect('t.db').executescript('CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)')"


def run_agent(folder, name):
    (folder / "agent.py").write_text(AGENT)
    (folder / "cases.yaml").write_text(CASES)
    subprocess.run([sys.executable, "-c", SETUP], cwd=folder, check=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-m", "dbagenteval", "run", "cases.yaml", "--agent", f"agent:{name}",
         "--database", "sqlite:///t.db", "--json", "report.json", "--store", "kept"],
        capture_output=True, text=True, timeout=120, cwd=folder, env=kept,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((folder / "report.json").read_text())
    return {card["id"]: card for card in report["cases"]}


def check(cards):
    assert {case: card["verdict"] for case, card in cards.items()} == {
        "many": "PASS",
        "much": "FAIL",
    }
    assert cards["many"]["meta"]["sql"] == ["SELECT COUNT(*) AS n FROM t"]
    assert cards["many"]["meta"]["rows"]["first"] == [{"n": 3}]
    assert cards["many"]["meta"]["answer"] == "There are 3."
    assert cards["much"]["failed_check"] == "reference_rows"


def test_a_function_that_returns_its_answer(tmp_path):
    """SQL and rows come from its spans, each question's under its own case."""
    check(run_agent(tmp_path, "ask"))


def test_an_async_function_with_a_session(tmp_path):
    """Coroutines keep their parameters and their trace."""
    check(run_agent(tmp_path, "ask_later"))


def test_an_agent_that_tells_by_itself_is_believed(tmp_path):
    """A Trace that the agent returns is what it did."""
    cards = run_agent(tmp_path, "ask_and_tell")
    assert {card["meta"]["answer"] for card in cards.values()} == {"own"}
    assert cards["many"]["meta"]["sql"] == ["SELECT 1"]
