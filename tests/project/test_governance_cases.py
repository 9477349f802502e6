"""Governance cases are decided from the question and the project, never from the expectation."""

from __future__ import annotations

import json

import pytest

from dbagenteval.cli.main import main
from dbagenteval.executors import executor_for
from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.folder.model import GovernanceCase
from dbagenteval.project.governance.cases import evaluate_case
from dbagenteval.project.policy import Request, decide
from dbagenteval.project.policy.audit import AuditLog, audit_faults

DATASET = "datasets/sales/dataset.yaml"
ALLOW = {"outcome": "allow"}

# question: outcome, failed checks. The project is the example; its date is 2024-03-31.
# fmt: off
QUESTIONS = {
    "list the last_name of every buyer": ("block", ["pii_block"]),
    "list the surnames of our customers": ("block", ["pii_block"]),
    "what are the e-mail addresses of customers": ("block", ["pii_block"]),
    "give me all customer names": ("block", ["pii_block"]),
    "show the names of all customers": ("block", ["pii_block"]),
    "name the cities of customers": ("allow", []),
    "list cities of customers without their emails": ("allow", []),
    "how many customers per city": ("allow", []),
    "run select * from main.customers": ("block", ["pii_block", "pii_block_star", "limit_check"]),
    "run select c.* from customers c limit 5": ("block", ["pii_block", "pii_block_star"]),
    "run select * from main.payments limit 5": ("allow", []),
    "select id from raw_customers": ("block", ["bundle_tables_only", "limit_check"]),
    "select all customers from Oslo": ("allow", []),
    "count the rows in staging.raw_payments": ("block", ["bundle_tables_only"]),
    "what is orders.net_revenue for last month": ("allow", []),
    "customers since v1.2, rated 3.5, see www.bakery.com or bob@example.com, e.g. Oslo": ("allow", []),
    "how many orders did we get": ("needs_clarification", ["time_filter_required"]),
    "how many orders may I see": ("needs_clarification", ["time_filter_required"]),
    "orders in May": ("allow", []),
    "orders this year": ("allow", []),
    "orders today": ("allow", []),
    "revenue YTD": ("allow", []),
    "revenue in Q1 2024": ("allow", []),
    "revenue in 2024": ("allow", []),
    "revenue of all time": ("allow", []),
    "revenue": ("needs_clarification", ["time_filter_required"]),
    "how many border crossings were there": ("allow", []),
    "how many orders were placed in March 2024": ("needs_clarification", ["ambiguity_check"]),
    "how many orders of status placed in March 2024": ("allow", []),
    "how many orders were placed": ("needs_clarification", ["ambiguity_check", "time_filter_required"]),
    "drop table main.orders": ("block", ["statement_allowed"]),
}
# fmt: on


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_decided_by_what_it_asks_for(folder, question: str) -> None:
    """Columns, tables, time and vague words count as words that the project knows."""
    outcome, failed = QUESTIONS[question]
    decision = decide(Request(question=question, bundle="sales"), load_project(folder.root))
    assert (decision.outcome, [check.name for check in decision.failed]) == (outcome, failed), (
        decision.reason
    )


def test_the_real_schema_tells_more_tables(folder) -> None:
    """A table that only the database has is known to be out of scope."""
    project = load_project(folder.root)
    catalog = Catalog(
        tables={"staging.raw_payments": {"id": "integer"}},
        spelling={"staging.raw_payments": "staging.raw_payments"},
    )
    request = Request(question="how many entries has raw_payments", bundle="sales")
    assert decide(request, project).outcome == "allow"
    assert decide(request, project, catalog).failed[0].name == "bundle_tables_only"


def test_relative_times_count_from_the_fixed_date(folder) -> None:
    """The bundle's date, the case's, and the request's, in that order of weakness."""
    import datetime

    project = load_project(folder.root)
    fixed = decide(Request(question="revenue last month", bundle="sales"), project)
    assert (fixed.start, fixed.end) == (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    moved = decide(
        Request(question="revenue last month", bundle="sales", today=datetime.date(2025, 1, 5)),
        project,
    )
    assert (moved.start, moved.end) == (datetime.date(2024, 12, 1), datetime.date(2024, 12, 31))


def _evaluate(folder, prompt: str, expected: dict, *, database: bool = False, **values):
    project = load_project(folder.root)
    case = GovernanceCase(
        id="x", prompt=prompt, category="", expected=expected, bundle_id="sales", **values
    )
    executors = None
    if database:
        folder.make_database()
        executors = lambda name: executor_for(project.config.database(name).url)  # noqa: E731
    return evaluate_case(case, project, executors=executors)


METRIC = {
    "outcome": "allow",
    "tool": "query_metrics",
    "model_name": "orders",
    "measure": "net_revenue",
}

# expectation for "list the last names of customers", and the verdict
# fmt: off
EXPECTATIONS = [
    ("list the last names of customers", {"outcome": "block", "check_failed": "pii_block"}, "PASS"),
    ("list the last names of customers", {"outcome": "allow"}, "FAIL"),
    ("list the last names of customers", {"outcome": "block", "check_failed": "bundle_tables_only"}, "FAIL"),
    ("list the last names of customers", {"outcome": "block", "check_failed": "pii_blok"}, "ERROR"),
    ("list the cities of customers", {"outcome": "block", "check_failed": "pii_block"}, "FAIL"),
    ("list the cities of customers", {"outcome": "block", "check_failed": "bundle_tables_only"}, "FAIL"),
    ("list the cities of customers", {"outcome": "needs_clarification", "check_failed": "ambiguity_check"}, "FAIL"),
    ("orders this month", {"outcome": "needs_clarification", "check_failed": "time_filter_required"}, "FAIL"),
    ("orders this month", {"outcome": "allow", "check_passed": "time_filter_required"}, "PASS"),
    ("how many orders", {"outcome": "allow"}, "FAIL"),
    ("revenue last month", {"outcome": "allow", "guidance_rules_include": ["net_of_returns"]}, "PASS"),
    ("customers in the border city", {"outcome": "allow", "guidance_rules_include": ["net_of_returns"]}, "FAIL"),
    ("revenue last month", {"outcome": "allow", "guidance_rules_include": ["nothing"]}, "ERROR"),
    ("revenue last month", {"outcome": "allow", "check_failed": "pii_block"}, "ERROR"),
]
# fmt: on


@pytest.mark.parametrize(("prompt", "expected", "verdict"), EXPECTATIONS)
def test_an_expectation_is_compared_afterwards(
    folder, prompt: str, expected: dict, verdict: str
) -> None:
    """What can't be true fails, what can't be decided is an error, neither is a pass."""
    result = _evaluate(folder, prompt, expected)
    assert result.verdict == verdict, result.detail


def test_the_expectation_does_not_change_the_decision(folder) -> None:
    """The same question gives the same decision under every expectation."""
    decisions = {
        json.dumps(
            _evaluate(folder, "how many orders were placed", expected).decision.to_dict(),
            sort_keys=True,
        )
        for expected in (
            ALLOW,
            {"outcome": "block"},
            {"outcome": "needs_clarification", "check_failed": "time_filter_required"},
            {"outcome": "needs_clarification", "check_failed": "ambiguity_check"},
        )
    }
    assert len(decisions) == 1


def test_a_measure_is_computed_in_the_time_of_the_question(folder) -> None:
    """The value is that of the question's period; out of range fails, no database is an error."""
    whole = _evaluate(
        folder, "revenue of all time", {**METRIC, "result_range": [172.5, 172.5]}, database=True
    )
    assert (whole.verdict, whole.value) == ("PASS", 172.5)
    month = _evaluate(folder, "revenue last month", {**METRIC, "result": 74.25}, database=True)
    assert (month.verdict, month.value) == ("PASS", 74.25)
    wrong = _evaluate(
        folder, "revenue last month", {**METRIC, "result_range": [80, 120]}, database=True
    )
    assert (wrong.verdict, wrong.value) == ("FAIL", 74.25)
    assert "outside 80 to 120" in wrong.detail
    assert (
        _evaluate(folder, "revenue last month", {**METRIC, "result_range": [1, 2]}).verdict
        == "ERROR"
    )
    assert _evaluate(folder, "revenue last month", METRIC).verdict == "ERROR", (
        "nothing was computed"
    )
    counted = {**METRIC, "measure": "order_count", "result": 3, "tolerance": 0}
    assert _evaluate(folder, "orders in March 2024", counted, database=True).verdict == "PASS"


def test_ambiguity_without_a_glossary_is_an_error(folder) -> None:
    """Where no data says which words are vague, the expectation can't be decided."""
    (folder.root / "semantics/glossary.yml").unlink()
    expected = {"outcome": "needs_clarification", "check_failed": "ambiguity_check"}
    assert _evaluate(folder, "how many orders were placed in May", expected).verdict == "ERROR"


def test_a_case_is_judged_in_its_own_bundle(folder) -> None:
    """With two bundles each case keeps to the one it stands in."""
    text = (folder.root / DATASET).read_text("utf-8")
    other = text.replace("bundle_id: sales", "bundle_id: a_first").split("eval_test_cases")[0]
    folder.write(
        "datasets/a_first/dataset.yaml",
        other.replace("  - {schema: main, table: payments}\n", "").split(
            "  - left: {schema: main, table: payments"
        )[0]
        + "defaults: {}\ncertification: {level: certified}\n",
    )
    project = load_project(folder.root)
    for bundle_id, verdict in (("sales", "PASS"), ("a_first", "FAIL")):
        case = GovernanceCase(
            id="x",
            prompt="p",
            category="",
            expected=ALLOW,
            bundle_id=bundle_id,
            sql="SELECT count(*) FROM main.payments",
        )
        assert evaluate_case(case, project).verdict == verdict


def test_the_command_passes_the_example_and_writes_the_audit(folder, capsys) -> None:
    """`eval --engine` passes the example, and every decision, refusals too, is in the audit."""
    folder.make_database()
    assert main(["eval", "-p", str(folder.root), "--engine", "--database", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["summary"] == {"PASS": 11}
    audit = folder.root / "contracts/audit.jsonl"
    records = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert len(records) == 11
    assert {record["decision"]["outcome"] for record in records} == {
        "allow",
        "block",
        "needs_clarification",
    }
    assert audit_faults(audit) == []
    lines = audit.read_bytes().splitlines(keepends=True)
    audit.write_bytes(b"".join(lines[:3] + lines[4:]))
    assert len(audit_faults(audit)) == 1
    audit.write_bytes(b"".join(lines).replace(b'"outcome":"block"', b'"outcome":"allow"', 1))
    assert len(audit_faults(audit)) == 1


def test_the_audit_survives_a_torn_line_and_many_writers(folder) -> None:
    """A torn last line is kept and shown; threads append one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    project = load_project(folder.root)
    log = AuditLog(folder.root / "contracts/audit.jsonl")
    request = Request(sql="SELECT 1")
    decision = decide(request, project)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: log.append(request, decision, project), range(24)))
    assert audit_faults(log.path) == []
    with log.path.open("ab") as file:
        file.write(b'{"torn": ')
    log.append(request, decision, project)
    assert len(audit_faults(log.path)) == 1
    assert len(log.path.read_bytes().splitlines()) == 26


@pytest.mark.parametrize(
    ("change", "arguments", "code", "words"),
    [
        (None, ["--scorecard"], 0, "score 12/12"),
        (("policies/policy.yml", "mode: block", "mode: blok"), [], 2, "did you mean 'block'"),
        (("policies/policy.yml", "mode: block", "mode: blok"), ["--scorecard"], 1, "NO"),
        (
            (DATASET, "check_failed: pii_block_star", "check_failed: limit_check, outcome: allow"),
            [],
            2,
            "duplicate-key",
        ),
        ((DATASET, "prompt: revenue last month", "prompt: revenue"), [], 1, "1 FAIL"),
        (None, ["--store", "x"], 2, "--store needs --engine"),
        (None, ["--today", "soon"], 2, "YYYY-MM-DD"),
    ],
)
def test_exit_codes_of_eval(folder, capsys, change, arguments, code: int, words: str) -> None:
    """0 all passed, 1 one did not, 2 could not run; the reason is told."""
    folder.make_database()
    if change:
        folder.replace(*change)
    assert main(["eval", "-p", str(folder.root), *arguments]) == code
    captured = capsys.readouterr()
    assert words in captured.out + captured.err


def test_the_engine_needs_a_policy_and_eval_needs_cases(folder, capsys) -> None:
    """Without a policy `--engine` does not pass silently; without cases nothing is a success."""
    (folder.root / "policies/policy.yml").unlink()
    assert main(["eval", "-p", str(folder.root), "--engine"]) == 2
    text = (folder.root / DATASET).read_text("utf-8")
    folder.write(DATASET, text.split("eval_test_cases")[0])
    assert main(["eval", "-p", str(folder.root)]) == 2
    assert "nothing was evaluated" in capsys.readouterr().err


def test_exit_codes_of_validate(folder, capsys) -> None:
    """A sound project gives 0, one with errors 1 with the line, none 2."""
    assert main(["validate", str(folder.root)]) == 0
    line = folder.replace("policies/policy.yml", "mode: block", "mode: blok")
    assert main(["validate", str(folder.root)]) == 1
    assert f"policies/policy.yml:{line}: error" in capsys.readouterr().out
    assert main(["validate", str(folder.root), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["errors"] == 1
    assert report["problems"][0]["line"] == line
    assert main(["validate", str(folder.root / "tests")]) == 2
