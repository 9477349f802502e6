"""Receivers for tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.receiver.running import Running, running


@pytest.fixture
def receiver() -> Iterator[Running]:
    """A receiver with the default configuration."""
    with running() as found:
        yield found
