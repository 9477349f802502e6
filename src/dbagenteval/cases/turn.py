"""Turn: one question of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from dbagenteval.cases.shape import accepted_answers, check_question_and_expect, usable_sqls
from dbagenteval.errors import quoted

__all__ = ["Turn", "as_turns"]


@dataclass
class Turn:
    """One question of a conversation, with its own reference and expectations.

    Args:
        question: What the user asks in this turn.
        expect: As in `Case`.
        reference_sql: As in `Case`.

    Raises:
        ValueError: A field has the wrong type or shape; the message names the field.
    """

    question: str
    expect: dict[str, Any] = field(default_factory=dict)
    reference_sql: str | list[str] | None = None

    def __post_init__(self) -> None:
        check_question_and_expect(self.question, self.expect)
        usable_sqls(self.reference_sql)
        accepted_answers(self.expect)


def as_turns(given: object) -> list[Turn]:
    """Read the `turns` of a case: mappings as a file holds them, or Turns.

    Raises:
        ValueError: Not a list of turns; the message names the turn.
    """
    if not isinstance(given, list):
        raise ValueError("'turns' must be a list of questions, each with its expectations")
    return [_as_turn(item, number) for number, item in enumerate(given, start=1)]


def _as_turn(item: object, number: int) -> Turn:
    if isinstance(item, Turn):
        return item
    if not isinstance(item, dict):
        raise ValueError(f"turn {number} must be a mapping, got {quoted(item)}")
    allowed = [each.name for each in fields(Turn)]
    unknown = sorted(str(key) for key in item if key not in allowed)
    if unknown:
        raise ValueError(f"turn {number}: unknown field(s) {unknown}; allowed: {allowed}")
    if "question" not in item:
        raise ValueError(f"turn {number}: missing 'question'")
    given = {key: value for key, value in item.items() if value is not None or key != "expect"}
    try:
        return Turn(**given)
    except ValueError as error:
        raise ValueError(f"turn {number}: {error}") from error
