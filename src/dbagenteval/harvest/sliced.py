"""A draft gets the smallest data that shows its failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.harvest.drafts import Draft
from dbagenteval.slices import slice_failure
from dbagenteval.traces import Stage, Trace

__all__ = ["SlicedDraft", "with_slice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicedDraft:
    """A draft with data of its own.

    Args:
        draft: Its `data` names the script.
        script: The data.
        shows: What fails on it, for a person.
        row_count: Rows in all tables.
        notes: For a person: what was cut short, or kept.
    """

    draft: Draft
    script: str
    shows: str
    row_count: int
    notes: tuple[str, ...] = ()


def with_slice(
    draft: Draft, database_url: str, *, tenant: tuple[str, Any] | None, path: str
) -> SlicedDraft:
    """Slice the data of a draft, with the stand-ins of the draft in it.

    Args:
        draft: The draft.
        database_url: Where the tables are; only read.
        tenant: Column and value of the tenant that asked.
        path: Of the script, relative to the cases file.

    Raises:
        SliceError: Nothing small shows the failure.
    """
    candidate, proposal = draft.group.first, draft.proposal
    case = Case(
        candidate.question,
        reference_sql=None if proposal is None else proposal.sql,
        dialect=candidate.dialect,
    )
    found = slice_failure(
        _trace_of(draft),
        case,
        database_url,
        tenant=tenant,
        # The agent's own SQL can't be told from the reference by its rows.
        stage="answer" if case.reference_sql == candidate.sql else "",
        redact=draft.redaction.cell,
    )
    agent_sql, *references = found.statements
    fields = {name: value for name, value in draft.fields.items() if name != "harvested"}
    if references:
        fields["reference_sql"] = draft.redaction.sql(references[0])
    fields["data"] = path
    shown = {**draft.fields["harvested"], "sql": draft.redaction.sql(agent_sql)}
    shown["data_shows"] = f"{found.shows} ({found.row_count} rows)"
    return SlicedDraft(
        draft=replace(draft, fields={**fields, "harvested": shown}),
        script=found.script,
        shows=found.shows,
        row_count=found.row_count,
        notes=found.notes,
    )


def _trace_of(draft: Draft) -> Trace:
    candidate = draft.group.first
    failed = candidate.rows is None and candidate.failure is not None
    error = candidate.failure.detail if failed and candidate.failure is not None else None
    stages = [
        Stage("generate", output=candidate.sql),
        Stage("execute", rows=candidate.rows, error=error),
        Stage("answer", output=candidate.answer),
    ]
    meta = {"dialect": candidate.dialect} if candidate.dialect else {}
    return Trace(candidate.question, stages, meta)
