"""LangSmith: the runs of LangChain, LangGraph and `@traceable`, exported as OTel spans.

`gen_ai.prompt` and `gen_ai.completion` hold a run's inputs and outputs, whatever the run is.
"""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import CHAIN, LLM, RETRIEVER, TOOL
from dbagenteval.traces.conventions.observations import Observations

__all__ = ["LANGSMITH"]

LANGSMITH = Observations(
    kind="langsmith.span.kind",
    roles={
        "llm": LLM,
        "tool": TOOL,
        "chain": CHAIN,
        "prompt": CHAIN,
        "parser": CHAIN,
        "retriever": RETRIEVER,
        "embedding": CHAIN,
    },
    input="gen_ai.prompt",
    output="gen_ai.completion",
    name=("gen_ai.tool.name", "langsmith.trace.name"),
).convention(
    name="LangSmith",
    pinned="langsmith 0.4",
    source="https://docs.langchain.com/langsmith/trace-with-opentelemetry",
    session=(
        "langsmith.metadata.thread_id",
        "langsmith.metadata.session_id",
        "langsmith.metadata.conversation_id",
    ),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    tokens=(("gen_ai.usage.input_tokens",), ("gen_ai.usage.output_tokens",)),
)
