"""The receiver's figures for Prometheus."""

from __future__ import annotations

from collections import Counter

from dbagenteval.receiver.metrics import render_metrics


def test_large_counts_are_exact() -> None:
    """A count of millions isn't rounded, or somebody who waits for all of them waits for ever."""
    text = render_metrics(Counter(), {"spans": 1_500_672.0, "seconds": 0.25})
    assert "\nspans 1500672\n" in text
    assert "\nseconds 0.25\n" in text
