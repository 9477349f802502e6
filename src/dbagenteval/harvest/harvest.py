"""What was collected becomes draft cases, each of them once."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dbagenteval.cases import Case
from dbagenteval.checks import Executor
from dbagenteval.harvest.collect import Collected
from dbagenteval.harvest.drafts import Draft, draft_of, redaction_of
from dbagenteval.harvest.known import KnownCases
from dbagenteval.harvest.people import People
from dbagenteval.harvest.proposal import Suggest, propose
from dbagenteval.suite.match import normalised

__all__ = ["Harvest", "harvest"]


@dataclass(slots=True)
class Harvest:
    """New drafts, and what has a case already.

    Args:
        drafts: The most frequent questions first.
        covered: How many traces have a case, by its key.
        left_out: How many questions were not looked at for the limit.
    """

    drafts: list[Draft] = field(default_factory=list)
    covered: Counter[str] = field(default_factory=Counter)
    left_out: int = 0


def harvest(
    collected: Collected,
    cases: Iterable[Case],
    *,
    rejected: Iterable[str] = (),
    suggest: Suggest,
    execute: Executor | None = None,
    now: datetime.datetime,
    at_most: int | None = None,
    people: People | None = None,
) -> Harvest:
    """Make a draft of each group that no case covers.

    Args:
        collected: What the traces gave.
        cases: All cases that there are, in all files.
        rejected: Questions that shall not become cases.
        suggest: Repairs an agent's SQL.
        execute: Runs SQL on the user's database, to see what a proposal gives.
        now: The time.
        at_most: How many drafts to make, of what was asked most often.
        people: Whose names are known, wherever they stand.
    """
    cases = list(cases)
    known = KnownCases(cases, rejected)
    # The data of a case that a person gave another id keeps its file.
    taken = {case.id for case in cases} | {Path(case.data).stem for case in cases if case.data}
    by_question: dict[str, Draft] = {}
    result = Harvest(covered=Counter(collected.covered))
    for group in sorted(collected.groups, key=lambda group: -group.count):
        if at_most is not None and len(result.drafts) >= at_most:
            result.left_out += 1
            continue
        candidate = group.first
        proposal = propose(candidate, collected.passed, suggest, execute)
        redaction = redaction_of(candidate, proposal, people)
        question = redaction.text(candidate.question)
        covering = known.covering(candidate, question, None if proposal is None else proposal.sql)
        if covering is not None:
            result.covered[covering] += group.count
            continue
        same = by_question.get(normalised(question))
        if same is not None:
            same.count_in(group)
            continue
        draft = draft_of(group, proposal, redaction, taken=taken, now=now)
        taken.add(draft.id)
        by_question[normalised(question)] = draft
        result.drafts.append(draft)
    return result
