"""Read the cases of a file: all of them, or all that is wrong with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dbagenteval.cases.case import Case
from dbagenteval.cases.emptied import emptied_fields
from dbagenteval.cases.source import Item, Source
from dbagenteval.errors import DatasetError, quoted

__all__ = ["CasesWarning", "load_cases"]


class CasesWarning(UserWarning):
    """A value of a cases file is probably not what its author meant."""


def load_cases(path: str | Path) -> list[Case]:
    """Read a cases file.

    Args:
        path: A `.yaml`, `.yml`, `.json`, `.jsonl` or `.csv` file in UTF-8, with or without a
            byte order mark.

    Returns:
        The cases in file order.

    Raises:
        DatasetError: The file can't be read or has faults; `problems` lists all of them, each
            with its place.

    Warns:
        CasesWarning: A value that the format reads otherwise than it looks, or a field for
            what is right that is given but empty.
    """
    name = str(path)
    source = _read(Path(path), name)
    problems = list(source.problems)
    folder = Path(path).parent
    cases = [case for item in source.items if (case := _case(item, folder, problems)) is not None]
    if not source.items and not problems:
        problems.append(f"{name}: no cases found")
    _find_duplicates(source.items, problems)
    if problems:
        raise DatasetError(problems)
    for text in [*source.warnings, *_lost_expectations(source.items)]:
        warnings.warn(text, CasesWarning, stacklevel=2)
    return cases


def _lost_expectations(items: list[Item]) -> list[str]:
    return [
        f"{item.where}: warning: '{name}' is given but empty, so it checks nothing"
        for item in items
        for name in emptied_fields(item.data)
    ]


def _read(path: Path, name: str) -> Source:
    read = _reader(path.suffix.lower())
    if read is None:
        raise DatasetError(
            [f"{name}: unsupported file type; use .yaml, .yml, .json, .jsonl or .csv"]
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DatasetError([f"{name}: cannot read file ({error.strerror})"]) from error
    except UnicodeDecodeError as error:
        reason = f"byte {error.start}: {error.reason}"
        raise DatasetError([f"{name}: not a UTF-8 text file ({reason})"]) from error
    return read(text, name)


def _reader(suffix: str) -> Callable[[str, str], Source] | None:
    # Each format is imported when it is met: reading JSON lines needs no YAML.
    if suffix in (".yaml", ".yml"):
        from dbagenteval.cases.yaml_source import read_yaml  # noqa: PLC0415

        return read_yaml
    if suffix in (".json", ".jsonl"):
        from dbagenteval.cases.json_source import read_json, read_jsonl  # noqa: PLC0415

        return read_json if suffix == ".json" else read_jsonl
    if suffix == ".csv":
        from dbagenteval.cases.csv_source import read_csv  # noqa: PLC0415

        return read_csv
    return None


def _case(item: Item, folder: Path, problems: list[str]) -> Case | None:
    if not isinstance(item.data, dict):
        problems.append(f"{item.where}: a case must be a mapping")
        return None
    try:
        case = Case.from_dict(item.data)
    except ValueError as error:
        problems.append(f"{item.where}: {error}")
        return None
    if case.data is not None:
        script = folder / case.data
        if not script.is_file():
            problems.append(f"{item.where}: 'data': there is no file {quoted(str(script))}")
        case.data = str(script)
    return case


def _find_duplicates(items: list[Item], problems: list[str]) -> None:
    first: dict[str, str] = {}
    for item in items:
        for key in _keys(item.data) if isinstance(item.data, dict) else ():
            if key in first:
                problems.append(f"{item.where}: duplicate case {key!r} (first at {first[key]})")
            else:
                first[key] = item.where


def _keys(data: Mapping[Any, Any]) -> list[str]:
    """Give the id, else the question, as `Case.key` will; also of a case with other faults.

    The turns of a conversation are cases of their own, called `ID#N`.
    """
    given, question, turns = data.get("id"), data.get("question"), data.get("turns")
    if given not in (None, ""):
        count = len(turns) + bool(question) if isinstance(turns, list) and turns else 0
        return [str(given), *(f"{given}#{number}" for number in range(1, count + 1))]
    return [question] if isinstance(question, str) and question else []
