"""The turns of a test, asked one after the other in one session."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from dbagenteval.project.agent.call import AgentError, Asked, ProjectAgent, call_within
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.runs.settings import RunSettings

__all__ = ["converse"]


def converse(
    test: AnswerTest, model: str, agent: ProjectAgent, settings: RunSettings
) -> tuple[str, AgentReply]:
    """Ask all turns; give the last question with its reply, counting tokens and calls of all."""
    messages: list[dict[str, str]] = []
    replies: list[AgentReply] = []
    asked = Asked(prompt=test.prompt, model=model, test=test.name)
    for prompt in (test.prompt, *test.turns):
        asked = Asked(
            prompt=prompt,
            model=model,
            session_id=asked.session_id,
            messages=tuple(messages),
            test=test.name,
            timeout_s=test.timeout_s or settings.timeout_s,
        )
        reply = _ask(agent, asked, settings.retries)
        replies.append(reply)
        messages += [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": reply.text},
        ]
    return asked.prompt, _summed(replies)


def _ask(agent: ProjectAgent, asked: Asked, retries: int) -> AgentReply:
    for attempt in range(retries + 1):
        try:
            return call_within(agent, asked)
        except AgentError as error:
            if error.reason != "unreachable" or attempt == retries:
                raise
            time.sleep(min(0.2 * 2**attempt, 5.0))
    raise AssertionError("unreachable")  # pragma: no cover


def _summed(replies: Sequence[AgentReply]) -> AgentReply:
    last = replies[-1]
    if len(replies) == 1:
        return last
    kinds: dict[str, int] = {}
    for reply in replies:
        for kind, count in reply.token_kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
    tokens = [reply.tokens for reply in replies]
    costs = [reply.cost for reply in replies]
    scanned = [reply.bytes_scanned for reply in replies]
    return replace(
        last,
        tool_calls=tuple(call for reply in replies for call in reply.tool_calls),
        tokens=None if None in tokens else sum(item for item in tokens if item is not None),
        token_kinds=kinds,
        cost=None if None in costs else sum(item for item in costs if item is not None),
        bytes_scanned=None if None in scanned else sum(n for n in scanned if n is not None),
    )
