"""Which stage a failure goes back to: where it shows is often later than where it was made."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import NumbersGrounded
from dbagenteval.compare import compare_rows
from dbagenteval.failures.agent_sql import closest_edit, dialect_of, is_sql
from dbagenteval.failures.database_errors import blames_statement
from dbagenteval.failures.edit import SqlEdit
from dbagenteval.failures.structure import outline
from dbagenteval.failures.wording import edit_words
from dbagenteval.printable import printable
from dbagenteval.scorecard import FAIL, PASS, CheckResult, Scorecard
from dbagenteval.traces import Rows, Stage, Trace

__all__ = ["Blame", "RunAgain", "blame", "kind_of"]

_BEFORE_SQL = ("route", "plan", "retrieve")
_WITHIN_ITSELF = (*_BEFORE_SQL, "generate")
"""Stages whose own failure is not taken further back."""

_OF_THE_RESULT = ("reference_rows", "rows_match", "reference_numbers")
_KEEPS_ROWS = ("limit", "order", "column_order", "extra_column")
"""Edits after which a result may still hold the rows of the reference."""

_MAX_ERROR_CHARS = 120

RunAgain = Callable[[str, Trace], "Rows | None"]
"""Runs SQL of a trace; None if it may not run or fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """The stage that a failure goes back to.

    Args:
        stage: Its name in the trace; its kind where the trace has no such stage.
        kind: `route`, `plan`, `retrieve`, `generate`, `execute` or `answer`.
        why: One line for a person.
        given_tables: Would the rest have passed, had the agent known the right tables? None if
            the trace can't tell; so for the others.
        given_sql: Would it with the right SQL?
        given_rows: Would it with the right rows?
    """

    stage: str
    kind: str
    why: str
    given_tables: bool | None = None
    given_sql: bool | None = None
    given_rows: bool | None = None

    @property
    def words(self) -> str:
        """Stage, why, and for wrong SQL whether the right one would have been enough."""
        if self.kind != "generate" or self.given_sql is None:
            return f"{self.stage}: {self.why}"
        rest = "would have been enough" if self.given_sql else "would not have been enough"
        return f"{self.stage}: {self.why}; right SQL {rest}"

    def to_dict(self) -> dict[str, Any]:
        """Give it JSON-ready, with its words."""
        return {**asdict(self), "words": self.words}


def blame(
    card: Scorecard, trace: Trace, case: Case | None, *, again: RunAgain | None = None
) -> Blame | None:
    """Say which stage a failure goes back to.

    Wrong rows show at `execute`, but if they are what the agent's SQL says, the SQL is wrong; and
    if the SQL reads other tables than the reference since those were never retrieved, the search
    for tables is. With `again` the agent's SQL is run once more to tell wrong SQL from wrong rows;
    without it only the SQL is compared with the reference's.

    Args:
        card: The scorecard of the trace.
        trace: The trace.
        case: The case it was scored by, or None.
        again: Runs SQL of the agent, if the user asked for that.

    Returns:
        None if the card didn't fail.
    """
    failed = card.failed
    if failed is None or card.verdict != "FAIL":
        return None
    return _Culprit(card, failed, trace, case, again).found()


def _answer_fits(card: Scorecard, trace: Trace, case: Case | None) -> bool | None:
    """Say whether the answer says what the rows say that the agent had; None if that is unknown."""
    of_answers = {
        result.status
        for result in card.results
        if kind_of(trace, result) == "answer" and result.check not in _OF_THE_RESULT
    }
    if FAIL in of_answers:
        return False
    grounded = NumbersGrounded(executions="all").run(trace, case or Case(trace.question or "?"))
    return {PASS: True, FAIL: False}.get(grounded.status)


def kind_of(trace: Trace, result: CheckResult) -> str:
    """Give the kind of the stage that a result speaks of, its name if the trace has no such."""
    stage = trace.stage(result.stage)
    return result.stage if stage is None else stage.kind


class _Culprit:
    """Goes back from the stage that failed."""

    def __init__(
        self,
        card: Scorecard,
        failed: CheckResult,
        trace: Trace,
        case: Case | None,
        again: RunAgain | None,
    ) -> None:
        self._trace = trace
        self._failed = failed
        self._answer_fits = _answer_fits(card, trace, case)
        self._wanted = [one["rows"]["count"] for one in card.meta.get("reference") or ()]
        self._again = again
        self._case = case
        self._dialect = dialect_of(trace, case)
        self._written = self._sql_before(trace.stage(failed.stage))

    def found(self) -> Blame:
        kind = kind_of(self._trace, self._failed)
        if kind == "execute":
            return self._of_execution()
        is_within = kind in _WITHIN_ITSELF
        if self._failed.check == "reference_numbers" and not is_within:
            return self._of_result(instead="answer")
        why = f"its own check {self._failed.check} failed"
        return self._blame(kind if is_within else "answer", why, self._failed.stage)

    def _of_execution(self) -> Blame:
        stage = self._trace.stage(self._failed.stage)
        error = stage.error if stage is not None else None
        if self._failed.check == "no_error" and error is not None:
            told = printable(" ".join(error.split()), _MAX_ERROR_CHARS)
            if blames_statement(error):
                return self._of_sql(f"the database does not take the SQL: {told}")
            return self._blame("execute", f"the database failed: {told}")
        if self._failed.check in _OF_THE_RESULT:
            return self._of_result(instead="execute")
        return self._of_sql(f"{self._failed.check} failed on the rows that the SQL gave")

    def _of_result(self, *, instead: str) -> Blame:
        """Tell wrong SQL from right SQL whose result was changed on the way."""
        if self._written is None:
            if instead == "answer":
                return self._blame(instead, "the trace shows neither SQL nor rows, only the answer")
            return self._blame(instead, "the trace does not show the SQL that gave the rows")
        edit = closest_edit(str(self._written.output), self._case, self._dialect)
        if self._gives_other_rows():
            return self._blame("execute", "the SQL gives other rows when it is run again")
        if edit is not None and edit.kinds == ("same",):
            why = "the SQL does what the reference does, and the result is another"
            return self._blame(instead, why)
        if edit is None or edit.kinds[0] in ("rewritten", "unreadable"):
            return self._of_sql("the rows are other than the reference's")
        if self._answer_fits is False and self._rows_hold_more(edit):
            return self._blame("answer", "the rows hold what was asked for, the answer does not")
        return self._of_sql(edit_words(edit.kinds))

    def _of_sql(self, why: str) -> Blame:
        """Blame the SQL, or the stage that never gave it what it needed."""
        for stage in self._trace.stages:
            unseen = self._not_given_by(stage) if stage.kind in ("route", "retrieve") else None
            if unseen:
                told = printable(", ".join(sorted(unseen)), _MAX_ERROR_CHARS)
                return self._blame(stage.kind, f"it did not give {told}; {why}", stage.name)
        return self._blame("generate", why, self._written.name if self._written else "generate")

    def _blame(self, kind: str, why: str, stage: str | None = None) -> Blame:
        fits = self._answer_fits
        is_later = kind in ("execute", "answer")
        return Blame(
            stage=stage or self._name_of(kind),
            kind=kind,
            why=why,
            given_tables=None if kind in _BEFORE_SQL else False,
            given_sql=False if is_later else fits,
            given_rows=False if kind == "answer" else fits,
        )

    def _name_of(self, kind: str) -> str:
        """Give the stage that failed if it is of the kind, else the last one of the kind."""
        failed, last = self._trace.stage(self._failed.stage), self._trace.last_of(kind)
        if failed is not None and failed.kind == kind:
            return failed.name
        return last.name if last is not None else self._failed.stage

    def _sql_before(self, stage: Stage | None) -> Stage | None:
        """Give the SQL that led to a stage: the last that was written before it."""
        stages = self._trace.stages
        until = next((n for n, each in enumerate(stages) if each is stage), len(stages))
        written = [each for each in stages[:until] if is_sql(each)]
        return written[-1] if written else next(filter(is_sql, stages), None)

    def _not_given_by(self, stage: Stage) -> set[str]:
        """Give the tables that the reference reads, the SQL does not, and the stage did not name.

        Only a stage that gave tables of the SQL is one that gives tables.
        """
        references = () if self._case is None else self._case.reference_sqls
        if self._written is None or not references or stage.output is None:
            return set()
        used = _tables(str(self._written.output), self._dialect)
        needed = [_tables(reference, self._dialect) for reference in references]
        unused = set.intersection(*needed) - used
        given = set(re.findall(r"\w+", str(stage.output).casefold()))
        is_whole = stage.observed("output").is_evidence
        return unused - given if is_whole and used & given else set()

    def _rows_hold_more(self, edit: SqlEdit) -> bool:
        """Say whether the rows are the reference's and more, such as the first three for one."""
        stage = self._trace.last_of("execute")
        if stage is None or stage.rows is None or not self._wanted:
            return False
        keeps = all(kind.partition(":")[0] in _KEEPS_ROWS for kind in edit.kinds)
        return keeps and len(stage.rows) >= min(self._wanted)

    def _gives_other_rows(self) -> bool:
        """Say whether the SQL, run again, gives other rows than were recorded."""
        stage = self._trace.last_of("execute")
        if self._again is None or self._written is None or stage is None or stage.rows is None:
            return False
        rows = self._again(str(self._written.output), self._trace)
        return rows is not None and not compare_rows(rows, stage.rows).equal


def _tables(sql: str, dialect: str | None) -> set[str]:
    return {name.rpartition(".")[2].casefold() for name in outline(sql, dialect).tables}
