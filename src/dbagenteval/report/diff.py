"""What changed between two saved reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.report.markdown import detail_of, name_of
from dbagenteval.scorecard import EXPECTATIONS

__all__ = ["diff_reports", "passes_that_are_gone"]

_Case = Mapping[str, Any]
_OF_A_REFERENCE = {"reference_rows", "reference_numbers"}
_Changes = dict[str, list[dict[str, Any]]]


def diff_reports(old: Mapping[str, Any], new: Mapping[str, Any]) -> _Changes:
    """Compare two reports case by case, by id or else question.

    Args:
        old: The earlier report.
        new: The later one.

    Returns:
        `regressions` (passed before, does not pass now), `fixes`, `added`, `removed`; and, only
        where there are any, `changed` (fails in another way or at another stage than before),
        `unchecked` (passes, with fewer checks than before; if none of the case's own
        expectations is left, one that passed before is a regression as well, and one that did
        not is no fix) and `renamed` (added and removed cases that ask the same question; one
        that passed before and does not now is a regression as well).
    """
    before, after = _by_key(old["cases"]), _by_key(new["cases"])
    changes: _Changes = {"regressions": [], "fixes": [], "added": [], "removed": []}
    others: _Changes = {"changed": [], "unchecked": [], "renamed": []}
    for key, now in after.items():
        if key in before:
            _compare(before[key], now, changes, others)
        else:
            changes["added"].append({"case": name_of(now), "verdict": now["verdict"]})
    gone = [(key, was) for key, was in before.items() if key not in after]
    come = [(key, now) for key, now in after.items() if key not in before]
    for was, now in _renamed([was for _, was in gone], [now for _, now in come]):
        _compare(was, now, changes, {**others, "changed": []})
        others["renamed"].append(
            {
                "case": name_of(now),
                "was_case": name_of(was),
                "was": was["verdict"],
                "now": now["verdict"],
            }
        )
    changes["removed"] = [{"case": name_of(was), "verdict": was["verdict"]} for _, was in gone]
    return {**changes, **{name: entries for name, entries in others.items() if entries}}


def passes_that_are_gone(changes: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Name the removed cases that passed and were not just renamed: what nobody tests now."""
    renamed = {each["was_case"] for each in changes.get("renamed", ())}
    return [
        each["case"]
        for each in changes["removed"]
        if each["verdict"] == "PASS" and each["case"] not in renamed
    ]


def _by_key(cases: Sequence[_Case]) -> dict[tuple[str, int], _Case]:
    """Index cases by name; cases of one name are told apart by their order."""
    found: dict[tuple[str, int], _Case] = {}
    counts: dict[str, int] = {}
    for case in cases:
        name = name_of(case)
        found[name, counts.get(name, 0)] = case
        counts[name] = counts.get(name, 0) + 1
    return found


def _compare(was: _Case, now: _Case, changes: _Changes, others: _Changes) -> None:
    entry = {
        "case": name_of(now),
        "was": was["verdict"],
        "now": now["verdict"],
        "failed_stage": now.get("failed_stage"),
        "detail": detail_of(now),
    }
    passed, passes = was["verdict"] == "PASS", now["verdict"] == "PASS"
    gone = _checks_gone(was, now) if passes else []
    blind = EXPECTATIONS.intersection(gone) and not EXPECTATIONS & _checks(now)
    if gone and (passed or blind):
        others["unchecked"].append({**entry, "gone": gone})
    if passed and (not passes or blind):
        told = {"detail": f"passes unchecked: {', '.join(gone)} gone"} if blind else {}
        changes["regressions"].append({**entry, **told})
    elif passes and not passed and not blind:
        changes["fixes"].append(entry)
    elif not passes and _place(was) != _place(now):
        others["changed"].append({**entry, "was_stage": was.get("failed_stage")})


def _checks_gone(was: _Case, now: _Case) -> list[str]:
    """Name the checks that the case had and has no more; an old report may list none."""
    before, after = _checks(was), _checks(now)
    if after & _OF_A_REFERENCE:  # which of them runs depends on what the agent gave
        before = before - _OF_A_REFERENCE
    return sorted(before - after - {"no_error"}) if "results" in now else []


def _checks(case: _Case) -> set[str]:
    return {str(result.get("check")) for result in case.get("results", ())}


def _place(case: _Case) -> tuple[Any, ...]:
    return case["verdict"], case.get("failed_stage"), case.get("failed_check")


def _renamed(gone: Sequence[_Case], come: Sequence[_Case]) -> list[tuple[_Case, _Case]]:
    """Pair removed with added cases of the same question, where that leaves no choice."""
    old, new = _by_question(gone), _by_question(come)
    return [
        (cases[0], new[question][0])
        for question, cases in old.items()
        if len(cases) == 1 and len(new.get(question, ())) == 1
    ]


def _by_question(cases: Sequence[_Case]) -> dict[str, list[_Case]]:
    found: dict[str, list[_Case]] = {}
    for case in cases:
        question = " ".join(str(case.get("question") or "").casefold().split())
        if question:
            found.setdefault(question, []).append(case)
    return found
