"""Why content is missing, and what to change: a line for each instrumentation that hides it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbagenteval.traces.content import is_partly_masked
from dbagenteval.traces.conventions.convention import AGENT, DB, LLM, MESSAGE, TOOL
from dbagenteval.traces.facts import Facts

__all__ = ["masked_content", "missing_content"]

_MESSAGE_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ROWS = (
    "database spans carry no rows: run the agent under `dbagenteval instrument`, or score with "
    "--replay-sql"
)

# Scope name (or its start) to what turns its content on.
_SCOPES: tuple[tuple[str, str], ...] = (
    (
        "opentelemetry.instrumentation.openai_v2",
        f"set {_MESSAGE_CONTENT}=true and export log records (OTEL_LOGS_EXPORTER=otlp)",
    ),
    (
        "opentelemetry.util.genai",
        f"set {_MESSAGE_CONTENT}=SPAN_ONLY and "
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    ),
    (
        "opentelemetry.instrumentation.genai",
        f"set {_MESSAGE_CONTENT}=SPAN_ONLY (with EVENT_ONLY, export log records too: "
        "OTEL_LOGS_EXPORTER=otlp) and OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    ),
    (
        "gcp.vertex.agent",
        f"set {_MESSAGE_CONTENT}=SPAN_ONLY (ADK 1.x: ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true)",
    ),
    ("openinference.", "unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the like"),
    ("pydantic-ai", "use InstrumentationSettings(include_content=True)"),
    ("autogen", "AutoGen's own spans hold no model calls: instrument the model client as well"),
    ("haystack", "set HAYSTACK_CONTENT_TRACING_ENABLED=true"),
    (
        "semantic_kernel",
        "set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
    ),
    (
        "Microsoft.SemanticKernel",
        "set the switch Microsoft.SemanticKernel.Experimental.GenAI.EnableOTelDiagnosticsSensitive",
    ),
    ("agent_framework", "set ENABLE_SENSITIVE_DATA=true"),
    (
        "azure.ai.",
        "set AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
    ),
    (
        "org.springframework.",
        "set spring.ai.tools.observations.include-content=true; Spring AI 1.0 and later send no "
        "prompts and answers, so the application must send them",
    ),
    (
        "io.quarkus",
        "set include-prompt, include-completion, include-tool-arguments and include-tool-result "
        "of quarkus.langchain4j.tracing to true",
    ),
    (
        "opentelemetry.instrumentation.openai_agents",
        "this package records no answer in some versions; set TRACELOOP_TRACE_CONTENT=true",
    ),
    ("opentelemetry.instrumentation.", "set TRACELOOP_TRACE_CONTENT=true"),
)
_NO_MODEL_SPANS = (
    "no model spans arrived: the instrumentation of the model client is not installed or not "
    "loaded (opentelemetry-instrument skips a package that doesn't fit the client's version, such "
    "as openai-v2 2.4b0 with openai 3.x, without a word)"
)


def missing_content(facts: Iterable[Facts], what: str) -> str:
    """Say why a question, an answer, SQL or rows are in no span of a turn, and what to change.

    Args:
        facts: The spans of the turn.
        what: `question`, `answer`, `sql` or `rows`.
    """
    listed = list(facts)
    speakers = [one for one in listed if one.role in (LLM, MESSAGE, AGENT, TOOL)]
    if not speakers:
        only_database = what == "rows" and any(one.role == DB for one in listed)
        return _ROWS if only_database else _NO_MODEL_SPANS
    models = [one for one in speakers if one.role == LLM] or speakers
    has_content = any(_has_content(one) for one in models)
    if what == "rows" and has_content:
        return f"no tool result or tool message tells the rows; {_ROWS}"
    hint = _hint(models)
    has_database = any(one.role == DB for one in listed)
    why = "content capture is off" if not has_content else f"the spans tell of no {what}"
    why = f"{why}: {hint}" if hint else why
    if what != "rows":
        return why
    return f"{why}; {_ROWS}" if has_database else f"{why}; or score with --replay-sql"


def masked_content(value: Any) -> str:
    """Say what masked a value and what to change."""
    if value == "__REDACTED__":
        return (
            "masked by OpenInference: unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS "
            "and the like"
        )
    if is_partly_masked(value):
        return f"a redaction rule took the place of a part: {str(value)[:80]}"
    return f"masked ({str(value)[:40]}) by a redaction between the agent and here"


def _has_content(one: Facts) -> bool:
    """True if any text, argument or result was captured; ids and names alone are no content."""
    return any(
        message.text
        or any(call.arguments is not None for call in message.calls)
        or any(result.content is not None for result in message.results)
        for message in [*one.outputs, *one.inputs]
    )


def _hint(models: list[Facts]) -> str:
    for one in models:
        name = one.node.span.scope.name
        for start, hint in _SCOPES:
            if name.startswith(start):
                return hint
    return ""
