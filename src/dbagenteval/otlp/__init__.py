"""OTLP on the wire, and as values; no sockets."""

from dbagenteval.otlp.values import Attributes, Link, LogRecord, OtelTrace, Scope, Span, SpanEvent

__all__ = ["Attributes", "Link", "LogRecord", "OtelTrace", "Scope", "Span", "SpanEvent"]
