"""The scorecard of a project's readiness: what governance is in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbagenteval.project.folder.model import Project

__all__ = ["ReadinessItem", "readiness"]


@dataclass(frozen=True, slots=True)
class ReadinessItem:
    """One yes-or-no item; `detail` says what was found or what to do."""

    name: str
    is_met: bool
    detail: str


def readiness(project: Project) -> list[ReadinessItem]:
    """Give every item of a project's scorecard."""
    policy = project.policy
    sound = policy if policy is not None and not policy.faults else None
    bundles = list(project.bundles.values())
    columns = sum(len(names) for names in sound.pii_columns.values()) if sound else 0
    cases = sum(len(bundle.cases) for bundle in bundles)
    refusals = sum(
        case.expected.get("outcome", "allow") != "allow"
        for bundle in bundles
        for case in bundle.cases
    )
    filtered = [
        f"{model.name}.{name}"
        for model in project.models.values()
        for name, measure in model.measures.items()
        if measure.filters
    ]
    facts = [table for bundle in bundles for table in bundle.fact_tables]
    items = [
        ("policy is valid", sound is not None, "policies/policy.yml"),
        ("a bundle is required", bool(sound and sound.require_bundle), "execution.require_bundle"),
        ("PII columns are declared", columns > 0, f"{columns} column(s)"),
        ("a fact table needs a time filter", bool(facts), ", ".join(facts[:3])),
        ("data start date", _all(b.data_start for b in bundles), "defaults.data_start_date"),
        ("fixed current date", _all(b.today for b in bundles), "defaults.demo_current_date"),
        ("governance cases", cases > 0, f"{cases} case(s)"),
        ("cases that expect a refusal", refusals > 0, f"{refusals} case(s)"),
        ("a measure has its rule built in", bool(filtered), ", ".join(filtered[:3])),
        ("joins are restricted", bool(sound and sound.enforce_joins and bundles), "joins"),
        ("ambiguous terms are declared", bool(project.terms), "semantics/glossary.yml"),
        ("no fault in any file", not project.errors, f"{len(project.errors)} error(s)"),
    ]
    return [ReadinessItem(*item) for item in items]


def _all(values: Iterable[object]) -> bool:
    listed = list(values)
    return bool(listed) and all(listed)
