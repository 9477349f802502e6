"""`dbagenteval ingest`: OTLP files into a store."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.otlp.decode import Decoded
    from dbagenteval.store import Applied

__all__ = ["command"]

_MAX_SHOWN_FAULTS = 50


@dataclass
class _Tally:
    """What went wrong on the way, printed as it happens."""

    faults: int = 0
    rejected: int = 0
    ignored: int = 0
    first_faults: list[str] = field(default_factory=list)

    def fault(self, where: str, message: str) -> None:
        self.faults += 1
        if self.faults <= _MAX_SHOWN_FAULTS:
            line = f"{where}: {message}"
            self.first_faults.append(line)
            click.echo(line, err=True)
        elif self.faults == _MAX_SHOWN_FAULTS + 1:
            click.echo("further faults are counted, not shown", err=True)


@click.command(
    "ingest",
    epilog="Exit codes: 0 all stored, 1 some of it could not be read and the rest is stored, "
    "2 could not run and nothing is stored.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--store", "store_dir", required=True, metavar="DIR", help="Made if missing.")
def command(files: tuple[str, ...], store_dir: str) -> int:
    """Store the spans and log records of OTLP files.

    Reads JSON lines as the Collector's file exporter writes them, single JSON documents, and
    length-delimited protobuf; plain, gzip or zstd. What is stored already is not stored again.
    Works while `serve` runs, whose redaction holds then.
    """
    from dbagenteval.rpc.client import open_store

    paths = [_checked_path(name) for name in files]
    os.umask(0o077)
    started = time.monotonic()
    tally = _Tally()
    requests = _requests(paths, tally)
    first = next(requests, None)
    if first is None:
        if tally.faults:
            raise UserError("nothing in these files can be read as OTLP; nothing was stored")
        click.echo("stored 0 spans and 0 log records: these files hold none")
        return 0
    with open_store(store_dir, write=True, create=True) as store:
        applied = store.load((decoded.signal, decoded.body) for decoded in chain([first], requests))
    _report(applied, tally, time.monotonic() - started)
    return 1 if tally.faults or tally.rejected or applied.set_aside else 0


def _checked_path(name: str) -> Path:
    path = Path(name)
    if not path.exists() or path.is_dir():
        what = "is a directory" if path.is_dir() else "there is no such file"
        raise UserError(f"{name}: {what}")
    if not os.access(path, os.R_OK):
        raise UserError(f"{name}: can't be read")
    return path


def _requests(paths: list[Path], tally: _Tally) -> Iterator[Decoded]:
    """Give the requests that hold something, and note what can't be read."""
    from dbagenteval.otlp.files import Fault, read_requests

    for path in paths:
        with path.open("rb") as file:
            for item in read_requests(file, str(path)):
                if isinstance(item, Fault):
                    tally.fault(item.where, item.message)
                    continue
                if item.decoded is None:
                    tally.ignored += 1
                    continue
                if item.decoded.rejected:
                    tally.rejected += item.decoded.rejected
                    tally.fault(item.where, item.decoded.message)
                if item.decoded.accepted:
                    yield item.decoded


def _report(applied: Applied, tally: _Tally, seconds: float) -> None:
    rate = applied.spans / seconds if seconds else 0.0
    parts = [
        f"stored {applied.spans} spans and {applied.logs} log records in {seconds:.1f} s"
        f" ({rate:,.0f} spans/s)"
    ]
    if applied.duplicate_spans:
        parts.append(f"{applied.duplicate_spans} spans were stored before")
    if tally.ignored:
        parts.append(f"{tally.ignored} requests of other signals ignored")
    click.echo("; ".join(parts))
    if applied.set_aside:
        click.echo(
            f"{applied.set_aside} requests can't be stored, and were set aside in the store's"
            " folder set-aside",
            err=True,
        )
    if tally.faults:
        click.echo(f"{tally.faults} faults, {tally.rejected} items rejected", err=True)
