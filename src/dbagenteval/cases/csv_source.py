"""Cases in CSV, as spreadsheets write them."""

from __future__ import annotations

import csv
import io
from typing import Any

from dbagenteval.cases.json_source import decode
from dbagenteval.cases.source import Item, Source

__all__ = ["read_csv"]

_EXPECT = "expect."
_WHAT_IS_RIGHT = ("reference_sql", "expect", "turns")
_MAX_CELL_CHARS = 2**31 - 1
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_csv(text: str, path: str) -> Source:
    """Read one case a record; the first record names the fields.

    Columns are the fields of a case; `expect.NAME` is the expected value of stage NAME, and
    `expect.rows` holds rows as JSON. Every cell is text and stays as written (`007`, `NA`); only
    `ordered`, `trim_char_padding`, `precision`, `timeout`, `turns`, `tolerance` and `expect.rows`
    are read further. An empty cell means that the field is not given; a record whose cells for
    what is right are all empty gives a warning, one with fewer cells than the header is a
    problem. `tags` are separated by commas, several reference queries are a JSON list. The
    separator is a comma, or a semicolon where the header has only those.

    Args:
        text: The file without its byte order mark.
        path: Name of the file, for messages.
    """
    source = Source()
    first_line, _, rest = text.partition("\n")
    skipped = 0
    delimiter = ";" if ";" in first_line and "," not in first_line else ","
    if first_line.strip().lower() in ("sep=;", "sep=,"):  # a note that Excel writes for itself
        delimiter, text, skipped = first_line.strip()[-1], rest, 1
    before = csv.field_size_limit(_MAX_CELL_CHARS)
    try:
        _read_records(text, path, source, delimiter, skipped)
    finally:
        csv.field_size_limit(before)
    return source


def _read_records(text: str, path: str, source: Source, delimiter: str, skipped: int) -> None:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        where = f"{path}:{reader.line_num + 1 + skipped}"
        try:
            record = next(reader, None)
        except csv.Error as error:
            source.problems.append(f"{where}: invalid CSV ({error})")
            return
        if record is None:
            return
        if not any(cell.strip() for cell in record):
            continue
        if header is None:
            header = _header(record, where, source)
            if header is None:
                return
        elif len(record) < len(header) or any(record[len(header) :]):
            source.problems.append(
                f"{where}: {len(record)} cells, but the header names {len(header)} columns"
            )
        else:
            _add(dict(zip(header, record)), where, source)  # noqa: B905 empty cells may follow


def _header(record: list[str], where: str, source: Source) -> list[str] | None:
    names = [name.strip() for name in record]
    while names and not names[-1]:
        names.pop()
    doubled = sorted({name for name in names if names.count(name) > 1})
    source.problems.extend(f"{where}: duplicate column {name!r}" for name in doubled)
    return None if doubled else names


def _add(cells: dict[str, str], where: str, source: Source) -> None:
    data: dict[str, Any] = {}
    expect: dict[str, Any] = {}
    for name, cell in cells.items():
        if not cell.strip():
            continue
        try:
            if name.startswith(_EXPECT):
                stage = name[len(_EXPECT) :]
                expect[stage] = _value("expect.rows", cell) if stage == "rows" else cell
            else:
                data[name] = _value(name, cell)
        except ValueError as error:
            source.problems.append(f"{where}: column {name!r}: {error}")
            return
    if expect:
        data["expect"] = {**data.get("expect", {}), **expect}
    _warn_of_lost_expectation(cells, where, source)
    source.items.append(Item(where=where, data=data))


def _warn_of_lost_expectation(cells: dict[str, str], where: str, source: Source) -> None:
    names = [name for name in cells if name in _WHAT_IS_RIGHT or name.startswith(_EXPECT)]
    filled = any(cells[name].strip() for name in names)
    # `sql` says what is right too, but it is a setting: its empty cell is no lost expectation.
    if names and not filled and not cells.get("sql", "").strip():
        source.warnings.append(
            f"{where}: warning: {', '.join(map(repr, names))} empty, so nothing but errors is "
            "checked"
        )


def _value(name: str, cell: str) -> Any:
    text = cell.strip()
    if name == "tags":
        return [tag.strip() for tag in text.replace(";", ",").split(",") if tag.strip()]
    if name in ("ordered", "trim_char_padding"):
        return _BOOLEANS.get(text.lower(), text)
    if name in ("precision", "timeout"):
        return _number(text)
    if name == "reference_sql":
        return decode(text) if text.startswith("[") and text.endswith("]") else cell
    if name in ("expect", "turns", "tolerance", "expect.rows"):
        try:
            return decode(text)
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else error
            raise ValueError(f"must be JSON ({why})") from error
    return cell


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
