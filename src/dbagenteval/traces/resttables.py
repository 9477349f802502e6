"""Results as the REST APIs of databases send them: columns in one place, cells in another.

Cells stay as they were sent (numbers as text compare as numbers), but for times that are counted
from 1970, which no comparison could tell from numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["RestTable", "rest_table"]

_UTC = datetime.timezone.utc
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=_UTC)


@dataclass(frozen=True, slots=True)
class RestTable:
    """Cells by row, column names, and why they are no evidence (empty if they are).

    Without rows (None) it can't be told from the response what they are.
    """

    rows: list[Any] | None
    columns: list[str]
    why: str = ""


def rest_table(value: dict[str, Any]) -> RestTable | None:
    """Read the response of a REST API, or give None if it is none of those that are known."""
    for mark, read in _READERS.items():
        if mark in value:
            try:
                table = read(value)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
                return None  # a form of another API under the same name
            if table is not None:
                return table
    return None


def _of_total(rows: list[Any], total: Any, more: Any = None) -> str:
    """Say why rows are not all: the response names more, or a page that follows."""
    if total is not None and int(total) > len(rows):
        return f"the response has {len(rows)} of {total} rows"
    return "the response names a further page" if more else ""


def _bigquery(value: dict[str, Any]) -> RestTable | None:
    fields = value["schema"]["fields"]
    if value.get("jobComplete") is False:
        return None
    records = value.get("rows") or []
    rows = [
        [_bigquery_cell(cell["v"], of) for cell, of in zip(record["f"], fields, strict=True)]
        for record in records
    ]
    cut = _of_total(rows, value.get("totalRows"), value.get("pageToken"))
    return RestTable(rows, [field["name"] for field in fields], cut)


def _bigquery_cell(cell: Any, field: dict[str, Any]) -> Any:
    if cell is None:
        return None
    if field.get("mode") == "REPEATED" and isinstance(cell, list):
        return [_bigquery_cell(item["v"], {**field, "mode": ""}) for item in cell]
    if isinstance(cell, dict):
        inner = zip(cell["f"], field["fields"], strict=True)
        return {of["name"]: _bigquery_cell(item["v"], of) for item, of in inner}
    if field.get("type") == "TIMESTAMP":
        micros = int(cell) if str(cell).isdecimal() and len(str(cell)) > 12 else None
        # Seconds as a float, or whole microseconds where the client asked for these.
        seconds = float(cell) if micros is None else 0.0
        since = datetime.timedelta(seconds=seconds, microseconds=micros or 0)
        return _EPOCH + since
    return cell


def _snowflake(value: dict[str, Any]) -> RestTable:
    told = value["resultSetMetaData"]
    fields = told["rowType"]
    rows = [
        [_snowflake_cell(cell, str(of.get("type"))) for cell, of in zip(row, fields, strict=True)]
        for row in value["data"]
    ]
    return RestTable(rows, [of["name"] for of in fields], _of_total(rows, told.get("numRows")))


def _snowflake_cell(cell: Any, kind: str) -> Any:
    if cell is None:
        return None
    kind = kind.lower()
    if kind == "date" and str(cell).lstrip("-").isdecimal():
        return (_EPOCH + datetime.timedelta(days=int(cell))).date()
    if not kind.startswith("time") or ":" in str(cell):
        return cell
    counted, _, zone = str(cell).partition(" ")
    seconds, _, fraction = counted.partition(".")
    since = datetime.timedelta(seconds=int(seconds), microseconds=int(f"{fraction:0<6.6}"))
    if kind == "time":
        return (_EPOCH + since).time()
    if kind == "timestamp_ntz":
        return (_EPOCH + since).replace(tzinfo=None)
    # The zone is in minutes, counted from -24 hours.
    offset = datetime.timedelta(minutes=int(zone) - 1440) if zone else datetime.timedelta()
    return (_EPOCH + since).astimezone(datetime.timezone(offset))


def _databricks(value: dict[str, Any]) -> RestTable:
    told, result = value["manifest"], value.get("result") or {}
    rows = result.get("data_array") or []
    more = told.get("truncated") or result.get("next_chunk_index") is not None
    cut = _of_total(rows, told.get("total_row_count"), more)
    return RestTable(rows, [column["name"] for column in told["schema"]["columns"]], cut)


def _athena(value: dict[str, Any]) -> RestTable:
    held = value["ResultSet"]
    rows = [[cell.get("VarCharValue") for cell in row["Data"]] for row in held["Rows"]]
    told = held.get("ResultSetMetadata", {}).get("ColumnInfo")
    columns = [column["Name"] for column in told] if told else rows[0]
    if rows and rows[0] == columns:  # the first page begins with the names
        rows = rows[1:]
    return RestTable(rows, columns, _of_total(rows, None, value.get("NextToken")))


def _data_api(value: dict[str, Any]) -> RestTable:
    """Read what the Data APIs of Redshift and of RDS give: each cell names its type."""
    records = value["Records"] if "Records" in value else value["records"]
    told = value["ColumnMetadata"] if "Records" in value else value["columnMetadata"]
    rows = [[_data_api_cell(cell) for cell in record] for record in records]
    cut = _of_total(rows, value.get("TotalNumRows"), value.get("NextToken"))
    return RestTable(rows, [column.get("label") or column["name"] for column in told], cut)


def _data_api_cell(cell: dict[str, Any]) -> Any:
    ((kind, held),) = cell.items()
    return None if kind.lower() == "isnull" else held


def _clickhouse(value: dict[str, Any]) -> RestTable:
    columns = [column["name"] for column in value["meta"]]
    data = value["data"]
    if isinstance(data, dict):  # JSONColumnsWithMetadata
        data = [list(row) for row in zip(*(data[name] for name in columns), strict=True)]
    return RestTable(data, columns)


def _columns_beside(value: dict[str, Any]) -> RestTable | None:
    """Read what Trino and Elasticsearch give: a page of rows beside objects of columns."""
    columns = [column["name"] for column in value["columns"]]
    if "values" in value:
        rows = _row_by_row(value["values"], len(columns))
    else:
        rows = value["rows"] if "rows" in value else value["data"]
    if rows is None:
        return RestTable(None, columns, "the response doesn't tell its rows from its columns")
    if not all(isinstance(row, list) for row in rows):
        return None
    more = value.get("nextUri") or value.get("cursor")
    return RestTable(rows, columns, _of_total(rows, None, more))


def _row_by_row(values: list[list[Any]], width: int) -> list[list[Any]] | None:
    """Turn columns into rows; Elasticsearch gives either under one name, square ones untold."""
    if all(len(row) == width for row in values):
        return values if len(values) != width or width == 1 == len(values) else None
    return [list(row) for row in zip(*values, strict=True)] if len(values) == width else None


def _cube(value: dict[str, Any]) -> RestTable | None:
    (only,) = value["results"]
    if "annotation" not in only:
        return None
    rows = only["data"]
    return RestTable(rows, list(rows[0]) if rows else [])


_READERS: dict[str, Callable[[dict[str, Any]], RestTable | None]] = {
    "schema": _bigquery,
    "resultSetMetaData": _snowflake,
    "manifest": _databricks,
    "ResultSet": _athena,
    "ColumnMetadata": _data_api,
    "columnMetadata": _data_api,
    "meta": _clickhouse,
    "columns": _columns_beside,
    "results": _cube,
}
