"""The checks of the policy engine on a question in English."""

from __future__ import annotations

from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.policy.question import Asked
from dbagenteval.project.policy.request import CheckOutcome
from dbagenteval.project.policy.rights import Rights

__all__ = ["question_checks"]


def question_checks(
    asked: Asked,
    project: Project,
    *,
    bundle: Bundle | None,
    policy: Policy,
    rights: Rights,
    has_run: bool,
) -> list[CheckOutcome]:
    """Check what a question asks for.

    Args:
        asked: What the question is about.
        project: Whose glossary says which words are vague.
        bundle: The scope, or None if there is no bundle at all.
        policy: A policy without faults.
        rights: Of the actor.
        has_run: It was answered already: nothing can be masked any more.
    """
    return [
        _vague(asked, project),
        _outside(asked, bundle),
        _pii(asked, policy, rights, has_run=has_run),
        _time(asked, bundle, policy),
    ]


def _vague(asked: Asked, project: Project) -> CheckOutcome:
    if project.terms is None:
        return CheckOutcome(
            name="ambiguity_check", status="skip", detail="there is no semantics/glossary.yml"
        )
    if not asked.vague:
        return CheckOutcome(name="ambiguity_check", status="pass")
    term = asked.vague[0]
    return CheckOutcome(
        name="ambiguity_check",
        status="fail",
        detail=f"{term.term!r} may mean: {'; '.join(term.meanings)}",
        evidence={item.term: list(item.meanings) for item in asked.vague},
        fix="ask the user which is meant",
    )


def _outside(asked: Asked, bundle: Bundle | None) -> CheckOutcome:
    if bundle is None:
        return CheckOutcome(name="bundle_tables_only", status="skip", detail="no bundle")
    if not asked.outside:
        return CheckOutcome(
            name="bundle_tables_only", status="pass", evidence={"tables": list(asked.tables)}
        )
    return CheckOutcome(
        name="bundle_tables_only",
        status="fail",
        detail=f"{', '.join(asked.outside)} is not in bundle {bundle.bundle_id!r}",
        evidence={"outside": list(asked.outside)},
        fix=f"keep to {', '.join(bundle.tables.values())}",
    )


def _pii(asked: Asked, policy: Policy, rights: Rights, *, has_run: bool) -> CheckOutcome:
    hidden = [item for item in asked.pii if not rights.may_read(item[0], item[1])]
    if not hidden:
        return CheckOutcome(name="pii_block", status="pass")
    table, column, words = hidden[0]
    masked = policy.pii_mode == "mask" and not has_run
    return CheckOutcome(
        name="pii_block",
        status="warn" if masked else "fail",
        detail=f"{words!r} asks for {column} of {table}, which is protected"
        + (" and will be masked" if masked else ""),
        evidence={"columns": [f"{item[0]}.{item[1]}" for item in hidden]},
        fix="" if masked else "leave it out, or ask for a count",
    )


def _time(asked: Asked, bundle: Bundle | None, policy: Policy) -> CheckOutcome:
    name = "time_filter_required"
    facts = [table for table in asked.tables if bundle is not None and table in bundle.fact_tables]
    if not policy.require_time_filter_for_fact_tables or not facts:
        return CheckOutcome(name=name, status="pass", detail="no table that needs one")
    window = asked.window
    if window is None:
        return CheckOutcome(
            name=name,
            status="fail",
            detail=f"{facts[0]} must be read with a time, and the question names none",
            evidence={"tables": facts},
            fix="ask the user for the period",
        )
    start, end = (day.isoformat() if day else "open" for day in (window.start, window.end))
    return CheckOutcome(
        name=name,
        status="pass",
        detail=f"{window.words!r} is {start} to {end}",
        evidence={"words": window.words, "start": start, "end": end},
    )
