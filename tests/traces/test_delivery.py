"""However spans are delivered, the Traces are the same."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import pytest

from dbagenteval.otlp import LogRecord, Span
from dbagenteval.traces import assemble
from tests.traces.otlp_json import group, load

DATA = Path(__file__).parent / "data"
STACKS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir())


@cache
def delivered(stack: str) -> tuple[list[Span], list[LogRecord]]:
    groups = load(*sorted((DATA / stack).glob("*.jsonl.gz")))
    return [s for g in groups for s in g.spans], [r for g in groups for r in g.logs]


def written(spans: list[Span], logs: list[LogRecord]) -> list[str]:
    """Give the Traces as JSON, one a line, as the store would group and order what arrived."""
    return [json.dumps(t.to_dict(), default=str) for t in assemble(group(spans, logs))]


def check_shuffles(stack: str, rounds: int) -> None:
    spans, logs = delivered(stack)
    expected = written(spans, logs)
    assert expected
    for seed in range(rounds):
        chance = random.Random(f"{stack} {seed}")
        some_spans = spans + chance.sample(spans, k=chance.randint(0, len(spans)))
        some_logs = logs + chance.sample(logs, k=chance.randint(0, len(logs)))
        chance.shuffle(some_spans)
        chance.shuffle(some_logs)
        assert written(some_spans, some_logs) == expected, seed


@pytest.mark.parametrize("stack", STACKS)
def test_shuffled_and_doubled_spans_give_the_same_traces(stack):
    """Order of arrival, splits over requests and repeats by a retrying exporter don't matter."""
    check_shuffles(stack, 1)


@pytest.mark.slow
@pytest.mark.parametrize("stack", STACKS)
def test_many_shuffles_give_the_same_traces(stack):
    """The same, many times."""
    check_shuffles(stack, 25)


def test_a_span_sent_when_it_starts_and_when_it_ends_counts_once():
    """Of two versions of a span the fuller one is read."""
    spans, logs = delivered("pydantic_ai_native")
    expected = written(spans, logs)
    early = [
        Span(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent_span_id,
            name=span.name,
            start_ns=span.start_ns,
            resource=span.resource,
            scope=span.scope,
        )
        for span in spans
    ]
    assert written(early + spans, logs) == expected
    assert written(spans + early, logs) == expected


@pytest.mark.parametrize("stack", ["openai_v2_sqlite3", "vanna2_ollm_openai", "autogen_native"])
def test_stacks_side_by_side_stay_apart(stack):
    """Turns that are spread over traces are joined within their service only."""
    spans, logs = delivered(stack)
    others, _ = delivered("pydantic_ai_concurrent")
    shift = min(span.start_ns for span in spans) - min(span.start_ns for span in others)
    from dataclasses import replace

    moved = [
        replace(span, start_ns=span.start_ns + shift, end_ns=span.end_ns + shift) for span in others
    ]
    together = written(spans + moved, logs)
    assert sorted(together) == sorted(written(spans, logs) + written(moved, []))
