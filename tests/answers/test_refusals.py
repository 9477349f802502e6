"""Refusals, hedges, negations and bounds state no value; plain statements do."""

import pytest

from dbagenteval.cases import Case
from dbagenteval.checks.numbers import NumbersGrounded, reference_numbers, states_value
from dbagenteval.evaluation import try_evaluate
from dbagenteval.traces import Trace

ZERO, EMPTY, NULL = [{"n": 0}], [], [{"n": None}]
FALSE, TRUE, ANN, MANY = [{"late": False}], [{"late": True}], [{"name": "Ann"}], [{"n": 42}]


def status(answer, rows, question="How many / who?"):
    return reference_numbers(answer, question, rows)[0]


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "The database is not reachable.",
        "Sorry: unknown column status.",
        "I do not have access to that data.",
        "The query could not be run.",
        "No idea.",
        "I can't tell.",
        "The query failed.",
        "The server did not respond.",
        "I have no access to the orders.",
        "I am not sure.",
        "Access denied.",
        "The number could not be determined.",
        "Ich weiß es nicht.",
        "Die Datenbank ist nicht erreichbar.",
        "Je ne sais pas.",
        "No tengo acceso a los datos.",
        "Non lo so, non ho accesso.",
        "无法查询数据库。",
        "わかりません。",
    ],
)
@pytest.mark.parametrize("rows", [ZERO, EMPTY, FALSE, TRUE, ANN, MANY])
def test_a_refusal_states_nothing(answer, rows):
    """Neither zero nor emptiness, nor false, nor any value."""
    assert status(answer, rows) == "fail"


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("There are no orders.", ZERO),
        ("No orders were cancelled.", ZERO),
        ("None.", ZERO),
        ("0", ZERO),
        ("Nobody did.", ZERO),
        ("We don't have any.", ZERO),
        ("There weren't any cancelled orders.", ZERO),
        ("Es gibt keine Bestellungen.", ZERO),
        ("Il n'y a pas de commandes.", ZERO),
        ("No hay pedidos.", ZERO),
        ("注文はありません。", ZERO),
        ("No orders were found.", EMPTY),
        ("I could not find any orders.", EMPTY),
        ("No such customer exists; the result is empty.", EMPTY),
        ("I'm sorry, but there are no orders.", EMPTY),
        ("The delivery date is not known.", NULL),
        ("It is unknown.", NULL),
        ("No, it is not late.", FALSE),
        ("It is not late.", FALSE),
        ("It isn't.", FALSE),
        ("Yes.", TRUE),
        ("Yes, but not by much.", TRUE),
    ],
)
def test_nothing_and_no_are_stated(answer, rows):
    """An answer that says that there is none states zero, emptiness or false."""
    assert status(answer, rows) == "pass"


@pytest.mark.parametrize(
    ("answer", "rows"),
    [("Yes, not one was late.", FALSE), ("No.", TRUE), ("It is not true.", TRUE)],
)
def test_the_other_truth_fails(answer, rows):
    """The first word decides."""
    assert status(answer, rows) == "fail"


@pytest.mark.parametrize(
    "answer",
    [
        "It is not Ann but Bo.",
        "Bo is our best seller, Ann is second.",
        "Bo, followed by Ann.",
        "Bo sold more than Ann.",
        "It isn't Ann.",
        "Ann is not the best; Bo is.",
        "I don't know whether Bo, Cy or Ann is the best.",
        "Maybe Ann.",
        "Nicht Ann, sondern Bo.",
    ],
)
def test_a_name_that_is_denied_or_ranked_behind_is_not_stated(answer):
    """Another one is meant, or none."""
    assert status(answer, ANN, "Who is the best seller?") == "fail"


@pytest.mark.parametrize(
    "answer",
    ["Ann.", "It is Ann, not Bo.", "Ann is first, Bo is second.", "Ann sold more than Bo."],
)
def test_a_name_that_is_meant_is_stated(answer):
    """Also beside the name of another."""
    assert status(answer, ANN, "Who is the best seller?") == "pass"


def test_who_is_second_may_be_answered_with_second():
    """A rank that the question asks for denies nothing."""
    assert status("Bo is first, Ann is second.", ANN, "Who is second?") == "pass"
    assert states_value("Bo is our best seller, Ann is second.", "Ann")


@pytest.mark.parametrize(
    "answer",
    [
        "There were fewer than 42 orders.",
        "There were more than 42 orders.",
        "At least 42 orders.",
        "I cannot confirm that there are 42 orders.",
        "There may be 42 orders.",
        "42 could not be confirmed.",
        "There are not exactly 42 orders.",
        "I don't know if there are 42.",
    ],
)
def test_a_bound_or_hedge_is_not_the_number(answer):
    """Neither more than 42 nor perhaps 42 is 42."""
    assert status(answer, MANY) == "fail"


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("There are 42 orders.", MANY),
        ("I'm not sure why, but there are 42 orders.", MANY),
        ("There are 42 orders and I cannot tell how many are late.", MANY),
        ("About 42.", MANY),
        ("Over 40 orders.", MANY),
        ("Nearly 12k.", [{"n": 11980}]),
        ("Exactly one order was cancelled.", [{"n": 1}]),
        ("There is only one order.", [{"n": 1}]),
        ("One order was cancelled.", [{"n": 1}]),
        ("Total: twelve", [{"n": 12}]),
        ("Total: forty-two", MANY),
        ("I found forty-two.", MANY),
    ],
)
def test_a_number_that_is_claimed_is_stated(answer, rows):
    """A hedge about something else, a rounding or a number in words takes nothing from it."""
    assert status(answer, rows) == "pass"


@pytest.mark.parametrize("answer", ["No one ordered.", "One can see more of it.", "Each one is."])
def test_the_everyday_word_one_is_no_number(answer):
    """It states no 1, and nothing that must stand in the rows."""
    assert status(answer, [{"n": 1}]) == "fail"
    trace = Trace.simple("q", answer=answer, rows=MANY)
    assert NumbersGrounded().run(trace, Case("q")).status == "pass"


@pytest.mark.parametrize("answer", ["Exactly one order.", "There is one order.", "Total: twelve"])
def test_a_number_in_words_must_stand_in_the_rows(answer):
    """`Exactly one` and `total: twelve` claim a number."""
    trace = Trace.simple("q", answer=answer, rows=MANY * 2)
    assert NumbersGrounded().run(trace, Case("q")).status == "fail"


def test_a_failed_database_does_not_pass_a_case_whose_answer_is_zero():
    """The card of an agent that only reports a failure is no pass."""
    case = Case("How many were cancelled?", reference_sql="SELECT 0")
    trace = Trace.simple(case.question, answer="The database is not reachable.")
    assert try_evaluate(trace, case, execute=lambda _: ZERO).verdict == "FAIL"
