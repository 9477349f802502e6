"""An agent behind HTTP, as a team's own service would be."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Agent:
    """An HTTP agent whose replies are scripted by a function of the request."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.reply = lambda request: {"text": "ok"}
        self.statuses: list[int] = []  # of the next replies; then 200
        agent = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                request["headers"] = dict(self.headers)
                agent.asked.append(request)
                given = agent.reply(request)
                if given is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                body = given if isinstance(given, bytes) else json.dumps(given).encode()
                self.send_response(agent.statuses.pop(0) if agent.statuses else 200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_args) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/ask"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
