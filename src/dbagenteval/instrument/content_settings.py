"""The environment in which instrumentations tell what an evaluation needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from dbagenteval.instrument import row_settings
from dbagenteval.instrument.libraries import recorded_drivers

__all__ = ["settings_for"]

_CONTENT = {
    # opentelemetry-instrumentation-genai-*, -openai-v2 (2.3 and later), Google ADK 2
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "true",  # Google ADK 1
    "TRACELOOP_TRACE_CONTENT": "true",  # OpenLLMetry
    "HAYSTACK_CONTENT_TRACING_ENABLED": "true",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": "true",
    "ENABLE_INSTRUMENTATION": "true",  # Microsoft Agent Framework
    "ENABLE_SENSITIVE_DATA": "true",  # the same
}
_SDK = {
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",  # some put questions and answers into log records only
    "OTEL_METRICS_EXPORTER": "none",
    # The default of 128 drops the oldest attributes: OpenInference has several for each message.
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "10000",
    "OTEL_BSP_SCHEDULE_DELAY": "1000",
    "OTEL_BLRP_SCHEDULE_DELAY": "1000",
}
_STABILITY = "OTEL_SEMCONV_STABILITY_OPT_IN"
_OPTED_IN = ("gen_ai_latest_experimental", "database", "http")
_DISABLED = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_GRPC_PORT = 4317


def settings_for(
    *,
    endpoint: str,
    service: str,
    hook: str,
    rows: int | None,
    given: Mapping[str, str],
) -> dict[str, str]:
    """Give the environment variables of an instrumented program.

    What the user has set stays, but for lists, which are added to.

    Args:
        endpoint: Where OTLP goes.
        service: `service.name`, if the user has set none.
        hook: Folder whose `sitecustomize` instruments the program.
        rows: Rows recorded of each result at most; None leaves the default.
        given: The environment as it is.
    """
    defaults = {**_CONTENT, **_SDK}
    if "OTEL_EXPORTER_OTLP_ENDPOINT" not in given or endpoint:
        defaults["OTEL_EXPORTER_OTLP_PROTOCOL"] = _protocol(endpoint)
    if "service.name=" not in given.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        defaults["OTEL_SERVICE_NAME"] = service
    settings = {name: given.get(name) or value for name, value in defaults.items()}
    settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
    opted = [one.strip() for one in given.get(_STABILITY, "").split(",") if one.strip()]
    settings[_STABILITY] = ",".join([*opted, *(one for one in _OPTED_IN if not _has(opted, one))])
    settings[_DISABLED] = recorded_drivers(given.get(_DISABLED, ""))
    if rows is not None:
        settings[row_settings.ROWS] = str(rows)
    paths = [
        path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path and path != hook
    ]
    settings["PYTHONPATH"] = os.pathsep.join([hook, *paths])
    return settings


def _has(opted: list[str], wanted: str) -> bool:
    """True if the user chose for that signal, such as `database/dup`."""
    return any(one == wanted or one.startswith(f"{wanted}/") for one in opted)


def _protocol(endpoint: str) -> str:
    return "grpc" if urlsplit(endpoint).port == _GRPC_PORT else "http/protobuf"
