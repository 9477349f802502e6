"""Cases that nobody has accepted yet: never passed, always counted and shown."""

import json

import pytest

from dbagenteval import Case, Trace, evaluate, run_suite
from dbagenteval.cli import main
from dbagenteval.rules import ReadOnly, TenantFilter

QUESTION = "How many orders are delivered?"
RIGHT = "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"
DRAFT = f"""\
- id: delivered
  question: {QUESTION}
  status: draft
  reference_sql: {RIGHT}
"""
ACCEPTED = """\
- id: all
  question: How many orders?
  expect:
    rows: [{n: 3}]
"""


@pytest.fixture
def commands(tmp_path, recorder, shop_url, capsys):
    """Run `score` or `validate` on cases; gives exit code and stdout."""

    def run(command, cases, *options):
        path = tmp_path / "cases.yaml"
        path.write_text(cases, encoding="utf-8")
        if command == "score":
            options = ("--store", recorder.save(), "--database", shop_url, *options)
        code = main([command, str(path), *options])
        return code, capsys.readouterr().out

    return run


def test_a_right_trace_of_a_draft_does_not_pass():
    """Its reference is not run; the card says why it is a SKIP."""
    case = Case(QUESTION, reference_sql=RIGHT, status="draft")
    trace = Trace.simple(QUESTION, sql=RIGHT, rows=[{"n": 3}], answer="3")
    card = evaluate(trace, case, [ReadOnly()])
    assert card.verdict == "SKIP"
    assert card.is_draft
    assert [(result.check, result.status, result.reason) for result in card.results] == [
        ("draft", "skip", "draft"),
        ("read_only", "pass", ""),
    ]


def test_a_broken_rule_fails_a_draft_too():
    """What needs no expectation is judged."""
    case = Case(QUESTION, reference_sql=RIGHT, status="draft")
    sql = "SELECT COUNT(*) AS n FROM orders"
    card = evaluate(Trace.simple(QUESTION, sql=sql, rows=[]), case, [TenantFilter("store_id")])
    assert card.verdict == "FAIL"
    assert card.failed_stage == "generate"
    assert not card.is_draft


def test_no_judge_is_asked_about_a_draft():
    """It would cost, and nothing could pass by it."""

    def judge(prompt):
        raise AssertionError("asked")

    case = Case(QUESTION, reference_sql=RIGHT, status="draft")
    assert evaluate(Trace.simple(QUESTION, answer="3"), case, judge=judge).verdict == "SKIP"


def test_score_fails_on_drafts_unless_allowed(commands, recorder):
    """They are counted, named, and no trace of theirs counts as failed."""
    recorder.turn(QUESTION, sql=RIGHT, rows=[{"n": 3}])
    recorder.turn("How many orders?", sql="SELECT COUNT(*) AS n FROM orders", rows=[{"n": 3}])
    code, out = commands("score", DRAFT + ACCEPTED)
    assert code == 1
    assert "1 of 2 passed (50%), 0 failed, 0 errors, 1 draft\n" in out
    assert "1 case(s) are drafts\n      delivered\n" in out
    assert out.endswith("not passed: 1 case(s) are drafts\n")
    code, out = commands("score", DRAFT + ACCEPTED, "--allow-drafts")
    assert code == 0
    assert "1 case(s) are drafts (allowed)" in out


def test_drafts_alone_are_no_passed_score(commands, recorder):
    """Allowed or not: nothing was checked."""
    recorder.turn(QUESTION, sql=RIGHT, rows=[{"n": 3}])
    code, out = commands("score", DRAFT, "--allow-drafts")
    assert code == 1
    assert out.endswith("not passed: no trace was scored\n")


def test_a_draft_without_a_trace_is_not_missing(commands, recorder):
    """It is a draft, and said to be one once."""
    recorder.turn("How many orders?", sql="SELECT COUNT(*) AS n FROM orders", rows=[{"n": 3}])
    code, out = commands("score", DRAFT + ACCEPTED, "--allow-drafts")
    assert code == 0
    assert "have no trace" not in out


def test_the_report_names_drafts(commands, recorder, tmp_path):
    """In the summary and by key."""
    recorder.turn(QUESTION, sql=RIGHT, rows=[{"n": 3}])
    report, short = tmp_path / "report.json", tmp_path / "report.md"
    commands("score", DRAFT, "--json", str(report), "--md", str(short))
    assert "0 errors · 1 skipped (1 drafts)" in short.read_text()
    report = json.loads(report.read_text())
    assert report["summary"]["drafts"] == 1
    assert report["summary"]["passed"] == 0
    assert report["drafts"] == ["delivered"]


def test_validate_names_drafts(commands):
    """A draft is no mistake."""
    code, out = commands("validate", DRAFT + ACCEPTED)
    assert code == 0
    assert out.endswith("cases.yaml: 2 case(s) OK\n  1 draft(s): delivered\n")


AGENT = """\
from dbagenteval import Trace

def agent(question):
    return Trace.simple(question, sql="SELECT COUNT(*) AS n FROM orders", rows=[{"n": 3}])
"""


@pytest.mark.parametrize(
    ("cases", "options", "code"),
    [
        (DRAFT + ACCEPTED, [], 1),
        (DRAFT + ACCEPTED, ["--allow-drafts"], 0),
        (DRAFT, ["--allow-drafts"], 1),
    ],
)
def test_run_fails_on_drafts_unless_allowed(tmp_path, monkeypatch, capsys, cases, options, code):
    """A run of nothing but drafts passes never; no executor is needed for them."""
    (tmp_path / "draft_agent.py").write_text(AGENT)
    (tmp_path / "cases.yaml").write_text(cases)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["run", "cases.yaml", "--agent", "draft_agent:agent", *options]) == code
    out = capsys.readouterr().out
    assert "SKIP  delivered\n      execute / draft: the case is a draft" in out
    assert ", 1 draft\n" in out


def test_a_draft_does_not_end_a_run_that_stops_at_failures():
    """`fail_fast` goes on to the next case."""
    cases = [
        Case(QUESTION, id="a", status="draft"),
        Case("How many?", id="b", expect={"rows": [{"n": 3}]}),
    ]
    result = run_suite(
        cases,
        lambda question: Trace.simple(question, rows=[{"n": 3}]),
        concurrency=1,
        fail_fast=True,
    )
    assert [card.verdict for card in result.cards] == ["SKIP", "PASS"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("status", "accept", "'status' must be one of accepted, draft, got 'accept'"),
        ("data", "", "'data' must be the path of a SQL script"),
        ("data", 3, "'data' must be the path of a SQL script"),
        ("harvested", "t1", "'harvested' must be a mapping: trace, time, service and so on"),
    ],
)
def test_malformed_fields_are_mistakes(field, value, message):
    """A misspelt status would make a draft of nothing, or an accepted case of a draft."""
    with pytest.raises(ValueError, match=message):
        Case.from_dict({"question": "How many?", field: value})
