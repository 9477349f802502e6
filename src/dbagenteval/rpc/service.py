"""`EvaluationService`, served by the process that has the database open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc

from dbagenteval.errors import quoted
from dbagenteval.rpc.handlers import stream, unary
from dbagenteval.rpc.messages import SERVICE, message
from dbagenteval.store import Store
from dbagenteval.traces import Trace

if TYPE_CHECKING:
    from dbagenteval.cases import Case

__all__ = ["EvaluationService"]

_TRACE_ID = re.compile("[0-9a-fA-F]{32}")


class EvaluationService:
    """Answers from a store; each call reads one consistent state.

    Args:
        store: The open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def list_traces(self, request: Any) -> Iterator[Any]:
        """Give one line for each trace."""
        from dbagenteval.traces import assemble  # noqa: PLC0415 large, and rarely asked for

        response = message("ListTracesResponse")
        for trace in assemble(self._store.otel_traces(**_filters(request.filter))):
            meta = trace.meta
            yield response(
                trace_ids=meta.get("trace_ids", []),
                question=trace.question,
                service=meta.get("service") or "",
                start_ns=meta.get("start_ns") or 0,
                end_ns=meta.get("end_ns") or 0,
                stages=[stage.name for stage in trace.stages],
            )

    def get_trace(self, request: Any) -> Any:
        """Give one trace.

        Raises:
            ValueError: The id is none.
            LookupError: There is none.
        """
        if not _TRACE_ID.fullmatch(request.trace_id):
            raise ValueError(f"trace_id {quoted(request.trace_id)}: expected 32 hex digits")
        from dbagenteval.traces import assemble  # noqa: PLC0415 large, and rarely asked for

        groups = self._store.otel_traces(trace_ids=[request.trace_id])
        for trace in assemble(groups):
            return message("GetTraceResponse")(trace=_trace_message(trace))
        raise LookupError("no such trace")

    def export_traces(self, request: Any) -> Iterator[Any]:
        """Give all traces."""
        from dbagenteval.traces import assemble  # noqa: PLC0415 large, and rarely asked for

        response = message("ExportTracesResponse")
        for trace in assemble(self._store.otel_traces(**_filters(request.filter))):
            yield response(trace=_trace_message(trace))

    def score(self, request: Any) -> Iterator[Any]:
        """Score traces against the cases of the request.

        Raises:
            ValueError: A case is faulty.
        """
        from dbagenteval.suite.match import Matcher  # noqa: PLC0415 large, and rarely asked for
        from dbagenteval.suite.stored import score_traces  # noqa: PLC0415
        from dbagenteval.traces import assemble  # noqa: PLC0415

        cases = [_case(number, case.fields_json) for number, case in enumerate(request.cases, 1)]
        traces = assemble(self._store.otel_traces(**_filters(request.filter)))
        response = message("ScoreResponse")
        for match, card in score_traces(traces, Matcher(cases)):
            found = card.to_dict()
            scorecard = message("Scorecard")(
                verdict=card.verdict,
                question=str(found.get("question") or ""),
                case_id=str(card.meta.get("case_id") or ""),
                failed_stage=card.failed_stage or "",
                card_json=_json(found),
            )
            for check in card.results:
                scorecard.checks.add(
                    name=check.check,
                    status=check.status,
                    stage=check.stage or "",
                    detail=check.detail or "",
                )
            yield response(scorecard=scorecard, is_matched=match.case is not None)

    def store_stats(self, _: Any) -> Any:
        """Count what is stored."""
        found = self._store.stats()
        return message("StoreStatsResponse")(
            spans=found.spans,
            logs=found.logs,
            otel_traces=found.otel_traces,
            bytes=found.bytes,
            services=found.services,
            first_start_ns=found.first_start_ns,
            last_end_ns=found.last_end_ns,
        )

    def check_store(self, _: Any) -> Any:
        """Check that everything stored fits together."""
        report = self._store.check()
        return message("CheckStoreResponse")(faults=report.faults, set_aside=report.set_aside)

    def read_otel_traces(self, request: Any) -> Iterator[Any]:
        """Give spans and log records as they came."""
        response = message("ReadOtelTracesResponse")
        wanted = list(request.trace_ids) if request.only_trace_ids else None
        for part in self._store.parts(**_filters(request.filter), trace_ids=wanted):
            yield response(
                trace_ids=part.trace_ids,
                traces_data=part.traces.SerializeToString() if part.traces is not None else b"",
                logs_data=part.logs.SerializeToString() if part.logs is not None else b"",
            )

    def handlers(self, token: str) -> Any:
        """Give the gRPC handlers of all methods, for those who know the token."""
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "ListTraces": stream(self.list_traces, "ListTracesRequest", token),
                "GetTrace": unary(self.get_trace, "GetTraceRequest", token),
                "ExportTraces": stream(self.export_traces, "ExportTracesRequest", token),
                "Score": stream(self.score, "ScoreRequest", token),
                "StoreStats": unary(self.store_stats, "StoreStatsRequest", token),
                "CheckStore": unary(self.check_store, "CheckStoreRequest", token),
                "ReadOtelTraces": stream(self.read_otel_traces, "ReadOtelTracesRequest", token),
            },
        )


def _filters(found: Any) -> dict[str, Any]:
    return {
        name: getattr(found, name) if found.HasField(name) else None
        for name in ("since_ns", "until_ns", "service")
    }


def _case(number: int, fields_json: str) -> Case:
    from dbagenteval.cases import Case  # noqa: PLC0415 large, and rarely asked for

    try:
        fields = json.loads(fields_json)
        if isinstance(fields, dict):
            return Case.from_dict(fields)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"case {number}: {error}") from error
    raise ValueError(f"case {number}: expected a JSON object")


def _json(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _trace_message(trace: Trace) -> Any:
    found = message("Trace")(question=trace.question, meta_json=_json(trace.meta))
    for stage in trace.stages:
        found.stages.add(
            kind=stage.kind,
            name=stage.name,
            output_json="" if stage.output is None else _json(stage.output),
            rows_json="" if stage.rows is None else _json(stage.rows),
            error=stage.error,
            latency_ms=stage.latency_ms,
            meta_json=_json(stage.meta),
        )
    return found
