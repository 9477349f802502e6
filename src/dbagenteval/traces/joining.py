"""OTel traces that belong together: a turn may be spread over several.

What may still join is held in a window of trace time; the rest is given out at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import count

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces.chains import Chain, Chains
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.fragments import Fragment
from dbagenteval.traces.lostspans import lost_spans
from dbagenteval.traces.tree import Node
from dbagenteval.traces.turns import Turn, split_turns

__all__ = ["join_turns"]

_SECOND_NS = 1_000_000_000
# A piece that starts this long after a whole trace has ended belongs to it no more.
_WHOLE_NS = 2 * _SECOND_NS
_LINK_NS = 60 * _SECOND_NS


def join_turns(groups: Iterable[OtelTrace]) -> Iterator[Turn]:
    """Give the turns of a stream of OTel traces, joined over traces.

    Args:
        groups: In order of start.
    """
    window = _Window()
    for group in groups:
        lost = lost_spans(group)
        if group.spans or lost:
            fragment = Fragment(group, lost)
            yield from window.closed_before(fragment.start_ns)
            window.add(fragment)
    yield from window.closed_before(None)


class _Whole:
    """A whole trace, or traces that links join, with pieces that found it."""

    def __init__(self, fragment: Fragment) -> None:
        self.fragments = [fragment]
        self.pieces: list[Fragment] = []
        self.joined: list[dict[str, str]] = []
        self.start_ns, self.end_ns = fragment.start_ns, fragment.end_ns
        self.is_closed = False

    @property
    def expires_ns(self) -> int:
        linked = len(self.fragments) > 1 or self.fragments[0].is_message
        return self.end_ns + (_LINK_NS if linked else _WHOLE_NS)

    def add(self, fragment: Fragment, by: str) -> None:
        (self.pieces if by else self.fragments).append(fragment)
        self.joined.append({"trace_id": fragment.trace_id, "by": by or "link"})
        self.end_ns = max(self.end_ns, fragment.end_ns)

    @property
    def asks(self) -> bool:
        return any(fragment.asks for fragment in self.fragments)


class _Window:
    def __init__(self) -> None:
        self.chains = Chains()
        self.wholes: dict[str, _Whole] = {}
        self.expiring: list[tuple[int, int, _Whole | Chain]] = []
        self.counter = count()

    def add(self, fragment: Fragment) -> None:
        """Take in a trace: to what it belongs to, or as a beginning."""
        linked = self._linked(fragment)
        if linked is not None:
            self._expire(linked)
        elif fragment.is_piece and not fragment.links:
            self._add_piece(fragment)
        elif fragment.is_piece and fragment.models:
            self._expire(self.chains.take_models(fragment))
        else:
            whole = _Whole(fragment)
            self.wholes[fragment.trace_id] = whole
            self._expire(whole)

    def _linked(self, fragment: Fragment) -> _Whole | None:
        """Join a trace to those that it links to, unless both ask questions."""
        found: _Whole | None = None
        for trace_id in sorted(fragment.links):
            other = self.wholes.get(trace_id)
            if other is None or other is found or (other.asks and fragment.asks):
                continue
            if found is None:
                found = other
                other.add(fragment, "")
                self.wholes[fragment.trace_id] = other
            elif not (found.asks and other.asks):
                self._merge(found, other)
        return found

    def _merge(self, one: _Whole, other: _Whole) -> None:
        one.fragments += other.fragments
        one.pieces += other.pieces
        one.joined += [{"trace_id": other.fragments[0].trace_id, "by": "link"}, *other.joined]
        one.start_ns = min(one.start_ns, other.start_ns)
        one.end_ns = max(one.end_ns, other.end_ns)
        other.is_closed = True
        for fragment in other.fragments:
            self.wholes[fragment.trace_id] = one

    def _add_piece(self, fragment: Fragment) -> None:
        if fragment.models:
            self._expire(self.chains.take_models(fragment))
            return
        chain = self.chains.take_piece(fragment)
        if chain is None:
            whole, by = self._running(fragment)
            if whole is not None:
                whole.add(fragment, by)
                self._expire(whole)
                return
            chain = self.chains.keep_alone(fragment)
        self._expire(chain)

    def _running(self, fragment: Fragment) -> tuple[_Whole | None, str]:
        """Find the one whole turn that runs while a piece starts and shares something with it."""
        running = [
            whole
            for whole in {id(whole): whole for whole in self.wholes.values()}.values()
            if whole.start_ns <= fragment.start_ns <= whole.end_ns
        ]
        if not running:
            return None, ""
        session, case_id = fragment.session(), fragment.case_id()
        ids, sql = fragment.call_ids(), fragment.sql()
        for by, shares in (
            ("tool call id", lambda f: bool(ids & _asked_ids(f))),
            ("statement", lambda f: bool(sql & f.written_sql())),
            ("case id", lambda f: case_id is not None and f.case_id() == case_id),
            ("session and time", lambda f: session is not None and f.session() == session),
        ):
            sharing = [whole for whole in running if any(shares(f) for f in whole.fragments)]
            if len(sharing) == 1:
                return sharing[0], by
        return None, ""

    def _expire(self, entry: _Whole | Chain) -> None:
        heapq.heappush(self.expiring, (entry.expires_ns, next(self.counter), entry))

    def closed_before(self, now_ns: int | None) -> Iterator[Turn]:
        """Give the turns that nothing can join any more; all of them when there is no now."""
        while self.expiring and (now_ns is None or self.expiring[0][0] < now_ns):
            _, _, entry = heapq.heappop(self.expiring)
            if isinstance(entry, _Whole):
                if entry.is_closed or (now_ns is not None and entry.expires_ns >= now_ns):
                    continue
                entry.is_closed = True
                for fragment in entry.fragments:
                    self.wholes.pop(fragment.trace_id, None)
                yield from _turns_of_whole(entry)
            elif entry.fragments and (now_ns is None or entry.expires_ns < now_ns):
                self.chains.close(entry)
                yield _turn_of_chain(entry)
                entry.fragments = []


def _asked_ids(fragment: Fragment) -> set[str]:
    return {
        call.id
        for one in fragment.models
        for message in one.outputs
        for call in message.calls
        if call.id
    }


def _turns_of_whole(whole: _Whole) -> list[Turn]:
    fragments = sorted(whole.fragments, key=lambda one: (one.start_ns, one.trace_id))
    roots = [root for fragment in fragments for root in fragment.roots]
    facts: dict[int, Facts] = {}
    for fragment in fragments:
        facts.update(fragment.facts)
    if len(fragments) > 1 or whole.pieces:
        _renumber([root.walk() for root in roots + [r for p in whole.pieces for r in p.roots]])
    turns = split_turns(roots, facts)
    for piece in whole.pieces:
        turn = next((t for t in turns if t.start_ns <= piece.start_ns <= t.end_ns), turns[-1])
        turn.facts = sorted([*turn.facts, *piece.ordered], key=_place)
    if whole.joined:
        for turn in turns:
            ids = {one.node.span.trace_id for one in turn.facts}
            turn.joined = [one for one in whole.joined if one["trace_id"] in ids]
    return turns


def _turn_of_chain(chain: Chain) -> Turn:
    fragments = sorted(chain.fragments, key=lambda one: (one.start_ns, one.trace_id))
    if len(fragments) > 1:
        _renumber([root.walk() for fragment in fragments for root in fragment.roots])
    facts = sorted([one for fragment in fragments for one in fragment.ordered], key=_place)
    return Turn(facts, [], chain.joined)


def _renumber(walks: Iterable[Iterator[Node]]) -> None:
    nodes = [node for walk in walks for node in walk]
    nodes.sort(key=lambda node: (node.span.start_ns, node.span.trace_id, node.position))
    for position, node in enumerate(nodes):
        node.position = position


def _place(one: Facts) -> tuple[int, int]:
    return one.node.span.start_ns, one.node.position
