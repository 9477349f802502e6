"""`dbagenteval doctor`: what the spans of each service show, and what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.cli.stores import in_range, read_store, store_option

if TYPE_CHECKING:
    from dbagenteval.traces.observability import FieldCoverage, ServiceCoverage

__all__ = ["command"]

_NAMES = {"question": "question", "sql": "SQL", "rows": "rows", "answer": "answer"}


@click.command(
    "doctor",
    epilog="Exit codes: 0 everything can be seen, 1 something is hidden or there is nothing, "
    "2 could not run.",
)
@store_option
@in_range
def command(store_dir: str, since_ns: int | None, service: str | None) -> int:
    """Say what share of each service's turns shows question, SQL, rows and answer.

    Checks that need what is hidden are skipped; below each service stands what would show it.
    """
    from dbagenteval.traces import assemble, coverage

    with read_store(store_dir) as store:
        services = coverage(assemble(store.otel_traces(since_ns=since_ns, service=service)))
    if not services:
        click.echo("no turns: no span tells of a question, a model, a tool or a statement")
        return EXIT_NOT_PASSED
    for number, one in enumerate(services):
        if number:
            click.echo()
        _show(one)
    return EXIT_OK if all(_is_healthy(one) for one in services) else EXIT_NOT_PASSED


def _show(service: ServiceCoverage) -> None:
    spoken = ", ".join(sorted(service.conventions))
    turns = f"{service.turns} turn{'s' if service.turns > 1 else ''}"
    click.echo(
        f"{service.service or '(no service.name)'}: {turns}{f' ({spoken})' if spoken else ''}"
    )
    for name, title in _NAMES.items():
        click.echo(f"  {title:<9} {_said(service.fields[name])}")
    for advice, count in service.advice.most_common():
        click.echo(f"  to change, for {count} of {service.turns}: {advice}")


def _said(field: FieldCoverage) -> str:
    if field.share is None:
        return "nothing to see"
    states = ", ".join(f"{count} {state}" for state, count in field.states.most_common())
    # Rounded down: 100% means all.
    said = f"{int(field.share * 100):>3}%  {field.seen} of {field.expected}"
    return f"{said}  ({states})" if states else said


def _is_healthy(service: ServiceCoverage) -> bool:
    return all(field.share in (None, 1.0) for field in service.fields.values())
