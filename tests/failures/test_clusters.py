"""Clusters of failures and of questions without a case."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from dbagenteval.failures import (
    Clusters,
    Outcome,
    cluster_lines,
    question_lines,
)
from dbagenteval.failures import (
    clusters as clusters_module,
)
from dbagenteval.failures.questions import nearest, words_of

DAY_NS = 86_400 * 10**9
FIRST_DAY = 20_000
TENANT = ("missing_filter:orders.tenant_id",)


def failure(day: int = 0, edit: tuple[str, ...] = TENANT, **fields) -> Outcome:
    given = {
        "verdict": "FAIL",
        "question": "How many orders?",
        "stage": "generate",
        "check": "reference_rows",
        "reason": "different_values",
        "tables": ("orders",),
        "case_id": "orders",
        "edit": edit,
        "start_ns": (FIRST_DAY + day) * DAY_NS + 7,
    }
    return Outcome(**{**given, **fields})


def unmatched(question: str, structure: str = "", verdict: str = "SKIP", day: int = 0) -> Outcome:
    return Outcome(
        verdict=verdict,
        question=question,
        structure=structure,
        start_ns=(FIRST_DAY + day) * DAY_NS,
        check="tenant_filter" if verdict == "FAIL" else "",
    )


def clustered(*outcomes: Outcome) -> Clusters:
    found = Clusters()
    for outcome in outcomes:
        found.add(outcome)
    return found


def test_named_counted_and_with_trend():
    """A line names the cause, its share of all outcomes, the trend, and by what it failed."""
    passed = [failure(verdict="PASS", day=day % 14) for day in range(1_162)]
    found = clustered(*passed, *[failure(day=3)] * 3, *[failure(day=12)] * 38)
    assert cluster_lines(found) == [
        "41 failure(s), 1 cluster(s):",
        "  missing filter on orders.tenant_id, 41 of 1,203, 38 in the last 7 days, up from 3"
        "  [generate · reference_rows · different_values]",
    ]


def test_no_trend_within_a_week():
    """Where only a week is known there is no week before."""
    lines = cluster_lines(clustered(failure(day=0), failure(day=6)))
    assert lines[1].startswith("  missing filter on orders.tenant_id, 2 of 2  [")


@pytest.mark.parametrize(
    ("earlier", "later", "words"),
    [
        (2, 1, "1 in the last 7 days, down from 2"),
        (1, 1, "1 in the last 7 days as in those before"),
        (0, 2, "2 in the last 7 days, up from 0"),
    ],
)
def test_trend(earlier, later, words):
    """A trend says up from, down from, or as before."""
    others = [failure(verdict="PASS", day=day) for day in (0, 13)]
    found = clustered(*others, *[failure(day=6)] * earlier, *[failure(day=7)] * later)
    assert f", {words}  [" in cluster_lines(found)[1]


def test_what_tells_clusters_apart():
    """Stage, check, reason and edit make a cluster; the question and the case do not."""
    base = failure()
    found = clustered(
        base,
        failure(question="Orders, how many?", case_id="other", tables=("orders", "stores")),
        failure(stage="execute"),
        failure(check="reference_numbers"),
        failure(reason="missing_rows"),
        failure(edit=("aggregate:AVG->MAX",)),
    )
    assert [cluster.count for cluster in found.failures()] == [2, 1, 1, 1, 1]


def test_tables_tell_apart_what_has_no_edit():
    """Without an edit the tables of the SQL are part of the cause."""
    found = clustered(
        failure(edit=()), failure(edit=("same",)), failure(edit=(), tables=("stores",))
    )
    assert [(each.name, each.count) for each in found.failures()] == [
        ("reference_rows: different_values (orders)", 2),
        ("reference_rows: different_values (stores)", 1),
    ]


def test_minor_differences_make_no_cluster():
    """Another order beside a missing filter is the same cluster; alone it is its own."""
    found = clustered(failure(), failure(edit=(*TENANT, "order")), failure(edit=("order",)))
    assert [(each.edit, each.count) for each in found.failures()] == [(TENANT, 2), (("order",), 1)]


def test_rule_is_named_with_its_tables():
    """A rule's cluster names the rule, its finding and the tables."""
    broken = failure(edit=(), check="tenant_filter", reason="no tenant_id filter on …")
    assert clustered(broken).failures()[0].name == "tenant_filter: no tenant_id filter on orders"


def test_questions_by_structure_then_text():
    """Questions of one SQL structure are one cluster, and so are near-duplicates beyond that."""
    found = clustered(
        *[unmatched("Orders in May?", "A")] * 3,
        unmatched("And in June?", "A"),
        unmatched("orders in may", "B"),
        unmatched("What do we sell in Berlin at all, by month and store, in the year 2024?"),
        unmatched("What do we sell in Bonn at all, by month and store, in the year 1999?"),
        unmatched("Delete everything!", "C", "FAIL"),
        failure(verdict="PASS"),
    ).questions()
    assert [(each.name, each.count, each.failed) for each in found] == [
        ("Delete everything!", 1, 1),
        ("Orders in May?", 5, 0),
        ("What do we sell in Berlin at all, by month and store, in the year 2024?", 2, 0),
    ]


def test_questions_about_other_tables_stay_apart():
    """However alike two questions are, SQL over other tables answers something else."""
    one = unmatched("How many rows of kind 1 are there?", "A")
    other = unmatched("How many rows of kind 2 are there?", "B")
    assert len(clustered(one, other).questions()) == 1
    one, other = replace(one, tables=("t1",)), replace(other, tables=("t2",))
    assert len(clustered(one, other).questions()) == 2


def test_edit_explains_no_broken_rule():
    """A rule that failed is named, though the SQL differs from the reference elsewhere too."""
    broken = failure(edit=("aggregate:AVG->MAX",), check="tenant_filter", reason="no filter on …")
    found = clustered(broken, failure(edit=("aggregate:AVG->MAX",))).failures()
    assert {each.name for each in found} == {
        "MAX instead of AVG",
        "tenant_filter: no filter on orders",
    }


def test_lines_of_clusters_with_several_failures():
    """Single failures need no cluster where only groups are asked for."""
    found = clustered(failure(), failure(), failure(reason="missing_rows"))
    assert len(cluster_lines(found)) == 3
    assert cluster_lines(found, least=2)[0] == "2 failure(s), 1 cluster(s):"
    assert cluster_lines(found, least=2)[-1] == "  1 failure(s) in smaller clusters"
    assert cluster_lines(found, least=3) == []


def test_question_lines():
    """The worst come first, and what is not shown is counted."""
    found = clustered(
        *[unmatched(f"topic {word}?", word) for word in ("red", "green", "blue")],
        *[unmatched("bad one?", "bad", "FAIL")] * 2,
    )
    assert question_lines(found, 2) == [
        "5 question(s) without a case, 4 cluster(s):",
        "  'bad one?', 2 of 5, 2 failed",
        "  'topic blue?', 1 of 5",
        "  … 2 more cluster(s)",
    ]


def test_nothing_to_say():
    """Without failures and unmatched questions there are no lines."""
    assert cluster_lines(clustered(failure(verdict="PASS"))) == []
    assert question_lines(clustered(failure())) == []


def test_order_of_outcomes_does_not_matter():
    """The clusters are the same in whichever order the outcomes come."""
    outcomes = [failure(day=day % 9, edit=(f"missing_filter:t.c{day % 4}",)) for day in range(60)]
    outcomes += [unmatched(f"number {day % 3} of the list", str(day % 5)) for day in range(60)]
    expected = clustered(*outcomes)
    random.Random(3).shuffle(outcomes)
    found = clustered(*outcomes)
    for one, other in (
        (expected.failures(), found.failures()),
        (expected.questions(), found.questions()),
    ):
        assert [(each.name, each.count, each.days) for each in one] == [
            (each.name, each.count, each.days) for each in other
        ]


def test_too_many_groups_keep_the_largest(monkeypatch):
    """Beyond a bound the smallest groups are let go, and how many outcomes that were is known."""
    monkeypatch.setattr(clusters_module, "_MAX_GROUPS", 10)
    found = Clusters()
    for index in range(100):
        found.add(unmatched("the one that counts", "kept"))
        found.add(unmatched(f"question{index}", f"other {index}"))
    questions = found.questions()
    assert (questions[0].name, questions[0].count) == ("the one that counts", 100)
    assert len(questions) <= 20
    assert sum(each.count for each in questions) + found.dropped == found.total == 200


def test_json_form():
    """The JSON form has days as dates and nothing that JSON can't hold."""
    cluster = clustered(failure(trace_id="t1"), failure(day=1)).failures()[0]
    assert cluster.to_dict() == {
        "name": "missing filter on orders.tenant_id",
        "count": 2,
        "failed": 2,
        "stage": "generate",
        "check": "reference_rows",
        "reason": "different_values",
        "tables": [],
        "edit": ["missing_filter:orders.tenant_id"],
        "structure": "",
        "days": {"2024-10-04": 1, "2024-10-05": 1},
        "questions": ["How many orders?"],
        "cases": ["orders"],
        "traces": ["t1"],
    }


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        ("How many orders?", "how  many ORDERS", True),
        ("Revenue in 2023 by month", "revenue by month in 2024!", True),
        ("How many orders were delivered?", "How many orders were cancelled?", False),
        ("Wie viele Kunden haben wir?", "Wie viele Kunden haben wir nicht?", False),
        ("?", "orders", False),
    ],
)
def test_near_duplicates(one, other, similar):
    """Case, order, punctuation and numbers make no other question; another word in few does."""
    assert (nearest([words_of(one), words_of(other)]) == [0, 0]) is similar


def test_near_duplicates_are_found_as_by_comparing_all():
    """The short cut through rare words finds what comparing each with each finds."""
    rng = random.Random(7)
    sets = [frozenset(rng.sample("abcdefghijkl", rng.randrange(1, 11))) for _ in range(400)]
    expected: list[int] = []
    for index, words in enumerate(sets):
        kept = [at for at in range(index) if expected[at] == at]
        similar = [at for at in kept if len(words & sets[at]) >= 0.85 * len(words | sets[at])]
        expected.append(similar[0] if similar else index)
    assert nearest(sets) == expected
