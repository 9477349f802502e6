"""A judge that asks a model over HTTP, with its cache, tokens and cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbagenteval import Trace, evaluate
from dbagenteval.checks.model_judge import ModelJudge, Price, default_cache_dir
from dbagenteval.cli import main
from dbagenteval.cli.targets import load_judge
from dbagenteval.errors import TargetError, UserError
from tests.checks.chat_server import ChatServer

TRACE = Trace.simple("How many?", sql="SELECT 3 AS n", rows=[{"n": 3}], answer="There are 3.")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or proxy of the machine, and a cache of the test's own."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DBAGENTEVAL_CACHE_DIR", str(tmp_path / "cache"))


def test_the_model_is_asked_for_each_check_and_its_verdict_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Real requests with the model, the key and both messages; real replies."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ChatServer(
        lambda messages: json.dumps(
            {"pass": "faithful" in messages[1]["content"], "reason": "because"}
        )
    ) as server:
        card = evaluate(TRACE, judge=load_judge(f"openai:a/model:8b@{server.url}"))
    assert [(result.check, result.status, result.detail) for result in card.results[-2:]] == [
        ("faithful", "pass", "because"),
        ("relevant", "fail", "because"),
    ]
    assert [request["model"] for request in server.requests] == ["a/model:8b"] * 2
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user"]
    assert '[{"n": 3}]' in server.requests[0]["messages"][1]["content"]
    assert server.headers[0]["authorization"] == "Bearer sk-test"


def test_a_rerun_is_answered_from_disk_and_costs_nothing(tmp_path: Path) -> None:
    """By another judge object too, but not for another model or another address."""
    price = Price(input=1.0, output=10.0)
    with ChatServer() as server:
        first, again, other = (
            ModelJudge(model, base_url=server.url, cache_dir=tmp_path, price=price)
            for model in ("m", "m", "other")
        )
        for judge in (first, again, other):
            assert evaluate(TRACE, judge=judge).verdict == "PASS"
    used = {"calls": 2, "cached": 0, "input_tokens": 200, "output_tokens": 20, "cost": 0.0004}
    assert first.usage() == {"model": "m", **used}
    assert again.usage() == {
        "model": "m",
        "calls": 0,
        "cached": 2,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": 0.0,
    }
    assert other.usage() == {"model": "other", **used}
    assert len(server.requests) == 4


def test_other_content_is_asked_anew(tmp_path: Path) -> None:
    """One changed cell is another question."""
    changed = Trace.simple("How many?", sql="SELECT 3 AS n", rows=[{"n": 4}], answer="There are 3.")
    with ChatServer() as server:
        judge = ModelJudge("m", base_url=server.url, cache_dir=tmp_path)
        evaluate(TRACE, judge=judge)
        evaluate(changed, judge=judge)
    assert (judge.usage()["calls"], judge.usage()["cached"]) == (3, 1)
    assert judge.usage()["cost"] is None


def test_a_reply_without_verdict_is_not_kept(tmp_path: Path) -> None:
    """Else the case would be an ERROR for ever."""
    replies = iter(["I can't say.", '{"pass": true}', '{"pass": true}'])
    with ChatServer(lambda messages: next(replies)) as server:
        judge = ModelJudge("m", base_url=server.url, cache_dir=tmp_path)
        with pytest.raises(
            ValueError, match="judge reply has no JSON object with a boolean 'pass'"
        ):
            evaluate(TRACE, judge=judge)
        assert evaluate(TRACE, judge=judge).verdict == "PASS"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"text": 3}', '{"text": "no verdict"}', '{"other": 1}']
)
def test_a_spoilt_cache_entry_is_asked_anew(tmp_path: Path, content: str) -> None:
    """A file cut by a full disk, or of another version."""
    with ChatServer() as server:
        judge = ModelJudge("m", base_url=server.url, cache_dir=tmp_path)
        evaluate(TRACE, judge=judge)
        for path in tmp_path.rglob("*.json"):
            path.write_text(content)
        assert evaluate(TRACE, judge=judge).verdict == "PASS"
    assert judge.usage()["calls"] == 4


def test_a_cache_that_can_not_be_written_fails_no_case(tmp_path: Path) -> None:
    """The reply counts, it is just not kept."""
    (tmp_path / "file").write_text("")
    with ChatServer() as server:
        judge = ModelJudge("m", base_url=server.url, cache_dir=tmp_path / "file")
        assert evaluate(TRACE, judge=judge).verdict == "PASS"


def test_a_lone_surrogate_from_a_database_can_be_judged(tmp_path: Path) -> None:
    """It can't be sent as UTF-8."""
    trace = Trace.simple("How many?", rows=[{"n": "\ud800"}], answer="There are \ud800.")
    with ChatServer() as server:
        assert (
            evaluate(trace, judge=ModelJudge("m", base_url=server.url, cache_dir=tmp_path)).verdict
            == "PASS"
        )


def test_a_service_that_refuses_makes_the_case_an_error(tmp_path: Path) -> None:
    """The error says what the service said, and holds no key."""
    import openai

    with ChatServer() as server:
        server.status = 400
        with pytest.raises(openai.BadRequestError, match="no"):
            evaluate(TRACE, judge=ModelJudge("m", base_url=server.url, cache_dir=tmp_path))


def test_what_can_not_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key, model or library, and a malformed price, are mistakes of the command line."""
    with pytest.raises(TargetError, match="OPENAI_API_KEY is not set"):
        load_judge("openai:m")
    with pytest.raises(TargetError, match="expected openai:MODEL, got 'openai:'"):
        load_judge("openai:")
    with pytest.raises(UserError, match="--judge-price: expected INPUT,OUTPUT"):
        load_judge("openai:m@http://127.0.0.1:1/v1", price="3")
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(TargetError, match="needs the package openai") as raised:
        load_judge("openai:m@http://127.0.0.1:1/v1")
    assert raised.value.hint == "pip install 'dbagenteval[judge]'"


def test_run_puts_tokens_and_cost_into_both_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a second run is paid by the cache."""
    (tmp_path / "judged_agent.py").write_text("def agent(q): return 'There are 3.'\n")
    (tmp_path / "c.yaml").write_text("- question: How many?\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = ["run", "c.yaml", "--agent", "judged_agent:agent", "--judge", "openai:m"]
        command += ["--judge-price", "0.5,2", "--json", "o.json", "--md", "o.md"]
        assert main(command) == 0
        first = json.loads(Path("o.json").read_text())["meta"]["judge"]
        assert main(command) == 0
        assert main([*command, "--no-judge-cache"]) == 0
    assert first == {
        "model": "m",
        "calls": 1,
        "cached": 0,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost": 0.00007,
    }
    assert len(server.requests) == 2
    assert (
        "Judge: model m, calls 1, cached 0, input_tokens 100, output_tokens 10, cost 7e-05"
        in Path("o.md").read_text()
    )


def test_where_replies_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of our own, else in the user's cache."""
    monkeypatch.setenv("DBAGENTEVAL_CACHE_DIR", "/own")
    assert default_cache_dir() == Path("/own/judge")
    monkeypatch.delenv("DBAGENTEVAL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert default_cache_dir() == Path("/cache/dbagenteval/judge")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_cache_dir() == Path("/home/somebody/.cache/dbagenteval/judge")
