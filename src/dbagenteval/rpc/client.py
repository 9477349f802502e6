"""Reading a store through the process that owns it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbagenteval.errors import StoreError, StoreLocked
from dbagenteval.otlp.from_requests import traces_from_requests
from dbagenteval.otlp.values import OtelTrace
from dbagenteval.rpc.messages import SERVICE, STORE_SERVICE, message
from dbagenteval.store import Applied, CheckReport, Store, StoreStats

__all__ = ["ServedStore", "open_store"]

_OWNER_FILE = "owner.json"
_CONNECT_TIMEOUT_S = 3.0
_OWNER_WAIT_S = 3.0
"""A store process that ended is started again within about two seconds."""

_POLL_S = 0.1
_TIMEOUT_S = 600.0
_READY = grpc.ChannelConnectivity.READY
_FAILED = grpc.ChannelConnectivity.TRANSIENT_FAILURE


class ServedStore:
    """A store that another process owns; reads as `Store` does.

    Args:
        address: HOST:PORT of the owner's service.
        token: Its token.
    """

    def __init__(self, address: str, token: str) -> None:
        self._channel = grpc.insecure_channel(
            address, [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
        )
        self._metadata = (("authorization", f"Bearer {token}"),)

    def __enter__(self) -> ServedStore:  # noqa: PYI034 Self needs Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def fault(self) -> str | None:
        """Say why this is not the owner, None if it is; a dead one's file may still lie there."""
        states: Queue[grpc.ChannelConnectivity] = Queue()
        self._channel.subscribe(states.put, try_to_connect=True)
        state = grpc.ChannelConnectivity.IDLE
        try:
            while state not in (_READY, _FAILED):
                state = states.get(timeout=_CONNECT_TIMEOUT_S)
            if state is _READY:
                self.stats()
        except Empty:
            state = _FAILED
        except StoreError as error:
            return f"another program answers: {error}"
        finally:
            self._channel.unsubscribe(states.put)
        return None if state is _READY else "no store process answers"

    def otel_traces(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        service: str | None = None,
        trace_ids: Sequence[str] | None = None,
    ) -> Iterator[OtelTrace]:
        """Read traces; see `Store.otel_traces`.

        Raises:
            StoreError: The owner went away.
        """
        filters = {"since_ns": since_ns, "until_ns": until_ns, "service": service}
        for part in self._parts(filters, trace_ids):
            yield from traces_from_requests(
                part.trace_ids or [""],
                ExportTraceServiceRequest.FromString(part.traces_data),
                ExportLogsServiceRequest.FromString(part.logs_data),
            )

    def requests(self) -> Iterator[tuple[str, Any]]:
        """Read everything as OTLP requests; see `Store.requests`.

        Raises:
            StoreError: The owner went away.
        """
        for part in self._parts({}, None):
            if part.traces_data:
                yield "traces", ExportTraceServiceRequest.FromString(part.traces_data)
            if part.logs_data:
                yield "logs", ExportLogsServiceRequest.FromString(part.logs_data)

    def _parts(self, filters: dict[str, Any], trace_ids: Sequence[str] | None) -> Iterator[Any]:
        request = message("ReadOtelTracesRequest")(
            filter=message("TraceFilter")(**filters),
            trace_ids=trace_ids or [],
            only_trace_ids=trace_ids is not None,
        )
        call = self._channel.unary_stream(
            f"/{SERVICE}/ReadOtelTraces",
            request_serializer=lambda found: found.SerializeToString(),
            response_deserializer=message("ReadOtelTracesResponse").FromString,
        )
        try:
            yield from call(request, metadata=self._metadata)
        except grpc.RpcError as error:
            raise _lost(error) from error

    def stats(self) -> StoreStats:
        """Count what is stored; see `Store.stats`.

        Raises:
            StoreError: The owner went away.
        """
        found = self._ask("StoreStats")
        return StoreStats(
            spans=found.spans,
            logs=found.logs,
            otel_traces=found.otel_traces,
            bytes=found.bytes,
            services=tuple(found.services),
            first_start_ns=found.first_start_ns if found.HasField("first_start_ns") else None,
            last_end_ns=found.last_end_ns if found.HasField("last_end_ns") else None,
        )

    def check(self) -> CheckReport:
        """Check that everything stored fits together; see `Store.check`.

        Raises:
            StoreError: The owner went away.
        """
        found = self._ask("CheckStore")
        return CheckReport(faults=tuple(found.faults), set_aside=tuple(found.set_aside))

    def export_parquet(self, directory: str | Path) -> None:
        """Let the owner write all tables as Parquet files; see `Store.export_parquet`.

        Raises:
            StoreError: It can't be written, or the owner went away.
        """
        self._ask("ExportParquet", STORE_SERVICE, directory=str(Path(directory).absolute()))

    def prune_and_compact(self, *, before_ns: int | None, max_bytes: int | None) -> None:
        """Let the owner do it; see `Store.prune_and_compact`.

        Raises:
            StoreError: It can't be done, or the owner went away.
        """
        self._ask("CompactStore", STORE_SERVICE, before_ns=before_ns, max_bytes=max_bytes)

    def load(self, requests: Iterable[tuple[str, bytes]]) -> Applied:
        """Let the owner store checked requests; see `Store.load`.

        Raises:
            StoreError: It can't store them, or went away.
        """
        make = message("LoadRequestsRequest")
        call = self._channel.stream_unary(
            f"/{STORE_SERVICE}/LoadRequests",
            request_serializer=lambda found: found.SerializeToString(),
            response_deserializer=message("LoadRequestsResponse").FromString,
        )
        sent = (make(signal=signal, body=body) for signal, body in requests)
        try:
            found = call(sent, metadata=self._metadata)
        except grpc.RpcError as error:
            raise _lost(error) from error
        return Applied(
            spans=found.spans,
            logs=found.logs,
            duplicate_spans=found.duplicate_spans,
            set_aside=found.set_aside,
        )

    def _ask(self, method: str, service: str = SERVICE, **fields: Any) -> Any:
        call = self._channel.unary_unary(
            f"/{service}/{method}",
            request_serializer=lambda found: found.SerializeToString(),
            response_deserializer=message(f"{method}Response").FromString,
        )
        request = message(f"{method}Request")(**fields)
        timeout_s = _TIMEOUT_S if service == SERVICE else None
        try:
            return call(request, metadata=self._metadata, timeout=timeout_s)
        except grpc.RpcError as error:
            raise _lost(error) from error


def open_store(
    directory: str | Path, *, write: bool = False, create: bool = False
) -> Store | ServedStore:
    """Open a store: itself if nobody owns it, else through its owner.

    Args:
        directory: The store's directory.
        write: True to add to it or take care of it.
        create: Make it if it isn't there.

    Raises:
        StoreTooNew: A newer version made it.
        StoreLocked: Its owner doesn't answer, or is no `dbagenteval serve`.
        StoreError: There is no store, or it can't be opened.
    """
    try:
        return Store.open(directory, write=write, create=create)
    except StoreLocked as locked:
        return _through_owner(Path(directory), locked)


def _through_owner(directory: Path, locked: StoreLocked) -> ServedStore:
    """Find the owner by its file; a new store process, with another address, writes it anew."""
    deadline = time.monotonic() + _OWNER_WAIT_S
    while True:
        owner = _owner_of(directory)
        if owner is None:
            raise locked
        store = ServedStore(*owner)
        fault = store.fault()
        if fault is None:
            return store
        store.close()
        if time.monotonic() >= deadline:
            raise StoreLocked(
                f"{locked}; at {owner[0]}, which its {_OWNER_FILE} names, {fault}", hint=locked.hint
            ) from locked
        time.sleep(_POLL_S)


def _owner_of(directory: Path) -> tuple[str, str] | None:
    try:
        found = json.loads((directory / _OWNER_FILE).read_text(encoding="utf-8"))
        return str(found["address"]), str(found["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lost(error: Any) -> StoreError:
    if error.code() in (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.INVALID_ARGUMENT):
        return StoreError(error.details())
    return StoreError(f"the process that owns the store stopped answering ({error.code().name})")
