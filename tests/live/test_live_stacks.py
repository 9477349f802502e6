"""Agents as their users run them, under `dbagenteval instrument`, scored from their spans."""

import sys

from tests.conftest import free_port, missing
from tests.live.conftest import PROGRAMS, SCRIPT, wait_for

ANSWERS = [steps[-1] for steps in SCRIPT.values()]
# Verdict, first failing stage and check, rows of the last execution.
EXPECTED = {
    "customers": ("PASS", None, None, [{"n": 3}]),
    "revenue": ("FAIL", "generate", "tenant_filter", [{"revenue": 1160.5}]),
    "rome": ("PASS", None, None, [{"name": "Anna"}]),
    "largest": ("FAIL", "answer", "numbers_grounded", [{"largest": 450}]),
}
SQL = {
    case: steps[:-1]
    for case, steps in zip(
        ("customers", "revenue", "rome", "largest"), SCRIPT.values(), strict=True
    )
}


def check(live):
    """Assert what every stack must give: verdict, stage at fault, the database's rows, the SQL."""
    cards = live.score()
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
    assert all("skip" not in {r["status"] for r in card["results"]} for card in cards.values())


def need(module):
    """Skip outside CI if a package is missing."""
    try:
        __import__(module)
    except ImportError:
        missing(module)


def test_a_plain_openai_client_with_sqlite3(live):
    """A loop around the openai client gets the right verdicts from spans without a common root."""
    need("opentelemetry.instrumentation.genai.openai")
    assert live.instrument("plain_openai.py") == ANSWERS
    live.stop()
    check(live)


def test_a_pydantic_ai_agent(live):
    """An agent whose library traces only when told gets the right verdicts unchanged."""
    need("pydantic_ai")
    assert live.instrument("pydantic_agent.py") == ANSWERS
    live.stop()
    check(live)


def test_an_mcp_server_in_a_process_of_its_own(live):
    """The rows of a database behind an MCP server join the agent's turn."""
    need("mcp")
    need("opentelemetry.instrumentation.genai.openai")
    port = free_port()
    server = [str(PROGRAMS / "mcp_database.py"), str(port)]
    live.start("instrument", "--endpoint", live.endpoint, "--", sys.executable, *server)
    wait_for(port)
    assert live.instrument("mcp_agent.py", f"http://127.0.0.1:{port}/mcp") == ANSWERS
    live.stop()
    live.stop()
    check(live)
