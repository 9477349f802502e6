"""`dbagenteval diff`: compare two saved runs."""

from __future__ import annotations

import click

from dbagenteval.cli.abbreviations import CommandWithAbbreviations

__all__ = ["command"]


@click.command(
    "diff",
    cls=CommandWithAbbreviations,
    epilog="Exit codes: 0 nothing got worse, 1 a case that passed fails or is gone, "
    "2 could not run.",
)
@click.argument("old")
@click.argument("new")
@click.option("--allow-removed", is_flag=True, help="A case that passed may be gone.")
def command(old: str, new: str, *, allow_removed: bool) -> int:
    """Compare two reports that `--json` saved: OLD, the earlier one, with NEW."""
    from dbagenteval.printable import printable
    from dbagenteval.report import (
        diff_reports,
        diff_to_markdown,
        passes_that_are_gone,
        read_report,
    )

    changes = diff_reports(read_report(old), read_report(new))
    click.echo(diff_to_markdown(changes), nl=False)
    gone = [] if allow_removed else passes_that_are_gone(changes)
    if gone:
        names = printable(", ".join(gone), 200)
        click.echo(f"{len(gone)} case(s) that passed are gone: {names}", err=True)
        click.echo("hint: --allow-removed accepts that", err=True)
    return 1 if changes["regressions"] or gone else 0
