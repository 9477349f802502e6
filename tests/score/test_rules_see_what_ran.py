"""`score` with rules fails a DELETE that ran, wherever its span stands."""

import pytest

from dbagenteval.cli import main

SELECT = "SELECT count(*) AS n FROM orders"
RULES = """
from dbagenteval.rules import AllowedTables, ReadOnly

rules = [ReadOnly(), AllowedTables("orders")]
"""


def _span(tracer, attributes, *below):
    with tracer.start_as_current_span("step", attributes=attributes):
        for one in below:
            _span(tracer, *one)


def _stage(kind, **facts):
    keys = {"sql": "db.query.text", "rows": "dbagenteval.rows", "output": "dbagenteval.output"}
    return {"dbagenteval.stage": kind} | {keys[key]: value for key, value in facts.items()}


READ = (_stage("execute", sql=SELECT, rows='[{"n": 3}]'),)
ANSWER = _stage("answer", output="3 orders.")
DATABASE = ({"db.query.text": "DELETE FROM orders"},)


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([READ, (ANSWER,)], 0),
        ([(*READ, DATABASE), (ANSWER,)], 1),
        ([(_stage("execute"), ({"db.query.text": SELECT},), DATABASE), (ANSWER,)], 1),
        ([READ, (ANSWER, DATABASE)], 1),
        ([(_stage("route", output="data"), DATABASE), READ, (ANSWER,)], 1),
        ([(_stage("generate", sql=SELECT), DATABASE), READ, (ANSWER,)], 1),
        ([(_stage("plan", output="count", sql="DELETE FROM orders"),), READ, (ANSWER,)], 1),
        ([READ, (_stage("answer", output="3 orders.", sql="DELETE FROM orders"),)], 1),
    ],
)
def test_a_statement_that_ran_reaches_the_rules(
    recorder, tmp_path, monkeypatch, capsys, steps, code
):
    """The gate is green for the SELECT alone."""
    monkeypatch.syspath_prepend(tmp_path)
    turn = {"dbagenteval.question": "How many orders?"}
    _span(recorder.tracer, turn, *steps)
    (tmp_path / "what_ran_rules.py").write_text(RULES, encoding="utf-8")
    (tmp_path / "cases.yaml").write_text(
        "- question: How many orders?\n  expect:\n    answer: 3 orders.\n", encoding="utf-8"
    )
    command = ["score", "--store", recorder.save(), str(tmp_path / "cases.yaml")]
    assert main([*command, "--rules", "what_ran_rules:rules"]) == code
    out = capsys.readouterr().out
    assert ("read_only: not a SELECT statement (Delete)" in out) == bool(code), out
