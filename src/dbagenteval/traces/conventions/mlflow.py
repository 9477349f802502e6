"""MLflow Tracing: every attribute is JSON text, the kind of a span too."""

from __future__ import annotations

from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, RETRIEVER, TOOL
from dbagenteval.traces.conventions.observations import Observations

__all__ = ["MLFLOW"]

MLFLOW = Observations(
    kind="mlflow.spanType",
    roles={
        "llm": LLM,
        "chat_model": LLM,
        "tool": TOOL,
        "agent": AGENT,
        "chain": CHAIN,
        "workflow": CHAIN,
        "task": CHAIN,
        "unknown": CHAIN,
        "parser": CHAIN,
        "retriever": RETRIEVER,
        "embedding": CHAIN,
        "reranker": CHAIN,
        "guardrail": CHAIN,
    },
    input="mlflow.spanInputs",
    output="mlflow.spanOutputs",
).convention(
    name="MLflow Tracing",
    pinned="mlflow 3",
    source="https://mlflow.org/docs/latest/genai/tracing/",
    session=("mlflow.trace.session", "session.id"),
)
