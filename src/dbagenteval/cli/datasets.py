"""Read and choose the cases that a command works on."""

from __future__ import annotations

import warnings

import click

from dbagenteval.cases import Case, CasesWarning, filter_cases, load_cases, matching
from dbagenteval.errors import UserError

__all__ = ["choose_cases", "read_cases"]


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
