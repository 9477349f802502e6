"""`dbagenteval store`: look at a store and take care of it."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import TYPE_CHECKING

import click

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


def _text(found: StoreStats) -> str:
    lines = [
        f"spans        {found.spans:,}",
        f"log records  {found.logs:,}",
        f"OTel traces  {found.otel_traces:,}",
        f"bytes        {found.bytes:,}",
        f"services     {', '.join(found.services) or 'none'}",
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
