"""Call an agent and make a Trace of what it gives back, whatever it does instead."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.errors import described
from dbagenteval.traces import Trace, check_stages

__all__ = [
    "Agent",
    "AgentFailed",
    "AgentResult",
    "Ask",
    "Conversation",
    "is_async",
    "outcome_of",
    "trace_of",
]

AgentResult = Trace | dict[str, Any] | str
"""What an agent gives: a Trace, its `to_dict` form, or the answer text."""

Agent = Callable[..., AgentResult | Awaitable[AgentResult]]
"""Takes the question; `conversation` and `session_id` as well if it has such parameters."""


class AgentFailed(Exception):
    """The agent gave no result; the message is the error of the scorecard.

    Args:
        message: For the scorecard.
        may_retry: Another try could go better.
        is_timeout: The agent may still be running.
    """

    def __init__(self, message: str, *, may_retry: bool = True, is_timeout: bool = False) -> None:
        super().__init__(message)
        self.may_retry = may_retry
        self.is_timeout = is_timeout

    @classmethod
    def raised(cls, error: BaseException) -> AgentFailed:
        """Describe an exception of the agent; one that asks to end the process is not retried."""
        return cls(f"agent raised {described(error)}", may_retry=isinstance(error, Exception))

    @classmethod
    def timed_out(cls, seconds: float) -> AgentFailed:
        """Say that the agent did not answer in time."""
        return cls(f"agent timed out after {seconds:g} s (set by `timeout`)", is_timeout=True)


@dataclass
class Conversation:
    """The turns so far of one session with the agent.

    Args:
        session_id: Identifies the session.
        messages: Earlier questions and answers, oldest first, as
            `{"role": "user" or "assistant", "content": text}`.
    """

    session_id: str
    messages: list[dict[str, str]] = field(default_factory=list)

    def add(self, question: str, trace: Trace) -> None:
        """Remember one turn."""
        answer = trace.last_of("answer")
        text = "" if answer is None or answer.output is None else str(answer.output)
        self.messages.append({"role": "user", "content": question})
        self.messages.append({"role": "assistant", "content": text})


def is_async(agent: Agent) -> bool:
    """Say whether calling an agent gives an awaitable, for all that can be seen beforehand."""
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(
        getattr(agent, "__call__", None)  # noqa: B004 looked at, not called
    )


class Ask:
    """An agent with what it accepts beside the question.

    Args:
        agent: The agent.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.is_async = is_async(agent)
        self._accepts = _accepted_names(agent)

    def __call__(self, question: str, conversation: Conversation) -> Any:
        """Call the agent; an async one gives an awaitable."""
        if not self._accepts:
            return self.agent(question)
        offered = {
            "conversation": copy.deepcopy(conversation.messages),
            "session_id": conversation.session_id,
        }
        return self.agent(question, **{name: offered[name] for name in self._accepts})


def _accepted_names(agent: Agent) -> list[str]:
    try:
        parameters = inspect.signature(agent).parameters
    except (TypeError, ValueError):  # some callables written in C tell nothing
        return []
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    # The first parameter takes the question, whatever its name.
    return [
        name
        for position, (name, parameter) in enumerate(parameters.items())
        if name in ("conversation", "session_id") and parameter.kind in keyword and position
    ]


async def outcome_of(awaitable: Awaitable[Any]) -> Any:
    """Await an agent's result; what it raises comes back as a value.

    An exception that asks to end the process would end the event loop of all other cases.
    """
    try:
        return await awaitable
    except BaseException as error:  # noqa: BLE001 the agent's, whatever it is
        return AgentFailed.raised(error)


def trace_of(result: Any, case: Case) -> Trace:
    """Make a Trace of what the agent returned, under the question of the case.

    The agent may have rewritten the question; `meta["agent_question"]` then keeps its wording.

    Raises:
        AgentFailed: It is none of the accepted kinds, or malformed.
    """
    try:
        trace = _as_trace(result, case.question)
        check_stages(trace)  # they may have been changed since the trace was made
    except Exception as error:
        raise AgentFailed.raised(error) from error
    if trace.question == case.question:
        return trace
    asked = copy.copy(trace)
    asked.meta = {**trace.meta, "agent_question": trace.question}
    asked.question = case.question
    return asked


def _as_trace(result: Any, question: str) -> Trace:
    if isinstance(result, Trace):
        return result
    if isinstance(result, dict):
        return Trace.from_dict(result)
    if isinstance(result, str):
        return Trace.simple(question, answer=result)
    raise TypeError(
        f"the agent must return a Trace, a dict or the answer text, got {type(result).__name__}"
    )
