"""Genkit: every action is a span whose subtype says whether it is a flow, a model or a tool."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, RETRIEVER, TOOL
from dbagenteval.traces.conventions.observations import Observations

__all__ = ["GENKIT"]

GENKIT = Observations(
    kind="genkit:metadata:subtype",
    roles={
        "flow": AGENT,
        "agent": AGENT,
        "model": LLM,
        "tool": TOOL,
        "tool.v2": TOOL,
        "util": CHAIN,
        "prompt": CHAIN,
        "executable-prompt": CHAIN,
        "flowstep": CHAIN,
        "custom": CHAIN,
        "embedder": CHAIN,
        "indexer": CHAIN,
        "retriever": RETRIEVER,
    },
    input="genkit:input",
    output="genkit:output",
    name=("genkit:name",),
).convention(
    name="Genkit",
    pinned="genkit 1",
    source="https://genkit.dev/docs/observability/telemetry-collection/",
    session=("genkit:sessionId",),
)
