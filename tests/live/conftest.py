"""A shop, a store that receives, and programs that run as their users run them."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import free_port
from tests.live.model_server import ModelServer

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT_S = 120

SCRIPT = {
    "How many customers do we have?": [
        "SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1",
        "You have 3 customers.",
    ],
    "What is our total revenue?": [
        "SELECT SUM(amount) AS revenue FROM orders",
        "The total revenue is 1160.50.",
    ],
    "Which customers are in Rome?": [
        "SELECT nme FROM customers WHERE tenant_id = 1 AND city = 'Rome'",
        "SELECT name FROM customers WHERE tenant_id = 1 AND city = 'Rome' ORDER BY name",
        "Anna and Carla are in Rome.",
    ],
    "What was the largest order?": [
        "SELECT MAX(amount) AS largest FROM orders WHERE tenant_id = 1",
        "The largest order was 999.",
    ],
}
CASES = """
- {id: customers, question: How many customers do we have?,
   reference_sql: SELECT COUNT(*) FROM customers WHERE tenant_id = 1}
- {id: revenue, question: What is our total revenue?,
   reference_sql: SELECT SUM(amount) FROM orders WHERE tenant_id = 1}
- {id: rome, question: Which customers are in Rome?,
   reference_sql: "SELECT name FROM customers WHERE tenant_id = 1 AND city = 'Rome'"}
- {id: largest, question: What was the largest order?,
   reference_sql: SELECT MAX(amount) FROM orders WHERE tenant_id = 1}
"""
RULES = """
from dbagenteval import NumbersGrounded
from dbagenteval.rules import ReadOnly, TenantFilter

RULES = [ReadOnly(), TenantFilter("tenant_id"), NumbersGrounded()]
"""


def run(*arguments, **options):
    """Run `dbagenteval` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "dbagenteval", *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )


class Live:
    """What a live test uses: a folder, a model, a store, programs."""

    def __init__(self, folder, model):
        self.folder = folder
        self.model = model
        self.endpoint = ""
        self.processes = []
        (folder / "cases.yaml").write_text(CASES)
        (folder / "live_rules.py").write_text(RULES)
        database = sqlite3.connect(folder / "shop.db")
        database.executescript(
            """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, tenant_id INTEGER, name, city);
            INSERT INTO customers VALUES (1, 1, 'Anna', 'Rome'), (2, 1, 'Bo', 'Oslo'),
                (3, 1, 'Carla', 'Rome'), (4, 2, 'Dora', 'Rome');
            CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id INTEGER, amount NUMERIC);
            INSERT INTO orders VALUES (1, 1, 210.5), (2, 1, 450), (3, 2, 500);
            """
        )
        database.close()

    @property
    def environment(self):
        dropped = ("OTEL_", "DBAGENTEVAL_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        shop = str(self.folder / "shop.db")
        return {**kept, "MODEL_URL": self.model.url, "SHOP_DB": shop, "PYTHONUNBUFFERED": "1"}

    def start(self, *arguments):
        """Start `dbagenteval` beside the test."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dbagenteval", *arguments],
            stdout=subprocess.PIPE,
            stderr=(self.folder / f"stderr-{len(self.processes)}").open("w"),
            text=True,
            env=self.environment,
            cwd=self.folder,
        )
        self.processes.append(process)
        return process

    def serve(self):
        """Start the receiver."""
        process = self.start(
            "serve", "--store", "store", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"
        )
        for line in process.stdout:
            if found := re.match(r"OTLP/HTTP (http://\S+)", line):
                self.endpoint = found[1]
            if line.strip() == "ready":
                return
        raise AssertionError("serve did not start")

    def instrument(self, program, *arguments, questions=SCRIPT):
        """Run a program under `dbagenteval instrument` and ask it; give what it printed."""
        command = [sys.executable, str(PROGRAMS / program), *arguments]
        done = run(
            *("instrument", "--endpoint", self.endpoint, "--", *command),
            input="\n".join(questions),
            env=self.environment,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def stop(self):
        """Stop what was started last, as Ctrl-C does."""
        process = self.processes.pop()
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)
        process.stdout.close()

    def score(self):
        """Score what arrived; give case id to verdict and first failing stage."""
        report = self.folder / "report.json"
        done = run(
            *("score", "cases.yaml", "--store", "store", "--database", "sqlite:///shop.db"),
            *("--rules", "live_rules:RULES", "--dialect", "sqlite", "--json", str(report)),
            env=self.environment,
            cwd=self.folder,
        )
        assert done.returncode == 1, done.stdout + done.stderr
        cards = json.loads(report.read_text())["cases"]
        return {card["id"]: card for card in cards}


def wait_for(port):
    """Wait until something listens."""
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"nothing listens on {port}")


@contextmanager
def serving(folder, source, *arguments):
    """Run the program of a service, whose first argument is its port; give its address."""
    program = folder / "service.py"
    program.write_text(source)
    port = free_port()
    service = subprocess.Popen([sys.executable, str(program), str(port), *arguments])
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/ask"
    finally:
        service.kill()
        service.wait()


@pytest.fixture
def live(tmp_path):
    """A shop with a model and a receiver; what was started is stopped."""
    with ModelServer(SCRIPT) as model:
        one = Live(tmp_path, model)
        one.serve()
        try:
            yield one
        finally:
            for process in one.processes:
                process.kill()
                process.wait()
                process.stdout.close()
