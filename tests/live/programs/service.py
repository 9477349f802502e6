"""A question service on http.server: the openai client, sqlite3, and the OpenTelemetry API alone.

It continues the trace of the request as instrumented web frameworks do.
"""

import json
import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI
from opentelemetry import context, propagate, trace
from plain_openai import ask


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = context.attach(propagate.extract({k.lower(): v for k, v in self.headers.items()}))
        try:
            tracer = trace.get_tracer("service")
            with tracer.start_as_current_span("POST /ask", kind=trace.SpanKind.SERVER):
                connection = sqlite3.connect(os.environ["SHOP_DB"])
                client = OpenAI(api_key="none", base_url=os.environ["MODEL_URL"])
                answer = ask(client, connection, body["messages"][-1]["text"])
        finally:
            context.detach(token)
        reply = json.dumps({"data": [{"reply": answer}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
