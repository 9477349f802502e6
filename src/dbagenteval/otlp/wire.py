"""Messages with the wire format of OTLP whose inner parts stay bytes until they are wanted.

`resource`, `scope` and each attribute are kept as their bytes: they repeat from span to span, so
the columns remember what a byte string means instead of parsing it again. The messages are made
from the descriptors of the `opentelemetry-proto` package, never written down a second time.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

__all__ = ["FlatTraces", "ShallowLogs", "ShallowTraces"]

_Field = descriptor_pb2.FieldDescriptorProto
_SOURCES = frozenset({"Resource", "InstrumentationScope"})
_ATTRIBUTES = frozenset({"KeyValue", "AnyValue"})
_NESTED_VALUES = frozenset({"ArrayValue", "KeyValueList"})


def _message(name: str, root: Descriptor, as_bytes: frozenset[str]) -> Any:
    """Make a class that reads the messages of `root`, some kinds of inner messages as bytes.

    Args:
        name: Of the class; it makes those of inner messages unique.
        root: The message.
        as_bytes: Names of the inner messages that stay bytes.
    """
    package = f"dbagenteval.{name}"
    file = descriptor_pb2.FileDescriptorProto(
        name=f"dbagenteval/{name}.proto", package=package, syntax="proto3"
    )
    to_do, known = [root], {root.full_name}
    while to_do:
        source = to_do.pop()
        message = file.message_type.add()
        source.CopyToProto(message)
        message.name = _flat_name(source)
        for part in ("nested_type", "enum_type", "oneof_decl"):
            message.ClearField(part)
        for field, copy in zip(source.fields, message.field, strict=True):
            inner = field.message_type
            copy.ClearField("type_name")
            if field.type == FieldDescriptor.TYPE_ENUM:
                copy.type = _Field.TYPE_INT32
            elif inner is not None and inner.name in as_bytes:
                copy.type = _Field.TYPE_BYTES
            elif inner is not None:
                copy.type_name = f".{package}.{_flat_name(inner)}"
                to_do += [inner] if inner.full_name not in known else []
                known.add(inner.full_name)
            if field.containing_oneof is not None:  # each can be told from its default
                copy.proto3_optional = True
                copy.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call,unused-ignore]
    made = pool.FindMessageTypeByName(f"{package}.{_flat_name(root)}")
    return message_factory.GetMessageClass(made)


def _flat_name(message: Descriptor) -> str:
    outer = message.containing_type
    return message.name if outer is None else f"{_flat_name(outer)}{message.name}"


ShallowTraces: Any = _message(
    "ShallowTraces", ExportTraceServiceRequest.DESCRIPTOR, _SOURCES | _ATTRIBUTES
)
"""`ExportTraceServiceRequest` with resource, scope and attributes left as bytes."""

FlatTraces: Any = _message(
    "FlatTraces", ExportTraceServiceRequest.DESCRIPTOR, _SOURCES | _NESTED_VALUES
)
"""The same with attributes, but arrays and maps in them left as bytes: it doesn't recurse."""

ShallowLogs: Any = _message(
    "ShallowLogs", ExportLogsServiceRequest.DESCRIPTOR, _SOURCES | _ATTRIBUTES
)
"""`ExportLogsServiceRequest` with resource, scope, body and attributes left as bytes."""
