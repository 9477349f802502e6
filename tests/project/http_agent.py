"""An agent of its own process: POST a question, it runs SQL on PostgreSQL and answers."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
from psycopg.rows import dict_row

URL, DIES_AFTER = sys.argv[1], int(sys.argv[2])
ASKED = []

KNOWN = {
    "revenue": "SELECT SUM(amount) AS net FROM main.orders WHERE status <> 'returned' AND order_date >= DATE '2024-01-01'",
    "refund": "SELECT SUM(amount) AS refunded FROM main.orders WHERE status = 'returned' AND order_date >= DATE '2024-01-01'",
    "each city": "SELECT city, COUNT(*) AS people FROM main.customers GROUP BY city",
    "biggest": "SELECT id, amount FROM main.orders WHERE order_date >= DATE '2024-01-01' ORDER BY amount DESC LIMIT 3",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))["question"]
        ASKED.append(question)
        if DIES_AFTER and len(ASKED) > DIES_AFTER:
            import os

            os._exit(9)
        body = json.dumps(self.answer(question), default=str).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, question: str) -> dict:
        if "e-mail" in question:
            return {"text": "I can't share e-mail addresses: they are protected."}
        sql = next(sql for word, sql in KNOWN.items() if word in question)
        with psycopg.connect(URL, row_factory=dict_row) as connection:
            rows = connection.execute(sql).fetchall()
        return {
            "text": "See the table.",
            "toolCalls": [
                {"toolName": "execute_sql", "args": {"sql": sql}, "result": {"rows": rows}}
            ],
            "usage": {"inputTokens": 100, "outputTokens": 10},
        }

    def log_message(self, *_args) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)  # noqa: T201 how the test learns the port
server.serve_forever()
