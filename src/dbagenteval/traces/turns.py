"""Turns: which spans belong to one question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, MESSAGE, SERVER
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.spoken import question_text
from dbagenteval.traces.tree import Node

__all__ = ["Turn", "orphaned_steps", "split_turns"]

_STEP_NAME = re.compile(r"Step \d+")  # smolagents


@dataclass(slots=True)
class Turn:
    """The spans of one question.

    Args:
        facts: All of them, in order of start.
        heads: The outermost spans that stand for the whole turn, best first.
        joined: How OTel traces without a common root came to be in it, JSON-ready.
    """

    facts: list[Facts]
    heads: list[Facts] = field(default_factory=list)
    joined: list[dict[str, str]] = field(default_factory=list)

    @property
    def start_ns(self) -> int:
        """Give the start of the first span, in Unix nanoseconds."""
        return min(one.node.span.start_ns for one in self.facts)

    @property
    def end_ns(self) -> int:
        """Give the end of the last span, in Unix nanoseconds."""
        return max(one.node.span.end_ns for one in self.facts)


def split_turns(roots: list[Node], facts: dict[int, Facts]) -> list[Turn]:
    """Split the trees of one OTel trace into turns.

    Args:
        roots: Local roots by start.
        facts: The facts of every node, by the node's `id()`.
    """
    asked = _asked_by_us(roots)
    if asked:
        return _turns_of_heads(asked, roots, facts)
    heads = list(_outer_heads(roots, facts))
    told = [head for head in heads if _told_question(head)]
    if len({_told_question(head) for head in told}) > 1 and not _is_one_agent(roots, facts):
        return _turns_of_heads([head.node for head in told], roots, facts)
    everything = _in_order(node for root in roots for node in root.walk())
    turn = Turn([facts[id(node)] for node in everything], heads)
    if heads and heads[0].role == AGENT:
        return [turn]
    return _split_by_history(turn)


def _asked_by_us(roots: list[Node]) -> list[Node]:
    """Give the outermost spans with our question, one for each turn."""
    asked = [
        node
        for root in roots
        for node in root.walk()
        if node.span.attributes.get(own.QUESTION)
        and not any(above.span.attributes.get(own.QUESTION) for above in node.ancestors)
    ]
    if (
        len(asked) > 1
        and len({node.span.attributes[own.QUESTION] for node in asked}) == 1
        and len({id(node.parent) for node in asked}) == 1
        and all(own.STAGE in node.span.attributes for node in asked)
    ):
        return asked[:1]  # stage spans side by side repeat their question
    return asked


def _turns_of_heads(heads: list[Node], roots: list[Node], facts: dict[int, Facts]) -> list[Turn]:
    """Give each head the spans below it; what is below none goes to all of a single one."""
    if len(heads) == 1:
        everything = _in_order(node for root in roots for node in root.walk())
        first = facts[id(heads[0])]
        return [Turn([facts[id(node)] for node in everything], [first])]
    turns = [
        Turn([facts[id(node)] for node in _in_order(head.walk())], [facts[id(head)]])
        for head in heads
    ]
    taken = {id(one.node) for turn in turns for one in turn.facts}
    above = {id(node) for head in heads for node in head.ancestors}
    loose = [
        facts[id(node)]
        for root in roots
        for node in root.walk()
        if id(node) not in taken and id(node) not in above
    ]
    for one in loose:
        if one.role is not None:
            _add_by_time(turns, one)
    return turns


def _add_by_time(turns: list[Turn], one: Facts) -> None:
    """Give a span that is below no head to the turn that runs when it starts."""
    start = one.node.span.start_ns
    running = [
        turn
        for turn in turns
        if turn.heads[0].node.span.start_ns <= start <= turn.heads[0].node.span.end_ns
    ]
    before = [turn for turn in turns if turn.heads[0].node.span.start_ns <= start]
    chosen = running[0] if len(running) == 1 else (before or turns)[-1 if before else 0]
    chosen.facts.append(one)
    chosen.facts.sort(key=_place)


def _outer_heads(roots: list[Node], facts: dict[int, Facts]) -> Iterator[Facts]:
    """Give the outermost spans that may stand for a turn."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        one = facts[id(node)]
        if one.role == AGENT or (one.role in (CHAIN, MESSAGE) and one.question is not None):
            yield one
        else:
            if one.role == SERVER:
                yield one
            stack.extend(reversed(node.children))


def orphaned_steps(heads: list[Facts]) -> list[Facts]:
    """Give the heads that are steps of one run whose own span never came."""
    orphans = [
        head
        for head in heads
        if head.role == CHAIN and head.node.parent is None and head.node.span.parent_span_id
    ]
    lost = [head.node.span.parent_span_id for head in orphans]
    return [
        head
        for head in orphans
        if lost.count(head.node.span.parent_span_id) > 1 or _is_step(head.node)
    ]


def _is_step(node: Node) -> bool:
    """True for a span that its framework makes within a run only."""
    if _STEP_NAME.fullmatch(node.span.name):
        return True
    attributes = node.span.attributes
    return "graph.node.id" in attributes or "langgraph_node" in str(attributes.get("metadata"))


def _told_question(head: Facts) -> str | None:
    return question_text(head.question) if head.role != SERVER else None


def _is_one_agent(roots: list[Node], facts: dict[int, Facts]) -> bool:
    """True if one agent stands above all: its parts may have questions of their own."""
    return len(roots) == 1 and facts[id(roots[0])].role in (AGENT, CHAIN, MESSAGE)


def _split_by_history(turn: Turn) -> list[Turn]:
    """Split model calls under a request at each new user text that follows a given answer."""
    models = [one for one in turn.facts if one.role == LLM]
    starts = [models[0]] if models else []
    for before, one in pairwise(models):
        if _follows_up(before, one):
            starts.append(one)
    if len(starts) < 2:
        return [turn]
    parts: list[Turn] = [Turn([], turn.heads) for _ in starts]
    number = 0
    for one in turn.facts:
        if number + 1 < len(starts) and _place(one) >= _place(starts[number + 1]):
            number += 1
        parts[number].facts.append(one)
    return parts


def _follows_up(before: Facts, after: Facts) -> bool:
    """True if a call's history holds the other's final answer and a user's text after it."""
    said = [message for message in before.outputs if message.text]
    if not said or any(message.calls for message in before.outputs):
        return False
    answer = said[-1].text.strip()
    seen = False
    for message in after.inputs:
        if message.role == "assistant" and message.text.strip() == answer:
            seen = True
        elif seen and message.role == "user" and message.text and not message.results:
            return True
    return False


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (node.span.start_ns, node.position))


def _place(one: Facts) -> tuple[int, int]:
    return one.node.span.start_ns, one.node.position
