"""`dbagenteval demo`: the main job end to end, on a small shop."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import dbagenteval
from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.errors import UserError

_PLANTED = ("delivered-amount", "generate")
_STOP_TIMEOUT_S = 30


@click.command(
    "demo",
    epilog="Exit codes: 0 the demo found the planted mistake, 1 it did not, 2 could not run.",
)
@click.option(
    "--out",
    "out_dir",
    default="demo-out",
    show_default=True,
    metavar="DIR",
    help="Where the report is written.",
)
def command(out_dir: str) -> int:
    """Receive the spans of a small agent, score them, and find its planted mistake.

    Starts the receiver on free ports of this machine, runs the agent of examples/shop as a process
    of its own, scores what arrived, and removes everything but the report.
    """
    shop = _example("shop")
    with tempfile.TemporaryDirectory(prefix="dbagenteval-demo-") as scratch:
        database, store = Path(scratch, "shop.db"), Path(scratch, "store")
        with _receiver(store) as endpoint:
            click.echo(f"The agent of {shop} answers its questions and sends its spans:\n")
            _run_agent(shop, database, endpoint)
        return _score(shop, database, store, Path(out_dir))


def _example(name: str) -> Path:
    """Find an example: beside the package in a wheel, in examples/ in a checkout."""
    package = Path(dbagenteval.__file__).parent
    for place in (package / "_examples" / name, package.parents[1] / "examples" / name):
        if place.is_dir():
            return place
    raise UserError(f"the example {name!r} is not installed with this package")


@contextmanager
def _receiver(store: Path) -> Iterator[str]:
    """Run `dbagenteval serve` on free ports; give its OTLP/HTTP endpoint."""
    serve = subprocess.Popen(  # noqa: S603 our own command
        [sys.executable, "-m", "dbagenteval", "serve", "--store", str(store),
         "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield _endpoint(serve)
    finally:
        serve.send_signal(signal.SIGTERM)
        try:
            serve.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            serve.kill()
            serve.wait()


def _endpoint(serve: subprocess.Popen[str]) -> str:
    assert serve.stdout is not None  # noqa: S101 it was opened as a pipe
    endpoint = ""
    for line in serve.stdout:
        protocol, _, address = line.strip().partition(" ")
        endpoint = address if protocol == "OTLP/HTTP" else endpoint
        if line.strip() == "ready":
            return endpoint
    raise UserError("the receiver did not start; its message stands above")


def _run_agent(shop: Path, database: Path, endpoint: str) -> None:
    agent = [sys.executable, str(shop / "agent.py")]
    agent += ["--database", str(database), "--endpoint", endpoint]
    # The agent must not inherit exporter settings of the user's shell.
    environment = {name: value for name, value in os.environ.items() if "OTEL_" not in name}
    if subprocess.run(agent, check=False, env=environment).returncode != 0:  # noqa: S603
        raise UserError("the agent of the demo failed; its message stands above")


def _score(shop: Path, database: Path, store: Path, out: Path) -> int:
    from dbagenteval.cases import load_cases
    from dbagenteval.cli.scoring import Scoring
    from dbagenteval.cli.stores import read_store
    from dbagenteval.executors import executor_for
    from dbagenteval.suite.gate import Gate
    from dbagenteval.suite.match import Matcher
    from dbagenteval.suite.stored import score_traces
    from dbagenteval.traces import assemble

    out.mkdir(parents=True, exist_ok=True)
    scoring = Scoring(str(out / "report.json"), str(out / "report.md"), whole_cards=True)
    matcher = Matcher(load_cases(str(shop / "cases.yaml")))
    click.echo("\nWhat arrived, scored:\n")
    with scoring, read_store(str(store)) as opened:
        scored = score_traces(
            assemble(opened.otel_traces()),
            matcher,
            rules=runpy.run_path(str(shop / "rules.py"))["RULES"],
            execute=executor_for(f"sqlite:///{database}"),
        )
        score = scoring.show(scored, matcher, Gate())
    click.echo(f"\nReports: {out / 'report.md'}, {out / 'report.json'}")
    found = score.cards.failed_stages == {_PLANTED[1]: 1} and score.cards.passed == 5
    if not found or score.missing:
        click.echo("The demo did not find just the mistake that was planted.", err=True)
        return EXIT_NOT_PASSED
    click.echo(
        "The failure is the mistake planted in the agent: its SQL adds the orders of both stores.\n"
        "Next: README.md, or dbagenteval --help"
    )
    return EXIT_OK
