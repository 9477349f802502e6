"""Reports for people: lines, Markdown, and what changed between two."""

from __future__ import annotations

from typing import Any

import pytest

from dbagenteval import CheckResult, Scorecard, SuiteResult
from dbagenteval.report import (
    diff_reports,
    diff_to_markdown,
    passes_that_are_gone,
    render_card,
    render_totals,
    to_markdown,
)
from dbagenteval.report.text import percent

PASSED = CheckResult("no_error", "answer", "pass")


def failed(
    check: str = "expected", stage: str = "classify", detail: str = "got 'a', expected 'b'"
) -> CheckResult:
    """A failed check."""
    return CheckResult(check, stage, "fail", detail)


@pytest.mark.parametrize(
    ("card", "text"),
    [
        (Scorecard("q", [PASSED], case_id="one"), "PASS  one"),
        (Scorecard("How many?", [PASSED]), "PASS  How many?"),
        (Scorecard("q", case_id="one"), "SKIP  one"),
        (
            Scorecard("q", [failed()], case_id="one"),
            "FAIL  one\n      classify / expected: got 'a', expected 'b'",
        ),
        (
            Scorecard("q", [failed(detail="")], case_id="one"),
            "FAIL  one\n      classify / expected:",
        ),
        (
            Scorecard("q", error="agent raised KeyError: 'x'", case_id="one"),
            "ERROR one\n      agent raised KeyError: 'x'",
        ),
        (
            Scorecard("two\nlines", [failed(detail="a\nb  c\x1b[2J")]),
            "FAIL  two lines\n      classify / expected: a b  c\\x1b[2J",
        ),
        (
            Scorecard("q", [PASSED], case_id="one", meta={"repeat": {"runs": 5, "passed": 5}}),
            "PASS  one  (passed 5 of 5)",
        ),
        (
            Scorecard("q", [failed()], case_id="one", meta={"repeat": {"runs": 5, "passed": 2}}),
            "FAIL  one  (passed 2 of 5, flaky)\n      classify / expected: got 'a', expected 'b'",
        ),
        (
            Scorecard("q", error="x", case_id="one", meta={"repeat": {"runs": 2, "passed": 0}}),
            "ERROR one  (passed 0 of 2)\n      x",
        ),
    ],
)
def test_lines_of_a_card(card: Scorecard, text: str) -> None:
    """The verdict, the case, and why; nothing that commands a terminal."""
    assert render_card(card) == text


def test_totals() -> None:
    """Counts, then first failing stages, most frequent first."""
    cards = [
        Scorecard("a", [PASSED]),
        Scorecard("b", [failed(stage="execute")]),
        Scorecard("c", [failed(stage="generate")]),
        Scorecard("d", [failed(stage="generate")]),
        Scorecard("e", error="x"),
        Scorecard("f"),
        Scorecard("g", meta={"not_run": True}),
    ]
    assert render_totals(SuiteResult(cards)) == (
        "1 of 7 passed (14%), 3 failed, 1 errors, 1 with nothing to check, 1 not run\n"
        "  first failing stage generate: 2\n"
        "  first failing stage execute: 1"
    )
    assert render_totals(SuiteResult(cards[:1])) == "1 of 1 passed (100%), 0 failed, 0 errors"
    assert render_totals(SuiteResult()) == "0 of 0 passed (0%), 0 failed, 0 errors"


@pytest.mark.parametrize(
    ("passed", "total", "text"),
    [
        (2, 3, "67%"),
        (1, 3, "33%"),
        (999, 1000, ">99%"),
        (1, 1000, "<1%"),
        (0, 5, "0%"),
        (5, 5, "100%"),
        (0, 0, "0%"),
    ],
)
def test_a_percentage_never_rounds_to_all_or_none(passed: int, total: int, text: str) -> None:
    """One failure in a thousand is not 100%."""
    assert percent(passed, total) == text


def test_markdown_of_a_report() -> None:
    """The whole document."""
    cards = [
        Scorecard("q1", [PASSED], case_id="ok", tags=["easy", "b"]),
        Scorecard(
            "q2",
            [failed()],
            ["classify"],
            case_id="one",
            tags=["easy"],
            meta={
                "sql": ["SELECT '```'"],
                "rows": {"count": 2, "first": [{"n": "<b>"}]},
                "answer": "<img src=x>",
                "reference": [{"sql": "SELECT 2", "rows": {"count": 0, "first": []}}],
            },
        ),
        Scorecard("a | b", [failed("rows_match", "execute", "got\n1 | 2 <i>")], ["execute"]),
        Scorecard("q4", error="agent raised X", case_id="four"),
        Scorecard("q5", case_id="five"),
    ]
    assert (
        to_markdown(
            SuiteResult(cards, {"judge": {"model": "m", "calls": 2, "cost": None}}).to_dict()
        )
        == """\
# dbagenteval report

**1 of 5 passed (20%)** · 2 failed · 1 errors · 1 skipped

## By tag

| Tag | Passed | Total |
|---|---|---|
| b | 1 | 1 |
| easy | 1 | 2 |

## First failing stage

| Stage | Cases |
|---|---|
| classify | 1 |
| execute | 1 |

## Not passed

| Case | Verdict | Stage | Check | Detail |
|---|---|---|---|---|
| one | FAIL | classify | expected | got 'a', expected 'b' |
| a \\| b | FAIL | execute | rows_match | got 1 \\| 2 &lt;i> |
| four | ERROR |  |  | agent raised X |
| five | SKIP |  |  |  |

## Evidence

### one

SQL:

````sql
SELECT '```'
````

Rows:

```json
{"n": "<b>"}
(the first 1 of 2 rows)
```

Answer:

```text
<img src=x>
```

Reference SQL:

```sql
SELECT 2
```

Reference rows:

```json
(no rows)
```

Judge: model m, calls 2
"""
    )


def test_markdown_of_an_old_report() -> None:
    """One that the published package saved has neither meta nor evidence."""
    old = {
        "summary": {
            "total": 1,
            "passed": 0,
            "failed": 1,
            "errors": 0,
            "skipped": 0,
            "pass_rate": 0.0,
            "by_tag": {},
            "failed_stages": {"classify": 1},
        },
        "cases": [
            {
                "id": "one",
                "question": "q",
                "tags": [],
                "verdict": "FAIL",
                "failed_stage": "classify",
                "failed_check": "expected",
                "error": None,
                "results": [
                    {
                        "check": "expected",
                        "stage": "classify",
                        "status": "fail",
                        "detail": "d",
                        "score": None,
                    }
                ],
            }
        ],
    }
    text = to_markdown(old)
    assert text.startswith(
        "# dbagenteval report\n\n**0 of 1 passed (0%)** · 1 failed · 0 errors · 0 skipped\n"
    )
    assert "| one | FAIL | classify | expected | d |" in text
    assert "## Evidence" not in text


def case(
    name: str,
    verdict: str,
    stage: str | None = None,
    question: str = "",
    detail: str = "why",
    error: str | None = None,
) -> dict[str, Any]:
    """One case of a saved report."""
    results = [{"check": "c", "stage": stage, "status": "fail", "detail": detail}] if stage else []
    return {
        "id": name,
        "question": question or f"question of {name}",
        "verdict": verdict,
        "failed_stage": stage,
        "failed_check": "c" if stage else None,
        "error": error,
        "results": results,
    }


def test_what_changed_between_two_reports() -> None:
    """Regressions, fixes, other failures, added and removed cases, and renamed ones."""
    old = {
        "cases": [
            case("worse", "PASS"),
            case("broken", "PASS"),
            case("better", "FAIL", "execute"),
            case("mended", "ERROR", error="x"),
            case("same", "FAIL", "execute", detail="run 1"),
            case("moved", "FAIL", "execute"),
            case("crashes", "FAIL", "execute"),
            case("old-name", "PASS", question="How  many?"),
            case("gone", "PASS"),
            case("gone-too", "FAIL", "execute"),
        ]
    }
    new = {
        "cases": [
            case("new-name", "FAIL", "answer", question="how many?"),
            case("worse", "FAIL", "generate", detail="no | filter"),
            case("broken", "SKIP"),
            case("better", "PASS"),
            case("mended", "PASS"),
            case("same", "FAIL", "execute", detail="run 2"),
            case("moved", "FAIL", "generate"),
            case("crashes", "ERROR", error="agent raised X"),
            case("fresh", "FAIL", "answer"),
        ]
    }
    changes = diff_reports(old, new)
    assert changes["regressions"] == [
        {
            "case": "worse",
            "was": "PASS",
            "now": "FAIL",
            "failed_stage": "generate",
            "detail": "no | filter",
        },
        {"case": "broken", "was": "PASS", "now": "SKIP", "failed_stage": None, "detail": None},
        {
            "case": "new-name",
            "was": "PASS",
            "now": "FAIL",
            "failed_stage": "answer",
            "detail": "why",
        },
    ]
    assert [(each["case"], each["was"]) for each in changes["fixes"]] == [
        ("better", "FAIL"),
        ("mended", "ERROR"),
    ]
    assert [
        (each["case"], each["was_stage"], each["now"], each["failed_stage"])
        for each in changes["changed"]
    ] == [
        ("moved", "execute", "FAIL", "generate"),
        ("crashes", "execute", "ERROR", None),
    ]
    assert changes["renamed"] == [
        {"case": "new-name", "was_case": "old-name", "was": "PASS", "now": "FAIL"}
    ]
    assert changes["added"] == [
        {"case": "new-name", "verdict": "FAIL"},
        {"case": "fresh", "verdict": "FAIL"},
    ]
    assert [each["case"] for each in changes["removed"]] == ["old-name", "gone", "gone-too"]
    assert passes_that_are_gone(changes) == ["gone"]
    assert (
        diff_to_markdown(changes)
        == """\
# dbagenteval diff

**3 regressions, 2 fixes, 2 added, 3 removed**

## Regressions

| Case | Now | Stage | Detail |
|---|---|---|---|
| worse | FAIL | generate | no \\| filter |
| broken | SKIP |  |  |
| new-name | FAIL | answer | why |

## Fixes

- better (FAIL -> PASS)
- mended (ERROR -> PASS)

## Changed

| Case | Was | Now | Was at stage | Now at stage | Detail |
|---|---|---|---|---|---|
| moved | FAIL | FAIL | execute | generate | why |
| crashes | FAIL | ERROR | execute |  | agent raised X |

## Renamed

- old-name -> new-name (PASS -> FAIL)

## Added

- new-name (FAIL)
- fresh (FAIL)

## Removed

- old-name (PASS)
- gone (PASS)
- gone-too (FAIL)
"""
    )


def test_a_report_against_itself() -> None:
    """Nothing but the four documented keys, all empty; ASCII only."""
    report = {
        "cases": [case("a", "PASS"), case("b", "FAIL", "execute"), case("c", "ERROR", error="x")]
    }
    changes = diff_reports(report, report)
    assert changes == {"regressions": [], "fixes": [], "added": [], "removed": []}
    text = diff_to_markdown(changes)
    assert text == "# dbagenteval diff\n\n**0 regressions, 0 fixes, 0 added, 0 removed**\n"
    assert text.isascii()


def test_times_and_ids_of_a_run_are_no_change() -> None:
    """Only what the agent did is compared."""
    old, new = (
        {
            "cases": [{**case("a", "PASS"), "meta": {"seconds": n, "trace_ids": [n]}}],
            "meta": {"created_at": n},
        }
        for n in (1, 2)
    )
    assert not any(diff_reports(old, new).values())


def test_a_question_that_several_cases_ask_renames_none() -> None:
    """There is no telling which became which."""
    old = {"cases": [case("a", "PASS", question="q"), case("b", "PASS", question="q")]}
    new = {"cases": [case("c", "PASS", question="q")]}
    changes = diff_reports(old, new)
    assert "renamed" not in changes
    assert passes_that_are_gone(changes) == ["a", "b"]


def test_markdown_says_why_a_case_was_skipped():
    """What it expects and could not be checked; other skipped checks are no reason."""
    results = [
        CheckResult("max_cost", "answer", "skip", "no cost in the spans"),
        CheckResult("draft", "answer", "skip", "nobody has accepted it", reason="draft"),
    ]
    text = to_markdown(SuiteResult([Scorecard("q", results, case_id="one")]).to_dict())
    assert "| one | SKIP |  |  | nobody has accepted it |" in text
