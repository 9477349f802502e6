"""The answer to an export request that was taken, in whole or in part."""

from __future__ import annotations

from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from dbagenteval.otlp.decode import JSON

__all__ = ["encode", "export_response"]

_MAX_MESSAGE_CHARS = 4096


def export_response(signal: str, rejected: int, message: str) -> Any:
    """Build the export response of a signal.

    Args:
        signal: `traces`, `logs` or `metrics`.
        rejected: How many items were left out.
        message: Why, or a warning; `partial_success` is set only if there is one.
    """
    text = message[:_MAX_MESSAGE_CHARS]
    if signal == "metrics":
        return ExportMetricsServiceResponse()
    if signal == "traces":
        traces = ExportTraceServiceResponse()
        if rejected or text:
            traces.partial_success.CopyFrom(
                ExportTracePartialSuccess(rejected_spans=rejected, error_message=text)
            )
        return traces
    logs = ExportLogsServiceResponse()
    if rejected or text:
        logs.partial_success.CopyFrom(
            ExportLogsPartialSuccess(rejected_log_records=rejected, error_message=text)
        )
    return logs


def encode(message: Any, media: str) -> bytes:
    """Encode a response or a status as protobuf or JSON (64-bit numbers as strings)."""
    if media != JSON:
        encoded: bytes = message.SerializeToString()
        return encoded
    return orjson.dumps(MessageToDict(message))
