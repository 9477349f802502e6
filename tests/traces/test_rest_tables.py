"""Results of the REST APIs of databases, as a tool hands them on."""

from __future__ import annotations

import datetime
import json

import pytest

from dbagenteval.traces.rows import read_rows
from dbagenteval.traces.toolresult import unwrap

UTC = datetime.timezone.utc
TWO = [{"name": "Berlin", "n": "1"}, {"name": "Bad Ems", "n": None}]

BIGQUERY = {
    "kind": "bigquery#queryResponse",
    "schema": {"fields": [{"name": "name", "type": "STRING"}, {"name": "n", "type": "INTEGER"}]},
    "rows": [{"f": [{"v": "Berlin"}, {"v": "1"}]}, {"f": [{"v": "Bad Ems"}, {"v": None}]}],
    "totalRows": "2",
    "jobComplete": True,
}
SNOWFLAKE = {
    "resultSetMetaData": {
        "numRows": 2,
        "format": "jsonv2",
        "rowType": [{"name": "name", "type": "text"}, {"name": "n", "type": "fixed"}],
    },
    "data": [["Berlin", "1"], ["Bad Ems", None]],
    "code": "090001",
    "message": "Statement executed successfully.",
    "statementHandle": "01",
}
DATABRICKS = {
    "statement_id": "01",
    "status": {"state": "SUCCEEDED"},
    "manifest": {
        "format": "JSON_ARRAY",
        "schema": {"column_count": 2, "columns": [{"name": "name"}, {"name": "n"}]},
        "total_row_count": 2,
        "truncated": False,
    },
    "result": {
        "chunk_index": 0,
        "row_count": 2,
        "data_array": [["Berlin", "1"], ["Bad Ems", None]],
    },
}
ATHENA = {
    "UpdateCount": 0,
    "ResultSet": {
        "Rows": [
            {"Data": [{"VarCharValue": "name"}, {"VarCharValue": "n"}]},
            {"Data": [{"VarCharValue": "Berlin"}, {"VarCharValue": "1"}]},
            {"Data": [{"VarCharValue": "Bad Ems"}, {}]},
        ],
        "ResultSetMetadata": {"ColumnInfo": [{"Name": "name"}, {"Name": "n"}]},
    },
}
REDSHIFT = {
    "Records": [
        [{"stringValue": "Berlin"}, {"stringValue": "1"}],
        [{"stringValue": "Bad Ems"}, {"isNull": True}],
    ],
    "ColumnMetadata": [{"name": "name", "label": "name"}, {"name": "n", "label": "n"}],
    "TotalNumRows": 2,
}
RDS = {"records": REDSHIFT["Records"], "columnMetadata": REDSHIFT["ColumnMetadata"]}
NAMES = [{"name": "name", "type": "text"}, {"name": "n", "type": "long"}]
CELLS = [["Berlin", "1"], ["Bad Ems", None]]
TRINO = {"id": "1", "columns": NAMES, "data": CELLS, "stats": {"state": "FINISHED"}}
CLICKHOUSE = {"meta": NAMES, "data": TWO, "rows": 2, "rows_before_limit_at_least": 9}
COMPACT = {"meta": NAMES, "data": CELLS, "rows": 2, "statistics": {"elapsed": 0.1}}
BY_COLUMN = {"meta": NAMES, "data": {"name": ["Berlin", "Bad Ems"], "n": ["1", None]}, "rows": 2}
ELASTIC = {"columns": NAMES, "rows": CELLS}
CUBE = {"query": {}, "data": TWO, "annotation": {"measures": {}, "dimensions": {}}}
CUBE_LIST = {"queryType": "regularQuery", "results": [CUBE]}


@pytest.mark.parametrize(
    "sent",
    [
        BIGQUERY,
        SNOWFLAKE,
        DATABRICKS,
        ATHENA,
        REDSHIFT,
        RDS,
        TRINO,
        CLICKHOUSE,
        COMPACT,
        BY_COLUMN,
        ELASTIC,
        CUBE,
        CUBE_LIST,
    ],
)
def test_rows_under_their_column_names(sent):
    """Each API's response gives exact rows, also as JSON text and as a text part of MCP."""
    for result in (sent, json.dumps(sent), [{"type": "text", "text": json.dumps(sent)}]):
        content, error = unwrap(result)
        read = read_rows(content)
        assert (read.rows, read.state, read.positional, error) == (TWO, "present", False, None)


@pytest.mark.parametrize(
    "sent",
    [
        {"schema": BIGQUERY["schema"], "totalRows": "0", "jobComplete": True},
        SNOWFLAKE
        | {"data": [], "resultSetMetaData": SNOWFLAKE["resultSetMetaData"] | {"numRows": 0}},
        {
            "status": {"state": "SUCCEEDED"},
            "manifest": DATABRICKS["manifest"] | {"total_row_count": 0},
            "result": {},
        },
        {"ResultSet": ATHENA["ResultSet"] | {"Rows": ATHENA["ResultSet"]["Rows"][:1]}},
        REDSHIFT | {"Records": [], "TotalNumRows": 0},
        TRINO | {"data": []},
        COMPACT | {"data": []},
        ELASTIC | {"rows": []},
        CUBE | {"data": []},
    ],
)
def test_no_rows_are_an_empty_result(sent):
    """A response that has columns and no rows says that there are none."""
    read = read_rows(sent)
    assert (read.rows, read.state) == ([], "empty")


@pytest.mark.parametrize(
    "sent",
    [
        BIGQUERY | {"totalRows": "214"},
        BIGQUERY | {"pageToken": "abc"},
        SNOWFLAKE | {"resultSetMetaData": SNOWFLAKE["resultSetMetaData"] | {"numRows": 214}},
        DATABRICKS | {"manifest": DATABRICKS["manifest"] | {"truncated": True}},
        DATABRICKS | {"manifest": DATABRICKS["manifest"] | {"total_row_count": 214}},
        DATABRICKS | {"result": DATABRICKS["result"] | {"next_chunk_index": 1}},
        ATHENA | {"NextToken": "abc"},
        REDSHIFT | {"NextToken": "abc"},
        TRINO | {"nextUri": "https://trino/v1/statement/1/2"},
        ELASTIC | {"cursor": "sDXF1"},
    ],
)
def test_a_page_is_cut(sent):
    """The first page of a result is no evidence of all of it."""
    read = read_rows(sent)
    assert (read.rows, read.state) == (TWO, "cut")
    assert read.why


def test_a_job_that_runs_on_has_no_rows():
    """BigQuery answers before the job is done: that is no empty result."""
    read = read_rows({"schema": BIGQUERY["schema"], "jobComplete": False})
    assert (read.rows, read.state) == (None, "unparseable")


def test_a_failed_statement_is_an_error():
    """Databricks tells in its status that a statement failed."""
    sent = {
        "statement_id": "1",
        "status": {"state": "FAILED", "error": {"message": "no such table"}},
    }
    assert unwrap(sent)[1] == "no such table"


def test_bigquery_values():
    """Instants, arrays and records come out as what they are."""
    fields = [
        {"name": "at", "type": "TIMESTAMP"},
        {"name": "micros", "type": "TIMESTAMP"},
        {"name": "tags", "type": "STRING", "mode": "REPEATED"},
        {"name": "at_home", "type": "RECORD", "fields": [{"name": "city", "type": "STRING"}]},
        {"name": "day", "type": "DATE"},
    ]
    cells = [
        {"v": "1.7357752E9"},
        {"v": "1735775200000001"},
        {"v": [{"v": "a"}, {"v": "b"}]},
        {"v": {"f": [{"v": "Berlin"}]}},
        {"v": "2025-01-01"},
    ]
    (row,) = read_rows({"schema": {"fields": fields}, "rows": [{"f": cells}]}).rows
    moment = datetime.datetime(2025, 1, 1, 23, 46, 40, tzinfo=UTC)
    assert row == {
        "at": moment,
        "micros": moment + datetime.timedelta(microseconds=1),
        "tags": ["a", "b"],
        "at_home": {"city": "Berlin"},
        "day": "2025-01-01",
    }


def test_snowflake_values():
    """Dates are days and times seconds since 1970; a zone is minutes from -24 hours."""
    kinds = ["date", "timestamp_ntz", "timestamp_ltz", "timestamp_tz", "time", "boolean"]
    cells = ["20089", "1735775200.123456789", "1735775200.5", "1735775200.0 1500", "3661.0", "true"]
    told = {"rowType": [{"name": kind, "type": kind} for kind in kinds]}
    (row,) = read_rows({"resultSetMetaData": told, "data": [cells]}).rows
    moment = datetime.datetime(2025, 1, 1, 23, 46, 40)
    assert row == {
        "date": datetime.date(2025, 1, 1),
        "timestamp_ntz": moment.replace(microsecond=123456),
        "timestamp_ltz": moment.replace(microsecond=500000, tzinfo=UTC),
        "timestamp_tz": moment.replace(tzinfo=UTC),
        "time": datetime.time(1, 1, 1),
        "boolean": "true",
    }
    assert row["timestamp_tz"].utcoffset() == datetime.timedelta(hours=1)


def test_values_by_column():
    """Elasticsearch's columnar form is turned; a square one could be either and is not read."""
    three = {"columns": NAMES, "values": [["a", "b", "c"], [1, 2, 3]]}
    assert read_rows(three).rows == [
        {"name": "a", "n": 1},
        {"name": "b", "n": 2},
        {"name": "c", "n": 3},
    ]
    assert read_rows({"columns": NAMES, "values": [["a", 1]]}).rows == [{"name": "a", "n": 1}]
    assert read_rows({"columns": NAMES, "values": [["a", "b"], [1, 2]]}).state == "unparseable"


@pytest.mark.parametrize(
    "sent",
    [BIGQUERY | {"rows": [{"f": []}]}, SNOWFLAKE | {"data": [["x"]]}, {"schema": "a", "n": 1}],
)
def test_what_only_looks_alike_does_not_break(sent):
    """A response whose parts do not fit is read as any object."""
    assert read_rows(sent).state in ("present", "unparseable")
