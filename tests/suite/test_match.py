"""Stored traces find their cases."""

import pytest

from dbagenteval.cases import Case, Turn
from dbagenteval.suite.match import Matcher, normalised
from dbagenteval.traces import Trace


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many orders?", "  how  MANY\torders "),
        ("How many orders?", "How many orders?!"),
        ("How many orders?", "How many orders …"),
        ("ＨＯＷ many orders？", "how many orders?"),
        ("Straße?", "STRASSE"),
        ("Cafe\u0301 sales", "Café sales."),
        ("注文はいくつですか？", "注文はいくつですか"),
        ("How many ﬁles?", "how many files"),
    ],
)
def test_questions_that_people_would_call_the_same(one, other):
    """Width, case, space, composition and end punctuation do not matter."""
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many orders?", "How many order?"),
        ("Orders in Q1?", "Orders in Q2?"),
        ("Wo ist Maß?", "Wo ist Mas?"),
        ("Sales (gross) today", "Sales gross today"),
    ],
)
def test_questions_that_differ(one, other):
    """Anything else does."""
    assert normalised(one) != normalised(other)


def test_a_question_of_punctuation_alone_stays_itself():
    """Stripping leaves something to compare."""
    assert normalised("???") == "???"


def test_the_id_wins_over_the_question():
    """A case id attribute is what the caller meant; a doubt is kept."""
    cases = [Case("How many?", id="a"), Case("How much?", id="b")]
    found = Matcher(cases).match(Trace("How many?", meta={"case_id": "b"}))
    assert found.case is cases[1]
    assert "How much?" in found.why


def test_an_unknown_id_matches_nothing():
    """A trace tagged for another file is not taken by its question."""
    found = Matcher([Case("How many?", id="a")]).match(Trace("How many?", meta={"case_id": "z"}))
    assert found.case is None
    assert "'z'" in found.why


def test_a_shared_question_needs_the_id():
    """Two cases with one question: guessing either would be a wrong verdict."""
    cases = [Case("How many?", id="a"), Case("how many", id="b")]
    matcher = Matcher(cases)
    found = matcher.match(Trace("How many?"))
    assert found.case is None
    assert "a, b" in found.why
    assert matcher.match(Trace("How many?", meta={"case_id": "a"})).case is cases[0]


def test_missing_lists_cases_without_a_trace():
    """Cases that nothing matched are known, in file order."""
    cases = [Case("One?"), Case("Two?", id="two"), Case("Three?")]
    matcher = Matcher(cases)
    matcher.match(Trace("two"))
    assert [case.key for case in matcher.missing] == ["One?", "Three?"]


def test_a_trace_without_question_and_id_says_so():
    """Such a trace is unmatched for a reason of its own."""
    assert "neither" in Matcher([Case("One?")]).match(Trace("  ")).why


CONVERSATION = Case(
    "How many orders?",
    id="talk",
    turns=[Turn("And last month?"), Turn("And in Leeds?")],
)


def _ask(matcher, question, session="s", **meta):
    found = matcher.match(Trace(question, meta={"session_id": session, **meta}))
    return found.case.id if found.case else None


def test_a_conversation_is_matched_turn_by_turn():
    """Follow-ups match within their session only; sessions may interleave."""
    matcher = Matcher([CONVERSATION, Case("And last month?", id="alone")])
    assert _ask(matcher, "how many orders") == "talk#1"
    assert _ask(matcher, "And last month?", session="other") == "alone"
    assert _ask(matcher, "How many orders?", session="b") == "talk#1"
    assert _ask(matcher, "And last month?") == "talk#2"
    assert _ask(matcher, "And in Leeds?", session="b") == "talk#3"
    assert _ask(matcher, "And in Leeds?") == "talk#3"
    assert matcher.missing == []


def test_a_follow_up_without_its_session_is_unmatched():
    """The words of a follow-up mean nothing outside their conversation."""
    matcher = Matcher([CONVERSATION])
    assert _ask(matcher, "And last month?") is None
    assert _ask(matcher, "How many orders?", session="") == "talk#1"
    assert _ask(matcher, "And last month?", session="") is None


def test_another_question_in_the_session_says_where_it_stands():
    """The reason names the turn that was expected."""
    matcher = Matcher([CONVERSATION])
    assert _ask(matcher, "How many orders?") == "talk#1"
    found = matcher.match(Trace("And next year?", meta={"session_id": "s"}))
    assert found.case is None
    assert "talk#2: 'And last month?'" in found.why


def test_the_id_of_a_conversation_follows_its_turns():
    """With the case id on every turn, the question or else the order decides the turn."""
    matcher = Matcher([CONVERSATION])
    assert _ask(matcher, "How many orders are there?", case_id="talk") == "talk#1"
    assert _ask(matcher, "And in Leeds?", case_id="talk") == "talk#3"
    assert _ask(matcher, "And last month?", case_id="talk#2", session="z") == "talk#2"


def test_a_conversation_asked_again_in_one_session_starts_anew():
    """The first question opens the conversation again."""
    matcher = Matcher([CONVERSATION])
    asked = ["How many orders?", "And last month?", "How many orders?", "And last month?"]
    assert [_ask(matcher, question) for question in asked] == ["talk#1", "talk#2"] * 2
