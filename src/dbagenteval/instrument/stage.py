"""A context manager that makes one span for one stage of an agent."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import baggage, trace
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from dbagenteval import semconv
from dbagenteval.errors import quoted
from dbagenteval.traces import STAGE_KINDS

__all__ = ["StageSpan", "stage"]

_log = logging.getLogger(__name__)

MAX_ROWS = 1000
"""Rows recorded at most; more are cut and marked as truncated."""


class StageSpan:
    """The span of a running stage; its methods set the attributes that an evaluation reads."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def sql(self, text: str) -> None:
        """Record the SQL text that the stage wrote or runs."""
        self.span.set_attribute(semconv.DB_QUERY_TEXT, text)

    def output(self, value: object) -> None:
        """Record what the stage gave: text as it is, anything else as JSON."""
        self.span.set_attribute(semconv.OUTPUT, value if isinstance(value, str) else _json(value))

    def rows(
        self,
        rows: Iterable[Mapping[str, Any]] | Iterable[Sequence[Any]],
        columns: Sequence[str] | None = None,
    ) -> None:
        """Record result rows, at most `MAX_ROWS`.

        Args:
            rows: Dicts, or sequences together with `columns`.
            columns: Column names of sequences, in order.
        """
        kept: list[Any] = []
        for row in rows:
            if len(kept) == MAX_ROWS:
                self.span.set_attribute(semconv.ROWS_TRUNCATED, True)
                break
            try:
                kept.append(_row(row, columns))
            except ValueError as error:
                # Instrumentation must not end the agent; what it can't read is not recorded.
                _log.warning("stage rows not recorded: %s", error)
                return
        value = kept if columns is None else {"columns": list(columns), "rows": kept}
        self.span.set_attribute(semconv.ROWS, _json(value))

    def error(self, text: str) -> None:
        """Record that the stage failed, without raising."""
        self.span.set_attribute(semconv.ERROR, text)
        self.span.set_status(Status(StatusCode.ERROR, text))


@contextmanager
def stage(
    kind: str,
    name: str | None = None,
    *,
    question: str | None = None,
    case_id: str | None = None,
    session_id: str | None = None,
    tracer: Tracer | None = None,
) -> Iterator[StageSpan]:
    """Run a block as one stage of the agent, in a span of its own.

    An exception in the block is recorded as the stage's error and raised again. The case id is
    taken from the OpenTelemetry baggage when the caller sent one.

    Args:
        kind: route, plan, retrieve, generate, execute or answer.
        name: Name of the stage where there are several of a kind.
        question: The user's question, if this stage is the first to know it.
        case_id: Id of the case that is being answered.
        session_id: Id of the conversation.
        tracer: Tracer to use; None takes the global tracer provider's.

    Raises:
        ValueError: `kind` is none of the six.
    """
    if kind not in STAGE_KINDS:
        raise ValueError(
            f"unknown stage kind {quoted(kind)}; expected one of {', '.join(STAGE_KINDS)}"
        )
    case = case_id or baggage.get_baggage(semconv.CASE_ID)
    attributes = {
        semconv.STAGE: kind,
        semconv.STAGE_NAME: name,
        semconv.QUESTION: question,
        semconv.CASE_ID: None if case is None else str(case),
        semconv.SESSION_ID: session_id,
    }
    given = {key: value for key, value in attributes.items() if value is not None}
    tracer = tracer or trace.get_tracer("dbagenteval.instrument")
    with tracer.start_as_current_span(name or kind, attributes=given) as span:
        yield StageSpan(span)


def _row(row: Any, columns: Sequence[str] | None) -> dict[str, Any] | list[Any]:
    if isinstance(row, Mapping):
        return dict(row)
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise ValueError(
            f"a row must be a mapping or a sequence of values, got {type(row).__name__}"
        )
    keys = getattr(row, "keys", None)
    if columns is None and callable(keys):  # sqlite3.Row and the like
        return dict(zip(keys(), row, strict=True))
    values = list(row)
    if columns is not None and len(columns) != len(values):
        raise ValueError(f"{len(columns)} columns are named for a row of {len(values)} values")
    return values


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
