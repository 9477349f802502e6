"""`dbagenteval conformance`: does a server receive OTLP as it should?"""

from __future__ import annotations

from pathlib import Path

import click

from dbagenteval.errors import UserError, quoted

__all__ = ["command"]


@click.command(
    "conformance", epilog="Exit codes: 0 all as it should be, 1 faults, 2 could not run."
)
@click.argument("url")
@click.option(
    "--header", multiple=True, metavar="NAME=VALUE", help="Sent with every request. Repeatable."
)
@click.option(
    "--ca-file",
    type=click.Path(path_type=Path),
    help="Certificates (PEM) to trust for https, instead of the system's.",
)
def command(url: str, header: tuple[str, ...], ca_file: Path | None) -> int:
    """Check any OTLP/HTTP server at URL (http[s]://HOST:PORT). It gets a few test spans."""
    from dbagenteval.receiver.conformance import run_checks

    headers = {}
    for text in header:
        name, separator, value = text.partition("=")
        if not separator:
            raise UserError(f"--header {quoted(text)}: expected NAME=VALUE")
        headers[name] = value
    faults = 0
    for outcome in run_checks(url, headers, ca_file=ca_file):
        if outcome.fault:
            faults += 1
            click.echo(f"FAIL {outcome.item:02} {outcome.title}: {outcome.fault}")
        else:
            click.echo(f"ok   {outcome.item:02} {outcome.title}")
    click.echo(f"{faults} faults" if faults else "all as it should be")
    return 1 if faults else 0
