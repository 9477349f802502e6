"""A group of failed questions becomes a draft case, without personal data."""

from __future__ import annotations

import datetime
import hashlib
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import dbagenteval
from dbagenteval.checks import plain
from dbagenteval.harvest.candidates import Candidate, moment_text
from dbagenteval.harvest.groups import Group
from dbagenteval.harvest.people import People
from dbagenteval.harvest.proposal import Proposal
from dbagenteval.harvest.redact import Redaction
from dbagenteval.harvest.sql_values import sql_values
from dbagenteval.traces import Rows

__all__ = ["Draft", "draft_of", "redaction_of"]

_MAX_ROWS = 20
_ID_WORDS = 8
_ID_CHARS = 48
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_FILLING = frozenset(
    "a an the of for in on at to by is are was were do does did have has had what which who how "
    "many much we our my me i you please show give tell list get there all each and or with from "
    "can could it its this that there their "
    "der die das ein eine von für im in am zu ist sind war waren was welche wer wie wir".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft case as a cases file holds it.

    Args:
        id: Its id.
        fields: JSON-ready fields of the case, in the order to write them.
        group: What it was made of.
        proposal: The reference with nothing replaced in it, None if there is none.
        redaction: Gives the stand-ins for personal data of this case.
    """

    id: str
    fields: dict[str, Any]
    group: Group
    proposal: Proposal | None
    redaction: Redaction

    def count_in(self, group: Group) -> None:
        """Count a group that asks the same, but for the personal data that both have lost."""
        self.group.count += group.count
        self.fields["harvested"]["count"] = self.group.count


def redaction_of(
    candidate: Candidate, proposal: Proposal | None, people: People | None = None
) -> Redaction:
    """Learn the personal data of all that a draft will hold."""
    redaction = Redaction(candidate.dialect, people)
    for text in (*candidate.asked_before, candidate.question, candidate.answer):
        redaction.learn_text(text)
    redaction.learn_sql(candidate.sql)
    redaction.learn_rows([*(candidate.rows or ()), *candidate.rows_told], candidate.sql)
    if proposal is not None:
        redaction.learn_sql(proposal.sql)
        redaction.learn_rows((proposal.rows or [])[:_MAX_ROWS], proposal.sql)
    return redaction


def draft_of(
    group: Group,
    proposal: Proposal | None,
    redaction: Redaction,
    *,
    taken: Collection[str],
    now: datetime.datetime,
) -> Draft:
    """Make the draft of a group.

    Args:
        group: What becomes a case.
        proposal: Its reference, None if nobody knows one.
        redaction: As `redaction_of` gives it.
        taken: Ids that other cases have.
        now: When the reference was run.
    """
    candidate = group.first
    question = redaction.text(candidate.question)
    fields: dict[str, Any] = {
        "id": _id_of(question, taken),
        "question": question,
        "status": "draft",
        "tags": _tags(candidate),
    }
    if proposal is not None:
        fields["reference_sql"] = redaction.sql(proposal.sql)
    elif candidate.is_without_sql and candidate.failure is None:
        fields["sql"] = "none"
    if candidate.sql and candidate.dialect:
        fields["dialect"] = candidate.dialect
    provenance = {
        **_seen(group, redaction),
        **({} if proposal is None else _proposed(proposal, redaction, now)),
    }
    if redaction.replaced:
        provenance["redacted"] = redaction.replaced
    fields["harvested"] = provenance
    return Draft(
        id=fields["id"], fields=fields, group=group, proposal=proposal, redaction=redaction
    )


def _tags(candidate: Candidate) -> list[str]:
    tags = ["harvested"]
    if candidate.failure is not None:
        tags.append(candidate.failure.stage)
    return tags


def _seen(group: Group, redaction: Redaction) -> dict[str, Any]:
    """Give what was seen in production: where, when, how often, and what the agent did."""
    candidate, failure = group.first, group.first.failure
    seen: dict[str, Any] = {
        "trace": candidate.trace_id,
        "time": candidate.time,
        "service": candidate.service,
        "version": candidate.version,
        "evaluator": dbagenteval.__version__,
        "count": group.count,
    }
    if candidate.asked_before:
        seen["asked_before"] = [redaction.text(text) for text in candidate.asked_before]
    if failure is not None:
        seen["failed"] = f"{failure.stage} / {failure.check}"
        seen["reason"] = failure.reason
        seen["why"] = redaction.detail(failure.detail)
    seen["sql"] = redaction.sql(candidate.sql)
    if candidate.rows is not None:
        seen["rows"] = _shown(candidate.rows, redaction)
        seen["row_count"] = candidate.row_count
    if candidate.rows is not None or not sql_values(candidate.sql, candidate.dialect).gives_people:
        # Names in an answer can't be told from other words without the rows they came from.
        seen["answer"] = redaction.text(candidate.answer)
    return {name: value for name, value in seen.items() if value not in ("", None)}


def _proposed(proposal: Proposal, redaction: Redaction, now: datetime.datetime) -> dict[str, Any]:
    told: dict[str, Any] = {"reference_from": redaction.text(proposal.source)}
    if proposal.rows is not None:
        told["reference_rows"] = _shown(proposal.rows[:_MAX_ROWS], redaction)
        told["reference_row_count"] = len(proposal.rows)
        told["reference_run"] = moment_text(now.timestamp())
    return told


def _shown(rows: Rows, redaction: Redaction) -> Rows:
    # Made plain first: a date or a decimal has no text to look into.
    ready: Rows = plain(rows)
    return redaction.rows(ready)


def _id_of(question: str, taken: Collection[str]) -> str:
    """Make an id that can be read: the same for the same question, whatever else is there."""
    plain_letters = unicodedata.normalize("NFKD", question.casefold().replace("ß", "ss"))
    ascii_text = plain_letters.encode("ascii", "ignore").decode()
    words = _NOT_WORD.sub(" ", ascii_text).split()
    telling = [word for word in words if word not in _FILLING] or words
    name = "-".join(telling[:_ID_WORDS])
    while len(name) > _ID_CHARS and "-" in name:
        name = name.rpartition("-")[0]
    name = name[:_ID_CHARS]
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    is_other_script = not name or 2 * len(ascii_text) < len(question)
    first = f"question-{digest}" if is_other_script else name
    longer = f"question-{digest}" if is_other_script else f"{name}-{digest}"
    names = chain((first, longer), (f"{longer}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)
