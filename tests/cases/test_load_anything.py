"""Whatever a file holds, it is read or refused with its faults; nothing else is raised."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbagenteval import DatasetError, load_cases

SUFFIXES = [".yaml", ".json", ".jsonl", ".csv"]
PIECES = st.sampled_from(
    [
        *"-:{}[],?|>&*!%@`#\"'\n\t\r ",
        "\n- ",
        "\n  ",
        ": ",
        "question",
        "expect",
        "rows",
        "reference_sql",
        "turns",
        "id",
        "tags",
        "precision",
        "q",
        "null",
        "true",
        "NO",
        "012",
        "1e400",
        "12:30",
        "2024-13-45",
        "2024-01-01",
        "!!python/object",
        "<<",
        "&a",
        "*a",
        "---",
        "...",
        "\ufeff",
        "\u2028",
        "\x00",
        "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        '{"question": "q"}',
        '[{"question": "q"}]',
        "- question: q\n",
        "id,question\n",
        'a,"b',
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = (
    "question",
    "expect",
    "id",
    "tags",
    "precision",
    "ordered",
    "turns",
    "reference_sql",
    "timeout",
    "tolerance",
    "columns",
    "dialect",
    "sql",
)
CASES = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5) | VALUES, max_size=4)


def read(folder: Path, suffix: str, data: bytes) -> None:
    """Load the file; every problem starts with its name."""
    path = folder / f"cases{suffix}"
    path.write_bytes(data)
    cases, problems = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cases = load_cases(path)
        except DatasetError as error:
            problems = error.problems
    assert bool(cases) is not bool(problems)
    assert all(problem.startswith(str(path)) for problem in problems)
    assert all(case.each_turn() for case in cases)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(PIECES, max_size=25))
def test_any_text(tmp_path: Path, suffix: str, pieces: list[str]) -> None:
    """Pieces of the formats in any order."""
    read(tmp_path, suffix, "".join(pieces).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=60))
def test_any_bytes(tmp_path: Path, suffix: str, data: bytes) -> None:
    """Not even text."""
    read(tmp_path, suffix, data)


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cases=CASES)
def test_any_values_in_any_field(tmp_path: Path, suffix: str, cases: object) -> None:
    """JSON is YAML too."""
    read(tmp_path, suffix, json.dumps(cases).encode())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(
    max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(PIECES, max_size=60))
def test_any_text_at_length(tmp_path: Path, suffix: str, pieces: list[str]) -> None:
    """The long run of the first test."""
    read(tmp_path, suffix, "".join(pieces).encode("utf-8", "surrogatepass"))
