"""What tokens cost: from the project's configuration, else from a maintained price list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbagenteval.project.agent.reply import AgentReply

__all__ = ["cost_of"]

_MILLION = 1_000_000


def cost_of(reply: AgentReply, model: str, prices: Mapping[str, Any]) -> tuple[float | None, str]:
    """Give the cost of a reply in USD and where the price is from; None if it is unknown.

    The project's own prices count first, then what the agent reports, then the package
    `genai-prices` if it is installed (extra `prices`).

    Args:
        reply: The agent's reply.
        model: `provider:model`.
        prices: `test.prices` of the configuration: USD for a million tokens by kind.
    """
    own = prices.get(model)
    kinds = reply.token_kinds
    if own is not None and "input" in kinds and "output" in kinds:
        read, write = kinds.get("cache_read", 0), kinds.get("cache_write", 0)
        fresh = max(kinds["input"] - read - write, 0)
        total = (
            fresh * own["input"]
            + read * own.get("cache_read", own["input"])
            + write * own.get("cache_write", own["input"])
            + kinds["output"] * own["output"]
        )
        return total / _MILLION, "config"
    if reply.cost is not None:
        return reply.cost, "agent"
    if "input" in kinds and "output" in kinds:
        return _from_list(kinds, model)
    return None, ""


def _from_list(kinds: Mapping[str, int], model: str) -> tuple[float | None, str]:
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 an extra
    except ImportError:
        return None, ""
    provider, _, name = model.partition(":")
    usage = Usage(
        input_tokens=kinds["input"],
        output_tokens=kinds["output"],
        cache_read_tokens=kinds.get("cache_read"),
        cache_write_tokens=kinds.get("cache_write"),
    )
    try:
        price = calc_price(usage, model_ref=name, provider_id=provider or None)
    except LookupError:
        return None, ""
    return float(price.total_price), "genai-prices"
