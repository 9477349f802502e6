"""Which case does a stored trace answer?"""

from __future__ import annotations

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from dbagenteval.cases import Case
from dbagenteval.traces import Trace

__all__ = ["Match", "Matcher", "normalised"]

_SPACE = re.compile(r"\s+")
_OPEN_SESSIONS = 100_000
"""Conversations that may be open at once; the oldest is given up first."""


@dataclass(frozen=True, slots=True)
class Match:
    """A trace with the case it answers.

    Args:
        trace: The trace.
        case: Its case, or None if it matched none.
        why: Why it matched none, or a doubt about the match; empty for a plain match.
    """

    trace: Trace
    case: Case | None
    why: str = ""


class Matcher:
    """Match traces to cases: by case id, else by question.

    Questions are compared after Unicode NFKC, without regard to case, white space and
    punctuation at the end. A question that several cases share matches none of them.

    A conversation is matched turn by turn: a trace with its first question opens it for the
    session, later traces of that session match the turns that are still to come. Turns are cases
    of their own, with the ids `ID#1`, `ID#2`, ….

    Args:
        cases: The cases; ids are unique.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases: list[Case] = []
        self._by_id: dict[str, Case] = {}
        self._by_question: dict[str, list[Case]] = {}
        self._conversations: dict[str, list[Case]] = {}
        self._expected: OrderedDict[str, list[Case]] = OrderedDict()
        self._seen: set[str] = set()
        for case in cases:
            turns = case.each_turn()
            self._cases += turns
            self._by_id.update({turn.id: turn for turn in turns if turn.id})
            self._by_question.setdefault(normalised(turns[0].question), []).append(turns[0])
            if case.turns:
                self._conversations[case.id] = turns

    def match(self, trace: Trace) -> Match:
        """Find the case of one trace, and remember that the case has a trace."""
        found = self._find(trace)
        if found.case is not None:
            self._seen.add(found.case.key)
            self._expect_follow_ups(trace, found.case)
        return found

    @property
    def missing(self) -> list[Case]:
        """The accepted cases that no trace has matched so far, in file order."""
        return [case for case in self._cases if case.key not in self._seen and not case.is_draft]

    @property
    def drafts(self) -> list[Case]:
        """The cases that nobody has accepted yet, in file order."""
        return [case for case in self._cases if case.is_draft]

    def why_missing(self, case: Case) -> str:
        """Say, after a colon, what keeps traces from matching a case; empty if nothing does."""
        others = self._by_question.get(normalised(case.question), [])
        if len(others) > 1 and case in others:
            keys = ", ".join(other.key for other in others if other is not case)
            return f": {keys} asks the same; its traces need dbagenteval.case.id"
        return ""

    def _find(self, trace: Trace) -> Match:
        question = normalised(trace.question)
        session = str(trace.meta.get("session_id") or "")
        case_id = str(trace.meta.get("case_id") or "")
        if case_id:
            return self._by_case_id(trace, case_id, question, session)
        if not question:
            return Match(trace, None, "the trace has neither a case id nor a question")
        for turn in self._expected.get(session, ()):
            if normalised(turn.question) == question:
                return Match(trace, turn)
        cases = self._by_question.get(question, [])
        if len(cases) == 1:
            return Match(trace, cases[0])
        if session in self._expected:
            waiting = self._expected[session][0]
            return Match(trace, None, f"its session is at {waiting.id}: {waiting.question!r}")
        if not cases:
            return Match(trace, None, "no case asks this question")
        ids = ", ".join(case.key for case in cases)
        return Match(
            trace, None, f"the cases {ids} share this question; set dbagenteval.case.id on the span"
        )

    def _by_case_id(self, trace: Trace, case_id: str, question: str, session: str) -> Match:
        turns = self._conversations.get(case_id)
        if turns is not None:
            to_come = self._expected.get(session) or turns
            asked = [turn for turn in (*to_come, *turns) if normalised(turn.question) == question]
            case: Case | None = asked[0] if asked else to_come[0]
        else:
            case = self._by_id.get(case_id)
        if case is None:
            return Match(trace, None, f"no case has the id {case_id!r}")
        if question and question != normalised(case.question):
            return Match(trace, case, f"matched by id; the case asks {case.question!r}")
        return Match(trace, case)

    def _expect_follow_ups(self, trace: Trace, case: Case) -> None:
        session = str(trace.meta.get("session_id") or "")
        conversation, separator, _ = case.id.rpartition("#")
        turns = self._conversations.get(conversation, []) if separator else []
        if not session or case not in turns:
            return
        self._expected.pop(session, None)
        to_come = turns[turns.index(case) + 1 :]
        if to_come:
            self._expected[session] = to_come
        if len(self._expected) > _OPEN_SESSIONS:
            self._expected.popitem(last=False)


def normalised(question: str) -> str:
    """Give a question without what people vary: width, case, white space, end punctuation."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", question).casefold())
    # casefold can leave text that NFKC would change again (such as after a ligature).
    text = unicodedata.normalize("NFKC", text)
    end = len(text)
    while end and (text[end - 1].isspace() or unicodedata.category(text[end - 1])[0] == "P"):
        end -= 1
    return text[:end].strip() or text.strip()
