"""What was collected becomes draft cases, each of them once."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from dbagenteval.cases import Case
from dbagenteval.harvest.collect import Collected
from dbagenteval.harvest.drafts import Draft, draft_of, redaction_of
from dbagenteval.harvest.known import KnownCases
from dbagenteval.harvest.proposal import Suggest, propose
from dbagenteval.traces import Rows

__all__ = ["Harvest", "harvest"]


@dataclass(slots=True)
class Harvest:
    """New drafts, and what has a case already.

    Args:
        drafts: In order of the first trace of each.
        covered: How many traces have a case, by its key.
    """

    drafts: list[Draft] = field(default_factory=list)
    covered: Counter[str] = field(default_factory=Counter)


def harvest(
    collected: Collected,
    cases: Iterable[Case],
    *,
    rejected: Iterable[str] = (),
    suggest: Suggest,
    execute: Callable[[str], Rows] | None = None,
    now: datetime.datetime,
) -> Harvest:
    """Make a draft of each group that no case covers.

    Args:
        collected: What the traces gave.
        cases: All cases that there are, in all files.
        rejected: Questions that shall not become cases.
        suggest: Repairs an agent's SQL.
        execute: Runs SQL on the user's database, to see what a proposal gives.
        now: The time.
    """
    cases = list(cases)
    known = KnownCases(cases, rejected)
    taken = {case.id for case in cases}
    result = Harvest(covered=Counter(collected.covered))
    for group in collected.groups:
        candidate = group.first
        proposal = propose(candidate, collected.passed, suggest, execute)
        question = redaction_of(candidate, proposal).text(candidate.question)
        covering = known.covering(candidate, question, None if proposal is None else proposal.sql)
        if covering is not None:
            result.covered[covering] += group.count
            continue
        draft = draft_of(group, proposal, taken=taken, now=now)
        taken.add(draft.id)
        result.drafts.append(draft)
    return result
