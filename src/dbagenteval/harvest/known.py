"""Which existing case asks already what a trace was asked?"""

from __future__ import annotations

from collections.abc import Iterable

from dbagenteval.cases import Case
from dbagenteval.failures import structure
from dbagenteval.failures.questions import words_of
from dbagenteval.harvest.candidates import Candidate
from dbagenteval.harvest.groups import are_alike
from dbagenteval.suite.match import normalised

__all__ = ["KnownCases"]


class KnownCases:
    """The cases that there are, drafts and rejected drafts included.

    Args:
        cases: The cases of all files.
        rejected: Questions of drafts that a person has rejected.
    """

    def __init__(self, cases: Iterable[Case], rejected: Iterable[str] = ()) -> None:
        self._by_question = {normalised(question): "a rejected draft" for question in rejected}
        self._by_turn: dict[tuple[str, str], str] = {}
        self._by_structure: dict[str, list[tuple[frozenset[str], str]]] = {}
        for case in cases:
            turn_of = (str(case.harvested.get("trace")), str(case.harvested.get("time")))
            self._by_turn.setdefault(turn_of, case.key)
            for turn in case.each_turn():
                self._by_question.setdefault(normalised(turn.question), turn.key)
                for sql in turn.reference_sqls:
                    known = self._by_structure.setdefault(structure(sql, case.dialect), [])
                    known.append((words_of(turn.question), turn.key))

    def covering(self, candidate: Candidate, question: str, sql: str | None) -> str | None:
        """Name the case that covers a candidate, or give None.

        Args:
            candidate: What may become a case.
            question: Its question without personal data, as a case holds it.
            sql: The proposed reference: a case whose reference does the same, for a question in
                nearly the same words, covers it too.
        """
        for asked in (candidate.key, normalised(question)):
            if asked in self._by_question:
                return self._by_question[asked]
        turn_of = (candidate.trace_id, candidate.time)
        if turn_of in self._by_turn:
            return self._by_turn[turn_of]
        known = self._by_structure.get(structure(sql, candidate.dialect), ()) if sql else ()
        words = words_of(question)
        return next((case for others, case in known if are_alike(words, others)), None)
