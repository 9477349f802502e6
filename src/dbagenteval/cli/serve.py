"""`dbagenteval serve`: the receiver, and the store that it fills."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.otlp.redaction import Redactor
    from dbagenteval.receiver import ReceiverConfig, TlsFiles, Tokens
    from dbagenteval.store import StoreOwner

__all__ = ["command"]

_FILE = click.Path(path_type=Path)


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
@click.option(
    "--token-file",
    type=_FILE,
    help="Bearer tokens that may send, one a line, `ingest` or `read` behind it to limit it; "
    "read again when it changes. One token may also stand in DBAGENTEVAL_TOKEN.",
)
@click.option("--tls-cert", type=_FILE, help="Certificate chain (PEM); followed when renewed.")
@click.option("--tls-key", type=_FILE, help="Private key of the certificate (PEM).")
@click.option("--client-ca", type=_FILE, help="Ask clients for a certificate of this CA (PEM).")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without any guard.")
@click.option(
    "--redact",
    type=_FILE,
    metavar="FILE",
    help="YAML with what must not be kept: `keys` (attribute keys, * allowed), `detect` (email, "
    "phone, card, secret), `patterns` (name: regular expression).",
)
@click.option(
    "--cors-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of this origin send; `https://*.example.com` for subdomains. Repeatable.",
)
@click.option("--traces-path", default="/v1/traces", show_default=True, help="Path over HTTP.")
@click.option("--logs-path", default="/v1/logs", show_default=True, help="Path over HTTP.")
@click.option("--metrics-path", default="/v1/metrics", show_default=True, help="Path over HTTP.")
@click.option(
    "--max-request-mib",
    default=64,
    show_default=True,
    type=click.IntRange(min=1, max=256),
    help="Limit of a request, as received and after decompression.",
)
@click.option(
    "--max-requests",
    default=1024,
    show_default=True,
    type=click.IntRange(min=1),
    help="Exports under way at a time; more are told to try again.",
)
@click.option(
    "--shutdown-timeout",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long exports under way, and then storing, may take after SIGTERM; what is not "
    "stored by then stays in the journal for the next start.",
)
@click.option("--keep", metavar="AGE", help="Remove traces that ended longer ago: 30d, 12h.")
@click.option("--max-size", metavar="SIZE", help="Remove the oldest above this: 20GB, 500MB.")
@click.option("--log-level", default="WARNING", show_default=True, help="For stderr.")
def command(store_dir: str, log_level: str, **options: Any) -> int:
    """Receive OTLP traces and logs into a store.

    Prints its endpoints and `ready`. What it acknowledged is on disk, whatever happens next.
    """
    from dbagenteval.otlp.redaction import Redactor
    from dbagenteval.otlp.redaction_rules import read_rules
    from dbagenteval.receiver import Tokens, check_addresses
    from dbagenteval.rpc.messages import SERVICE
    from dbagenteval.rpc.proxy import EvaluationProxy
    from dbagenteval.store import StoreOwner

    os.umask(0o077)
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    tokens = Tokens(options["token_file"])
    rules = None if options["redact"] is None else read_rules(options["redact"])
    config = _config(options, tokens, None if rules is None else Redactor(**rules))
    store_command = _store_command(options["keep"], options["max_size"], rules)
    check_addresses(config)
    owner = StoreOwner(store_dir, store_command)
    proxy = EvaluationProxy(lambda: owner.service, tokens)
    config = dataclasses.replace(config, services=((proxy, SERVICE),))
    try:
        asyncio.run(_serve(owner, config))
    finally:
        owner.close(options["shutdown_timeout"])
    return 0


def _store_command(
    keep: str | None, max_size: str | None, redaction_rules: dict[str, Any] | None
) -> list[str]:
    from dbagenteval.cli.amounts import parse_age_s, parse_size

    found = [sys.executable, "-m", "dbagenteval.rpc.store_process"]
    if keep is not None:
        found += ["--keep-s", str(parse_age_s(keep))]
    if max_size is not None:
        found += ["--max-bytes", str(parse_size(max_size))]
    if redaction_rules is not None:
        found += ["--redact", json.dumps(redaction_rules)]
    return found


def _config(options: dict[str, Any], tokens: Tokens, redactor: Redactor | None) -> ReceiverConfig:
    from dbagenteval.receiver import Limits, ReceiverConfig, parse_address

    max_request_bytes = options["max_request_mib"] << 20
    config = ReceiverConfig(
        grpc=parse_address(options["grpc"]),
        http=parse_address(options["http"]),
        limits=Limits(
            max_request_bytes=max_request_bytes,
            max_inflight_bytes=max(512 << 20, 2 * max_request_bytes),
            max_inflight_requests=options["max_requests"],
            shutdown_timeout_s=options["shutdown_timeout"],
        ),
        traces_path=options["traces_path"],
        logs_path=options["logs_path"],
        metrics_path=options["metrics_path"],
        tokens=tokens,
        tls=_tls(options["tls_cert"], options["tls_key"], options["client_ca"]),
        redactor=redactor,
        cors_origins=options["cors_origin"],
    )
    if not options["insecure"]:
        config.check_exposure()
    return config


def _tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> TlsFiles | None:
    from dbagenteval.receiver import TlsFiles

    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise UserError("TLS needs both --tls-cert and --tls-key")
    files = TlsFiles(certificate=certificate, key=key, client_ca=client_ca)
    files.check()
    return files


async def _serve(owner: StoreOwner, config: ReceiverConfig) -> None:
    from dbagenteval.receiver import Receiver

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    receiver = Receiver(owner, config)
    await receiver.start()
    scheme = "http" if config.tls is None else "https"
    click.echo(f"OTLP/gRPC {scheme}://{receiver.grpc_address}")
    click.echo(f"OTLP/HTTP {scheme}://{receiver.http_address}")
    click.echo("ready")
    await stopped.wait()
    await receiver.stop()
