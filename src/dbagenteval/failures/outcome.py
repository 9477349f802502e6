"""Outcome: what is kept of one scored trace, so that failures can be grouped."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.failures.agent_sql import closest_edit, dialect_of, last_sql
from dbagenteval.failures.blame import kind_of
from dbagenteval.failures.structure import outline
from dbagenteval.scorecard import CheckResult, Scorecard
from dbagenteval.traces import Trace

__all__ = ["Outcome", "outcome_of"]

_DATA = re.compile(r"\[[^\[\]]*\]|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\d+(?:[.,:\-]\d+)*")
_MAX_REASON_CHARS = 160
_MAX_QUESTION_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one trace was judged, without its values.

    Args:
        verdict: `PASS`, `FAIL`, `SKIP` or `ERROR`.
        stage: Kind of the stage to blame, else of the first that failed; empty without failure.
        check: The check that failed.
        reason: Its reason code; else its detail with texts, numbers and lists taken out.
        tables: What the agent's SQL reads.
        structure: Of the agent's last SQL, empty without SQL.
        edit: What makes the SQL differ from the reference, in codes; empty without a reference.
        question: As asked, cut at 500 characters; empty if no span has it.
        case_id: The case's id, else its question; empty for a trace without case.
        trace_id: The trace.
        start_ns: When it began, Unix nanoseconds, 0 if unknown.
        service: The agent's name.
    """

    verdict: str
    question: str = ""
    stage: str = ""
    check: str = ""
    reason: str = ""
    tables: tuple[str, ...] = ()
    structure: str = ""
    edit: tuple[str, ...] = ()
    case_id: str = ""
    trace_id: str = ""
    start_ns: int = 0
    service: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give it JSON-ready, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outcome:
        """Read what `to_dict` gave; other keys are passed over."""
        given = {name: data[name] for name in _FIELDS if name in data}
        for name in ("tables", "edit"):
            given[name] = tuple(given.get(name) or ())
        return cls(**given)


_FIELDS = tuple(field.name for field in fields(Outcome))


def outcome_of(card: Scorecard, trace: Trace, case: Case | None, *, stage: str = "") -> Outcome:
    """Tell what is kept of one scored trace.

    Args:
        card: Its scorecard.
        trace: The trace.
        case: The case it was scored by, or None.
        stage: Kind of the stage to blame, if that is known.
    """
    dialect = dialect_of(trace, case)
    sql = last_sql(trace)
    found = outline(sql, dialect) if sql else None
    failed = card.failed
    edit = None if failed is None else closest_edit(sql, case, dialect)
    return Outcome(
        verdict=card.verdict,
        stage=stage or (kind_of(trace, failed) if failed else ""),
        check=failed.check if failed else "evaluation" if card.error else "",
        reason=_reason(failed, card.error),
        tables=found.tables if found else (),
        structure=found.structure if found else "",
        edit=edit.kinds if edit else (),
        question=trace.question[:_MAX_QUESTION_CHARS],
        case_id=case.key if case else "",
        trace_id=trace.trace_id,
        start_ns=trace.meta.get("start_ns") or 0,
        service=trace.meta.get("service") or "",
    )


def _reason(failed: CheckResult | None, error: str | None) -> str:
    """Give the code, else the detail without the values that differ from trace to trace."""
    if failed is not None and failed.reason:
        return failed.reason
    detail = failed.detail if failed is not None else error or ""
    return " ".join(_DATA.sub("…", detail[:1000]).split())[:_MAX_REASON_CHARS]
