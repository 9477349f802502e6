"""A server on loopback that speaks the chat-completions protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PASSED = '{"pass": true, "reason": "fine"}'


class ChatServer:
    """Answers every chat request by a function of its messages; use it as a context manager."""

    def __init__(
        self, reply: Callable[[list[dict[str, str]]], str] = lambda messages: PASSED
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(body)
                server.headers.append({name.lower(): text for name, text in self.headers.items()})
                answer = server._answer(self.path, body, reply)
                data = json.dumps(answer).encode()
                self.send_response(server.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL that a client is given."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _answer(
        self, path: str, body: dict[str, Any], reply: Callable[[list[dict[str, str]]], str]
    ) -> dict[str, Any]:
        if path != "/v1/chat/completions":
            self.status = 404
        if self.status != 200:
            return {"error": {"message": "no", "type": "invalid_request_error", "code": None}}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": reply(body["messages"])},
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }

    def __enter__(self) -> ChatServer:  # noqa: PYI034 Self needs Python 3.11
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
