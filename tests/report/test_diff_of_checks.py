"""A case that passes because its checks are gone has not stayed the same."""

from typing import Any

from dbagenteval.report import diff_reports, diff_to_markdown


def report(*checks: str, verdict: str = "PASS") -> dict[str, Any]:
    results = [{"check": check, "stage": "x", "status": "pass"} for check in checks]
    return {"cases": [{"id": "a", "question": "q", "verdict": verdict, "results": results}]}


def test_a_pass_without_its_expectation_is_a_regression() -> None:
    """It names the checks that are gone."""
    old, new = report("no_error", "reference_rows", "tenant_filter"), report("no_error")
    changes = diff_reports(old, new)
    assert [each["case"] for each in changes["regressions"]] == ["a"]
    assert changes["unchecked"][0]["gone"] == ["reference_rows", "tenant_filter"]
    text = diff_to_markdown(changes)
    assert "| a | PASS |  | passes unchecked: reference_rows, tenant_filter gone |" in text
    assert "- a: reference_rows, tenant_filter gone" in text


def test_a_rule_that_is_gone_is_shown_and_no_regression() -> None:
    """The case still has what it expects."""
    changes = diff_reports(report("reference_rows", "read_only"), report("reference_rows"))
    assert not changes["regressions"]
    assert changes["unchecked"][0]["gone"] == ["read_only"]


def test_a_failure_mended_by_deleting_its_expectation_is_no_fix() -> None:
    """It is listed among those with fewer checks."""
    changes = diff_reports(report("reference_rows", verdict="FAIL"), report("no_error"))
    assert not changes["fixes"]
    assert [each["was"] for each in changes["unchecked"]] == ["FAIL"]


def test_a_reference_compared_in_another_way_is_the_same_check() -> None:
    """Rows in one run, the answer in the other."""
    changes = diff_reports(report("reference_rows"), report("reference_numbers"))
    assert changes == {"regressions": [], "fixes": [], "added": [], "removed": []}
