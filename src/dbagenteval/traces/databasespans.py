"""Database spans: which use of a tool each belongs to, or that it is one of its own."""

from __future__ import annotations

from dbagenteval.traces.content import is_masked
from dbagenteval.traces.conventions.convention import DB, LLM
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.sqltext import is_catalog_query, is_connection_noise, sql_in_text
from dbagenteval.traces.toolkinds import EXECUTE
from dbagenteval.traces.turns import Turn
from dbagenteval.traces.uses import Use, covers, outer_use, overlaps, place_in_turn

__all__ = ["attach_database_spans"]


def attach_database_spans(turn: Turn, uses: list[Use], by_node: dict[int, Use]) -> None:
    """Give each database span to the use it belongs to; add a use where there is none.

    Args:
        turn: The turn.
        uses: The uses known from tool spans and messages.
        by_node: Use by the `id()` of the tool span's node.
    """
    _Attaching(turn, uses, by_node).attach()


class _Attaching:
    def __init__(self, turn: Turn, uses: list[Use], by_node: dict[int, Use]) -> None:
        self.turn = turn
        self.uses = uses
        self.by_node = by_node

    def attach(self) -> None:
        """Give each database span to the use that it belongs to, or make one of it."""
        for one in self.turn.facts:
            if one.role != DB or not one.sql or is_catalog_query(one.sql):
                continue
            if is_connection_noise(one.sql) and outer_use(one, self.by_node) is None:
                continue
            use = outer_use(one, self.by_node)
            if use is not None and (use.sql is None or covers(one.sql, use.sql)):
                if use.sql is None:
                    use.kind, use.sql = EXECUTE, one.sql
                use.database.append(one)
                continue
            use = self._of_same_text(one) or self._seen_by_two(one)
            if use is None:
                use = Use(
                    EXECUTE, sql=one.sql, place=place_in_turn(one), writer=self._writer_of(one)
                )
                self.uses.append(use)
            use.database.append(one)
            if use.source is None:
                use.place = (
                    min(use.place, place_in_turn(one))
                    if use.place != (0, 0)
                    else place_in_turn(one)
                )

    def _of_same_text(self, one: Facts) -> Use | None:
        candidates = [
            use
            for use in self.uses
            if use.kind == EXECUTE
            and not use.database
            and use.sql
            and covers(one.sql or "", use.sql)
        ]
        if not candidates:
            candidates = self._without_sql(one)
        inside = [use for use in candidates if use.source is not None and overlaps(use.source, one)]
        found = inside or candidates
        return found[0] if found else None

    def _seen_by_two(self, one: Facts) -> Use | None:
        """Find the statement that another instrumentation sees too, as SQLAlchemy and a driver."""
        for use in self.uses:
            for other in use.database:
                same = covers(one.sql or "", other.sql or "") or covers(
                    other.sql or "", one.sql or ""
                )
                if same and (overlaps(other, one) or other.node in one.node.ancestors):
                    return use
        return None

    def _without_sql(self, one: Facts) -> list[Use]:
        """Give the first call before a database span whose own statement is hidden."""
        for use in self.uses:
            if (
                use.kind == EXECUTE
                and use.sql is None
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
        for model in reversed(self.turn.facts):
            if model.role == LLM and model.node.span.start_ns <= one.node.span.start_ns:
                for message in model.outputs:
                    sql = sql_in_text(message.text) if message.text else None
                    if sql and covers(one.sql or "", sql):
                        return model
        return None
