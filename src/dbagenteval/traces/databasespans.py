"""Database spans: which use of a tool each belongs to, or that it is one of its own."""

from __future__ import annotations

from collections import deque

from dbagenteval.traces.content import is_masked
from dbagenteval.traces.conventions.convention import DB, LLM
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.sqltext import (
    is_catalog_query,
    is_connection_noise,
    normal_sql,
    sql_in_text,
)
from dbagenteval.traces.toolkinds import EXECUTE
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use, covers, outer_use, overlaps, place_in_turn

__all__ = ["attach_database_spans"]

# Two instrumentations tell of one statement one right after the other.
_RECENT = 16
_MAX_COMPARED = 200


def attach_database_spans(turn: Turn, uses: list[Use], by_node: dict[int, Use]) -> None:
    """Give each database span to the use it belongs to; add a use where there is none.

    Args:
        turn: The turn.
        uses: The uses known from tool spans and messages.
        by_node: Use by the `id()` of the tool span's node.
    """
    _Attaching(turn, uses, by_node).attach()


class _Attaching:
    """The uses by what a database span may share with them; each look-up stays short."""

    def __init__(self, turn: Turn, uses: list[Use], by_node: dict[int, Use]) -> None:
        self.turn = turn
        self.uses = uses
        self.by_node = by_node
        executions = [use for use in uses if use.kind == EXECUTE]
        self.waiting: dict[str, list[Use]] = {}
        for use in executions:
            if use.sql:
                self.waiting.setdefault(normal_sql(use.sql), []).append(use)
        self.hidden = [use for use in executions if use.sql is None]
        self.recent: deque[tuple[Use, Facts]] = deque(maxlen=_RECENT)
        self.writers: list[tuple[Facts, str]] = [
            (one, sql)
            for one in turn.facts
            if one.role == LLM
            for message in one.outputs
            if message.text and (sql := sql_in_text(message.text))
        ]

    def attach(self) -> None:
        """Give each database span to the use that it belongs to, or make one of it."""
        for one in self.turn.facts:
            if one.role != DB or not one.sql or is_catalog_query(one.sql):
                continue
            outer = outer_use(one, self.by_node)
            if is_connection_noise(one.sql) and outer is None:
                continue
            use = outer if outer is not None and self._runs_in(one, outer) else None
            use = use or self._of_same_text(one) or self._seen_by_two(one)
            if use is None:
                use = Use(EXECUTE, sql=one.sql, writer=self._writer_of(one))
                use.place = place_in_turn(one)
                self.uses.append(use)
            if use.source is None:
                use.place = min(use.place, place_in_turn(one))
            use.database.append(one)
            self.recent.append((use, one))

    def _runs_in(self, one: Facts, outer: Use) -> bool:
        """True if a database span below a tool is what that tool was asked to run."""
        if outer.sql is None:
            outer.kind, outer.sql = EXECUTE, one.sql
        return covers(one.sql or "", outer.sql or "")

    def _of_same_text(self, one: Facts) -> Use | None:
        """Find the call of the same statement that no database span is known of yet."""
        exact = [use for use in self.waiting.get(normal_sql(one.sql or ""), ()) if not use.database]
        found = exact or self._within(one) or self._without_sql(one)
        inside = [use for use in found if use.source is not None and overlaps(use.source, one)]
        # A tool that began after the statement did not run it: that is an attempt of its own.
        begun = [
            use
            for use in found
            if use.source is None or use.source.node.span.start_ns <= one.node.span.start_ns
        ]
        return next(iter(inside or begun), None)

    def _within(self, one: Facts) -> list[Use]:
        """Find calls whose statement the database ran with more around it."""
        if len(self.waiting) > _MAX_COMPARED:
            return []
        return [
            use
            for uses in self.waiting.values()
            for use in uses
            if not use.database and covers(one.sql or "", use.sql or "")
        ]

    def _seen_by_two(self, one: Facts) -> Use | None:
        """Find the statement that another instrumentation sees too, as SQLAlchemy and a driver."""
        for use, other in self.recent:
            mine, theirs = one.sql or "", other.sql or ""
            same = covers(mine, theirs) or covers(theirs, mine)
            if same and (overlaps(other, one) or other.node in one.node.ancestors):
                return use
        return None

    def _without_sql(self, one: Facts) -> list[Use]:
        """Give the first call before a database span whose own statement is hidden."""
        for use in self.hidden:
            if (
                use.sql is None
                and not use.database
                and (use.arguments is None or is_masked(use.arguments))
                and use.place <= place_in_turn(one)
                and (use.source is None or overlaps(use.source, one))
            ):
                use.sql = one.sql
                return [use]
        return []

    def _writer_of(self, one: Facts) -> Facts | None:
        """Find the model call before a database span whose text holds its statement."""
        for model, sql in reversed(self.writers):
            if model.node.span.start_ns <= one.node.span.start_ns and covers(one.sql or "", sql):
                return model
        return None
