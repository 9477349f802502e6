"""The tables of docs/comparison.md are true."""

import ast
import re
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from dbagenteval.compare import RowOptions, compare_rows

PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")
NAMES = {"Decimal": Decimal, "date": date, "datetime": datetime, "time": time, "UUID": UUID}
NAMES |= {"timedelta": timedelta, "memoryview": memoryview, "NaN": float("nan")}
SECTION = PAGE.split("## What equals what")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SECTION.splitlines()
    if line.startswith("| `")
]


def values(cell):
    return [eval(code, dict(NAMES)) for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row[0] + " " + row[1]))
def test_the_table_says_what_the_comparison_does(row):
    """Each line of the table is run, in both directions."""
    (expected,) = values(row[0])
    is_equal = row[2].startswith("equal")
    assert is_equal or row[2].startswith("different")
    for actual in values(row[1]):
        assert compare_rows([{"x": expected}], [{"x": actual}]).equal == is_equal
        assert compare_rows([{"x": actual}], [{"x": expected}]).equal == is_equal


def test_the_table_has_lines():
    """The lines were found."""
    assert len(ROWS) > 20


def test_every_option_is_on_the_page():
    """No option of the comparison is left out, apart from what the check finds by itself."""
    for item in fields(RowOptions):
        assert f"`{item.name}`" in PAGE or item.name == "reference_is_ordered"


def test_every_reason_is_on_the_page():
    """Reason codes in the sources are those of the page."""
    sources = Path(__file__).parents[2] / "src" / "dbagenteval" / "compare"
    codes = set()
    for path in sources.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "reason":
                codes |= {
                    item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)
                }
    assert {code for code in codes if isinstance(code, str) and code} <= set(
        re.findall(r"`(\w+)`", PAGE)
    )
    assert "reference_empty" in codes
