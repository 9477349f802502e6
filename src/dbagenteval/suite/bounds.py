"""Executor, rules and judge that may take no longer than the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import Check, Executor, Judge
from dbagenteval.evaluation import rule_name
from dbagenteval.scorecard import CheckResult
from dbagenteval.suite.calls import Caller, TimeIsOver
from dbagenteval.traces import Trace

__all__ = ["Bounds"]


class Bounds:
    """Lets foreign code of one case run within a limit; one that hangs must not hang the run.

    Args:
        caller: Runs it.
        timeout: Seconds for each call.
    """

    def __init__(self, caller: Caller, timeout: float) -> None:
        self._caller = caller
        self._timeout = timeout
        self.timed_out = False

    def executor(self, execute: Executor) -> Executor:
        """Bound the executor."""
        return lambda sql: self._run("", lambda: execute(sql))

    def judge(self, judge: Judge) -> Judge:
        """Bound the judge."""
        return lambda prompt: self._run("the judge: ", lambda: judge(prompt))

    def rule(self, rule: Check) -> Check:
        """Bound a rule."""
        return _BoundedRule(rule, lambda run: self._run("", run))

    def _run(self, who: str, run: Callable[[], Any]) -> Any:
        try:
            return self._caller.within(self._timeout, run)
        except TimeIsOver as error:
            self.timed_out = True
            raise TimeoutError(f"{who}{error}") from None


class _BoundedRule(Check):
    def __init__(self, rule: Check, bounded: Callable[[Callable[[], Any]], Any]) -> None:
        self._rule = rule
        self._bounded = bounded
        self.name = rule_name(rule)  # type: ignore[misc]

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Run the rule."""
        return self._bounded(lambda: self._rule.run(trace, case))  # type: ignore[no-any-return]
