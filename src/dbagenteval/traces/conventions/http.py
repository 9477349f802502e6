"""HTTP servers: a request is the root of what an agent behind it did."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import SERVER, Convention
from dbagenteval.traces.tree import Node

__all__ = ["HTTP"]

_SERVER_KIND = 2


def _applies(node: Node) -> bool:
    if node.span.kind != _SERVER_KIND:
        return False
    attributes = node.span.attributes
    return any(
        key in attributes
        for key in ("http.route", "http.request.method", "http.method", "url.path", "rpc.system")
    )


def _role(_: Node) -> str | None:
    return SERVER


HTTP = Convention(
    name="OpenTelemetry HTTP",
    pinned="semantic conventions 1.21.0 and 1.25.0",
    source="https://opentelemetry.io/docs/specs/semconv/http/http-spans/",
    applies=_applies,
    role=_role,
)
