"""However requests come, the store gives the same Traces."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbagenteval.store import Store
from dbagenteval.traces import assemble
from tests.receiver.generated_turns import STACKS, Request, alone, generated

TRACES_IN_LONG_RUN = 100_000
COPIES_A_ROUND = 10 * len(STACKS)


def delivered(requests: list[Request], seed: int) -> Iterator[list[Request]]:
    """Give the requests as a bad network would, in four parts that come long after each other.

    Shuffled; three in ten split to single spans, two in ten sent again whole, then or much later.
    """
    chance = random.Random(seed)
    parts: list[list[Request]] = [[], [], [], []]
    for signal, request in requests:
        late = 0 if chance.random() < 0.7 else chance.randrange(4)
        # A logs request is known again by its bytes, so it is sent again as it was.
        if signal == "traces" and chance.random() < 0.3:
            for one in alone(signal, request):
                parts[late if chance.random() < 0.7 else chance.randrange(4)].append(one)
        else:
            parts[late].append((signal, request))
        if chance.random() < 0.2:
            parts[chance.randrange(4)].append((signal, request))
    for part in parts:
        chance.shuffle(part)
        yield part


def written(folder: Path, parts: Iterator[list[Request]]) -> list[str]:
    """Load the parts, each into the store opened anew; give the Traces as JSON."""
    for part in parts:
        with Store.open(folder, write=True, create=True) as store:
            store.load((signal, request.SerializeToString()) for signal, request in part)
    with Store.open(folder, write=False) as store:
        return [json.dumps(trace.to_dict(), default=str) for trace in assemble(store.otel_traces())]


def check_round(folder: Path, numbers: range) -> int:
    """Compare two deliveries of the same copies; give the count of their Traces."""
    requests = [request for number in numbers for request in generated(number)]
    expected = written(folder / "straight", iter([requests]))
    found = written(folder / "shuffled", delivered(requests, numbers.start))
    for one, other in zip(expected, found, strict=True):
        assert one == other
    return len(expected)


def test_any_delivery_gives_the_same_traces(tmp_path: Path) -> None:
    """Shuffled, repeated, split and delayed requests of a copy of every recorded stack."""
    assert check_round(tmp_path, range(len(STACKS))) > 8 * len(STACKS)


@pytest.mark.slow
def test_any_delivery_of_many_traces(tmp_path: Path) -> None:
    """The same for 100,000 generated traces."""
    count = start = 0
    while count < TRACES_IN_LONG_RUN:
        folder = tmp_path / str(start)
        count += check_round(folder, range(start, start + COPIES_A_ROUND))
        shutil.rmtree(folder)
        start += COPIES_A_ROUND
