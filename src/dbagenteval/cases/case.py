"""Case: one question and the correct result for it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from dbagenteval.traces import Rows

__all__ = ["DOCUMENTED_FIELDS", "Case", "Turn"]

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


@dataclass
class Turn:
    """One question of a conversation, with its own reference and expectations.

    Args:
        question: What the user asks in this turn.
        expect: As in `Case`.
        reference_sql: As in `Case`.
    """

    question: str
    expect: dict[str, Any] = field(default_factory=dict)
    reference_sql: str | list[str] | None = None


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

    def __post_init__(self) -> None:
        self._check_question_and_expect()
        if self.reference_sql is not None and not self.reference_sqls:
            raise ValueError("'reference_sql' must be a non-empty SQL string")
        tags: object = self.tags
        precision: object = self.precision
        if isinstance(tags, str):
            self.tags = tags = [tags]
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("'tags' must be a list of strings")
        if not isinstance(self.ordered, bool) and self.ordered != "auto":
            raise ValueError("'ordered' must be true or false")
        if not isinstance(precision, int) or isinstance(precision, bool):
            raise ValueError("'precision' must be a whole number of decimal places")
        if self.precision < 0:
            raise ValueError("'precision' cannot be negative")
        given_id: object = self.id
        self.id = "" if given_id is None else str(given_id)
        _ = self.accepted_answers

    def _check_question_and_expect(self) -> None:
        question: object = self.question
        expect: object = self.expect
        if not isinstance(question, str) or not question.strip():
            raise ValueError("'question' must be a non-empty string")
        if not isinstance(expect, dict):
            raise ValueError("'expect' must be a mapping of stage name to expected value")
        if not all(isinstance(key, str) for key in expect):
            raise ValueError("'expect' keys must be stage names (strings)")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Case:
        """Read one item of a cases file.

        Raises:
            ValueError: Unknown or missing field, or a field of the wrong shape.
        """
        allowed = {item.name for item in fields(cls)}
        unknown = sorted(str(key) for key in data if key not in allowed)
        if unknown:
            raise ValueError(f"unknown field(s) {unknown}; allowed: {', '.join(DOCUMENTED_FIELDS)}")
        if "question" not in data:
            raise ValueError("missing 'question'")
        given = {
            key: value
            for key, value in data.items()
            if value is not None or key not in ("expect", "tags")
        }
        return cls(**given)

    @property
    def key(self) -> str:
        """Id if there is one, else the question: what identifies the case in a file."""
        return self.id or self.question

    @property
    def reference_sqls(self) -> list[str]:
        """The reference queries; empty if there is none or one is no text."""
        given: object = self.reference_sql
        several = [given] if isinstance(given, str) else given
        if not isinstance(several, list):
            return []
        usable = [sql for sql in several if isinstance(sql, str) and sql.strip()]
        return usable if len(usable) == len(several) else []

    @property
    def accepted_answers(self) -> list[Rows] | None:
        """The row lists of `expect.rows`, each one a correct result; None if there are none."""
        if "rows" not in self.expect:
            return None
        rows = self.expect["rows"]
        if not isinstance(rows, list):
            raise ValueError("'expect.rows' must be a list of rows, or a list of accepted answers")
        if all(isinstance(item, list) for item in rows) and rows:
            answers = rows
        elif any(isinstance(item, list) for item in rows):
            raise ValueError(
                "'expect.rows' mixes rows and lists; "
                "give either one list of rows or a list of accepted answers"
            )
        else:
            answers = [rows]
        for answer in answers:
            for row in answer:
                _check_row(row)
        return answers


def _check_row(row: object) -> None:
    if not isinstance(row, dict) or not row:
        raise ValueError("each row in 'expect.rows' must be a non-empty mapping")
    for name in row:
        if not isinstance(name, str):
            raise ValueError(
                f"column name {name!r} in 'expect.rows' must be text; "
                f'write it in quotes, as "{name}"'
            )
