"""The reading model is asked over HTTP, and what it costs is counted apart from the agent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dbagenteval.errors import TargetError
from dbagenteval.project.verdict.readermodel import ReaderModel


@pytest.fixture
def service(monkeypatch):
    pytest.importorskip("openai")
    asked: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            reply = {
                "id": "x", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"data": null}'}}],
                "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010},
            }  # fmt: skip
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    yield asked
    server.shutdown()
    server.server_close()


def test_calls_and_cost_are_counted(service) -> None:
    """Tokens add up; the cost follows the configured price, and is unknown without one."""
    model = ReaderModel("small", {"openai:small": {"input": 2.0, "output": 10.0}})
    assert model("Read this") == '{"data": null}'
    assert model("And this") == '{"data": null}'
    assert service[0]["messages"] == [{"role": "user", "content": "Read this"}]
    assert model.usage() == {
        "model": "openai:small",
        "calls": 2,
        "input_tokens": 2000,
        "output_tokens": 20,
        "cost": pytest.approx(0.0042),
    }
    assert ReaderModel("other", {}).usage()["cost"] is None


def test_a_missing_key_is_told(monkeypatch) -> None:
    """Without a key the user is told before anything runs."""
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(TargetError, match="--extract openai:small"):
        ReaderModel("small", {})
