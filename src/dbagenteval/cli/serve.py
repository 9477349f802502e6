"""`dbagenteval serve`: the receiver, and the store that it fills."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dbagenteval.receiver import ReceiverConfig
    from dbagenteval.store import Store

__all__ = ["command"]


@click.command(
    "serve",
    epilog="Exit codes: 0 stopped by SIGTERM or SIGINT, 2 could not run.",
)
@click.option("--store", "store_dir", required=True, metavar="DIR", help="Made if missing.")
@click.option(
    "--grpc",
    default="127.0.0.1:4317",
    show_default=True,
    metavar="HOST:PORT",
    help="Where OTLP/gRPC listens; port 0 takes a free one.",
)
@click.option(
    "--http",
    default="127.0.0.1:4318",
    show_default=True,
    metavar="HOST:PORT",
    help="Where OTLP/HTTP listens; port 0 takes a free one.",
)
@click.option("--log-level", default="WARNING", show_default=True, help="For stderr.")
def command(store_dir: str, grpc: str, http: str, log_level: str) -> int:
    """Receive OTLP traces and logs into a store.

    Prints its endpoints and `ready`. What it acknowledged is on disk, whatever happens next.
    """
    from dbagenteval.receiver import ReceiverConfig, check_addresses, parse_address
    from dbagenteval.store import Store

    os.umask(0o077)
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    config = ReceiverConfig(grpc=parse_address(grpc), http=parse_address(http))
    check_addresses(config)
    with Store.open(store_dir, write=True, create=True) as store:
        asyncio.run(_serve(store, config))
    return 0


async def _serve(store: Store, config: ReceiverConfig) -> None:
    from dbagenteval.receiver import Receiver

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    receiver = Receiver(store, config)
    await receiver.start()
    click.echo(f"OTLP/gRPC http://{receiver.grpc_address}")
    click.echo(f"OTLP/HTTP http://{receiver.http_address}")
    click.echo("ready")
    await stopped.wait()
    await receiver.stop()
