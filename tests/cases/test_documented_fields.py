"""docs/cases.md: its examples load, and it names every field."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from dbagenteval import Case, load_cases
from dbagenteval.cases import DOCUMENTED_FIELDS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "cases.md").read_text(encoding="utf-8")


def test_every_field_is_documented() -> None:
    """Those of the guide in the sentence at the start, the others in the table."""
    listed = set(re.findall(r"^\| `(\w+)` \|", DOCUMENT, re.MULTILINE))
    assert listed | set(DOCUMENTED_FIELDS) == {each.name for each in fields(Case)}
    assert {f"`{name}`" for name in DOCUMENTED_FIELDS} <= set(re.findall(r"`\w+`", DOCUMENT))


def test_every_listed_choice_is_taken_and_the_first_is_the_default() -> None:
    """A table that promises a value that is refused misleads."""
    for name, choices in re.findall(r"^\| `(\w+)` \| (`[^|]*`) \|", DOCUMENT, re.MULTILINE):
        values = re.findall(r"`(\w+)`", choices)
        for value in values:
            Case("q", **{name: {"true": True, "false": False}.get(value, value)})
        if name in ("columns", "extra_columns", "empty", "ties"):
            assert getattr(Case("q"), name) == values[0]


@pytest.mark.parametrize(
    ("language", "ids"), [("yaml", ["orders-talk#1", "orders-talk#2"]), ("csv", ["007"])]
)
def test_its_examples_load(tmp_path: Path, language: str, ids: list[str]) -> None:
    """As they stand."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    path = tmp_path / f"c.{language}"
    path.write_text(text)
    assert [turn.id for case in load_cases(path) for turn in case.each_turn()] == ids
