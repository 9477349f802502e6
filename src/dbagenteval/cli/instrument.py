"""`dbagenteval instrument`: run a program as it is, with spans of what it does."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.instrument.libraries import Finding
    from dbagenteval.instrument.program import Environment

__all__ = ["command"]

_DEFAULT_ENDPOINT = "http://127.0.0.1:4318"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@click.command(
    "instrument",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Exit codes: those of the program, 2 if it could not be run.",
)
@click.option(
    "--endpoint",
    metavar="URL",
    help=f"Where spans go.  [default: ${_ENDPOINT} or {_DEFAULT_ENDPOINT}]",
)
@click.option(
    "--rows", type=click.IntRange(0), metavar="N", help="Rows recorded of a result at most."
)
@click.option("--service", metavar="NAME", help="Name of the program.  [default: of its file]")
@click.option("--dry-run", is_flag=True, help="Say what would be instrumented; run nothing.")
@click.option("--quiet", is_flag=True, help="Say only what is missing.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    endpoint: str | None,
    rows: int | None,
    service: str | None,
    program: tuple[str, ...],
    *,
    dry_run: bool,
    quiet: bool,
) -> int:
    """Run a program unchanged, with its model calls, tools, statements and result rows as spans.

    For example: dbagenteval instrument -- python app.py
    """
    from dbagenteval.instrument.content_settings import settings_for
    from dbagenteval.instrument.libraries import findings
    from dbagenteval.instrument.program import look_at

    target = _checked(endpoint or os.environ.get(_ENDPOINT) or _DEFAULT_ENDPOINT)
    found = look_at(program)
    environment = found.environment()
    _require(environment, found.interpreter)
    _tell(findings(environment.installed), environment, found.interpreter, quiet=quiet)
    settings = settings_for(
        endpoint=target,
        service=service or found.name,
        hook=environment.hook,
        rows=rows,
        given=os.environ,
    )
    if dry_run:
        for name, value in sorted(settings.items()):
            click.echo(f"{name}={shlex.quote(value)}")
        return 0
    if not _listens(target):
        _say(f"nothing listens at {target}; start it with: dbagenteval serve --store DIR")
    sys.stderr.flush()
    sys.stdout.flush()
    variables = {**os.environ, **settings}
    if os.name != "nt":
        os.execve(found.command[0], list(found.command), variables)  # noqa: S606 the user's command
    return subprocess.run(found.command, env=variables, check=False).returncode  # noqa: S603 the same


def _checked(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"--endpoint: expected a URL such as {_DEFAULT_ENDPOINT}, got {endpoint!r}")
    return endpoint


def _require(environment: Environment, interpreter: str) -> None:
    if not environment.hook or "opentelemetry-distro" not in environment.installed:
        raise UserError(
            f"{interpreter} has no OpenTelemetry auto-instrumentation",
            hint=f"{interpreter} -m pip install dbagenteval",  # it brings what is needed
        )


def _tell(found: list[Finding], environment: Environment, interpreter: str, *, quiet: bool) -> None:
    for one in found:
        note = f" ({one.note})" if one.note else ""
        if one.missing:
            _say(f"{one.name} {one.version}: no spans{note}")
        elif not quiet:
            _say(f"{one.name} {one.version}: by {one.by}{note}")
    if not environment.has_recorder:
        _say("result rows: not recorded, since dbagenteval is not installed there")
    missing = [one.missing for one in found if one.missing]
    missing += [] if environment.has_recorder else ["dbagenteval"]
    if missing:
        _say(f"to add what is missing: {interpreter} -m pip install {' '.join(missing)}")


def _listens(endpoint: str) -> bool:
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=1).close()
    except OSError:
        return False
    return True


def _say(text: str) -> None:
    click.echo(f"instrument: {text}", err=True)
