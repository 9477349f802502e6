"""`run` against a service: the question by HTTP, what it did from the spans that come back."""

import json
import sys

from tests.conftest import free_port
from tests.live.conftest import PROGRAMS, run, wait_for
from tests.live.test_live_stacks import EXPECTED, SQL, need


def test_a_service_is_asked_and_its_spans_make_the_traces(live):
    """Verdicts, stages at fault, SQL and rows are those of the service, each under its own case."""
    need("opentelemetry.instrumentation.genai.openai")
    live.stop()  # the embedded receiver takes its place
    port, otlp = free_port(), free_port()
    endpoint = f"http://127.0.0.1:{otlp}"
    server = [sys.executable, str(PROGRAMS / "service.py"), str(port)]
    live.start("instrument", "--endpoint", endpoint, "--", *server)
    wait_for(port)
    done = run(
        *("run", "cases.yaml", "--agent", f"http://127.0.0.1:{port}/ask"),
        *("--agent-body", '{"messages": [{"role": "user", "text": "{question}"}]}'),
        *("--agent-answer", "data.0.reply", "--otlp-http", f"127.0.0.1:{otlp}"),
        *("--otlp-grpc", "127.0.0.1:0", "--span-wait", "30", "--json", "report.json"),
        *("--database", "sqlite:///shop.db", "--rules", "live_rules:RULES", "--dialect", "sqlite"),
        env=live.environment,
        cwd=live.folder,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((live.folder / "report.json").read_text())
    cards = {card["id"]: card for card in report["cases"]}
    seen = {
        case: (
            card["verdict"],
            card["failed_stage"],
            card["failed_check"],
            card["meta"]["rows"]["first"][:1],
        )
        for case, card in cards.items()
    }
    assert seen == EXPECTED
    assert {case: card["meta"]["sql"] for case, card in cards.items()} == SQL
