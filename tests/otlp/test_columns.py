"""The fast and the plain way from requests to columns give the same tables, byte for byte."""

from __future__ import annotations

import math
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from dbagenteval.otlp.columns import ColumnBuilder
from dbagenteval.otlp.schemas import SCHEMAS
from tests.otlp.any_values import put
from tests.store.requests import fill_every_field, logs_request, traces_request

fast = pytest.importorskip("dbagenteval.otlp.fast_columns")


def tables(builder: ColumnBuilder, requests: list[tuple[str, bytes]]) -> dict[str, pa.Table]:
    return {name: t.combine_chunks() for name, t in builder.build(requests).tables.items()}


def assert_same(*requests: tuple[str, bytes]) -> dict[str, pa.Table]:
    plain = tables(ColumnBuilder(), list(requests))
    quick = tables(fast.FastColumnBuilder(), list(requests))
    assert plain.keys() == quick.keys() == SCHEMAS.keys()
    for name, table in plain.items():
        assert quick[name].schema == table.schema
        for column in table.column_names:
            left, right = table[column].combine_chunks(), quick[name][column].combine_chunks()
            # By text, since NaN differs from itself.
            assert repr(left.to_pylist()) == repr(right.to_pylist()), f"{name}.{column}"
    return quick


def test_all_fields() -> None:
    """Every field of OTLP set, logs in between."""
    request = ExportTraceServiceRequest()
    fill_every_field(request)
    found = assert_same(
        ("traces", request.SerializeToString()),
        ("logs", logs_request((1, 1), (0, 0)).SerializeToString()),
        ("traces", traces_request((1, 1), (2, 2)).SerializeToString()),
    )
    assert found["spans"].num_rows == 10
    assert found["spans"]["row"].to_pylist() == list(range(10))


def test_empty_requests() -> None:
    """Nothing at all, empty envelopes, no requests."""
    assert_same()
    assert_same(("traces", b""), ("logs", b""))
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add()
    assert_same(("traces", request.SerializeToString()))
    assert_same(("logs", logs_request((1, 1)).SerializeToString()))


def test_many_groups() -> None:
    """Rows are numbered through over record batches."""
    requests = []
    for number in range(1, 30):
        request = traces_request((number, 1), (number, 2))
        span = request.resource_spans[0].scope_spans[0].spans[1]
        span.attributes.add(key="pad").value.string_value = "x" * 200_000
        span.events.add(name=f"e{number}")
        requests.append(("traces", request.SerializeToString()))
    found = assert_same(*requests)
    assert found["span_events"]["row"].to_pylist() == list(range(1, 58, 2))


@pytest.mark.parametrize(
    "number", [0.0, -0.0, 0.1, 1e300, 5e-324, math.inf, -math.inf, math.nan, 1e16, 123456789.123]
)
def test_doubles(number: float) -> None:
    """Beside their neighbours, and exact."""
    request = traces_request((1, 1))
    attributes = request.resource_spans[0].scope_spans[0].spans[0].attributes
    for value in (number, -number, 1.0):
        attributes.add(key="k").value.double_value = value
    found = assert_same(("traces", request.SerializeToString()))
    texts = found["spans"]["attr_values"].to_pylist()[0]
    assert struct.pack("d", float(texts[1])) == struct.pack("d", number) or math.isnan(number)


def test_two_values_in_one_attribute() -> None:
    """As protobuf says, the last one on the wire counts; the fast way hands it to the plain one."""
    request = traces_request((1, 1))
    pair = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="k")
    pair.value.string_value = "MARK"
    one = AnyValue(string_value="MARK").SerializeToString()
    two = AnyValue(string_value="x").SerializeToString() + b"\x18\x85\x00"  # and the integer 5
    assert len(one) == len(two)
    body = request.SerializeToString().replace(one, two)
    message = ExportTraceServiceRequest.FromString(body)
    value = message.resource_spans[0].scope_spans[0].spans[0].attributes[1].value
    assert value.WhichOneof("value") == "int_value"
    found = assert_same(("traces", body))
    assert found["spans"]["attr_types"].to_pylist()[0][1] == 3


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.text(max_size=20)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.binary(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
ATTRIBUTES = st.lists(st.tuples(st.text(max_size=8), VALUES), max_size=6)
PART = st.fixed_dictionaries(
    {"name": st.text(max_size=8), "attributes": ATTRIBUTES, "dropped": st.integers(0, 2**32 - 1)}
)
SPANS = st.lists(
    st.fixed_dictionaries(
        {
            "trace_id": st.binary(min_size=16, max_size=16),
            "span_id": st.binary(min_size=8, max_size=8),
            "parent": st.binary(max_size=8),
            "times": st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
            "kind": st.integers(-(2**31), 2**31 - 1),
            "status": st.none() | st.tuples(st.integers(0, 5), st.text(max_size=5)),
            "flags": st.integers(0, 2**32 - 1),
            "part": PART,
            "events": st.lists(PART, max_size=2),
            "links": st.lists(PART, max_size=2),
        }
    ),
    max_size=4,
)


def put_attributes(target: Any, attributes: list[tuple[str, Any]]) -> None:
    for key, value in attributes:
        pair = target.add(key=key)
        if value != "no value at all":
            put(pair.value, value)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    groups=st.lists(
        st.tuples(ATTRIBUTES, st.text(max_size=5), st.lists(SPANS, max_size=2)), max_size=3
    )
)
def test_any_request(groups: list[Any]) -> None:
    """Whatever a request holds, at every place."""
    request = ExportTraceServiceRequest()
    for attributes, url, scopes in groups:
        of_resource = request.resource_spans.add(schema_url=url)
        put_attributes(of_resource.resource.attributes, attributes)
        for spans in scopes:
            of_scope = of_resource.scope_spans.add(schema_url=url)
            put_attributes(of_scope.scope.attributes, attributes)
            for span in spans:
                add_span(of_scope.spans, span)
    body = request.SerializeToString()
    assert_same(("traces", body), ("traces", body))


def add_span(target: Any, span: dict[str, Any]) -> None:
    added = target.add(
        trace_id=span["trace_id"],
        span_id=span["span_id"],
        parent_span_id=span["parent"],
        name=span["part"]["name"],
        kind=span["kind"],
        flags=span["flags"],
        start_time_unix_nano=span["times"][0],
        end_time_unix_nano=span["times"][1],
        dropped_attributes_count=span["part"]["dropped"],
    )
    put_attributes(added.attributes, span["part"]["attributes"])
    if span["status"] is not None:
        added.status.code, added.status.message = span["status"]
    for part in span["events"]:
        event = added.events.add(name=part["name"], dropped_attributes_count=part["dropped"])
        put_attributes(event.attributes, part["attributes"])
    for part in span["links"]:
        link = added.links.add(trace_state=part["name"], dropped_attributes_count=part["dropped"])
        put_attributes(link.attributes, part["attributes"])
