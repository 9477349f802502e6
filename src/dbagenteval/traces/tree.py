"""Spans as trees: children below parents, whatever order they arrived in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dbagenteval.otlp import LogRecord, Span

__all__ = ["Node", "build_forest"]


class Node:
    """A span with its place in the tree and the log records that name it.

    `position` counts the nodes of a forest in the order of start time, then tree order, so that
    sorting by it is the same on every run. A span whose parent never arrived is a local root.
    `memo` keeps what a convention has decoded, so that it is decoded once.
    """

    __slots__ = ("children", "logs", "memo", "parent", "position", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.logs: list[LogRecord] = []
        self.memo: Any = None
        self.position = 0

    @property
    def ancestors(self) -> Iterator[Node]:
        """Give the parent, its parent, and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def walk(self) -> Iterator[Node]:
        """Give the node and all below it, parents first, siblings by start."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def build_forest(spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> list[Node]:
    """Put the spans of one OTel trace, or of several, into trees.

    Args:
        spans: In any order; of spans with the same ids the fullest one counts.
        logs: Records that name a span are put on its node by time; others are left out.

    Returns:
        The local roots, by start time.
    """
    nodes: dict[tuple[str, str], Node] = {}
    for span in spans:
        key = (span.trace_id, span.span_id)
        known = nodes.get(key)
        if known is None:
            nodes[key] = Node(span)
        elif known.span is not span and _fullness(span) > _fullness(known.span):
            known.span = span
    ordered = sorted(nodes.values(), key=_start_order)
    roots = []
    for node in ordered:
        parent = nodes.get((node.span.trace_id, node.span.parent_span_id))
        # Only a node that has children already can be above its own parent.
        in_circle = parent is node or (node.children and parent and _is_below(parent, node))
        if parent is None or in_circle:
            roots.append(node)
        else:
            node.parent = parent
            parent.children.append(node)
    for log in sorted(logs, key=_log_order):
        owner = nodes.get((log.trace_id, log.span_id))
        if owner is not None and log not in owner.logs:
            owner.logs.append(log)
    _number(roots)
    return roots


def _number(roots: list[Node]) -> None:
    """Number by start time; of equal starts the parent comes first, then tree order."""
    in_tree_order = [node for root in roots for node in root.walk()]
    in_tree_order.sort(key=lambda node: node.span.start_ns)
    for position, node in enumerate(in_tree_order):
        node.position = position


def _is_below(node: Node, ancestor: Node) -> bool:
    """True if the node is below the other, as happens when parent ids go in a circle."""
    return node is ancestor or any(above is ancestor for above in node.ancestors)


def _start_order(node: Node) -> tuple[int, int, str, str]:
    # Of equal starts the longer span is the outer one.
    span = node.span
    return span.start_ns, -span.end_ns, span.trace_id, span.span_id


def _log_order(log: LogRecord) -> tuple[int, int, str]:
    return log.time_ns or log.observed_ns, log.observed_ns, repr((log.event_name, log.body))


def _fullness(span: Span) -> tuple[int, int, int, str]:
    # A sender may export a span when it starts and again when it ends; the repr breaks ties.
    return span.end_ns, len(span.attributes), len(span.events), repr(span)
