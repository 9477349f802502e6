"""The messages of `proto/dbagenteval/v1`, made from the checked-in descriptors."""

from __future__ import annotations

from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

__all__ = ["SERVICE", "STORE_SERVICE", "file_descriptor", "message"]

_PACKAGE = "dbagenteval.v1"
SERVICE = f"{_PACKAGE}.EvaluationService"
STORE_SERVICE = f"{_PACKAGE}.StoreService"


def _load() -> descriptor_pool.DescriptorPool:
    content = (resources.files("dbagenteval.rpc") / "descriptors.binpb").read_bytes()
    pool = descriptor_pool.Default()  # the reflection service looks there
    for file in descriptor_pb2.FileDescriptorSet.FromString(content).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _load()


def message(name: str) -> Any:
    """Give the class of a message of the package by its short name."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def file_descriptor() -> Any:
    """Give the descriptor of the file with the service."""
    return _POOL.FindServiceByName(SERVICE).file
