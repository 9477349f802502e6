"""`dbagenteval validate`: check a cases file or a project for mistakes."""

from __future__ import annotations

import click

from dbagenteval.cli.datasets import read_cases, told_drafts
from dbagenteval.errors import UserError

__all__ = ["command"]


@click.command(
    "validate",
    epilog="Exit codes: 0 nothing is wrong, 1 the project has errors, 2 the cases file has "
    "mistakes or there is nothing to check. Each mistake is printed.",
)
@click.argument("target", metavar="[CASES or PROJECT]", required=False)
@click.option("--database", is_flag=True, help="Check a project against its real databases too.")
@click.option("--json", "as_json", is_flag=True, help="Print the faults of a project as JSON.")
def command(target: str | None, *, database: bool, as_json: bool) -> int:
    """Check a cases file, or a project folder, for mistakes, without running an agent."""
    from dbagenteval.cli.projects import is_project, validate_and_show

    if target is None or is_project(target):
        return validate_and_show(target, database=database, as_json=as_json)
    if database or as_json:
        raise UserError("--database and --json are for a project folder, not for a cases file")
    cases = read_cases(target)
    click.echo(f"{target}: {len(cases)} case(s) OK")
    drafts = told_drafts(cases)
    if drafts:
        click.echo(f"  {drafts}")
    return 0
