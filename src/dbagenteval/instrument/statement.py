"""The text of a statement, and the span that others made for it."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span

from dbagenteval import semconv

__all__ = ["span_of_statement", "text_of_statement"]

_STATEMENT_KEYS = (semconv.DB_QUERY_TEXT, "db.statement")


def text_of_statement(sql: object, cursor: object) -> str:
    """Give the text of what a program executes: texts, bytes, or SQL composed for a cursor."""
    if isinstance(sql, (bytes, bytearray)):
        return bytes(sql).decode(errors="replace")
    as_string = getattr(sql, "as_string", None)  # psycopg's composed SQL
    try:
        return str(as_string(cursor)) if as_string is not None else str(sql)
    except Exception:  # noqa: BLE001 the program's object
        return ""


def span_of_statement(context: Any, sql: str) -> Span | None:
    """Give the span that another instrumentation, or the program, made for this execution."""
    span = trace.get_current_span(context)
    attributes = getattr(span, "attributes", None)
    if not attributes or not span.is_recording():
        return None
    said = next((attributes[key] for key in _STATEMENT_KEYS if key in attributes), None)
    # A longer text was cut by an attribute limit, or wrapped in a comment.
    return span if isinstance(said, str) and said and (said in sql or sql in said) else None
