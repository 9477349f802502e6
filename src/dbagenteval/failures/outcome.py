"""Outcome: what is kept of one scored trace, so that failures can be grouped."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.failures.edit import SqlEdit, sql_edit
from dbagenteval.failures.structure import outline
from dbagenteval.scorecard import CheckResult, Scorecard
from dbagenteval.traces import Trace

__all__ = ["Outcome", "last_sql", "outcome_of"]

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
    dialect = (case.dialect if case else None) or trace.meta.get("dialect")
    sql = last_sql(trace)
    found = outline(sql, dialect) if sql else None
    failed = card.failed
    edit = _edit(sql, case, dialect) if failed is not None and case is not None else None
    return Outcome(
        verdict=card.verdict,
        stage=stage or _kind(trace, failed),
        check=failed.check if failed else "evaluation" if card.error else "",
        reason=_reason(failed, card.error),
        tables=found.tables if found else (),
        structure=found.structure if found else "",
        edit=edit.kinds if edit else (),
        question=trace.question[:_MAX_QUESTION_CHARS],
        case_id=case.key if case else "",
        trace_id=next(iter(trace.meta.get("trace_ids") or ()), ""),
        start_ns=trace.meta.get("start_ns") or 0,
        service=trace.meta.get("service") or "",
    )


def last_sql(trace: Trace) -> str:
    """Give the last SQL that was written in a trace, empty if none was seen."""
    texts = [
        stage.output
        for stage in trace.stages
        if stage.kind == "generate" and isinstance(stage.output, str) and stage.output.strip()
    ]
    return texts[-1] if texts else ""


def _kind(trace: Trace, failed: CheckResult | None) -> str:
    if failed is None:
        return ""
    stage = trace.stage(failed.stage)
    return failed.stage if stage is None else stage.kind


def _reason(failed: CheckResult | None, error: str | None) -> str:
    """Give the code, else the detail without the values that differ from trace to trace."""
    if failed is not None and failed.reason:
        return failed.reason
    detail = failed.detail if failed is not None else error or ""
    return " ".join(_DATA.sub("…", detail[:1000]).split())[:_MAX_REASON_CHARS]


def _edit(sql: str, case: Case, dialect: str | None) -> SqlEdit | None:
    """Give the edit from the reference that is closest to the SQL."""
    edits = [sql_edit(sql, reference, dialect) for reference in case.reference_sqls] if sql else []
    return min(edits, key=lambda edit: len(edit.kinds), default=None)
