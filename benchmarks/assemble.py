"""How fast spans of mixed dialects become Traces, on one core.

    python -m benchmarks.assemble [SPANS]    # from the top of the repository

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

from dbagenteval.otlp import OtelTrace
from dbagenteval.traces import assemble
from tests.traces.otlp_json import load

DATA = Path(__file__).parent.parent / "tests" / "traces" / "data"
GAP_NS = 120_000_000_000


class Feed:
    """The captures again and again, each round with ids and times of its own.

    `own_s` is the processor time that making them took.
    """

    def __init__(self, captures: list[list[OtelTrace]], wanted: int) -> None:
        self.captures = captures
        self.wanted = wanted
        self.spans = 0
        self.own_s = 0.0

    def __iter__(self) -> Iterator[OtelTrace]:
        for round_number in count():
            started = time.process_time()
            groups = self.round(round_number)
            self.own_s += time.process_time() - started
            for group in groups:
                if self.spans >= self.wanted:
                    return
                self.spans += len(group.spans)
                yield group

    def round(self, round_number: int) -> list[OtelTrace]:
        groups = []
        for capture in self.captures:
            shift = round_number * GAP_NS - min(group.spans[0].start_ns for group in capture)
            groups += [moved(group, round_number, shift) for group in capture]
        return sorted(groups, key=lambda group: group.spans[0].start_ns)


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
    gc.collect()
    gc.freeze()  # the captures are the benchmark's own: the collector shall not walk them
    feed = Feed(captures, wanted)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    traces = stages = 0
    for trace in assemble(feed):
        traces += 1
        stages += len(trace.stages)
    elapsed = time.process_time() - started - feed.own_s
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{feed.spans} spans -> {traces} traces, {stages} stages in {elapsed:.2f} s: "
        f"{feed.spans / elapsed:,.0f} spans/s; {elapsed / feed.spans * 1e6:.1f} us a span; "
        f"memory grew by {grown:.0f} MB"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
