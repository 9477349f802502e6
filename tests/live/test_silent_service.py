"""A service that sends no spans: only its answer is checked, and `run` says so."""

import json

from tests.live.conftest import RULES, run, serving

SERVICE = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"answer": "There are 47."}')

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
"""


ONE = "- {id: one, question: How many are there?}\n"


def test_a_service_without_spans_is_no_evidence_for_its_sql(tmp_path):
    """Rules skip with the reason, stderr counts the answers without spans, nothing passes by them."""
    (tmp_path / "cases.yaml").write_text(ONE)
    (tmp_path / "live_rules.py").write_text(RULES)
    with serving(tmp_path, SERVICE) as url:
        done = run(
            *("run", "cases.yaml", "--agent", url, "--span-wait", "0.5"),
            *("--otlp-http", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0"),
            *("--rules", "live_rules:RULES", "--json", "report.json"),
            cwd=tmp_path,
        )
    (card,) = json.loads((tmp_path / "report.json").read_text())["cases"]
    statuses = {result["check"]: result["status"] for result in card["results"]}
    assert {statuses[name] for name in ("read_only", "tenant_filter", "numbers_grounded")} == {
        "skip"
    }
    assert card["meta"]["answer"] == "There are 47."
    assert "1 of 1 answers came without spans" in done.stderr
