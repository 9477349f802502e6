"""`dbagenteval score`: stored traces against cases, and a gate that is never green by accident."""

import json
from pathlib import Path

import pytest

from dbagenteval.cli import main

COUNT = "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"
CASES = """\
- id: delivered
  question: How many orders are delivered?
  tags: [orders]
  reference_sql: SELECT COUNT(*) FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'
"""


@pytest.fixture
def cases(tmp_path):
    """A file of one case."""
    path = tmp_path / "cases.yaml"
    path.write_text(CASES, encoding="utf-8")
    return str(path)


@pytest.fixture
def score(cases, shop_url, recorder, capsys):
    """Save the recorder's spans, run the command, give exit code, stdout and stderr."""

    def run(*options):
        code = main(["score", cases, "--store", recorder.save(), "--database", shop_url, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_right_trace_passes(recorder, score):
    """A trace whose rows are the reference's passes, and all is green."""
    recorder.turn("how many orders are delivered", sql=COUNT, rows=[{"n": 3}], answer="3 orders.")
    code, out, _ = score()
    assert code == 0
    assert out.startswith("PASS  delivered  [")
    assert "1 of 1 passed (100%), 0 failed, 0 errors" in out


def test_a_wrong_trace_names_the_stage(recorder, score):
    """The first failing stage and the reason are shown."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 4}], answer="4 orders.")
    code, out, _ = score()
    assert code == 1
    assert "execute / reference_rows: got 1 row(s), first: [{'n': 4}]" in out
    assert "first failing stage execute: 1" in out
    assert "      goes back to generate: the rows are other than the reference's" not in out


def test_wrong_sql_is_named_as_where_it_goes_back_to(recorder, score):
    """The rows show it, and the last lines group it with others of its kind."""
    sql = "SELECT COUNT(*) AS n FROM orders WHERE status = 'DELIVERED'"
    for _ in range(2):
        recorder.turn("How many orders are delivered?", sql=sql, rows=[{"n": 4}], answer="4.")
    code, out, _ = score()
    assert code == 1
    told = "goes back to generate: missing filter on orders.store_id; right SQL would have been"
    assert f"      {told} enough" in out
    assert "2 failure(s), 1 cluster(s):\n  missing filter on orders.store_id, 2 of 2" in out


def test_each_trace_of_a_case_is_scored(recorder, score):
    """One case that was asked three times gives three cards."""
    for rows in ([{"n": 3}], [{"n": 4}], [{"n": 3}]):
        recorder.turn("How many orders are delivered?", sql=COUNT, rows=rows)
    code, out, _ = score()
    assert code == 1
    assert "2 of 3 passed" in out


def test_unmatched_traces_fail_the_gate_unless_allowed(recorder, score):
    """A question that no case asks is shown with its reason."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    recorder.turn("What is the weather?", answer="Sunny.")
    code, out, _ = score()
    assert code == 1
    assert "1 trace(s) match no case" in out
    assert "'What is the weather?': no case asks this question" in out
    code, out, _ = score("--allow-unmatched")
    assert code == 0
    assert "1 trace(s) match no case (allowed)" in out


def test_cases_without_a_trace_fail_the_gate_unless_allowed(recorder, score, cases):
    """A case that nobody asked is named."""
    with open(cases, "a", encoding="utf-8") as file:
        file.write("- {id: never-asked, question: Never?}\n")
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    code, out, _ = score()
    assert code == 1
    assert "1 case(s) have no trace\n      never-asked" in out
    assert score("--allow-missing")[0] == 0


def test_hidden_rows_fail_the_gate_unless_allowed(recorder, score):
    """A result that was cut is no evidence: the check is skipped, and the skip is counted."""
    recorder.turn("How many orders are delivered?", sql=COUNT, answer="3 orders.")
    with recorder.tracer.start_as_current_span(
        "ask", attributes={"dbagenteval.question": "How many orders are delivered?"}
    ):
        recorder._stage(
            "execute",
            {"dbagenteval.rows": '[{"n": 3}]', "dbagenteval.rows.truncated": True},
        )
    code, out, _ = score()
    assert code == 1
    assert "check(s) had no evidence" in out


def test_an_empty_store_is_not_green(recorder, score):
    """Nothing scored is not everything passed."""
    code, out, _ = score("--allow-missing")
    assert code == 1
    assert "no trace was scored" in out


def test_traces_that_nothing_judged_are_not_green(recorder, score, tmp_path, monkeypatch):
    """With every trace unmatched and every case missing, allowed or not, a rule has to judge."""
    recorder.turn("What is the weather?", sql=COUNT, rows=[{"n": 3}], answer="Sunny.")
    allowed = ("--allow-unmatched", "--allow-missing", "--allow-skipped")
    code, out, _ = score(*allowed)
    assert code == 1
    assert out.endswith("not passed: no trace was scored by a case or a rule\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "read_only_rules.py").write_text(
        "from dbagenteval.rules import ReadOnly\nRULES = [ReadOnly()]\n", encoding="utf-8"
    )
    assert score(*allowed, "--rules", "read_only_rules:RULES")[0] == 0


def test_a_warning_about_a_case_names_its_place_alone(recorder, score, cases):
    """As `validate` says it, without lines of our source."""
    Path(cases).write_text("- {id: a, question: How many?, expect: {}}\n", encoding="utf-8")
    recorder.turn("How many?", sql=COUNT, rows=[{"n": 3}])
    _, _, err = score()
    assert err == f"{cases}:1: warning: 'expect' is given but empty, so it checks nothing\n"


def test_a_mistyped_dialect_is_refused(recorder, score):
    """Rules would read the SQL without a dialect, and nobody would know."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    code, _, err = score("--dialect", "postgrs")
    assert code == 2
    assert "'postgrs' is no database type; write one such as postgres, mysql" in err
    assert score("--dialect", "postgresql")[0] == 0


def test_a_broken_reference_is_an_error(recorder, score, cases):
    """The verdict ERROR says that the case is at fault, not the agent."""
    with open(cases, "w", encoding="utf-8") as file:
        file.write("- {id: bad, question: Bad?, reference_sql: SELECT * FROM nowhere}\n")
    recorder.turn("Bad?", sql=COUNT, rows=[{"n": 3}])
    recorder.turn("Bad?", sql=COUNT, rows=[{"n": 3}])
    code, out, _ = score()
    assert code == 1
    assert out.count("\n      evaluation raised RuntimeError: the reference SQL failed to run") == 2
    assert "0 of 2 passed (0%), 0 failed, 2 errors" in out


def test_rules_apply_to_unmatched_traces(recorder, score, tmp_path, monkeypatch):
    """A leak in traffic that nobody wrote a case for is shown, even when unmatched is allowed."""
    (tmp_path / "shop_rules.py").write_text(
        "from dbagenteval.rules import TenantFilter\nRULES = [TenantFilter('store_id')]\n"
    )
    monkeypatch.chdir(tmp_path)
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    recorder.turn("All?", sql="SELECT * FROM orders", rows=[])
    code, out, _ = score("--rules", "shop_rules:RULES", "--allow-unmatched")
    assert code == 1
    assert "generate / tenant_filter: no store_id filter on ['orders']" in out
    assert "1 unmatched trace(s) broke a rule" in out


def test_reports_are_whole_and_read_by_diff(recorder, score, tmp_path, capsys):
    """The JSON report has every card and the gate's view, and `diff` reads it."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 4}])
    recorder.turn("Other?", answer="no")
    report, markdown = tmp_path / "r.json", tmp_path / "r.md"
    code, *_ = score("--json", str(report), "--md", str(markdown))
    assert code == 1
    data = json.loads(report.read_text(encoding="utf-8"))
    assert data["summary"]["failed"] == 1
    assert [card["verdict"] for card in data["cases"]] == ["FAIL"]
    assert [card["question"] for card in data["unmatched"]] == ["Other?"]
    assert "0 of 1 passed" in markdown.read_text(encoding="utf-8")
    assert main(["diff", str(report), str(report)]) == 0


def test_a_failed_run_keeps_the_old_report(recorder, score, tmp_path, monkeypatch):
    """A crash in the middle leaves the report of the day before, and no debris."""
    report = tmp_path / "r.json"
    report.write_text("old", encoding="utf-8")
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])

    def crash(*_args, **_kwargs):
        raise MemoryError("no memory")

    monkeypatch.setattr("dbagenteval.suite.stored.try_evaluate", crash)
    with pytest.raises(MemoryError):
        score("--json", str(report))
    assert report.read_text(encoding="utf-8") == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".r.json")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rules", "nowhere:RULES"], "cannot import 'nowhere'"),
        (["--json", "/nowhere/r.json"], "cannot write /nowhere/r.json"),
    ],
)
def test_user_mistakes_exit_2(recorder, score, options, message):
    """A mistake in an option is one clear line."""
    code, _, err = score(*options)
    assert code == 2
    assert message in err


def test_a_missing_store_exits_2(cases, shop_url, tmp_path, capsys):
    """Scoring makes no store."""
    missing = tmp_path / "none"
    assert main(["score", cases, "--store", str(missing), "--database", shop_url]) == 2
    assert "there is no store here" in capsys.readouterr().err
    assert not missing.exists()


def test_reference_sql_needs_a_database(cases, recorder, capsys):
    """Nothing is guessed when nobody said where to run the reference."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    assert main(["score", cases, "--store", recorder.save()]) == 2
    assert "--database" in capsys.readouterr().err


def test_an_error_of_an_unmatched_trace_is_no_broken_rule(recorder, score):
    """What nobody wrote a case for can't be wrong unless a rule says so."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    with recorder.tracer.start_as_current_span(
        "ask", attributes={"dbagenteval.question": "Other?"}
    ):
        recorder._stage("execute", {"dbagenteval.error": "no such table"})
    code, out, _ = score("--allow-unmatched", "--allow-skipped")
    assert (code, "broke a rule" in out) == (0, False)


def test_cases_that_share_a_question_say_what_their_traces_need(recorder, score, cases):
    """Both stay without a trace, and the reason is at hand."""
    with open(cases, "a", encoding="utf-8") as file:
        file.write("- {id: again, question: how many orders are delivered}\n")
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    code, out, _ = score()
    assert code == 1
    assert "delivered: again asks the same; its traces need dbagenteval.case.id" in out


def test_prove_tenant_runs_the_sql_while_other_tenants_change(recorder, score):
    """The leak is found on the data, and what is bound to the tenant passes."""
    leak = "SELECT COUNT(*) AS n FROM orders WHERE status = 'DELIVERED' AND amount < 1e9"
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    code, out, _ = score("--prove-tenant", "store_id=s1")
    assert (code, out.count("PASS")) == (0, 1)
    recorder.turn("How many orders are delivered?", sql=leak, rows=[{"n": 3}])
    code, out, _ = score("--prove-tenant", "store_id=s1")
    assert code == 1
    assert "generate / prove_tenant: " in out


@pytest.mark.parametrize("given", ["store_id", "=s1", "store_id="])
def test_prove_tenant_needs_a_column_and_a_value(recorder, score, given):
    """A malformed option is named."""
    code, _, err = score("--prove-tenant", given)
    assert code == 2
    assert "expected COLUMN=VALUE" in err


def test_a_report_never_replaces_what_the_run_reads(recorder, score, cases):
    """A slip of the shell's history must not cost the cases."""
    before = Path(cases).read_text(encoding="utf-8")
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}])
    code, _, err = score("--json", cases)
    assert code == 2
    assert "the run reads that file" in err
    assert Path(cases).read_text(encoding="utf-8") == before
