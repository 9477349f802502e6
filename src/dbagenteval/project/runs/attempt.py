"""One attempt of one test with one model: the agent is asked, its reply judged."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dbagenteval.project.agent.call import AgentError, ProjectAgent
from dbagenteval.project.agent.prices import cost_of
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.runs.conversation import converse
from dbagenteval.project.runs.settings import RunSettings
from dbagenteval.project.verdict.assertions import failed_assertions
from dbagenteval.project.verdict.references import Reference
from dbagenteval.project.verdict.verdict import AnswerVerdict, judge_answer

__all__ = ["AnswerResult", "run_attempt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResult:
    """One attempt of one test with one model.

    Args:
        test: The test.
        model: `provider:model`, or empty.
        attempt: From 1.
        verdict: `pass`, `error` (the agent), `test_broken`, or as `AnswerVerdict`.
        answer: The verdict on the answer; None if there was none.
        reply: The reply, or None.
        reference: What the reference gave.
        message: One phrase for the table.
        reason: Stable code, empty for a pass.
        error: Why there is no verdict on an answer, or empty.
        problems: Assertions that do not hold.
        cost: USD, or None if unknown.
        cost_from: `config`, `agent`, `genai-prices` or empty.
        duration_ms: Of the agent, all turns.
        started: When the agent was asked.
    """

    test: AnswerTest
    model: str
    attempt: int
    verdict: str
    answer: AnswerVerdict | None = None
    reply: AgentReply | None = None
    reference: Reference = field(default_factory=Reference)
    message: str = ""
    reason: str = ""
    error: str = ""
    problems: tuple[str, ...] = ()
    cost: float | None = None
    cost_from: str = ""
    duration_ms: int | None = None
    started: datetime.datetime | None = None

    @property
    def passed(self) -> bool:
        """True if the verdict is `pass`."""
        return self.verdict == "pass"


def run_attempt(
    test: AnswerTest,
    model: str,
    attempt: int,
    reference: Reference,
    agent: ProjectAgent,
    settings: RunSettings,
) -> AnswerResult:
    """Ask the agent and judge its reply; what goes wrong is a result too."""
    blank = AnswerResult(
        test=test, model=model, attempt=attempt, reference=reference, verdict="error"
    )
    if reference.problem:
        return replace(
            blank,
            verdict="test_broken",
            message="test broken",
            reason="test_broken",
            error=reference.problem,
        )
    begun = time.monotonic()
    blank = replace(blank, started=datetime.datetime.now(datetime.timezone.utc), message="error")
    try:
        prompt, reply = converse(test, model, agent, settings)
    except Exception as error:  # noqa: BLE001 the boundary of one test: the rest must go on
        reason = error.reason if isinstance(error, AgentError) else "agent_error"
        text = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
        return replace(blank, reason=reason, error=text, duration_ms=_ms_since(begun))
    cost, cost_from = cost_of(reply, model, settings.prices)
    told = replace(blank, reply=reply, cost=cost, cost_from=cost_from, duration_ms=_ms_since(begun))
    if reply.error and not reply.text and reply.rows is None:
        return replace(told, reason="agent_error", error=reply.error)
    return _judged(told, prompt, reply, settings)


def _judged(
    told: AnswerResult, prompt: str, reply: AgentReply, settings: RunSettings
) -> AnswerResult:
    try:
        answer = judge_answer(
            told.test,
            prompt,
            reply,
            told.reference,
            mode=settings.mode,
            tolerance=settings.tolerance,
            extract=settings.extract,
        )
        problems = failed_assertions(
            _assertions(told.test, settings),
            reply,
            cost=told.cost,
            seconds=(told.duration_ms or 0) / 1000,
            prompt=prompt,
            project=settings.project,
            judge=settings.judge,
            reference=told.reference,
        )
    except Exception as error:  # noqa: BLE001 the boundary of one test: the rest must go on
        text = f"the answer can't be judged: {type(error).__name__}: {error}"
        return replace(told, reason="evaluator_error", error=text)
    verdict, message, reason = answer.verdict, answer.message, answer.reason
    if verdict == "pass" and problems:
        verdict, message, reason = "fail", problems[0], "assertion"
    return replace(
        told,
        answer=answer,
        verdict=verdict,
        message=message,
        reason=reason,
        problems=tuple(problems),
    )


def _assertions(test: AnswerTest, settings: RunSettings) -> tuple[Mapping[str, Any], ...]:
    """Give a test's assertions, with the one on provenance where the run asks for it of all."""
    has_own = any(item["type"] == "provenance" for item in test.assertions)
    if not settings.provenance or not test.sqls or has_own:
        return test.assertions
    return (*test.assertions, {"type": "provenance"})


def _ms_since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)
