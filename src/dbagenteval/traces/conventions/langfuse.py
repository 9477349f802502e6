"""Langfuse: what its own SDK writes, by decorators, by its OpenAI client or its callbacks."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, RETRIEVER, TOOL
from dbagenteval.traces.conventions.observations import Observations

__all__ = ["LANGFUSE"]

LANGFUSE = Observations(
    kind="langfuse.observation.type",
    roles={
        "generation": LLM,
        "tool": TOOL,
        "agent": AGENT,
        "chain": CHAIN,
        "span": CHAIN,
        "retriever": RETRIEVER,
        "embedding": CHAIN,
        "evaluator": CHAIN,
        "guardrail": CHAIN,
    },
    input="langfuse.observation.input",
    output="langfuse.observation.output",
).convention(
    name="Langfuse",
    pinned="langfuse 3 to 4",
    source="https://langfuse.com/integrations/native/opentelemetry",
    session=("langfuse.session.id", "session.id"),
    model=("langfuse.observation.model.name",),
)
