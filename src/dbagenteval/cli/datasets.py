"""Read and choose the cases that a command works on."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import click

from dbagenteval.cases import Case, CasesWarning, filter_cases, load_cases, matching
from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.evaluation import OnData

__all__ = ["choose_cases", "needs_executor", "own_data", "read_cases", "told_drafts"]

_NAMED_AT_MOST = 20


def read_cases(path: str) -> list[Case]:
    """Read a cases file; what is probably a mistake in it is said on stderr.

    Raises:
        DatasetError: The file can't be read or has faults.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CasesWarning)
        cases = load_cases(path)
    for warning in caught:
        click.echo(str(warning.message), err=True)
    return cases


def needs_executor(cases: list[Case]) -> bool:
    """Say whether a reference SQL has to be run: drafts run none, `data` has its own executor."""
    asked = (case for case in cases if not case.is_draft and case.data is None)
    turns = (turn for case in asked for turn in case.each_turn())
    return any(turn.reference_sql is not None for turn in turns)


def own_data(cases: list[Case]) -> OnData | None:
    """Give what runs the SQL of cases that name their data; None if none of them does."""
    if not any(case.data for case in cases):
        return None
    from dbagenteval.slices import on_case_data

    return on_case_data


def told_drafts(cases: list[Case]) -> str:
    """Say how many cases nobody has accepted yet, and which; empty if there are none."""
    keys = [printable(case.key, 100) for case in cases if case.is_draft]
    if not keys:
        return ""
    more = ", …" if len(keys) > _NAMED_AT_MOST else ""
    return f"{len(keys)} draft(s): {', '.join(keys[:_NAMED_AT_MOST])}{more}"


def choose_cases(cases: list[Case], tags: str | None, expression: str | None) -> list[Case]:
    """Give the cases that have one of the tags and match the expression.

    Args:
        cases: All cases.
        tags: Tags separated by commas, or None.
        expression: As for `matching`, or None.

    Raises:
        UserError: None is left, or the expression is malformed.
    """
    wanted = [tag.strip() for tag in (tags or "").split(",") if tag.strip()]
    chosen = filter_cases(cases, wanted)
    if not chosen:
        raise UserError(f"no cases match tags {wanted}")
    if expression is not None:
        chosen = matching(chosen, expression)
        if not chosen:
            raise UserError(f"no cases match -k {expression!r}")
    return chosen
