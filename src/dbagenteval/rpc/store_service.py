"""`StoreService`: what the owner of a store does for other commands of the same machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc

from dbagenteval.otlp.redaction import Redactor
from dbagenteval.rpc.handlers import unary, upload
from dbagenteval.rpc.messages import STORE_SERVICE, message
from dbagenteval.store import Store

__all__ = ["StoreService"]


class StoreService:
    """Changes a store, beside the receiver that fills it.

    Args:
        store: The open store.
        redactor: Replaces what must not be kept, as in what the receiver takes.
    """

    def __init__(self, store: Store, redactor: Redactor | None) -> None:
        self._store = store
        self._redactor = redactor

    def load_requests(self, requests: Iterator[Any]) -> Any:
        """Store export requests, each of which was checked before it was sent."""
        applied = self._store.load(
            (request.signal, self._redacted(request.signal, request.body)) for request in requests
        )
        return message("LoadRequestsResponse")(
            spans=applied.spans,
            logs=applied.logs,
            duplicate_spans=applied.duplicate_spans,
            set_aside=applied.set_aside,
        )

    def _redacted(self, signal: str, body: bytes) -> bytes:
        return body if self._redactor is None else self._redactor.redact(signal, body)

    def compact_store(self, request: Any) -> Any:
        """Remove what is old or too much, then write the database anew."""
        before_ns = request.before_ns if request.HasField("before_ns") else None
        max_bytes = request.max_bytes if request.HasField("max_bytes") else None
        self._store.prune_and_compact(before_ns=before_ns, max_bytes=max_bytes)
        return message("CompactStoreResponse")()

    def export_parquet(self, request: Any) -> Any:
        """Write everything to Parquet files."""
        self._store.export_parquet(request.directory)
        return message("ExportParquetResponse")()

    def handlers(self, token: str) -> Any:
        """Give the gRPC handlers of all methods, for those who know the token."""
        return grpc.method_handlers_generic_handler(
            STORE_SERVICE,
            {
                "LoadRequests": upload(self.load_requests, "LoadRequestsRequest", token),
                "CompactStore": unary(self.compact_store, "CompactStoreRequest", token),
                "ExportParquet": unary(self.export_parquet, "ExportParquetRequest", token),
            },
        )
