"""Situations 30 to 42: how a run of tests behaves in CI, with a slow or broken agent."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.cli.main import main

COUNT = "prompt: How many customers?\nsql: SELECT COUNT(*) AS n FROM main.customers\n"
RIGHT = {"rows": [{"n": 4}]}


@pytest.fixture
def project(folder: Any) -> Any:
    """The example with its database and without its tests."""
    folder.make_database()
    shutil.rmtree(folder.root / "tests")
    return folder


def _run(project: Any, url: str, *arguments: str) -> int:
    return main(["test", "-p", str(project.root), "--agent", url, *arguments])


def _files(project: Any) -> list[Path]:
    return sorted((project.root / "tests" / "outputs").glob("results_*.json"))


def _results(project: Any) -> list[dict[str, Any]]:
    return json.loads(_files(project)[-1].read_text("utf-8"))["results"]


def _configure(project: Any, lines: str) -> None:
    project.replace("dbagenteval.yaml", "agent:\n", f"agent:\n{lines}")


def test_item_30_each_outcome_has_its_exit_code(project, agent) -> None:
    """0 if all passed, 1 if one failed or gave no answer, 2 if nothing ran."""
    project.write("tests/a.yml", COUNT)
    for reply, code in ((RIGHT, 0), ({"rows": [{"n": 5}]}, 1), ({"error": "down"}, 1), ({}, 1)):
        agent.reply = lambda request, reply=reply: reply
        assert _run(project, agent.url) == code, reply
    assert _run(project, "http://127.0.0.1:9/ask") == 1
    assert _run(project, agent.url, "--select", "nothing") == 2


def test_item_31_folders_are_searched_and_typos_are_named(project, agent, capsys) -> None:
    """Tests of any depth run; a key that does not exist stops the run with file and line."""
    agent.reply = lambda request: RIGHT
    for place in ("tests/a.yml", "tests/deep/er/b.yaml", "tests/outputs/old.yml"):
        project.write(place, COUNT)
    assert _run(project, agent.url) == 0
    assert {item["name"] for item in _results(project)} == {"a", "b"}
    assert "2 test file(s), 2 selected" in capsys.readouterr().err
    project.write("tests/deep/c.yml", COUNT + "tolerence: 1\n")
    assert _run(project, agent.url) == 2
    assert "tests/deep/c.yml:3: error: unknown key 'tolerence'" in capsys.readouterr().err


def test_item_33_only_a_busy_agent_is_asked_again(project, agent) -> None:
    """429 and 503 are tried again as often as `retries` says, an error of the agent is not."""
    project.write("tests/a.yml", COUNT)
    agent.reply = lambda request: RIGHT
    for statuses, asked, reason in (
        ([503, 429], 3, ""),
        ([503, 503, 503], 3, "unreachable"),
        ([500], 1, "agent_error"),
    ):
        config = (project.root / "dbagenteval.yaml").read_text("utf-8")
        if "retries" not in config:
            _configure(project, "  retries: 2\n")
        agent.asked.clear()
        agent.statuses = list(statuses)
        _run(project, agent.url)
        assert (len(agent.asked), _results(project)[0]["reason"]) == (asked, reason)


def test_item_33_the_agents_own_timeout_is_kept(project, agent) -> None:
    """`timeout` of the configured agent ends a call that hangs."""
    project.write("tests/a.yml", COUNT)
    _configure(project, "  timeout: 0.3\n")
    over = threading.Event()
    agent.reply = lambda request: over.wait(60) and RIGHT
    begun = time.monotonic()
    assert _run(project, agent.url) == 1
    over.set()
    assert time.monotonic() - begun < 30
    assert _results(project)[0]["reason"] == "timeout"


@pytest.fixture
def dripping() -> Iterator[str]:
    """An agent whose reply comes in drops and never ends."""
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while not over.wait(0.05):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/ask"
    over.set()
    server.close()


def test_item_33_a_reply_in_drops_times_out(project, dripping) -> None:
    """Bytes that keep coming do not keep a run waiting."""
    project.write("tests/a.yml", COUNT + "timeout: 0.4\n")
    begun = time.monotonic()
    assert _run(project, dripping) == 1
    assert time.monotonic() - begun < 30
    assert _results(project)[0]["reason"] == "timeout"


def test_item_34_a_token_comes_from_the_environment(project, agent, monkeypatch) -> None:
    """No login: a header of the configuration takes its secret from a variable."""
    project.write("tests/a.yml", COUNT)
    agent.reply = lambda request: RIGHT
    project.replace("dbagenteval.yaml", "function: agent.py:answer", f"url: {agent.url}")
    _configure(project, '  headers: {Authorization: "Bearer ${AGENT_TOKEN}"}\n')
    monkeypatch.setenv("AGENT_TOKEN", "t0ken")
    assert main(["test", "-p", str(project.root)]) == 0
    assert agent.asked[0]["headers"]["Authorization"] == "Bearer t0ken"
    assert "t0ken" not in _files(project)[0].read_text("utf-8")


def test_item_37_results_stand_alone_and_overwrite_nothing(project, agent) -> None:
    """Runs within a second keep a file each, with prompt, SQL, digest and versions."""
    project.write("tests/a.yml", COUNT)
    agent.reply = lambda request: RIGHT
    for _ in range(3):
        assert _run(project, agent.url) == 0
    assert len(_files(project)) == 3
    document = json.loads(_files(project)[0].read_text("utf-8"))
    assert document["results"][0]["prompt"] == "How many customers?"
    assert document["results"][0]["sql"] == ["SELECT COUNT(*) AS n FROM main.customers"]
    assert len(document["results"][0]["file_sha256"]) == 64
    assert document["dbagenteval"]
    assert document["schema_version"]


def test_item_39_results_keep_the_order_of_the_tests(project, agent) -> None:
    """With threads, results stand in the order of files and models, whoever answers first."""
    for number in range(8):
        project.write(f"tests/t{number}.yml", COUNT.replace("?", f" in {number}?"))

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.05 * (7 - int(request["prompt"][-2])))
        return RIGHT

    agent.reply = reply
    assert _run(project, agent.url, "-t", "8", "-m", "a:x", "-m", "b:y") == 0
    assert [(item["model"], item["name"]) for item in _results(project)] == [
        (model, f"t{number}") for model in ("a:x", "b:y") for number in range(8)
    ]


def test_item_41_a_run_talks_to_the_agent_alone(project, agent, monkeypatch) -> None:
    """No telemetry, no look for updates: the only address that is opened is the agent's."""
    project.write("tests/a.yml", COUNT)
    agent.reply = lambda request: RIGHT
    opened: list[Any] = []
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        opened.append(address)
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    assert _run(project, agent.url) == 0
    assert {address[0] for address in opened} == {"127.0.0.1"}
    assert {address[1] for address in opened} == {agent.server.server_port}


@pytest.mark.parametrize("option", ["--extract", "--judge"])
def test_item_42_no_model_grades_itself(project, agent, capsys, option: str) -> None:
    """A model under test can't read or judge answers, whichever of them."""
    project.write("tests/a.yml", COUNT)
    models = ("-m", "openai:gpt-5", "-m", "openai:other")
    for named in ("openai:GPT-5", "openai:other@http://127.0.0.1:9/v1"):
        assert _run(project, agent.url, *models, option, named) == 2
        assert f"{option} {named}: a model under test grades no answer" in capsys.readouterr().err
    assert agent.asked == []
