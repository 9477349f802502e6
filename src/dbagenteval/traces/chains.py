"""Chains of model calls in traces of their own: which call goes on where another left off."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import LLM
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.fragments import Fragment, prefix_keys, sql_of_models
from dbagenteval.traces.messages import Message, after_last_user_text, last_user_text
from dbagenteval.traces.samestatement import is_told_by
from dbagenteval.traces.sqltext import is_catalog_query, normal_sql
from dbagenteval.traces.toolkinds import FINAL, tool_kind

__all__ = ["Chain", "Chains"]

_SECOND_NS = 1_000_000_000
_UNFINISHED_NS = 600 * _SECOND_NS
_FINISHED_NS = 30 * _SECOND_NS
_PRELUDE_NS = 1 * _SECOND_NS
_MIN_SHARED_CHARS = 8
_REASONS = (
    "gen_ai.response.finish_reasons",
    "llm.finish_reason",
    "gen_ai.completion.0.finish_reason",
)
_CALLS_TOOLS = ("tool_calls", "tool_call", "tool_use", "function_call")


class Chain:
    """Fragments of one turn, in order, with what may come next."""

    def __init__(self, first: Fragment) -> None:
        self.fragments: list[Fragment] = []
        self.joined: list[dict[str, str]] = []
        self.instance = first.instance
        self.start_ns = first.start_ns
        self.end_ns = first.end_ns
        self.models: list[Facts] = []
        self.pending_ids: set[str] = set()
        self.noted_ids: set[str] = set()
        self.sql: set[str] = set()
        self.is_finished = False
        self.after_key: int | None = None
        self.add(first, "")

    def add(self, fragment: Fragment, by: str) -> None:
        """Take a fragment in; `by` says what joins it."""
        self.fragments.append(fragment)
        if by:
            self.joined.append({"trace_id": fragment.trace_id, "by": by})
        self.end_ns = max(self.end_ns, fragment.end_ns)
        self.start_ns = min(self.start_ns, fragment.start_ns)
        if fragment.models:
            self.models += fragment.models
            self._look_ahead(fragment)

    def _look_ahead(self, fragment: Fragment) -> None:
        last = fragment.models[-1]
        calls = [call for message in last.outputs for call in message.calls]
        answered = fragment.call_ids()
        self.pending_ids = {call.id for call in calls if call.id and call.id not in answered}
        self.sql |= sql_of_models(fragment.models)
        is_asking = any(tool_kind(call.name) != FINAL for call in calls)
        self.is_finished = not is_asking and not _says_tool_calls(last)
        keys = prefix_keys([*last.inputs, *last.outputs])
        self.after_key = keys[-1] if keys and last.outputs and last.inputs else None

    @property
    def expires_ns(self) -> int:
        """Give the time after which nothing joins any more."""
        return self.end_ns + (_FINISHED_NS if self.is_finished and self.models else _UNFINISHED_NS)

    def may_run(self, statements: set[str]) -> bool:
        """True unless the last call asks for other statements than these."""
        asked = sql_of_models(self.models[-1:])
        return not asked or all(
            is_catalog_query(sql) or any(is_told_by(sql, one) for one in asked)
            for sql in statements
        )

    @property
    def question(self) -> str:
        """Give the last user text of the first call."""
        return last_user_text(self.models[0].inputs) if self.models else ""


def _says_tool_calls(one: Facts) -> bool:
    """True if a call without captured content says that it asked for tools."""
    if any(message.text or message.calls for message in one.outputs):
        return False
    attributes = one.node.span.attributes
    reasons = next((attributes[key] for key in _REASONS if attributes.get(key)), "")
    # Where nothing is said, each call stands alone: joining all of a service would be worse.
    return any(reason in str(reasons) for reason in _CALLS_TOOLS)


class Chains:
    """The open chains; they are looked up by call id, history, statement and instance."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, ...], list[Chain]] = {}
        self.pending: dict[str, list[Chain]] = {}

    def of(self, instance: tuple[str, ...]) -> list[Chain]:
        """Give the open chains of a service instance, oldest first."""
        return self.open.setdefault(instance, [])

    def _waiting(self, ids: set[str], instance: tuple[str, ...]) -> Chain | None:
        """Find the chain that waits for one of the tool calls, best in the same service."""
        found = [
            chain
            for call_id in sorted(ids)
            for chain in self.pending.get(call_id, ())
            if call_id in chain.pending_ids
        ]
        found.sort(key=lambda chain: (chain.instance == instance, chain.end_ns), reverse=True)
        return found[0] if found else None

    def _note_pending(self, chain: Chain) -> None:
        for call_id in chain.pending_ids:
            waiting = self.pending.setdefault(call_id, [])
            if chain not in waiting:
                waiting.append(chain)
                chain.noted_ids.add(call_id)

    def close(self, chain: Chain) -> None:
        """Forget a chain."""
        chains = self.open.get(chain.instance, [])
        if chain in chains:
            chains.remove(chain)
        if not chains:
            self.open.pop(chain.instance, None)
        for call_id in chain.noted_ids:
            waiting = self.pending.get(call_id, [])
            if chain in waiting:
                waiting.remove(chain)
            if not waiting:
                self.pending.pop(call_id, None)

    def take_models(self, fragment: Fragment) -> Chain:
        """Put a fragment with model calls where it goes on, or start a chain with it."""
        chain, by = self._continued(fragment)
        if chain is not None:
            chain.add(fragment, by)
            self._note_pending(chain)
            return chain
        chain = Chain(fragment)
        self._note_pending(chain)
        for prelude in self._prelude(fragment):
            chain.fragments.insert(0, prelude.fragments[0])
            chain.joined.append({"trace_id": prelude.fragments[0].trace_id, "by": "time"})
            chain.start_ns = min(chain.start_ns, prelude.start_ns)
            self.close(prelude)
        self.of(fragment.instance).append(chain)
        return chain

    def _prelude(self, fragment: Fragment) -> list[Chain]:
        """Give catalog queries that ran just before a first call."""
        return [
            chain
            for chain in self.of(fragment.instance)
            if not chain.models
            and fragment.start_ns - chain.end_ns < _PRELUDE_NS
            and all(_only_looks_up(part) for part in chain.fragments)
        ]

    def _continued(self, fragment: Fragment) -> tuple[Chain | None, str]:
        first = fragment.models[0]
        inputs = first.inputs
        latest = inputs[_turn_start(inputs) :]
        told = {result.id for message in latest for result in message.results if result.id}
        told |= {call.id for message in latest for call in message.calls if call.id}
        mine = self.of(fragment.instance)
        waiting = self._waiting(told, fragment.instance) if told else None
        if waiting is not None:
            return waiting, "tool call id"
        by_history = self._by_history(first, mine)
        if by_history is not None:
            return by_history, "message history"
        if any(message.text or message.calls for message in inputs):
            return self._pipeline(first, mine), "time and shared text"
        idle = [c for c in mine if not c.is_finished and c.models and c.end_ns <= fragment.start_ns]
        # Without content, only the order of calls tells; two turns at once can't be told apart.
        return (idle[0], "time") if len(idle) == 1 else (None, "")

    def _by_history(self, first: Facts, mine: list[Chain]) -> Chain | None:
        keys = prefix_keys(first.inputs)
        places = {key: index for index, key in enumerate(keys)}
        start = _turn_start(first.inputs)
        for chain in reversed(mine):
            if chain.after_key in places:
                place = places[chain.after_key]
                after = first.inputs[place + 1 :]
                is_new = any(m.role == "user" and m.text and not m.results for m in after)
                # The call that answered a turn may be lost: then its answer stands in between.
                return None if start > place or (is_new and chain.is_finished) else chain
        return None

    def _pipeline(self, first: Facts, mine: list[Chain]) -> Chain | None:
        """Find the turn of a call that shares no history: one step of a fixed pipeline."""
        texts = [message.text for message in first.inputs if message.text]
        told = "\n".join(texts)
        start = first.node.span.start_ns
        for chain in reversed(mine):
            if not chain.models or chain.end_ns > start or start - chain.end_ns > _FINISHED_NS:
                continue
            before = chain.models[-1]
            if before.inputs == first.inputs or _has_history(first):
                continue
            said = [m.text.strip() for m in before.outputs if len(m.text) >= _MIN_SHARED_CHARS]
            question = chain.question
            if len(question) >= _MIN_SHARED_CHARS and question in told:
                return chain
            if any(text in told for text in said) or any(
                len(sql) > _MIN_SHARED_CHARS and sql in normal_sql(told) for sql in chain.sql
            ):
                return chain
        return None

    def take_piece(self, fragment: Fragment) -> Chain | None:
        """Put a fragment without model calls to the chain that it belongs to."""
        mine = self.of(fragment.instance)
        ids = fragment.call_ids()
        waiting = self._waiting(ids, fragment.instance) if ids else None
        if waiting is not None:
            waiting.add(fragment, "tool call id")
            return waiting
        wanted = fragment.sql()
        for chain in reversed(mine):
            if wanted & chain.sql and chain.models[-1].node.span.end_ns <= fragment.end_ns:
                chain.add(fragment, "statement")
                return chain
        idle = [
            c
            for c in mine
            if c.models
            and not c.is_finished
            and c.models[-1].node.span.end_ns <= fragment.start_ns
            and c.may_run(wanted)
        ]
        if len(idle) == 1:
            idle[0].add(fragment, "time")
            return idle[0]
        return None

    def keep_alone(self, fragment: Fragment) -> Chain:
        """Keep a piece that found no turn; it becomes one of its own."""
        chain = Chain(fragment)
        self.of(fragment.instance).append(chain)
        return chain


def _only_looks_up(part: Fragment) -> bool:
    """True for a piece that is nothing but catalog queries."""
    return (
        bool(part.statements)
        and not part.tools
        and all(one.sql and is_catalog_query(one.sql) for one in part.statements)
    )


def _turn_start(messages: list[Message]) -> int:
    """Give the index of the last user text that follows an answer; 0 if there is none."""
    start, is_answered = 0, False
    for index, message in enumerate(messages):
        if message.role == "assistant":
            is_answered = bool(message.text) and not message.calls
        elif message.role == "user" and message.text and not message.results and is_answered:
            start, is_answered = index, False
    return start


def _has_history(one: Facts) -> bool:
    """True if a call brings the turns before it along, so that history would have told."""
    before = len(one.inputs) - len(after_last_user_text(one.inputs))
    return one.role == LLM and any(m.role == "assistant" for m in one.inputs[:before])
