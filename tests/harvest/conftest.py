"""A shop with agents, whose turns can be recorded and stored by the real commands."""

import json
import sqlite3
import sys

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from dbagenteval.cli import main
from tests.harvest.shop_agents import AGENTS, SHOP
from tests.score.conftest import Recorder


class Shop(Recorder):
    """A folder with the shop's database and agents, and a store beside them."""

    def __init__(self, folder, module):
        super().__init__(folder / "store")
        self.folder = folder
        self.url = f"sqlite:///{folder / 'shop.db'}"
        with sqlite3.connect(folder / "shop.db") as database:
            database.executescript(SHOP)
        database.close()
        (folder / f"{module}.py").write_text(AGENTS)
        self.module = module
        self.rules = f"{module}:RULES"

    def ask(self, agent, *questions):
        """Let an agent of the module answer, and record each turn."""
        answer = getattr(__import__(self.module), agent)
        for question in questions:
            trace = answer(question)
            self.turn(
                question,
                sql=trace.stage("generate").output,
                rows=trace.stage("execute").rows,
                answer=trace.stage("answer").output,
            )

    def ingest(self):
        """Store what was recorded, from a file as the Collector writes it."""
        body = encode_spans(self._exporter.get_finished_spans()).SerializeToString()
        self._exporter.clear()
        path = self.folder / "spans.binpb"
        path.write_bytes(len(body).to_bytes(4, "big") + body)
        assert main(["ingest", str(path), "--store", str(self.directory)]) == 0

    def harvest(self, *options):
        """Run `harvest` into new.yaml; give the exit code."""
        words = ["--store", str(self.directory), "-o", str(self.folder / "new.yaml"), *options]
        return main(["harvest", *words])

    def report(self, command, *words):
        """Run `score` or `run` with a report; give the exit code and the report."""
        path = self.folder / "report.json"
        code = main([command, *words, "--json", str(path)])
        return code, json.loads(path.read_text())

    @property
    def new(self):
        """The text of new.yaml."""
        return (self.folder / "new.yaml").read_text(encoding="utf-8")


@pytest.fixture
def shop(tmp_path, monkeypatch, request):
    """A shop of the test's own."""
    module = "shop_" + "".join(c if c.isalnum() else "_" for c in request.node.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return Shop(tmp_path, module)
