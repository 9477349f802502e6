"""`dbagenteval store`: look at a store and take care of it."""

from __future__ import annotations

import dataclasses
import datetime
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.store import StoreStats

__all__ = ["command"]

_store_option = click.option(
    "--store", "store_dir", required=True, metavar="DIR", help="The store directory."
)


@click.group("store", epilog="Exit codes: 0 done, 1 faults were found, 2 could not run.")
def command() -> None:
    """Look at a store and take care of it."""


@command.command("stats", epilog="Exit codes: 0 done, 2 could not run.")
@_store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(store_dir: str, as_json: bool) -> int:
    """Count spans, log records, traces and bytes."""
    from dbagenteval.rpc.client import open_store

    with open_store(store_dir) as store:
        found = store.stats()
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(found)))
    else:
        click.echo(_text(found))
    return 0


@command.command("check", epilog="Exit codes: 0 all in order, 1 faults, 2 could not run.")
@_store_option
def check(store_dir: str) -> int:
    """Check that what is stored fits together, and name what was set aside."""
    from dbagenteval.rpc.client import open_store

    with open_store(store_dir) as store:
        report = store.check()
    for fault in report.faults:
        click.echo(f"fault: {fault}")
    for name in report.set_aside:
        click.echo(f"set aside: {printable(name)}")
    if not report.faults:
        click.echo("all in order")
    return 1 if report.faults or report.set_aside else 0


@command.command("compact", epilog="Exit codes: 0 done, 2 could not run.")
@_store_option
@click.option("--keep", metavar="AGE", help="First remove traces older than this: 30d, 12h.")
@click.option("--max-size", metavar="SIZE", help="First remove the oldest above this: 20GB, 500MB.")
def compact(store_dir: str, keep: str | None, max_size: str | None) -> int:
    """Write the database anew: smaller, and faster to search. Works while `serve` runs."""
    from dbagenteval.cli.amounts import parse_age_s, parse_size
    from dbagenteval.rpc.client import open_store

    age_s = None if keep is None else parse_age_s(keep)
    max_bytes = None if max_size is None else parse_size(max_size)
    before_ns = None if age_s is None else time.time_ns() - int(age_s * 1e9)
    with open_store(store_dir, write=True) as store:
        store.prune_and_compact(before_ns=before_ns, max_bytes=max_bytes)
        click.echo(_text(store.stats()))
    return 0


@command.command("export", epilog="Exit codes: 0 done, 2 could not run.")
@_store_option
@click.option(
    "--parquet",
    metavar="DIR",
    help="Parquet files by day and service, in a new folder.",
)
@click.option(
    "--otlp", metavar="FILE", help="OTLP requests, each behind its length; `ingest` reads it."
)
def export(store_dir: str, parquet: str | None, otlp: str | None) -> int:
    """Write everything that is stored to files."""
    from dbagenteval.rpc.client import open_store

    if parquet is None and otlp is None:
        raise UserError("nothing to write", hint="use --parquet DIR or --otlp FILE")
    with open_store(store_dir) as store:
        if otlp is not None:
            _write_otlp(store.requests(), Path(otlp))
            click.echo(f"wrote {otlp}")
        if parquet is not None:
            store.export_parquet(parquet)
            click.echo(f"wrote {parquet}")
    return 0


def _write_otlp(requests: Iterator[tuple[str, Any]], path: Path) -> None:
    """Write to a temporary file first, so that a crash leaves no half file."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            for _, request in requests:
                body = request.SerializeToString()
                file.write(len(body).to_bytes(4, "big") + body)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{path}: can't be written: {error.strerror}") from error


def _text(found: StoreStats) -> str:
    lines = [
        f"spans        {found.spans:,}",
        f"log records  {found.logs:,}",
        f"OTel traces  {found.otel_traces:,}",
        f"bytes        {found.bytes:,}",
        f"services     {', '.join(map(printable, found.services)) or 'none'}",
    ]
    if found.first_start_ns is not None and found.last_end_ns is not None:
        lines.append(f"time         {_time(found.first_start_ns)} to {_time(found.last_end_ns)}")
    return "\n".join(lines)


def _time(ns: int) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(ns / 1e9, tz=datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{ns} ns"
    return moment.isoformat(timespec="seconds")
