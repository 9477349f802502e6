"""Replies completed by the agent's own spans: rows, statements, tokens that it does not return."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from dbagenteval.project.agent.call import Asked, ProjectAgent
from dbagenteval.project.agent.reply import AgentReply, reply_of_trace
from dbagenteval.traces import Trace

__all__ = ["SpanAgent"]

_POLL_S = 0.25


class SpanAgent:
    """An agent whose spans arrive in a store under the trace id that it was called with.

    Args:
        agent: Calls the agent, handing on `Asked.trace_id`.
        find: Gives the Trace of a trace id, or None as long as there is none.
        wait_s: How long spans may take to arrive after the reply.
    """

    def __init__(
        self, agent: ProjectAgent, find: Callable[[str], Trace | None], wait_s: float = 10.0
    ) -> None:
        self._agent = agent
        self._find = find
        self._wait_s = wait_s

    def __call__(self, asked: Asked) -> AgentReply:
        """Give the reply, with what it leaves out taken from its spans."""
        reply = self._agent(asked)
        trace = self._arrived(asked.trace_id)
        return reply if trace is None else completed(reply, trace)

    def _arrived(self, trace_id: str) -> Trace | None:
        """Wait until the trace is there and no longer grows."""
        deadline = time.monotonic() + self._wait_s
        before: Trace | None = None
        while True:
            found = self._find(trace_id)
            if found is not None and found == before:
                return found
            if time.monotonic() > deadline:
                return found
            before = found
            time.sleep(_POLL_S)


def completed(reply: AgentReply, trace: Trace) -> AgentReply:
    """Fill what a reply does not say from a Trace; what it says itself stays."""
    seen = reply_of_trace(trace)
    takes_rows = reply.rows is None and seen.rows is not None
    takes_tokens = reply.tokens is None
    return replace(
        reply,
        text=reply.text or seen.text,
        rows=seen.rows if takes_rows else reply.rows,
        rows_from="spans" if takes_rows else reply.rows_from,
        sqls=reply.sqls or seen.sqls,
        tool_calls=reply.tool_calls or seen.tool_calls,
        tokens=seen.tokens if takes_tokens else reply.tokens,
        token_kinds=seen.token_kinds if takes_tokens else reply.token_kinds,
        cost=seen.cost if reply.cost is None else reply.cost,
        trace=trace,
    )
