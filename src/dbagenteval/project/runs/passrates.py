"""How often a test passes: pass@1, pass@k and pass^k, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["pass_metrics", "wilson"]

_Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


def wilson(passed: int, total: int) -> tuple[float, float]:
    """Give the 95 % Wilson interval of a share.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927).
    """
    if total == 0:
        return 0.0, 1.0
    share, square = passed / total, _Z95**2
    middle = share + square / (2 * total)
    spread = _Z95 * math.sqrt(share * (1 - share) / total + square / (4 * total * total))
    below, above = middle - spread, middle + spread
    scale = 1 + square / total
    return max(below / scale, 0.0), min(above / scale, 1.0)


def pass_metrics(groups: Sequence[Sequence[bool]], k: int) -> dict[str, Any]:
    """Sum up the attempts of each test.

    Args:
        groups: For each test (and model) whether each of its attempts passed.
        k: Attempts that were asked for.

    Returns:
        `pass_at_1` (share of attempts), `pass_at_k` (share of tests with a pass), `pass_hat_k`
        (share of tests that always pass), each with `…_interval`, and `flaky`, the number of tests
        that pass only sometimes.
    """
    attempts = [passed for group in groups for passed in group]
    some = sum(any(group) for group in groups)
    always = sum(bool(group) and all(group) for group in groups)
    tests = len(groups)
    return {
        "k": k,
        "pass_at_1": sum(attempts) / len(attempts) if attempts else 0.0,
        "pass_at_1_interval": wilson(sum(attempts), len(attempts)),
        "pass_at_k": some / tests if tests else 0.0,
        "pass_at_k_interval": wilson(some, tests),
        "pass_hat_k": always / tests if tests else 0.0,
        "pass_hat_k_interval": wilson(always, tests),
        "flaky": some - always,
    }
