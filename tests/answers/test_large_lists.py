"""Work for long lists grows with their length, not faster."""

import pytest

from dbagenteval.answers.labels import Labels
from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.traces import Trace
from tests.effort import calls_of


def calls(check, size, line):
    rows = [{"store": f"Store {index}", "n": index} for index in range(size)]
    answer = "\n".join(line.format(index) for index in range(size))
    trace = Trace.simple("q", answer=answer, rows=rows)
    return calls_of(lambda: check.run(trace, Case("q")))


@pytest.mark.parametrize("line", ["- Store {0}: {0}", "- Store {0}: the highest, {0}", "{0} rose."])
@pytest.mark.parametrize("check", [ClaimsGrounded(), NumbersGrounded(pairing=True)])
def test_eight_times_as_many_items_take_about_eight_times_the_work(check, line):
    """Names that share their first word, and a claim in each line, cost no pass over all rows."""
    calls(check, 50, line)
    assert calls(check, 2_000, line) < 10 * calls(check, 250, line)


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
