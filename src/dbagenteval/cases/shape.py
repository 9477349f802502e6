"""Rules on the fields that a case and each turn of a conversation share."""

from __future__ import annotations

from typing import Any

from dbagenteval.traces import Rows

__all__ = ["accepted_answers", "check_question_and_expect", "usable_sqls"]


def check_question_and_expect(question: object, expect: object) -> None:
    """Check that the question is text and that `expect` maps stage names to values.

    Raises:
        ValueError: One of them is not; the message names it.
    """
    if not isinstance(question, str) or not question.strip():
        raise ValueError("'question' must be a non-empty string")
    if not isinstance(expect, dict):
        raise ValueError("'expect' must be a mapping of stage name to expected value")
    if not all(isinstance(key, str) for key in expect):
        raise ValueError("'expect' keys must be stage names (strings)")


def usable_sqls(given: object) -> list[str]:
    """Give the reference queries as a list; empty if there is none.

    Raises:
        ValueError: Something else than a query or a list of queries.
    """
    if given is None:
        return []
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, list) or not several:
        raise ValueError("'reference_sql' must be a non-empty SQL string")
    if not all(isinstance(sql, str) and sql.strip() for sql in several):
        raise ValueError("'reference_sql' must be a non-empty SQL string")
    return several


def accepted_answers(expect: dict[str, Any]) -> list[Rows] | None:
    """Give the row lists of `expect.rows`, each one a correct result; None if there are none.

    Raises:
        ValueError: `rows` is neither a list of rows nor a list of such lists.
    """
    if "rows" not in expect:
        return None
    rows = expect["rows"]
    if not isinstance(rows, list):
        raise ValueError("'expect.rows' must be a list of rows, or a list of accepted answers")
    if all(isinstance(item, dict) for item in rows):
        answers = [rows]
    elif all(isinstance(item, list) for item in rows):
        answers = rows
    else:
        raise ValueError(
            "'expect.rows' mixes rows and lists; "
            "give either one list of rows or a list of accepted answers"
        )
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
