"""Whether a step failed, from span status, exception events and texts."""

from __future__ import annotations

from dbagenteval.otlp import Span
from dbagenteval.traces.conventions import own

__all__ = ["span_error"]

_OK = 1
_ERROR = 2


def span_error(span: Span) -> str | None:
    """Give the error text of a span that failed, or None.

    The status ERROR, an `error.type`, our error attribute, or an exception event on a span that
    isn't said to be OK count. The text is the fullest of them.
    """
    exception = None
    for event in span.events:
        if event.name == "exception":
            exception = _exception_text(event.attributes)
    error_type = span.attributes.get("error.type")
    told = span.attributes.get(own.ERROR)
    failed = span.status_code == _ERROR or error_type or told
    if not failed and (exception is None or span.status_code == _OK):
        return None
    for text in (exception, span.status_message, told, error_type):
        if text:
            return str(text)
    return "the span has status ERROR without a message"


def _exception_text(attributes: object) -> str:
    get = attributes.get  # type: ignore[attr-defined]
    kind, message = get("exception.type"), get("exception.message")
    name = str(kind).rsplit(".", 1)[-1] if kind else ""
    if message and name and not str(message).startswith(name):
        return f"{name}: {message}"
    return str(message or name or "exception")
