"""Each captured failure shows on a handful of rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbagenteval.slices import slice_failure
from dbagenteval.suite.match import Matcher
from dbagenteval.traces import Trace, assemble
from tests.captures.conftest import DATA, STACKS, truth
from tests.traces.otlp_json import load

MAX_ROWS = 20


def failed(stack: str) -> Iterator[tuple[str, Trace]]:
    """Give the traces of the questions that were answered badly."""
    matcher = Matcher(truth().cases.values())
    for trace in assemble(load(DATA / f"{stack}.jsonl.gz")):
        case = matcher.match(trace).case
        if case is not None and truth().verdicts[stack][case.id]["verdict"] == "FAIL":
            yield case.id, trace


@pytest.mark.parametrize("stack", STACKS)
def test_the_smallest_data_that_shows_a_failure(stack: str, shop_url: str) -> None:
    """It is found for every one of them; names of customers are in none of the scripts."""
    seen = set()
    for name, trace in failed(stack):
        seen.add(name)
        stage = truth().verdicts[stack][name]["stage"]
        case = truth().cases[name]
        found = slice_failure(trace, case, shop_url, tenant=("tenant_id", 1), stage=stage)
        assert found.row_count <= MAX_ROWS
        assert "@example.com" not in found.script
    assert seen == {
        name for name, one in truth().verdicts[stack].items() if one["verdict"] == "FAIL"
    }
