"""`dbagenteval validate`: check a cases file for mistakes."""

from __future__ import annotations

import click

from dbagenteval.cli.datasets import read_cases

__all__ = ["command"]


@click.command(
    "validate", epilog="Exit codes: 0 the file is fine, 2 it has mistakes, each one is printed."
)
@click.argument("cases_file", metavar="CASES")
def command(cases_file: str) -> int:
    """Check a cases file for mistakes, without running an agent."""
    cases = read_cases(cases_file)
    click.echo(f"{cases_file}: {len(cases)} case(s) OK")
    return 0
