"""Tool messages: which use of a tool each of them answers, by id, by its call or by order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dbagenteval.traces.content import is_masked
from dbagenteval.traces.conventions.convention import LLM, MESSAGE
from dbagenteval.traces.limits import Limit
from dbagenteval.traces.messages import Message, ToolCall, ToolResult, after_last_user_text
from dbagenteval.traces.sqltext import sql_in_arguments
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use, place_in_turn, same_sql

__all__ = ["Replies"]


_NEVER, _ALWAYS = (-math.inf, 0.0), (math.inf, 0.0)


class Replies:
    """Adds what tool messages say, for uses whose own span doesn't tell it plainly.

    Args:
        uses: The uses of a turn.
        by_id: The last use of each call id.
        repeated: All uses of the ids that several calls have.
        limit: How long a value of the turn can be.
    """

    def __init__(
        self,
        uses: Sequence[Use],
        by_id: dict[str, Use],
        repeated: dict[str, list[Use]],
        limit: Limit,
    ) -> None:
        self.uses = uses
        self.by_id = by_id
        self.repeated = repeated
        self.wanting = {
            id(use)
            for use in uses
            if use.source is None
            or all(
                value is None or is_masked(value) or limit.cuts(value) for value, _ in use.results
            )
        }

    def read(self, turn: Turn) -> None:
        """Read the conversations of a turn: of its models, of its actors, then of its agent."""
        if not self.wanting:
            return
        self.uses = sorted(self.uses, key=lambda use: (use.place, use.asked))
        for one in turn.facts:
            if one.role == MESSAGE:
                self._read(one.outputs)
            elif one.role == LLM:
                messages = [*after_last_user_text(one.inputs), *one.outputs]
                self._read(messages, before=place_in_turn(one))
        if any(use.teller is not None and not use.results for use in self.uses):
            for head in turn.heads:
                self._read(after_last_user_text(head.transcript), before=_ALWAYS)

    def _read(self, messages: list[Message], before: tuple[float, float] = _NEVER) -> None:
        """Read one conversation; it can tell of the uses `before` a place in the turn."""
        open_calls: list[ToolCall] = []
        taken: set[int] = set()
        loose: dict[str, list[ToolResult]] = {}
        for message in messages:
            open_calls += message.calls
            for result in message.results:
                call = self._call_of(result, open_calls)
                use = self._use_of(call, taken) if call else self.by_id.get(result.id)
                if use is not None:
                    taken.add(id(use))
                    self._add(result, use)
                elif call is None:
                    loose.setdefault(result.name, []).append(result)
        asked = [use for use in self.uses if use.place < before] if loose else []
        for name, results in loose.items():
            # Without ids and calls only order tells, and only where each use has its result.
            of_tool = [u for u in asked if id(u) not in taken and (not name or u.name == name)]
            if len(of_tool) == len(results):
                for result, use in zip(results, of_tool, strict=True):
                    self._add(result, use)

    def _call_of(self, result: ToolResult, open_calls: list[ToolCall]) -> ToolCall | None:
        """Take the call that a result answers out of those that are open."""
        for number, call in enumerate(open_calls):
            same_tool = not result.name or call.name == result.name
            is_unnumbered = not result.id or (not call.id and result.id not in self.by_id)
            if (result.id and call.id == result.id) or (is_unnumbered and same_tool):
                return open_calls.pop(number)
        return None

    def _use_of(self, call: ToolCall, taken: set[int]) -> Use | None:
        """Give the use that a call led to; calls that look alike led to theirs in order."""
        if call.id in self.by_id and call.id not in self.repeated:
            return self.by_id[call.id]
        sql = sql_in_arguments(call.arguments, trusted=True)
        for use in self.repeated.get(call.id, self.uses):
            same = same_sql(use.sql, sql) if sql else use.sql is None
            is_other = call.id and use.call_id and use.call_id != call.id
            if same and use.name == call.name and not is_other and id(use) not in taken:
                return use
        return None

    def _add(self, result: ToolResult, use: Use) -> None:
        told = (result.content, result.is_error)
        if (id(use) in self.wanting or result.id) and told not in use.results:
            use.results.append(told)
