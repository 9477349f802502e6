"""Choose cases by tag or by expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dbagenteval.cases.case import Case
from dbagenteval.errors import UserError

__all__ = ["filter_cases", "matching"]

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")
_Test = Callable[[str], bool]


def filter_cases(cases: Iterable[Case], tags: Iterable[str]) -> list[Case]:
    """Give the cases that have one of the tags, in their order; without tags, all cases."""
    wanted = set(tags)
    return [case for case in cases if not wanted or wanted & set(case.tags)]


def matching(cases: Iterable[Case], expression: str) -> list[Case]:
    """Give the cases whose id, question or tags match an expression, in their order.

    Args:
        cases: Cases to choose from.
        expression: Words joined by `and`, `or`, `not` and parentheses. A word matches where it
            occurs, in any case of letters.

    Raises:
        UserError: The expression is malformed.
    """
    test = _Parser(expression).parse()
    return [case for case in cases if test(_text(case))]


def _text(case: Case) -> str:
    questions = [turn.question for turn in case.turns]
    return "\n".join([case.id, case.question, *questions, *case.tags]).casefold()


class _Parser:
    """Recursive descent: or, and, not, then a word or a parenthesis."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = _TOKEN.findall(expression)

    def parse(self) -> _Test:
        test = self._any_of()
        if self.tokens:
            raise self._malformed(f"unexpected {self.tokens[0]!r}")
        return test

    def _any_of(self) -> _Test:
        tests = [self._all_of()]
        while self._take("or"):
            tests.append(self._all_of())
        return lambda text: any(test(text) for test in tests)

    def _all_of(self) -> _Test:
        tests = [self._negation()]
        while self._take("and"):
            tests.append(self._negation())
        return lambda text: all(test(text) for test in tests)

    def _negation(self) -> _Test:
        if self._take("not"):
            test = self._negation()
            return lambda text: not test(text)
        if self._take("("):
            test = self._any_of()
            if not self._take(")"):
                raise self._malformed("')' is missing")
            return test
        if not self.tokens or self.tokens[0].lower() in ("and", "or", ")"):
            raise self._malformed("a word is missing")
        word = self.tokens.pop(0).casefold()
        return lambda text: word in text

    def _take(self, token: str) -> bool:
        if self.tokens and self.tokens[0].lower() == token:
            self.tokens.pop(0)
            return True
        return False

    def _malformed(self, why: str) -> UserError:
        return UserError(
            f"-k {self.expression!r}: {why}; expected words joined by and, or, not and ( )"
        )
