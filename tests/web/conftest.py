"""Results files, and a server over them."""

from __future__ import annotations

import importlib.util
import json
import socket
import threading
import time
from pathlib import Path

import pytest
import uvicorn

from dbagenteval.web.app import results_app

_SPEC = importlib.util.spec_from_file_location("hostile", Path(__file__).with_name("hostile.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_HOSTILE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_HOSTILE)


def result(name: str, passed: bool, **values) -> dict:
    return {
        "name": name,
        "model": values.pop("model", "openai:gpt-4.1"),
        "attempt": 1,
        "passed": passed,
        "verdict": values.pop("verdict", "pass" if passed else "fail"),
        "message": "match" if passed else "values differ",
        "reason": "" if passed else "different_values",
        "tokens": values.pop("tokens", 1250),
        "cost": values.pop("cost", 0.0125),
        "duration_ms": values.pop("duration_ms", 234),
        "tool_call_count": 1,
        "error": None,
        "prompt": f"What is {name}?",
        "sql": ["SELECT city, n FROM t"],
        "tags": ["money"],
        "file": f"tests/{name}.yml",
        "details": {
            "response_text": "Oslo has 2, Bergen has 3.",
            "actual_data": [{"city": "Bergen", "n": 3}, {"city": "Oslo", "n": 2}],
            "expected_data": [
                {"city": "Oslo", "n": 2},
                {"city": "Bergen", "n": 3 if passed else 4},
            ],
            "comparison": None if passed else "n: 3, expected 4",
            "notes": [],
            "tool_calls": [
                {"toolName": "execute_sql", "args": {"sql": "SELECT 1"}, "result": [{"n": 1}]}
            ],
            "executed_sql": ["SELECT 1"],
        },
    }


def run_of(*results: dict) -> dict:
    return {
        "timestamp": "2026-01-02T03:04:05+00:00",
        "project": "bakery",
        "k": 1,
        "results": list(results),
    }


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    before = run_of(result("revenue", True), result("cities", True), result("old", True))
    after = run_of(
        result("revenue", True, tokens=900, duration_ms=1200),
        result("cities", False, cost=None, model="local:small"),
        result("new", False, verdict="no_answer", tokens=None),
    )
    (folder / "results_20260101_000000.json").write_text(json.dumps(before), "utf-8")
    (folder / "results_20260102_030405.json").write_text(json.dumps(after), "utf-8")
    return folder


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "results_20260103_000000.json").write_text(
        json.dumps(_HOSTILE.hostile_run()), "utf-8"
    )
    return folder


@pytest.fixture
def hostile_script() -> str:
    return _HOSTILE.SCRIPT


@pytest.fixture
def serve():
    """Start the application on a free port of loopback."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(folder: Path, **options) -> str:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(results_app(folder, **options), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join(5)
