"""Cases that lost what they expect: nobody would notice, since they pass."""

import warnings
from pathlib import Path

import pytest

from dbagenteval import DatasetError, load_cases


def warned(path: Path, name: str, text: str) -> list[str]:
    (path / name).write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_cases(path / name)
    return [str(each.message).removeprefix(f"{path}/") for each in caught]


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("reference_sql:", "reference_sql"),
        ("expect:", "expect"),
        ("expect: {}", "expect"),
        ("expect: {view: }", "expect.view"),
        ("expect: {retrieve: []}", "expect.retrieve"),
        ("turns:", "turns"),
    ],
)
def test_a_field_that_is_given_but_empty_gives_a_warning(
    tmp_path: Path, field: str, named: str
) -> None:
    """It says the place and the field."""
    assert warned(tmp_path, "c.yaml", f"- question: q\n  {field}\n") == [
        f"c.yaml:1: warning: '{named}' is given but empty, so it checks nothing"
    ]


@pytest.mark.parametrize("field", ["tags: []", "expect: {rows: []}", "reference_sql: SELECT 1"])
def test_a_case_that_expects_something_or_names_nothing_gives_none(
    tmp_path: Path, field: str
) -> None:
    """No rows are an expectation, and tags are none."""
    assert warned(tmp_path, "c.yaml", f"- question: q\n  {field}\n") == []


def test_turns_are_looked_at_too(tmp_path: Path) -> None:
    """The warning names the turn."""
    text = '{"id": "a", "question": "q", "turns": [{"question": "r", "reference_sql": null}]}'
    assert warned(tmp_path, "c.jsonl", text) == [
        "c.jsonl:1: warning: 'turn 1: reference_sql' is given but empty, so it checks nothing"
    ]


def test_a_csv_record_without_any_expectation_gives_a_warning(tmp_path: Path) -> None:
    """One filled cell among them is enough, and so is what `sql` says."""
    text = "id,question,reference_sql,expect.rows,sql\na,x,,,\nb,y,SELECT 1,,\nc,z,,,none\n"
    assert warned(tmp_path, "c.csv", text) == [
        "c.csv:2: warning: 'reference_sql', 'expect.rows' empty, so nothing but errors is checked"
    ]


def test_a_csv_record_cut_short_is_a_problem(tmp_path: Path) -> None:
    """The cells that are missing may have held the reference."""
    (tmp_path / "c.csv").write_text("id,question,reference_sql\na,How many?\n")
    with pytest.raises(DatasetError, match="2: 2 cells, but the header names 3 columns"):
        load_cases(tmp_path / "c.csv")


def test_a_key_written_twice_in_a_json_cell_is_a_problem(tmp_path: Path) -> None:
    """As it is in a JSON file."""
    (tmp_path / "c.csv").write_text('id,question,expect.rows\na,x,"[{""n"": 1, ""n"": 2}]"\n')
    with pytest.raises(DatasetError, match=r"must be JSON \(duplicate key 'n'\)"):
        load_cases(tmp_path / "c.csv")
