"""How fast spans of mixed dialects become Traces, on one core.

    python benchmarks/assemble.py [SPANS]

The captures of the tests are repeated under new ids and later times until there are enough spans,
the stacks interleaved. Decoding OTLP is not part of the time; reading what attributes hold is.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.traces.otlp_json import load

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces import assemble

DATA = Path(__file__).parent.parent / "tests" / "traces" / "data"
GAP_NS = 120_000_000_000


def repeated(captures: list[list[OtelTrace]], wanted: int) -> Iterator[OtelTrace]:
    """Give the captures again and again, each time with ids and times of its own."""
    spans = 0
    for round_number in count():
        for capture in captures:
            start = min(group.spans[0].start_ns for group in capture if group.spans)
            shift = round_number * GAP_NS - start
            for group in capture:
                if spans >= wanted:
                    return
                spans += len(group.spans)
                yield moved(group, round_number, shift)


def moved(group: OtelTrace, round_number: int, shift_ns: int) -> OtelTrace:
    def renamed(trace_id: str) -> str:
        return f"{round_number:08x}{trace_id[8:]}"

    return OtelTrace(
        trace_id=renamed(group.trace_id),
        spans=tuple(
            replace(
                span,
                trace_id=renamed(span.trace_id),
                start_ns=span.start_ns + shift_ns,
                end_ns=span.end_ns + shift_ns,
                attributes=dict(span.attributes),
                links=tuple(replace(link, trace_id=renamed(link.trace_id)) for link in span.links),
            )
            for span in group.spans
        ),
        logs=tuple(
            replace(
                log,
                trace_id=renamed(log.trace_id),
                time_ns=log.time_ns + shift_ns,
                observed_ns=log.observed_ns + shift_ns,
            )
            for log in group.logs
        ),
    )


def main(wanted: int) -> None:
    folders = [folder for folder in sorted(DATA.iterdir()) if folder.is_dir()]
    captures = [load(*sorted(folder.glob("*.jsonl.gz"))) for folder in folders]
    groups = sorted(repeated(captures, wanted), key=lambda group: group.spans[0].start_ns)
    spans = sum(len(group.spans) for group in groups)
    gc.collect()
    gc.freeze()  # the input is the store's; the collector shall not walk it again and again
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    traces = stages = 0
    for trace in assemble(groups):
        traces += 1
        stages += len(trace.stages)
    elapsed = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{spans} spans -> {traces} traces, {stages} stages in {elapsed:.2f} s: "
        f"{spans / elapsed:,.0f} spans/s; {elapsed / spans * 1e6:.1f} us a span; "
        f"memory grew by {grown:.0f} MB"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
