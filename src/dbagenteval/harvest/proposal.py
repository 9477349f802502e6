"""What the right SQL might be: from a trace that passed, or by repairing the agent's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dbagenteval.checks import Executor
from dbagenteval.harvest.candidates import Candidate
from dbagenteval.harvest.repair import repairs
from dbagenteval.slices.schema import Schema
from dbagenteval.suite.reading import why_not_run
from dbagenteval.suite.replay_session import ReplayRefused
from dbagenteval.traces import Rows

__all__ = ["PassedTraces", "Proposal", "propose", "repairing"]

_KEPT_AT_MOST = 100_000
_SQL_NOT_AT_FAULT = ("answer",)

Suggest = Callable[[Candidate], Iterable["Proposal"]]
"""Gives repairs of a candidate's SQL, the most likely first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A query that may be right.

    Args:
        sql: The query.
        source: Where it comes from, for a person.
        rows: What it gives now, None if it was not run.
    """

    sql: str
    source: str
    rows: Rows | None = None


class PassedTraces:
    """The SQL of traces that passed, by question; the last ones only."""

    def __init__(self) -> None:
        self._by_question: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def add(self, candidate: Candidate) -> None:
        """Remember what answered a question rightly."""
        if candidate.sql:
            self._by_question[candidate.key] = (candidate.sql, candidate.trace_id)
            self._by_question.move_to_end(candidate.key)
        if len(self._by_question) > _KEPT_AT_MOST:
            self._by_question.popitem(last=False)

    def proposal(self, candidate: Candidate) -> Proposal | None:
        """Give what answered the same question in another trace."""
        sql, trace_id = self._by_question.get(candidate.key, ("", ""))
        if not sql or trace_id == candidate.trace_id:
            return None
        return Proposal(sql=sql, source=f"trace {trace_id}, which passed, answered this question")


def repairing(schema: Schema | None, tenant: tuple[str, Any] | None) -> Suggest:
    """Give what repairs the SQL of candidates.

    Args:
        schema: All tables of the database, None if it is not known.
        tenant: Column and value of the tenant that asks, None if there are none.
    """

    def suggest(candidate: Candidate) -> Iterator[Proposal]:
        for repair in repairs(
            candidate.sql,
            dialect=candidate.dialect,
            schema=schema,
            # SQL that nothing has found fault with is not given a filter just in case.
            tenant=tenant if candidate.failure is not None else None,
            question=candidate.question,
        ):
            yield Proposal(sql=repair.sql, source=f"the agent's SQL repaired: {repair.words}")

    return suggest


def propose(
    candidate: Candidate, passed: PassedTraces, suggest: Suggest, execute: Executor | None
) -> Proposal | None:
    """Propose a reference for a candidate; a person has to accept it.

    Args:
        candidate: What failed, or what nothing has judged.
        passed: Traces that passed.
        suggest: Repairs the SQL.
        execute: Runs SQL on the user's database within limits: then a proposal has to run there.
            None proposes unseen.
    """
    for proposal in _proposals(candidate, passed, suggest):
        if why_not_run(proposal.sql, candidate.dialect) is not None:
            continue
        if execute is None:
            return proposal
        try:
            rows = execute(proposal.sql)
        except ReplayRefused:  # it takes too long or gives too much to look at, no more
            return proposal
        except Exception:  # noqa: BLE001, S112 whatever the database says of it, it is not right
            continue
        return Proposal(sql=proposal.sql, source=proposal.source, rows=rows)
    return None


def _proposals(candidate: Candidate, passed: PassedTraces, suggest: Suggest) -> Iterable[Proposal]:
    from_trace = passed.proposal(candidate)
    if from_trace is not None:
        yield from_trace
    if not candidate.sql:
        return
    failure = candidate.failure
    if failure is None:
        yield from suggest(candidate)
        yield Proposal(sql=candidate.sql, source="the agent's SQL, which nothing has judged")
    elif failure.stage in _SQL_NOT_AT_FAULT:
        yield Proposal(sql=candidate.sql, source="the agent's SQL: the answer is at fault, not it")
    else:
        yield from suggest(candidate)
