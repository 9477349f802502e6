"""Case, its turns, and choosing cases."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dbagenteval import Case, filter_cases
from dbagenteval.cases import Turn, matching
from dbagenteval.errors import UserError


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"question": " "}, "'question' must be a non-empty string"),
        ({"question": 3}, "'question' must be a non-empty string"),
        ({"expect": []}, "'expect' must be a mapping of stage name to expected value"),
        ({"expect": {1: 2}}, "'expect' keys must be stage names (strings)"),
        ({"reference_sql": " "}, "'reference_sql' must be a non-empty SQL string"),
        ({"reference_sql": []}, "'reference_sql' must be a non-empty SQL string"),
        ({"reference_sql": ["SELECT 1", ""]}, "'reference_sql' must be a non-empty SQL string"),
        ({"reference_sql": 1}, "'reference_sql' must be a non-empty SQL string"),
        ({"tags": [1]}, "'tags' must be a list of strings"),
        ({"tags": {"a": 1}}, "'tags' must be a list of strings"),
        ({"ordered": "yes"}, "'ordered' must be true or false"),
        ({"ordered": None}, "'ordered' must be true or false"),
        ({"precision": 2.0}, "'precision' must be a whole number of decimal places"),
        ({"precision": True}, "'precision' must be a whole number of decimal places"),
        ({"precision": -1}, "'precision' cannot be negative"),
        (
            {"expect": {"rows": 3}},
            "'expect.rows' must be a list of rows, or a list of accepted answers",
        ),
        ({"expect": {"rows": [{"a": 1}, [{"a": 1}]]}}, "'expect.rows' mixes rows and lists"),
        ({"expect": {"rows": [{}]}}, "each row in 'expect.rows' must be a non-empty mapping"),
        ({"expect": {"rows": [1]}}, "'expect.rows' mixes rows and lists"),
        (
            {"expect": {"rows": [[1]]}},
            "each row in 'expect.rows' must be a non-empty mapping",
        ),
        ({"expect": {"rows": [{True: 1}]}}, "column name True in 'expect.rows' must be text"),
        *(
            ({"dialect": name}, "'dialect' must be the name of a database type, such as postgres")
            for name in ("", "postgrs", 5)
        ),
        ({"timeout": 0}, "'timeout' must be a number of seconds above 0"),
        ({"timeout": True}, "'timeout' must be a number of seconds above 0"),
        ({"timeout": float("nan")}, "'timeout' must be a number of seconds above 0"),
        ({"tolerance": 0.1}, "'tolerance' must hold 'relative', 'absolute' or both"),
        ({"tolerance": {}}, "'tolerance' must hold 'relative', 'absolute' or both"),
        ({"tolerance": {"relative": -1}}, "'tolerance' must hold 'relative', 'absolute' or both"),
        ({"tolerance": {"rel": 1}}, "'tolerance' must hold 'relative', 'absolute' or both"),
        ({"columns": "name"}, "'columns' must be one of by_value, by_name, got 'name'"),
        ({"extra_columns": None}, "'extra_columns' must be one of allow, fail, got None"),
        ({"empty": "skip"}, "'empty' must be one of pass, fail, got 'skip'"),
        ({"ties": "any"}, "'ties' must be one of reject, accept, got 'any'"),
        ({"turns": "q"}, "'turns' must be a list of questions"),
        ({"turns": [{"question": "q"}]}, "a case with 'turns' needs an 'id'"),
        ({"id": "a", "turns": ["q"]}, "turn 1 must be a mapping, got 'q'"),
        (
            {"id": "a", "turns": [{"question": "q", "expects": 1}]},
            "turn 1: unknown field(s) ['expects']",
        ),
        ({"id": "a", "turns": [{"question": "q"}, {}]}, "turn 2: missing 'question'"),
        (
            {"id": "a", "turns": [{"question": "q", "expect": {"rows": 1}}]},
            "turn 1: 'expect.rows' must be a list",
        ),
    ],
)
def test_a_field_of_the_wrong_shape_is_named(fields: dict[str, Any], message: str) -> None:
    """At construction and when read from a file."""
    given = {"question": "q", **fields}
    with pytest.raises(ValueError, match=re.escape(message)):
        Case(**given)
    with pytest.raises(ValueError, match=re.escape(message)):
        Case.from_dict(given)


def test_defaults_and_leniencies() -> None:
    """One tag may be a text, an id may be a number, null means not given."""
    case = Case.from_dict(
        {"question": "q", "id": 7, "tags": "x", "expect": None, "reference_sql": None}
    )
    assert (case.id, case.tags, case.expect, case.reference_sqls) == ("7", ["x"], {}, [])
    assert (case.ordered, case.precision, case.key) == (False, 2, "7")
    assert Case("q", id=None).key == "q"  # type: ignore[arg-type]
    assert Case("q").accepted_answers is None
    assert Case("q", expect={"rows": []}).accepted_answers == [[]]
    assert Case("q", expect={"rows": [[]]}).accepted_answers == [[]]
    assert Case("q", expect={"rows": [[{"a": 1}], []]}).accepted_answers == [[{"a": 1}], []]


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("tolerence", "tags; did you mean 'tolerance'?"),
        ("turn", "tags; did you mean 'turns'?"),
        ("expects", "reference_sql, tags"),
        ("zzz", "reference_sql, tags"),
    ],
)
def test_an_unknown_field_that_is_close_to_one_beyond_the_guide(name: str, ending: str) -> None:
    """The documented fields are listed always; a further one is named when it is meant."""
    with pytest.raises(ValueError) as raised:
        Case.from_dict({"question": "q", name: 1, 7: 1})
    assert str(raised.value).startswith(
        f"unknown field(s) ['7', '{name}']; allowed: expect, id, ordered,"
    )
    assert str(raised.value).endswith(ending)


def test_a_conversation_gives_one_case_for_each_turn() -> None:
    """Each has its own question, expectations and reference, and the settings of the whole."""
    case = Case.from_dict(
        {
            "id": "s",
            "tags": ["t"],
            "precision": 4,
            "turns": [
                {"question": "How many?", "reference_sql": "SELECT 1"},
                {"question": "And last year?", "expect": {"rows": [{"n": 2}]}},
            ],
        }
    )
    assert case.question == "How many?"
    assert case.turns == [Turn("And last year?", {"rows": [{"n": 2}]})]
    assert case.each_turn() == [
        Case("How many?", reference_sql="SELECT 1", id="s#1", tags=["t"], precision=4),
        Case("And last year?", expect={"rows": [{"n": 2}]}, id="s#2", tags=["t"], precision=4),
    ]


def test_turns_may_follow_the_question_of_the_case() -> None:
    """The case's own question is then the first turn."""
    case = Case("How many?", {"view": "orders"}, id="s", turns=[Turn("And last year?")])
    assert [(each.id, each.question, each.expect) for each in case.each_turn()] == [
        ("s#1", "How many?", {"view": "orders"}),
        ("s#2", "And last year?", {}),
    ]
    assert Case("q").each_turn() == [Case("q")]


def test_expectations_of_a_case_without_question_belong_in_a_turn() -> None:
    """Else nobody knows which turn they are for."""
    with pytest.raises(ValueError, match="'expect' belongs in a turn"):
        Case.from_dict({"id": "s", "expect": {"view": "x"}, "turns": [{"question": "q"}]})


CASES = [
    Case("How many orders?", id="count", tags=["easy"]),
    Case("What is the revenue?", id="revenue", tags=["easy", "money"]),
    Case("Say hello", tags=["smalltalk"]),
]


@pytest.mark.parametrize(
    ("tags", "keys"),
    [
        ([], ["count", "revenue", "Say hello"]),
        (["money", "smalltalk"], ["revenue", "Say hello"]),
        (["Money"], []),
    ],
)
def test_cases_with_one_of_the_tags(tags: list[str], keys: list[str]) -> None:
    """In their order; case matters; no tags choose all."""
    assert [case.key for case in filter_cases(CASES, tags)] == keys


@pytest.mark.parametrize(
    ("expression", "keys"),
    [
        ("ORDERS", ["count"]),
        ("easy and not money", ["count"]),
        ("revenue or hello", ["revenue", "Say hello"]),
        ("not (revenue or hello)", ["count"]),
        ("not not money", ["revenue"]),
        ("count or easy and money", ["count", "revenue"]),
        ("nothing", []),
    ],
)
def test_cases_that_match_an_expression(expression: str, keys: list[str]) -> None:
    """Words occur in id, question or tags; `not` binds tighter than `and`, that than `or`."""
    assert [case.key for case in matching(CASES, expression)] == keys


@pytest.mark.parametrize("expression", ["", "and", "a b", "(a", "a)", "not", "a or"])
def test_a_malformed_expression(expression: str) -> None:
    """It is a mistake of the user, not a choice of nothing."""
    with pytest.raises(UserError, match=r"^-k "):
        matching(CASES, expression)
