"""Executions: each statement that ran, found once though it is seen in up to five places.

Tool spans tell most, then the model's tool calls and the tool messages that answer them, then
database spans, then nodes of a graph. They are matched by tool call id, by containment, and by the
statement's text in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbagenteval.traces.content import is_masked
from dbagenteval.traces.conventions.convention import DB, LLM, MESSAGE, TOOL
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.limits import Limit
from dbagenteval.traces.messages import ToolCall, ToolResult, after_last_user_text
from dbagenteval.traces.sqltext import (
    is_catalog_query,
    is_connection_noise,
    normal_sql,
    sql_in_arguments,
    sql_in_text,
)
from dbagenteval.traces.toolkinds import (
    EXECUTE,
    HANDOFF,
    OTHER,
    WRITE,
    kind_given_sql,
    tool_kind,
)
from dbagenteval.traces.turns import Turn

__all__ = ["Use", "find_uses"]


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
    database: list[Facts] = field(default_factory=list)
    results: list[tuple[Any, bool | None]] = field(default_factory=list)
    place: tuple[int, int] = (0, 0)
    asked: int = 0


def find_uses(turn: Turn, limit: Limit) -> list[Use]:
    """Find the uses of tools and the statements of a turn, in order."""
    finder = _Finder(turn, limit)
    finder.read_tool_spans()
    finder.read_calls()
    finder.read_results()
    finder.read_database_spans()
    finder.drop_unfounded()
    return _in_order(finder.uses)


def _in_order(uses: list[Use]) -> list[Use]:
    """Sort by start; calls that a model asked for at once run in any order, and keep its own."""
    first: dict[int, tuple[int, int]] = {}
    for use in uses:
        if use.writer is not None:
            writer = id(use.writer)
            first[writer] = min(first.get(writer, use.place), use.place)
    for use in uses:
        if use.writer is not None:
            use.place = first[id(use.writer)]
    return sorted(uses, key=lambda use: (use.place, use.asked))


class _Finder:
    def __init__(self, turn: Turn, limit: Limit) -> None:
        self.turn = turn
        self.limit = limit
        self.uses: list[Use] = []
        self.by_node: dict[int, Use] = {}
        self.by_id: dict[str, Use] = {}
        self.asked = 0

    def read_tool_spans(self) -> None:
        """Make a use of each tool span; one within another with the same statement is the same."""
        for one in self.turn.facts:
            tool = one.tool if one.role == TOOL else None
            if tool is None:
                continue
            use = Use(
                tool_kind(tool.name),
                tool.name,
                tool.call_id,
                tool.arguments,
                source=one,
                results=[(tool.result, tool.is_error)],
                place=_place(one),
            )
            self._read_sql(use)
            outer = self._outer_use(one)
            if outer is not None and _is_repeated(use, outer):
                outer.results.append((tool.result, tool.is_error))
                self.by_node[id(one.node)] = outer
                continue
            self._add(use)
            self.by_node[id(one.node)] = use

    def _read_sql(self, use: Use) -> None:
        if use.arguments is None or is_masked(use.arguments):
            return
        use.sql = sql_in_arguments(use.arguments, trusted=use.kind == EXECUTE)
        use.kind = kind_given_sql(use.kind, use.name, use.sql)

    def _outer_use(self, one: Facts) -> Use | None:
        for above in one.node.ancestors:
            use = self.by_node.get(id(above))
            if use is not None:
                return use
        return None

    def _add(self, use: Use) -> None:
        self.uses.append(use)
        if use.call_id:
            self.by_id.setdefault(use.call_id, use)

    def read_calls(self) -> None:
        """Match the model's tool calls with tool spans; a call without one is a use of its own."""
        models = [one for one in self.turn.facts if one.role in (LLM, MESSAGE)]
        for one in models:
            if self._is_in_check(one):
                continue
            for message in one.outputs:
                for call in message.calls:
                    self._read_call(call, one)
        if models and not any(use.kind == EXECUTE for use in self.uses):
            # The spans of earlier calls may be lost: the last one has their history.
            for message in after_last_user_text(models[-1].inputs):
                for call in message.calls:
                    self._read_call(call, models[-1], is_history=True)

    def _is_in_check(self, one: Facts) -> bool:
        outer = self._outer_use(one)
        return outer is not None and outer.kind not in (EXECUTE, OTHER, WRITE)

    def _read_call(self, call: ToolCall, one: Facts, *, is_history: bool = False) -> None:
        kind = tool_kind(call.name)
        sql = sql_in_arguments(call.arguments, trusted=kind == EXECUTE)
        kind = kind_given_sql(kind, call.name, sql)
        use = self._with_id(call.id, sql)
        if use is None:
            use = self._unclaimed(call, sql, one)
        if use is None:
            span = one.node.span
            use = Use(
                kind,
                call.name,
                place=(span.start_ns if is_history else span.end_ns, one.node.position),
            )
            self.uses.append(use)
        if call.id:
            self.by_id[call.id] = use
            use.call_id = use.call_id or call.id
        if use.writer is None and one.role == LLM and not is_history:
            use.writer = one
        self.asked += 1
        use.asked = use.asked or self.asked
        if use.arguments is None or (sql and use.sql is None):
            use.arguments = call.arguments
        if sql and (use.sql is None or self.limit.cuts(use.sql)):
            use.sql = sql
        use.kind = kind_given_sql(use.kind, use.name, use.sql)

    def _with_id(self, call_id: str, sql: str | None) -> Use | None:
        """Find the use of a call id; some servers give several calls of a turn the same one."""
        use = self.by_id.get(call_id) if call_id else None
        if use is None or sql is None or use.sql is None or _same(use.sql, sql):
            return use
        if self.limit.cuts(use.sql) or (use.writer is None and sql.startswith(use.sql[:40])):
            return use
        return next(
            (one for one in self.uses if one.call_id == call_id and _same(one.sql, sql)), None
        )

    def _unclaimed(self, call: ToolCall, sql: str | None, one: Facts) -> Use | None:
        """Find the tool span that a call without a known id led to."""
        if tool_kind(call.name) == HANDOFF:
            return next((use for use in self._after(call, one) if use.kind == HANDOFF), None)
        for use in self._after(call, one):
            same_tool = use.name == call.name or tool_kind(call.name) == use.kind
            if sql and same_tool and _same(use.sql, sql):
                return use
        for use in self._after(call, one):
            if use.name == call.name and (use.sql is None or sql is None):
                return use
        return None

    def _after(self, call: ToolCall, one: Facts) -> list[Use]:
        """Give the tool spans after a model call that no call is known to have led to."""
        return [
            use
            for use in self.uses
            if use.source is not None
            and use.writer is None
            and (not use.call_id or not call.id)
            and use.place >= _place(one)
        ]

    def read_results(self) -> None:
        """Add what tool messages say, for uses whose own span doesn't tell it plainly."""
        wanting = [use for use in self.uses if use.source is None or self._is_doubtful(use)]
        if not wanting:
            return
        for one in self.turn.facts:
            if one.role == MESSAGE:
                self._read_results([r for m in one.outputs for r in m.results], [])
            elif one.role == LLM:
                told = [r for m in after_last_user_text(one.inputs) for r in m.results]
                self._read_results(told, wanting)

    def _is_doubtful(self, use: Use) -> bool:
        return all(
            value is None or is_masked(value) or self.limit.cuts(value) for value, _ in use.results
        )

    def _read_results(self, results: list[ToolResult], wanting: list[Use]) -> None:
        for result in results:
            use = self.by_id.get(result.id) if result.id else None
            if use is None and not result.id:
                # Without ids, results answer the uses of their tool in order.
                use = next(
                    (
                        one
                        for one in wanting
                        if (one.name == result.name or not result.name)
                        and all(value is None for value, _ in one.results)
                    ),
                    None,
                )
            if use is not None and (result.content, result.is_error) not in use.results:
                use.results.append((result.content, result.is_error))

    def read_database_spans(self) -> None:
        """Give each database span to the use that it belongs to, or make one of it."""
        for one in self.turn.facts:
            if one.role != DB or not one.sql or is_catalog_query(one.sql):
                continue
            if is_connection_noise(one.sql) and self._outer_use(one) is None:
                continue
            use = self._outer_use(one)
            if use is not None and (use.sql is None or _covers(one.sql, use.sql)):
                if use.sql is None:
                    use.kind, use.sql = EXECUTE, one.sql
                use.database.append(one)
                continue
            use = self._of_same_text(one) or self._seen_by_two(one)
            if use is None:
                use = Use(EXECUTE, sql=one.sql, place=_place(one), writer=self._writer_of(one))
                self.uses.append(use)
            use.database.append(one)
            if use.source is None:
                use.place = min(use.place, _place(one)) if use.place != (0, 0) else _place(one)

    def drop_unfounded(self) -> None:
        """Take tools that could run SQL but were given none, as the arguments show, for others."""
        for use in self.uses:
            given = use.arguments
            is_hidden = given is None or is_masked(given) or self.limit.cuts(given)
            if use.kind == EXECUTE and use.sql is None and not is_hidden:
                use.kind = OTHER

    def _of_same_text(self, one: Facts) -> Use | None:
        candidates = [
            use
            for use in self.uses
            if use.kind == EXECUTE
            and not use.database
            and use.sql
            and _covers(one.sql or "", use.sql)
        ]
        if not candidates:
            candidates = self._without_sql(one)
        inside = [
            use for use in candidates if use.source is not None and _overlaps(use.source, one)
        ]
        found = inside or candidates
        return found[0] if found else None

    def _seen_by_two(self, one: Facts) -> Use | None:
        """Find the statement that another instrumentation sees too, as SQLAlchemy and a driver."""
        for use in self.uses:
            for other in use.database:
                same = _covers(one.sql or "", other.sql or "") or _covers(
                    other.sql or "", one.sql or ""
                )
                if same and (_overlaps(other, one) or other.node in one.node.ancestors):
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
                and use.place <= _place(one)
                and (use.source is None or _overlaps(use.source, one))
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
                    if sql and _covers(one.sql or "", sql):
                        return model
        return None


def _is_repeated(inner: Use, outer: Use) -> bool:
    """True if a tool span within another tells of the same use, as both ends of MCP do."""
    return _same(inner.sql, outer.sql) or (inner.sql is None and inner.name == outer.name)


def _covers(database_sql: str, sql: str) -> bool:
    """True if a database span ran the statement, perhaps with a LIMIT or a comment around it."""
    ran, wanted = normal_sql(database_sql), normal_sql(sql)
    return ran == wanted or (len(wanted) > 15 and wanted in ran)


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and normal_sql(one) == normal_sql(other)


def _overlaps(one: Facts, other: Facts) -> bool:
    return (
        one.node.span.start_ns <= other.node.span.start_ns
        and other.node.span.start_ns <= one.node.span.end_ns
    )


def _place(one: Facts) -> tuple[int, int]:
    return one.node.span.start_ns, one.node.position
