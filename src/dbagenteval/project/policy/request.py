"""What the policy engine is asked, and what it answers."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.project.folder.model import MeasureFilter

__all__ = [
    "ALLOW",
    "BLOCK",
    "CLARIFY",
    "CLARIFYING",
    "CheckOutcome",
    "Decision",
    "MetricQuery",
    "Request",
]

ALLOW = "allow"
BLOCK = "block"
CLARIFY = "needs_clarification"

CLARIFYING = ("ambiguity_check", "time_filter_required", "bundle_required")
"""Checks whose failure asks the user something; any other failure blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricQuery:
    """A query of the semantic layer.

    Args:
        model: Name of the semantic model.
        measures: Names of its measures.
        dimensions: Names of its dimensions, or `join.dimension` of a joined model.
        filters: Conditions on columns or dimensions.
        start: First day, or None for no lower bound.
        end: Last day, included, or None.
        limit: Row limit, or None.
    """

    model: str
    measures: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    filters: tuple[MeasureFilter, ...] = ()
    start: datetime.date | None = None
    end: datetime.date | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an agent is about to do, or did.

    Args:
        question: What the user asked. It decides only where there is neither SQL nor metric.
        sql: The SQL to run, or None.
        metric: The metric query to run, or None.
        bundle: Id of the bundle to stay in; None lets the engine find the one that fits.
        actor: Who asks, for the audit.
        roles: The roles that the actor has.
        today: The current date; None takes the bundle's fixed date, else the clock.
        has_run: It ran already, so that nothing can be masked any more.
    """

    question: str = ""
    sql: str | None = None
    metric: MetricQuery | None = None
    bundle: str | None = None
    actor: str = ""
    roles: tuple[str, ...] = ()
    today: datetime.date | None = None
    has_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """What one check found.

    Args:
        name: One of `CHECK_NAMES`.
        status: `pass`, `fail`, `warn` or `skip` (it had nothing to look at).
        detail: One line for a person.
        evidence: JSON-ready: the tables, columns, joins or words that it rests on.
        fix: What would make it pass, or empty.
    """

    name: str
    status: str
    detail: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    fix: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; evidence and fix appear only when there are any."""
        data: dict[str, Any] = {"name": self.name, "status": self.status, "detail": self.detail}
        if self.evidence:
            data["evidence"] = dict(self.evidence)
        if self.fix:
            data["fix"] = self.fix
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the policy says of a request.

    Args:
        outcome: `allow`, `block` or `needs_clarification`; the worst of the checks.
        checks: Every check, in the order in which they were made.
        bundle: Id of the bundle it was judged in, or empty.
        sql: The SQL to run if it is allowed: as given, masked, or made from the metric query.
        rules: Names of the business rules that are about what is asked.
        tables: The tables it reads.
        start: First day of the time it is about, or None.
        end: Last day, or None.
    """

    outcome: str
    checks: tuple[CheckOutcome, ...] = ()
    bundle: str = ""
    sql: str | None = None
    rules: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    start: datetime.date | None = None
    end: datetime.date | None = None

    @property
    def failed(self) -> list[CheckOutcome]:
        """The checks that failed."""
        return [check for check in self.checks if check.status == "fail"]

    @property
    def reason(self) -> str:
        """The failed checks in one line; empty if none failed."""
        return "; ".join(f"{check.name}: {check.detail}" for check in self.failed)

    def check(self, name: str) -> CheckOutcome | None:
        """Give the check of that name, or None if it was not made."""
        return next((check for check in self.checks if check.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "outcome": self.outcome,
            "bundle": self.bundle,
            "tables": list(self.tables),
            "time_window": [day.isoformat() if day else None for day in (self.start, self.end)],
            "rules": list(self.rules),
            "sql": self.sql,
            "checks": [check.to_dict() for check in self.checks],
        }
