"""Case: one question and the correct result for it."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dbagenteval.cases.shape import accepted_answers, check_question_and_expect, usable_sqls
from dbagenteval.cases.turn import Turn, as_turns
from dbagenteval.dialects import SOME_DIALECTS, is_dialect
from dbagenteval.errors import quoted
from dbagenteval.traces import Rows

__all__ = ["DOCUMENTED_FIELDS", "Case"]

DOCUMENTED_FIELDS = (
    "expect",
    "id",
    "ordered",
    "precision",
    "question",
    "reference_sql",
    "tags",
)
"""The fields of the user's guide; the message about an unknown field lists these."""

_CHOICES = {
    "columns": ("by_value", "by_name"),
    "extra_columns": ("allow", "fail"),
    "empty": ("pass", "fail"),
    "ties": ("reject", "accept"),
    "sql": ("any", "none", "required"),
    "text_numbers": ("typed", "equal"),
    "trim_char_padding": (True, False),
    "status": ("accepted", "draft"),
}
_OF_A_TURN = ("expect", "reference_sql")


@dataclass
class Case:
    """One test: a question, and the correct result for it.

    Args:
        question: The question to ask.
        expect: Stage name to expected value; the key `rows` is the correct rows.
        reference_sql: A correct query, or several of which one must agree.
        id: Short name, shown in the output.
        tags: Labels to group cases.
        ordered: True when the order of rows matters; `auto` takes it from the reference's
            outermost ORDER BY.
        precision: Decimal places that numbers are compared at.
        dialect: sqlglot dialect of the agent's SQL for rules that name none.
        timeout: Seconds the agent may take, or None for the suite's setting.
        turns: Follow-up questions; empty for a single question.
        tolerance: `{relative: float, absolute: float}` in place of `precision`.
        columns: `by_value` (names may differ) or `by_name`.
        extra_columns: `allow` or `fail`.
        empty: `pass` or `fail`: what two empty results mean.
        ties: `reject` or `accept`: whether a LIMIT cut through ties accepts every right set.
        text_numbers: `typed`, or `equal` where `1.10` and `1.1` are the same in text columns too.
        trim_char_padding: Blanks around text do not count, as for columns of type CHAR.
        sql: `any`, `none` (small talk, a refusal) or `required`: what a right answer takes.
        status: `accepted`, or `draft` while no person has said that it is right.
        data: SQL script of the data that the case runs on, in place of the database; in a file
            relative to it.
        harvested: Where a case made from a trace came from: trace id, time, service, ….

    Raises:
        ValueError: A field has the wrong type or shape; the message names the field.
    """

    question: str
    expect: dict[str, Any] = field(default_factory=dict)
    reference_sql: str | list[str] | None = None
    id: str = ""
    tags: list[str] = field(default_factory=list)
    ordered: bool | str = False
    precision: int = 2
    dialect: str | None = field(default=None, kw_only=True)
    timeout: float | None = field(default=None, kw_only=True)
    turns: list[Turn] = field(default_factory=list, kw_only=True)
    tolerance: dict[str, float] | None = field(default=None, kw_only=True)
    columns: str = field(default="by_value", kw_only=True)
    extra_columns: str = field(default="allow", kw_only=True)
    empty: str = field(default="pass", kw_only=True)
    ties: str = field(default="reject", kw_only=True)
    sql: str = field(default="any", kw_only=True)
    text_numbers: str = field(default="typed", kw_only=True)
    trim_char_padding: bool = field(default=False, kw_only=True)
    status: str = field(default="accepted", kw_only=True)
    data: str | None = field(default=None, kw_only=True)
    harvested: dict[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        check_question_and_expect(self.question, self.expect)
        usable_sqls(self.reference_sql)
        self._check_tags()
        self._check_ordered_and_precision()
        given_id: object = self.id
        self.id = "" if given_id is None else str(given_id)
        accepted_answers(self.expect)
        self._check_further_fields()
        self.turns = as_turns(self.turns)
        if self.turns and not self.id:
            raise ValueError("a case with 'turns' needs an 'id'")

    def _check_tags(self) -> None:
        tags: object = self.tags
        if isinstance(tags, str):
            self.tags = tags = [tags]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("'tags' must be a list of strings")

    def _check_ordered_and_precision(self) -> None:
        precision: object = self.precision
        if not isinstance(self.ordered, bool) and self.ordered != "auto":
            raise ValueError("'ordered' must be true or false")
        if not isinstance(precision, int) or isinstance(precision, bool):
            raise ValueError("'precision' must be a whole number of decimal places")
        if self.precision < 0:
            raise ValueError("'precision' cannot be negative")

    def _check_further_fields(self) -> None:
        dialect: object = self.dialect
        if dialect is not None and (not isinstance(dialect, str) or not is_dialect(dialect)):
            raise ValueError(
                f"'dialect' must be the name of a database type, such as {SOME_DIALECTS}"
            )
        if self.timeout is not None and not _is_amount(self.timeout, positive=True):
            raise ValueError("'timeout' must be a number of seconds above 0")
        tolerance: object = self.tolerance
        if tolerance is not None and not (
            isinstance(tolerance, dict)
            and tolerance
            and set(tolerance) <= {"relative", "absolute"}
            and all(_is_amount(value) for value in tolerance.values())
        ):
            raise ValueError(
                "'tolerance' must hold 'relative', 'absolute' or both, numbers of 0 or more"
            )
        data: object = self.data
        harvested: object = self.harvested
        if data is not None and (not isinstance(data, str) or not data.strip()):
            raise ValueError("'data' must be the path of a SQL script")
        if not isinstance(harvested, dict):
            raise ValueError("'harvested' must be a mapping: trace, time, service and so on")
        for name, choices in _CHOICES.items():
            given = getattr(self, name)
            if given not in choices or type(given) is not type(choices[0]):
                words = ", ".join(str(choice).lower() for choice in choices)
                raise ValueError(f"'{name}' must be one of {words}, got {quoted(given)}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Case:
        """Read one item of a cases file.

        A case with `turns` may leave its own `question` out: its first turn takes that place.

        Raises:
            ValueError: Unknown or missing field, or a field of the wrong shape.
        """
        allowed = {item.name for item in fields(cls)}
        unknown = sorted(str(key) for key in data if key not in allowed)
        if unknown:
            raise ValueError(
                f"unknown field(s) {unknown}; allowed: {', '.join(DOCUMENTED_FIELDS)}"
                + _suggestion(unknown, allowed)
            )
        given = {
            key: value
            for key, value in data.items()
            if value is not None or key not in ("expect", "tags", "turns", "harvested")
        }
        if "question" not in given and given.get("turns"):
            given = _with_first_turn(given)
        if "question" not in given:
            raise ValueError("missing 'question'")
        return cls(**given)

    @property
    def key(self) -> str:
        """Id if there is one, else the question: what identifies the case in a file."""
        return self.id or self.question

    @property
    def is_draft(self) -> bool:
        """True while no person has accepted the case; a draft never passes."""
        return self.status == "draft"

    @property
    def reference_sqls(self) -> list[str]:
        """The reference queries; empty if there is none."""
        return usable_sqls(self.reference_sql)

    @property
    def accepted_answers(self) -> list[Rows] | None:
        """The row lists of `expect.rows`, each one a correct result; None if there are none."""
        return accepted_answers(self.expect)

    def each_turn(self) -> list[Case]:
        """Give one case for each question; a case without `turns` gives itself.

        The cases of a conversation have the ids `ID#1`, `ID#2` and so on, and the settings of
        this one.
        """
        if not self.turns:
            return [self]
        first = Turn(self.question, self.expect, self.reference_sql)
        return [
            replace(
                self,
                question=turn.question,
                expect=turn.expect,
                reference_sql=turn.reference_sql,
                id=f"{self.id}#{number}",
                turns=[],
            )
            for number, turn in enumerate([first, *self.turns], start=1)
        ]


def _is_amount(value: object, *, positive: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    return value > 0 if positive else value >= 0


def _suggestion(unknown: list[str], allowed: set[str]) -> str:
    """Name an undocumented field that is close; the message lists the documented ones already."""
    others = sorted(allowed - set(DOCUMENTED_FIELDS))
    close = [difflib.get_close_matches(name, others, n=1, cutoff=0.7) for name in unknown]
    found = sorted({match[0] for match in close if match})
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def _with_first_turn(given: dict[str, Any]) -> dict[str, Any]:
    misplaced = [name for name in _OF_A_TURN if given.get(name)]
    if misplaced:
        raise ValueError(f"'{misplaced[0]}' belongs in a turn when the case has no 'question'")
    first, *following = as_turns(given["turns"])
    return {
        **given,
        "question": first.question,
        "expect": first.expect,
        "reference_sql": first.reference_sql,
        "turns": following,
    }
