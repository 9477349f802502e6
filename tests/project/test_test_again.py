"""`dbagenteval test` after a run: going on, judging its replies again, passing its file on."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.cli.main import main

COUNT = "prompt: How many customers are there?\nsql: SELECT COUNT(*) AS n FROM main.customers\n"


def tests_of(folder: Any, *texts: str) -> None:
    shutil.rmtree(folder.root / "tests")
    folder.make_database()
    for number, text in enumerate(texts):
        folder.write(f"tests/t{number}.yml", f"name: t{number}\n{text}")


def run(folder: Any, *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["test", "-p", str(folder.root), *words])
    files = sorted(outputs(folder).glob("results_*.json"))
    return code, json.loads(files[-1].read_text("utf-8")) if files else {}


def outputs(folder: Any) -> Path:
    return Path(folder.root / "tests" / "outputs")


def killed_run(folder: Any, agent: Any, after: int) -> None:
    """Run the tests in a process of its own, and kill it when so many results are on disk."""
    command = [sys.executable, "-m", "dbagenteval", "test", "-p", str(folder.root)]
    process = subprocess.Popen([*command, "--agent", agent.url], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = [path.read_bytes().count(b"\n") for path in outputs(folder).glob("*.jsonl")]
        if lines and lines[0] > after:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_killed_run_goes_on_where_it_was(folder: Any, agent: Any) -> None:
    """Results that were on disk are not paid for again; all are in one file at the end."""
    tests_of(folder, *[COUNT] * 6)

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.3)
        return {"rows": [{"n": 4}]}

    agent.reply = reply
    killed_run(folder, agent, after=2)
    kept = next(outputs(folder).glob("*.partial.jsonl")).read_text().count("\n") - 1
    asked = len(agent.asked)
    code, document = run(folder, "--agent", agent.url, "--resume")
    assert code == 0
    assert [result["name"] for result in document["results"]] == [f"t{n}" for n in range(6)]
    assert document["summary"]["passed"] == 6
    assert len(agent.asked) - asked == 6 - kept
    assert not list(outputs(folder).glob("*.partial.jsonl"))


def test_what_changed_or_was_not_answered_is_run_again(folder: Any, agent: Any) -> None:
    """From a results file that is named, too."""
    tests_of(folder, COUNT, COUNT, COUNT)
    agent.reply = lambda request: None if len(agent.asked) % 3 == 1 else {"rows": [{"n": 4}]}
    code, document = run(folder, "--agent", agent.url)
    assert (code, document["results"][0]["reason"]) == (1, "unreachable")
    folder.write("tests/t2.yml", f"name: t2\n{COUNT}tags: [new]\n")
    agent.reply = lambda request: {"rows": [{"n": 4}]}
    asked = len(agent.asked)
    (file,) = outputs(folder).glob("results_*.json")
    code, document = run(folder, "--agent", agent.url, "--resume", str(file))
    assert (code, document["summary"]["passed"]) == (0, 3)
    assert len(agent.asked) - asked == 2
    assert file.exists()


def test_results_of_another_project_state_do_not_fit(folder: Any, agent: Any, capsys: Any) -> None:
    """They would stand beside results that the new context gave."""
    tests_of(folder, COUNT)
    agent.reply = lambda request: {"rows": [{"n": 4}]}
    run(folder, "--agent", agent.url)
    (file,) = outputs(folder).glob("results_*.json")
    folder.write("RULES.md", "# Other rules\n")
    assert main(["test", "-p", str(folder.root), "--agent", agent.url, "--resume", str(file)]) == 2
    assert "--resume: context_sha256 is another" in capsys.readouterr().err


def test_nothing_to_resume(folder: Any, agent: Any, capsys: Any) -> None:
    """Is a mistake of the user."""
    tests_of(folder, COUNT)
    assert main(["test", "-p", str(folder.root), "--agent", agent.url, "--resume"]) == 2
    assert "was cut off" in capsys.readouterr().err
    assert agent.asked == []


def test_replies_are_judged_again_without_an_agent(folder: Any, agent: Any) -> None:
    """With another reference the verdict is another, and nobody was asked."""
    tests_of(folder, COUNT, COUNT + "turns: ['And today?']\n", COUNT)
    agent.reply = lambda request: (
        {"error": "overloaded"}
        if "baggage" in request["headers"] and "t2" in request["headers"]["baggage"]
        else {
            "text": "There are 4 customers.",
            "rows": [{"n": 4}],
            "sql": "SELECT 4",
            "cost": 0.5,
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }
    )
    _, first = run(folder, "--agent", agent.url)
    (file,) = outputs(folder).glob("results_*.json")
    asked = len(agent.asked)
    agent.stop()
    agent.stop = lambda: None
    code, again = run(folder, "--replies", str(file))
    assert code == 1
    same = ("name", "verdict", "tokens", "cost", "cost_from", "message")
    assert [[result[name] for name in same] for result in again["results"]] == [
        [result[name] for name in same] for result in first["results"]
    ]
    assert [result["verdict"] for result in again["results"]] == ["pass", "pass", "error"]
    folder.write("tests/t0.yml", "name: t0\nprompt: How many?\nsql: SELECT 5 AS n\n")
    _, changed = run(folder, "--replies", str(file))
    assert changed["results"][0]["verdict"] == "fail"
    assert len(agent.asked) == asked


def test_a_reply_that_is_not_on_record(folder: Any, agent: Any) -> None:
    """Is an error of that test, never a pass."""
    tests_of(folder, COUNT)
    agent.reply = lambda request: {"rows": [{"n": 4}]}
    run(folder, "--agent", agent.url)
    (file,) = outputs(folder).glob("results_*.json")
    folder.write("tests/new.yml", f"name: new\n{COUNT}")
    code, document = run(folder, "--replies", str(file), "-k", "2")
    assert code == 1
    verdicts = {(item["name"], item["attempt"]): item["verdict"] for item in document["results"]}
    assert verdicts["t0", 1] == "pass"
    assert verdicts["t0", 2] == verdicts["new", 1] == "error"


@pytest.mark.parametrize("how", ["option", "configuration"])
def test_results_without_personal_data(folder: Any, agent: Any, how: str) -> None:
    """Columns that the policy names, what they hold wherever it stands, and what looks like it."""
    tests_of(folder, "prompt: Who is it?\nsql: SELECT 'x' AS email\n")
    agent.reply = lambda request: {
        "text": "It is Quastrom Emma, call +49 30 1234567 or ask bo@lind.example.",
        "rows": [{"EMAIL": "Quastrom Emma", "n": 1}],
        "toolCalls": [{"toolName": "mail", "args": {"to": "Quastrom Emma"}, "result": "sent"}],
    }
    words = ["--redact"] if how == "option" else []
    if how == "configuration":
        config = next(folder.root.glob("*.yaml"))
        text = config.read_text()
        given = "test:\n  redact: true\n"
        if "\ntest:\n" in text:
            config.write_text(text.replace("\ntest:\n", f"\n{given}", 1))
        else:
            config.write_text(text + given)
    page = folder.root / "page.html"
    run(folder, "--agent", agent.url, "--html", str(page), *words)
    written = [path.read_text() for path in (*outputs(folder).iterdir(), page)]
    assert len(written) == 2
    for planted in ("Quastrom", "1234567", "bo@lind.example"):
        assert not [text for text in written if planted in text]
    assert all("[REDACTED:pii]" in text for text in written)


def test_a_budget_of_bytes(folder: Any, agent: Any) -> None:
    """As the agent says, or its tool calls; unknown does not hold."""
    budget = COUNT + "assertions: [{type: max_bytes, value: 1000}]\n"
    tests_of(folder, budget, budget, budget, budget)
    replies: list[dict[str, Any]] = [
        {"bytes_scanned": 1000},
        {
            "toolCalls": [
                {"toolName": "q", "result": {"totalBytesProcessed": n}} for n in (600, 401)
            ]
        },
        {},
        {"bytesScanned": True},
    ]
    agent.reply = lambda request: {"rows": [{"n": 4}], **replies[len(agent.asked) - 1]}
    _, document = run(folder, "--agent", agent.url)
    assert [result["verdict"] for result in document["results"]] == ["pass", "fail", "fail", "fail"]
    assert document["results"][1]["message"] == "bytes 1001, at most 1000 allowed"
    assert document["results"][2]["message"] == "bytes unknown, at most 1000 allowed"


def test_a_rubric_is_decided_by_a_judge(folder: Any, agent: Any, monkeypatch: Any) -> None:
    """By another model, which sees question, criterion, rows and answer."""
    tests_of(folder, COUNT + "assertions: [{type: rubric, text: 'Names {answer} the source'}]\n")
    agent.reply = lambda request: {"rows": [{"n": 4}], "text": "There are 4 customers."}
    module = type(sys)("rubric_judges")
    prompts: list[str] = []

    def strict(prompt: str) -> str:
        prompts.append(prompt)
        return '{"pass": false, "reason": "no source is named"}'

    module.strict = strict  # type: ignore[attr-defined]
    module.kind = lambda prompt: '{"pass": true, "reason": "it is"}'  # type: ignore[attr-defined]
    module.mute = lambda prompt: "hm"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rubric_judges", module)
    common = ["--agent", agent.url, "--judge"]
    code, document = run(folder, *common, "rubric_judges:strict")
    assert code == 1
    assert document["results"][0]["reason"] == "assertion"
    assert "is not met: no source is named" in document["results"][0]["message"]
    for part in ("How many customers are there?", "Names", "the source", '"n": 4', "4 customers."):
        assert part in prompts[0]
    assert run(folder, *common, "rubric_judges:kind")[0] == 0
    code, document = run(folder, *common, "rubric_judges:mute")
    assert (code, document["results"][0]["reason"]) == (1, "evaluator_error")
    asked = len(agent.asked)
    assert main(["test", "-p", str(folder.root), "--agent", agent.url]) == 2
    assert len(agent.asked) == asked
