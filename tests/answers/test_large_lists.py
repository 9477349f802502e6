"""Time for long lists grows with their length, not faster."""

import time

import pytest

from dbagenteval.answers.labels import Labels
from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace


def seconds(check, size, line):
    rows = [{"store": f"Store {index}", "n": index} for index in range(size)]
    answer = "\n".join(line.format(index) for index in range(size))
    trace = Trace.simple("q", answer=answer, rows=rows)
    start = time.process_time()
    result = check.run(trace, Case("q"))
    return time.process_time() - start, result


@pytest.mark.parametrize("line", ["- Store {0}: {0}", "- Store {0}: the highest, {0}", "{0} rose."])
@pytest.mark.parametrize("check", [ClaimsGrounded(), NumbersGrounded(pairing=True)])
def test_eight_times_as_many_items_take_about_eight_times_as_long(check, line):
    """Names that share their first word, and a claim in each line, cost no pass over all rows."""
    seconds(check, 50, line)
    short, _ = seconds(check, 250, line)
    long, _ = seconds(check, 2_000, line)
    assert long < max(30 * short, 1.0)


def test_the_longest_name_is_found_among_many_that_begin_alike():
    """Of `Store 1` and `Store 1 North` the longer counts, in every column that holds it."""
    rows = [
        {"a": "Store 1", "b": "x1"},
        {"a": "Store 1 North", "b": "Store 1 North"},
        {"a": "Store 2", "b": "x2"},
    ]
    found = Labels(rows).mentions("Store 1 North, store 2 and Store 1")
    named = [(one.label, one.column, sorted(one.rows)) for one in found]
    assert named == [
        ("Store 1 North", "a", [1]),
        ("Store 1 North", "b", [1]),
        ("Store 2", "a", [2]),
        ("Store 1", "a", [0]),
    ]
