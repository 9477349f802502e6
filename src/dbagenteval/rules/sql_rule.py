"""SqlRule: what every rule over the agent's SQL is a kind of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from dbagenteval.cases import Case
from dbagenteval.checks import Check
from dbagenteval.errors import quoted
from dbagenteval.rules.query.dialects import check_dialect, from_system_name
from dbagenteval.rules.query.sql import Sql, read_sql
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Stage, Trace

__all__ = ["Finding", "SqlRule", "names_of"]

_MAX_DETAIL_CHARS = 1000


class Finding(str):
    """A problem that is no plain failure, or a note beside a pass.

    Args:
        text: For a person.
        status: `SKIP` when the evidence is missing, `PASS` for a warning beside a pass.
    """

    __slots__ = ("status",)
    status: str

    def __new__(cls, text: str, status: str) -> Finding:  # noqa: PYI034 # Self needs 3.11
        """Make the text carry a status."""
        self = super().__new__(cls, text)
        self.status = status
        return self


class SqlRule(Check):
    """A rule that every SQL text of the trace must keep. Subclass it and give `problem`.

    Every statement of every generate stage is checked, failed attempts too; the first problem
    fails the rule at its stage. What can't be parsed or analysed fails and the detail says why.

    Args:
        stage: Name of the one stage whose output is the SQL; None means every generate stage.
        dialect: sqlglot's name of the SQL dialect; None means the case's, else what the trace's
            spans say, else the standard's reading.
        attempts: `all`, or `final` to look only at the last generate stage of an agent that
            corrects itself; what it ran before is then not checked.

    Raises:
        ValueError: Unknown dialect, or `attempts` is neither word.
    """

    def __init__(
        self, stage: str | None = None, dialect: str | None = None, *, attempts: str = "all"
    ) -> None:
        if attempts not in ("all", "final"):
            raise ValueError(f"attempts must be 'all' or 'final', got {quoted(attempts)}")
        self.stage = stage
        self.dialect = None if dialect is None else check_dialect(dialect)
        self.attempts = attempts

    @abstractmethod
    def problem(self, statements: list[exp.Expr], trace: Trace) -> str | None:
        """Say what is wrong with the parsed statements of one SQL text, or give None."""

    def text_problem(self, sql: str) -> str | None:
        """Say what is wrong with the raw text, or give None; asked before `problem`."""
        del sql
        return None

    def sql_problem(self, sql: Sql, trace: Trace) -> str | None:
        """Say what is wrong with one parsed text; the rules of this package give this one."""
        return self.problem(sql.statements, trace)

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Check the SQL of the trace: `FAIL` at the first problem, `SKIP` without SQL."""
        stages = self._stages(trace)
        if stages is None:
            found = [stage.name for stage in trace.stages]
            return self.result(
                str(self.stage), FAIL, f"stage {self.stage!r} is not in the trace (found {found})"
            )
        dialect = self._dialect(trace, case)
        checked, notes = None, []
        for stage in stages:
            if stage.output is None or (isinstance(stage.output, str) and not stage.output.strip()):
                continue
            problem = self._stage_problem(stage, trace, dialect)
            status = problem.status if isinstance(problem, Finding) else FAIL
            if problem is not None and status != PASS:
                return self.result(stage.name, status, _cut(problem))
            if problem:
                notes.append(str(problem))
            checked = stage
        if checked is None:
            return self.result(self.stage or "generate", SKIP, "no SQL to check")
        return self.result(checked.name, PASS, _cut("; ".join(dict.fromkeys(notes))))

    def _stages(self, trace: Trace) -> list[Stage] | None:
        if self.stage is not None:
            named = trace.stage(self.stage)
            if named is not None:
                return [named]
            # A trace that wrote no SQL at all lacks nothing.
            return None if trace.last_of("generate") is not None else []
        stages = [stage for stage in trace.stages if stage.kind == "generate"]
        return stages[-1:] if self.attempts == "final" else stages

    def _dialect(self, trace: Trace, case: Case) -> str | None:
        if self.dialect is not None:
            return self.dialect
        for given in (case.dialect, trace.meta.get("dialect")):
            known = from_system_name(given) if isinstance(given, str) and given else None
            if known is not None:
                return known
        return None

    def _stage_problem(self, stage: Stage, trace: Trace, dialect: str | None) -> str | None:
        observed = stage.meta.get("observed", {}).get("output")
        if observed is not None and not stage.observed("output").is_evidence:
            return Finding(f"the SQL was not seen: {stage.observed('output').why}", SKIP)
        if not isinstance(stage.output, str):
            return f"the stage output must be the SQL text, got {quoted(stage.output)}"
        sql = read_sql(stage.output, dialect)
        if sql.problem:
            return sql.problem
        problem = self.text_problem(stage.output)
        if problem:
            return problem
        try:
            return self.sql_problem(sql, trace)
        except RecursionError:
            return "SQL is too deeply nested to analyse"
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # A tree of a shape nobody foresaw: what can't be understood fails.
            return f"SQL could not be analysed by this rule ({type(error).__name__}: {error})"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_DETAIL_CHARS else text[: _MAX_DETAIL_CHARS - 1] + "…"


def names_of(given: str | Iterable[Any] | None) -> tuple[str, ...]:
    """Give the names of a list argument; a bare text is one name."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(str(name) for name in given)
