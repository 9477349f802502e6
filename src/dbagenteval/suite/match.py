"""Which case does a stored trace answer?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from dbagenteval.cases import Case
from dbagenteval.traces import Trace

__all__ = ["Match", "Matcher", "normalised"]

_SPACE = re.compile(r"\s+")


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

    Args:
        cases: The cases; ids are unique.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = list(cases)
        self._by_id = {case.id: case for case in self._cases if case.id}
        self._by_question: dict[str, list[Case]] = {}
        for case in self._cases:
            self._by_question.setdefault(normalised(case.question), []).append(case)
        self._seen: set[str] = set()

    def match(self, trace: Trace) -> Match:
        """Find the case of one trace, and remember that the case has a trace."""
        found = self._find(trace)
        if found.case is not None:
            self._seen.add(found.case.key)
        return found

    @property
    def missing(self) -> list[Case]:
        """The cases that no trace has matched so far, in file order."""
        return [case for case in self._cases if case.key not in self._seen]

    def _find(self, trace: Trace) -> Match:
        question = normalised(trace.question)
        case_id = trace.meta.get("case_id")
        if case_id:
            case = self._by_id.get(str(case_id))
            if case is None:
                return Match(trace, None, f"no case has the id {str(case_id)!r}")
            if question and question != normalised(case.question):
                return Match(trace, case, f"matched by id; the case asks {case.question!r}")
            return Match(trace, case)
        if not question:
            return Match(trace, None, "the trace has neither a case id nor a question")
        cases = self._by_question.get(question, [])
        if len(cases) == 1:
            return Match(trace, cases[0])
        if not cases:
            return Match(trace, None, "no case asks this question")
        ids = ", ".join(case.key for case in cases)
        return Match(
            trace, None, f"the cases {ids} share this question; set dbagenteval.case.id on the span"
        )


def normalised(question: str) -> str:
    """Give a question without what people vary: width, case, white space, end punctuation."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", question).casefold())
    # casefold can leave text that NFKC would change again (such as after a ligature).
    text = unicodedata.normalize("NFKC", text)
    end = len(text)
    while end and (text[end - 1].isspace() or unicodedata.category(text[end - 1])[0] == "P"):
        end -= 1
    return text[:end].strip() or text.strip()
