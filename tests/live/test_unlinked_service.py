"""A service that sends spans but doesn't continue the trace of the request."""

import json

from tests.conftest import free_port
from tests.live.conftest import run, serving

SERVICE = """
import json, secrets, sys, time, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

port, otlp, tells = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "question"


def send(question):
    now = time.time_ns()
    trace_id = secrets.token_hex(16)

    def span(span_id, parent, facts):
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in facts.items()]
        return {"traceId": trace_id, "spanId": span_id, "parentSpanId": parent, "name": "s",
                "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 10**6),
                "attributes": attributes}

    agent = {"openinference.span.kind": "AGENT", "output.value": "There are 47."}
    if tells:
        agent["input.value"] = question
    tool = {"openinference.span.kind": "TOOL", "tool.name": "run_sql",
            "input.value": json.dumps({"sql": "SELECT COUNT(*) AS n FROM orders"}),
            "output.value": '[{"n": 47}]'}
    spans = [span("a" * 16, "", agent), span("b" * 16, "a" * 16, tool)]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{otlp}/v1/traces", body, headers)).read()


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        send(asked["question"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"answer": "There are 47."}')

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", port), Service).serve_forever()
"""

CASES = """
- {id: one, question: How many are there?, expect: {rows: [{n: 47}]}}
- {id: two, question: How many are there now?, expect: {rows: [{n: 47}]}}
"""


def asked(tmp_path, tells: str, concurrency: int):
    """Run the two cases against the service; give their cards and what stderr said."""
    (tmp_path / "cases.yaml").write_text(CASES)
    otlp = free_port()
    with serving(tmp_path, SERVICE, f"http://127.0.0.1:{otlp}", tells) as url:
        done = run(
            *("run", "cases.yaml", "--agent", url, "--span-wait", "2"),
            *("--otlp-http", f"127.0.0.1:{otlp}", "--otlp-grpc", "127.0.0.1:0"),
            *("--concurrency", str(concurrency), "--json", "report.json"),
            cwd=tmp_path,
        )
    return json.loads((tmp_path / "report.json").read_text())["cases"], done.stderr


def test_the_question_tells_whose_the_spans_are(tmp_path):
    """Rows are those of the service's own trace, though several questions are asked at once."""
    cards, said = asked(tmp_path, "question", 2)
    assert [card["verdict"] for card in cards] == ["PASS", "PASS"], said
    assert [card["meta"]["sql"] for card in cards] == [["SELECT COUNT(*) AS n FROM orders"]] * 2
    assert "without spans" not in said


def test_the_time_tells_it_where_one_question_is_asked_at_a_time(tmp_path):
    """The spans tell no question, but there is only one that they can belong to."""
    cards, said = asked(tmp_path, "nothing", 1)
    assert [card["verdict"] for card in cards] == ["PASS", "PASS"], said


def test_what_nothing_tells_is_an_error_with_the_reason(tmp_path):
    """Nothing is passed or failed by spans that may be those of another question."""
    cards, _ = asked(tmp_path, "nothing", 2)
    assert [card["verdict"] for card in cards] == ["ERROR", "ERROR"]
    assert "which spans answer the question can't be told" in cards[0]["error"]
    assert "--concurrency 1" in cards[0]["error"]
