"""The fuzz harness of the receiver for a moment, with Python's own chance instead of atheris."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from dbagenteval.receiver import http_app
from fuzz.inputs import mutated, seeds
from fuzz.target import Targets

INPUTS = 1_500


@pytest.fixture
def targets() -> Iterator[Targets]:
    made = Targets()
    yield made
    made.close()


def some_bytes_changed(data: bytes) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def test_seeds_are_taken(targets: Targets) -> None:
    """All requests that fuzzing starts from are good ones."""
    assert {targets(seed) for seed in seeds()} == {200}


def test_whatever_is_sent_is_taken_whole_or_refused(targets: Targets) -> None:
    """Never a crash or a 500; both answers are frequent, so that fuzzing reaches either way."""
    random.seed(INPUTS)
    corpus = seeds()
    answers: Counter[int] = Counter()
    for number in range(INPUTS):
        data = mutated(random.choice(corpus), number, some_bytes_changed)
        answers[targets(data)] += 1
        corpus.append(data)
    assert min(answers[200], answers[400]) > INPUTS / 10


def test_a_500_is_found(targets: Targets, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness has teeth."""
    monkeypatch.setattr(http_app, "media_type", lambda _: {}["no such key"])
    with pytest.raises(KeyError):
        targets(seeds()[0])
