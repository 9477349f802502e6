"""A use of a tool, or a statement that ran without one, while a turn is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbagenteval.traces.facts import Facts
from dbagenteval.traces.samestatement import is_wrapped
from dbagenteval.traces.sqltext import normal_sql

__all__ = ["Use", "covers", "outer_use", "overlaps", "place_in_turn", "same_sql"]


@dataclass(slots=True)
class Use:
    """One use of a tool, or one statement that ran without a tool that is seen.

    Args:
        kind: As of `toolkinds`.
        name: The tool's name, or empty.
        call_id: The model's id of the call, or empty.
        arguments: As sent, or None.
        sql: The statement, if it has one.
        source: The tool's span, or None.
        writer: The model call that asked for it, or None.
        teller: The span whose conversation tells of it, when no span of its own does.
        database: Database spans of it, in order.
        results: What came back, best source first, each with whether it is said to be an error.
        place: Where it stands in the turn: start time and position.
        asked: The number of the call among all calls of the turn; 0 if no call is seen.
    """

    kind: str
    name: str = ""
    call_id: str = ""
    arguments: Any = None
    sql: str | None = None
    source: Facts | None = None
    writer: Facts | None = None
    teller: Facts | None = None
    database: list[Facts] = field(default_factory=list)
    results: list[tuple[Any, bool | None]] = field(default_factory=list)
    place: tuple[int, int] = (0, 0)
    asked: int = 0


def outer_use(one: Facts, by_node: dict[int, Use]) -> Use | None:
    """Give the use whose span is the nearest above, or None."""
    for above in one.node.ancestors:
        use = by_node.get(id(above))
        if use is not None:
            return use
    return None


def covers(database_sql: str, sql: str) -> bool:
    """True if a database span ran the statement, perhaps with a LIMIT or a comment around it."""
    return is_wrapped(database_sql, sql)


def same_sql(one: str | None, other: str | None) -> bool:
    """True if two statements are one but for spaces and the end mark."""
    return one is not None and other is not None and normal_sql(one) == normal_sql(other)


def overlaps(one: Facts, other: Facts) -> bool:
    """True if the other span starts while the first runs."""
    return (
        one.node.span.start_ns <= other.node.span.start_ns
        and other.node.span.start_ns <= one.node.span.end_ns
    )


def place_in_turn(one: Facts) -> tuple[int, int]:
    """Give where a span stands in its turn: start time and position."""
    return one.node.span.start_ns, one.node.position
