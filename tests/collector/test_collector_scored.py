"""A real agent's spans through the Collector, one configuration each: what arrives is scored."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from dbagenteval.cli.main import main
from dbagenteval.store import Store
from tests.collector.broker import broker
from tests.collector.collecting import collector, send, wait
from tests.conftest import free_port
from tests.receiver.serving import Served, serve
from tests.store.requests import logs_request

SHOP = Path(__file__).parents[2] / "examples" / "shop"
SPANS = 27
VERDICTS = {
    "delivered-count": "PASS",
    "delivered-amount": "FAIL",  # the agent forgets its store's filter
    "top-customer": "PASS",
    "leeds-customers": "PASS",
    "largest-order": "PASS",
    "small-talk": "PASS",
}


def ask(address: str, folder: Path) -> None:
    """Let the shop's agent answer all its questions and export to an address."""
    command = [sys.executable, str(SHOP / "agent.py"), "--endpoint", f"http://{address}"]
    subprocess.run([*command, "--database", str(folder / "shop.db")], check=True, timeout=60)


def items_accepted(*receivers: Served) -> int:
    counted = re.compile(r'^dbagenteval_receiver_items_total\{.*"accepted"\} (\d+)$', re.MULTILINE)
    pages = [requests.get(f"{one.http}/metrics", timeout=5).text for one in receivers]
    return sum(int(count) for page in pages for count in counted.findall(page))


def verdicts(store: Path, folder: Path) -> dict[str, str]:
    """Score what a store holds; give the verdict of each case that a trace was found for."""
    saved = folder / "report.json"
    main(
        ["score", str(SHOP / "cases.yaml"), "--store", str(store), "--allow-missing",
         "--database", f"sqlite:///{folder / 'shop.db'}", "--rules", "examples.shop.rules:RULES",
         "--json", str(saved)]
    )  # fmt: skip
    report = json.loads(saved.read_text())
    assert report["unmatched"] == []
    return {case["id"]: case["verdict"] for case in report["cases"]}


@pytest.mark.parametrize(
    "config", ["agent-sidecar.yaml", "gateway-tail-sampling.yaml", "redaction.yaml"]
)
def test_one_receiver(otelcol: str, tmp_path: Path, config: str) -> None:
    """Every turn arrives whole and unharmed."""
    with serve(tmp_path / "s") as served:
        variables = {"DBAGENTEVAL_ENDPOINT": _address(served), "DECISION_WAIT": "1s"}
        with collector(otelcol, config, tmp_path, **variables) as address:
            ask(address, tmp_path)
            wait(lambda: items_accepted(served) >= SPANS)
        assert served.stop() == 0
    assert verdicts(tmp_path / "s", tmp_path) == VERDICTS


def test_fan_out(otelcol: str, tmp_path: Path) -> None:
    """Both backends have everything."""
    with serve(tmp_path / "a") as ours, serve(tmp_path / "b") as backend:
        variables = {"DBAGENTEVAL_ENDPOINT": _address(ours), "BACKEND_URL": backend.http}
        with collector(otelcol, "fan-out.yaml", tmp_path, **variables) as address:
            ask(address, tmp_path)
            wait(lambda: items_accepted(ours) == items_accepted(backend) == SPANS)
        assert (ours.stop(), backend.stop()) == (0, 0)
    assert verdicts(tmp_path / "a", tmp_path) == verdicts(tmp_path / "b", tmp_path) == VERDICTS


def test_load_balancing(otelcol: str, tmp_path: Path) -> None:
    """Each turn is in one of the two stores, and whole there."""
    with serve(tmp_path / "a") as first, serve(tmp_path / "b") as second:
        variables = {"FIRST_ENDPOINT": _address(first), "SECOND_ENDPOINT": _address(second)}
        with collector(otelcol, "load-balancing.yaml", tmp_path, **variables) as address:
            for _ in range(3):  # 18 traces: all in one store once in 130,000 times
                ask(address, tmp_path)
            wait(lambda: items_accepted(first, second) == 3 * SPANS)
        assert min(items_accepted(first), items_accepted(second)) > 0
        assert (first.stop(), second.stop()) == (0, 0)
    for store in ("a", "b"):
        found = verdicts(tmp_path / store, tmp_path)
        assert found.items() <= VERDICTS.items()


def test_captured_files(otelcol: str, tmp_path: Path) -> None:
    """The files are ingested elsewhere."""
    with collector(otelcol, "file-capture.yaml", tmp_path, CAPTURE_DIR=str(tmp_path)) as address:
        ask(address, tmp_path)
    assert main(["ingest", str(tmp_path / "traces.jsonl"), "--store", str(tmp_path / "s")]) == 0
    assert verdicts(tmp_path / "s", tmp_path) == VERDICTS


def test_kafka(otelcol: str, tmp_path: Path) -> None:
    """Topics hold what comes while the receiver is away; nothing is lost, nothing stored twice."""
    with ExitStack() as stack:
        kafka = {"KAFKA_BROKER": stack.enter_context(broker(tmp_path))}
        with collector(otelcol, "to-kafka.yaml", tmp_path, **kafka) as address:
            ask(address, tmp_path)
            send(address, "logs", logs_request((0, 0)))
        away = {**kafka, "DBAGENTEVAL_ENDPOINT": f"127.0.0.1:{free_port()}"}
        with collector(otelcol, "from-kafka.yaml", tmp_path, **away):
            log = tmp_path / "from-kafka.yaml.log"
            wait(lambda: "Exporting failed. Will retry" in log.read_text())
        served = stack.enter_context(serve(tmp_path / "s"))
        there = {**kafka, "DBAGENTEVAL_ENDPOINT": _address(served)}
        with collector(otelcol, "from-kafka.yaml", tmp_path, **there):
            wait(lambda: items_accepted(served) >= SPANS + 1)
        assert served.stop() == 0
    assert verdicts(tmp_path / "s", tmp_path) == VERDICTS
    with Store.open(tmp_path / "s", write=False) as store:
        assert (store.stats().spans, store.stats().logs) == (SPANS, 1)


def _address(served: Served) -> str:
    return served.grpc.removeprefix("http://")
