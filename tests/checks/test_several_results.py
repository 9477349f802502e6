"""An agent that asks the database in parts is judged by what it answered from all of them."""

import pytest

from dbagenteval import Case, Stage, Trace, evaluate

BOTH = [{"orders": 40, "refunds": 11}]
SHARE = [{"share": 10.6}]


def _verdict(question, executions, answer, reference, **meta):
    stages = []
    for number, rows in enumerate(executions):
        stages.append(Stage("generate", f"generate_{number}", f"SELECT {number} FROM t"))
        stages.append(Stage("execute", f"execute_{number}", rows=rows, meta=meta))
    stages.append(Stage("answer", output=answer))
    case = Case(question, reference_sql="SELECT 1 FROM t")
    card = evaluate(Trace(question, stages), case, execute=lambda _sql: reference)
    return card.verdict, card.failed_stage


def test_two_counts_make_up_the_reference():
    """Each execution gave one column of the reference, and the answer states both."""
    executions = [[{"orders": 40}], [{"refunds": 11}]]
    answer = "There were 40 orders and 11 refunds."
    assert _verdict("How many of both?", executions, answer, BOTH) == ("PASS", None)


def test_a_figure_worked_out_from_two_results():
    """The reference is one value, the answer states it beside the two it was worked out from."""
    executions = [[{"n": 5}], [{"n": 47}]]
    answer = "5 of 47 were cancelled, that is 10.6 percent."
    assert _verdict("What share?", executions, answer, SHARE) == ("PASS", None)


@pytest.mark.parametrize(
    ("executions", "answer", "reference"),
    [
        # The answer leaves a value out, states another, or invents one more.
        ([[{"orders": 40}], [{"refunds": 11}]], "There were 40 orders.", BOTH),
        ([[{"orders": 40}], [{"refunds": 12}]], "40 orders and 12 refunds.", BOTH),
        ([[{"orders": 40}], [{"refunds": 11}]], "40 orders, 11 refunds, 7 complaints.", BOTH),
        ([[{"n": 5}], [{"n": 47}]], "That is 12 percent.", SHARE),
        # The right values under the wrong names.
        ([[{"orders": 11}], [{"refunds": 40}]], "40 refunds and 11 orders.", BOTH),
        # Names that tell nothing of which value is which.
        ([[{"n": 40}], [{"n": 11}]], "40 orders and 11 refunds.", BOTH),
        # The right value was there once; the agent went on to another.
        ([[{"n": 42}], [{"n": 57}]], "I first counted 42, but it is 57.", [{"n": 42}]),
        ([[{"a": 42}], [{"b": 57}]], "57 this year, against 42 last year.", [{"n": 42}]),
        (
            [[{"name": "Toys"}, {"name": "Books"}], [{"name": "Toys", "n": 9}]],
            "Toys sells best, ahead of Books.",
            [{"name": "Books"}],
        ),
        ([[{"r": 3}], [{"n": 57}]], "57 stores in the top 3 regions.", [{"n": 3}]),
        # The values are swapped in the answer alone, or a result was left out of it.
        ([[{"orders": 40}], [{"refunds": 11}]], "There were 11 orders and 40 refunds.", BOTH),
        ([[{"orders": 40}], [{"refunds": 11}], [{"n": 7}]], "40 orders and 11 refunds.", BOTH),
        # Several rows, or one execution only.
        ([[{"orders": 40}]], "40 orders and 11 refunds.", BOTH),
        ([[{"orders": 40}, {"orders": 1}], [{"refunds": 11}]], "40 orders and 11 refunds.", BOTH),
    ],
)
def test_anything_less_stays_a_difference(executions, answer, reference):
    """The rows differ from the reference, and that is where it fails."""
    verdict, stage = _verdict("How many of both?", executions, answer, reference)
    assert (verdict, stage) == ("FAIL", f"execute_{len(executions) - 1}")


@pytest.mark.parametrize(("values", "verdict"), [((40, 11), "PASS"), ((11, 40), "FAIL")])
def test_columns_without_names_go_by_their_order(values, verdict):
    """Rows as tuples: the first query's value is the first column's."""
    executions = [[{"column_1": value}] for value in values]
    answer = "There were 40 orders and 11 refunds."
    found = _verdict("How many of both?", executions, answer, BOTH, positional=True)
    assert found[0] == verdict
