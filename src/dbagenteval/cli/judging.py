"""The options of commands that ask a judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dbagenteval.checks import Judge

__all__ = ["judge_of", "judge_options", "judge_usage"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def judge_options(function: _Command) -> _Command:
    """Add `--judge` and what belongs to it to a command."""
    for option in (
        click.option(
            "--no-judge-cache", is_flag=True, help="Ask a model again what it was asked before."
        ),
        click.option(
            "--judge-cache", type=Path, metavar="DIR", help="Where replies of a model are kept."
        ),
        click.option("--judge-price", metavar="IN,OUT", help="Per million tokens, for the report."),
        click.option("--judge", metavar="JUDGE", help="FILE:FUNCTION, or openai:MODEL[@URL]."),
    ):
        function = option(function)
    return function


def judge_of(options: dict[str, Any]) -> Judge | None:
    """Load the judge that the options name, or give None.

    Raises:
        UserError: It can't be loaded.
    """
    from dbagenteval.cli.targets import load_judge

    if not options["judge"]:
        return None
    return load_judge(
        options["judge"],
        cache_dir=options["judge_cache"] and options["judge_cache"].absolute(),
        cache=not options["no_judge_cache"],
        price=options["judge_price"],
    )


def judge_usage(judge: Judge | None) -> dict[str, Any]:
    """Give `{"judge": …}` with calls, tokens and cost for a report; empty for a plain function."""
    usage = getattr(judge, "usage", None)
    return {"judge": usage()} if callable(usage) else {}
