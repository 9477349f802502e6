"""The receiver's own figures in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

__all__ = ["CONTENT_TYPE", "render_metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTERS = {
    "requests": (
        "dbagenteval_receiver_requests_total",
        ("signal", "outcome"),
        "Export requests by outcome.",
    ),
    "items": (
        "dbagenteval_receiver_items_total",
        ("signal", "outcome"),
        "Spans and log records by outcome.",
    ),
    "bytes": (
        "dbagenteval_receiver_bytes_total",
        ("signal",),
        "Bytes of request bodies after decompression.",
    ),
}


def render_metrics(counts: Counter[tuple[str, ...]], gauges: Mapping[str, float]) -> str:
    """Render counters and gauges.

    Args:
        counts: By kind and label values, as `Ingest.counts` holds them.
        gauges: By name.
    """
    lines: list[str] = []
    for kind, (name, labels, text) in _COUNTERS.items():
        lines += [f"# HELP {name} {text}", f"# TYPE {name} counter"]
        for (found, *values), count in sorted(counts.items()):
            if found == kind:
                pairs = ",".join(
                    f'{label}="{value}"' for label, value in zip(labels, values, strict=True)
                )
                lines.append(f"{name}{{{pairs}}} {count}")
    for name, value in sorted(gauges.items()):
        lines += [f"# TYPE {name} gauge", f"{name} {value:.15g}"]
    return "\n".join(lines) + "\n"
