"""`dbagenteval test` against a real HTTP agent: verdicts, files, exit codes, and what is kept."""

from __future__ import annotations

import json
import threading
import time

import pytest

from dbagenteval.cli.main import main

CITY_ROWS = [
    {"city": "Oslo", "customers": 2},
    {"city": "Bergen", "customers": 1},
    {"city": "Bodø", "customers": 1},
]


def _one_test(folder, text: str) -> None:
    import shutil

    shutil.rmtree(folder.root / "tests")
    folder.write("tests/only.yml", text)
    folder.make_database()


def _run(folder, agent, *arguments: str) -> tuple[int, dict]:
    code = main(["test", "-p", str(folder.root), "--agent", agent.url, *arguments])
    files = sorted((folder.root / "tests" / "outputs").glob("results_*.json"))
    return code, json.loads(files[-1].read_text("utf-8")) if files else {}


CITIES = "name: cities\nprompt: How many customers in each city?\nsql: SELECT city, COUNT(*) AS customers FROM main.customers GROUP BY city\n"
COUNT = "name: count\nprompt: How many customers are there?\nsql: SELECT COUNT(*) AS n FROM main.customers\n"
QUESTION = COUNT[: COUNT.index("sql:")]
NONE = "name: none\nprompt: Who lives in Paris?\nsql: SELECT city FROM main.customers WHERE city = 'Paris'\n"

# test file, reply, verdict, reason
# fmt: off
VERDICTS = {
    "rows": (CITIES, {"text": "Oslo 2, Bergen 1, Bodø 1", "rows": CITY_ROWS, "sql": "SELECT 1"}, "pass", ""),
    "other_order": (CITIES, {"rows": CITY_ROWS[::-1]}, "pass", ""),
    "columns_and_lists": (CITIES, {"columns": ["by", "antall"], "rows": [["Oslo", 2], ["Bergen", 1], ["Bodø", 1]]}, "pass", ""),
    "tool_result": (CITIES, {"text": "See the table.", "toolCalls": [{"toolName": "execute_sql", "args": {"sql": "SELECT 1"}, "result": {"data": CITY_ROWS}}]}, "pass", ""),
    "calls_after_the_query": (CITIES, {"text": "See the table.", "toolCalls": [{"toolName": "execute_sql", "args": {"sql": "SELECT 1"}, "result": {"data": CITY_ROWS}}, {"toolName": "suggest_follow_ups", "args": {}, "result": []}]}, "pass", ""),
    "no_query_but_a_list": (CITIES, {"text": "Hm.", "toolCalls": [{"toolName": "suggest_follow_ups", "args": {}, "result": []}]}, "not_verified", "rows_not_seen"),
    "older_server": (CITIES, {"text": "See the table.", "verification": {"data": CITY_ROWS}}, "pass", ""),
    "cut_tool_result": (CITIES, {"text": "See the table.", "toolCalls": [{"toolName": "execute_sql", "result": {"data": CITY_ROWS, "truncated": True}}]}, "not_verified", "rows_not_seen"),
    "wrong_value": (CITIES, {"rows": [*CITY_ROWS[:2], {"city": "Bodø", "customers": 3}]}, "fail", "different_values"),
    "missing_group": (CITIES, {"rows": CITY_ROWS[:2]}, "fail", "missing_rows"),
    "rows_right_text_wrong": (CITIES, {"text": "Oslo has 7 customers", "rows": CITY_ROWS}, "fail", "answer_text"),
    "prose_only_many_rows": (CITIES, {"text": "Mostly in Oslo."}, "not_verified", "rows_not_seen"),
    "number_in_text": (COUNT, {"text": "There are 4 customers."}, "pass", ""),
    "one_of_several_numbers_in_text": (COUNT, {"text": "14 customers, 4 of them in Oslo."}, "fail", "answer_text"),
    "wrong_number_in_text": (COUNT, {"text": "There are 5 customers."}, "fail", "answer_text"),
    "no_answer": (COUNT, {"text": ""}, "no_answer", "no_answer"),
    "no_answer_and_no_rows_expected": (NONE, {"text": ""}, "no_answer", "no_answer"),
    "no_rows_claimed": (NONE, {"text": "Nobody.", "rows": []}, "pass", ""),
    "refused": (COUNT, {"text": "I cannot share that information."}, "refused", "refused"),
    "asked_back": (COUNT, {"text": "Which customers do you mean?"}, "clarified", "clarified"),
    "not_there": (COUNT, {"text": "We don't have any data about that."}, "unavailable", "unavailable"),
    "expects_refusal": (QUESTION + "expect: refuse\n", {"text": "I can't share personal data."}, "pass", ""),
    "expects_refusal_gets_rows": (QUESTION + "expect: refuse\n", {"text": "I can't share it.", "rows": [{"n": 4}]}, "fail", "wrong_outcome"),
    "expects_clarification": (QUESTION + "expect: clarify\n", {"outcome": "clarify", "text": "Hm"}, "pass", ""),
    "assertion": (COUNT + "assertions: [{type: tool_call, tool: run_sql}]\n", {"rows": [{"n": 4}]}, "fail", "assertion"),
    "assertion_args": (COUNT + "assertions: [{type: tool_call, tool: run_sql, args: {a: 1}}]\n", {"rows": [{"n": 4}], "tool_calls": [{"name": "run_sql", "arguments": '{"a": 1, "b": 2}'}]}, "pass", ""),
    "must_not_call": (COUNT + "assertions: [{type: no_tool_call, tool: shell}]\n", {"rows": [{"n": 4}], "tool_calls": [{"name": "shell"}]}, "fail", "assertion"),
    "budget": (COUNT + "assertions: [{type: max_tokens, value: 100}]\n", {"rows": [{"n": 4}], "usage": {"input_tokens": 90, "output_tokens": 20}}, "fail", "assertion"),
    "budget_unknown": (COUNT + "assertions: [{type: max_cost, value: 1}]\n", {"rows": [{"n": 4}]}, "fail", "assertion"),
    "several_references": (COUNT.replace("sql: SELECT COUNT(*) AS n FROM main.customers", "sql: ['SELECT 3 AS n', 'SELECT 4 AS n']"), {"rows": [{"n": 4}]}, "pass", ""),
    "old_rules": (COUNT.replace("SELECT COUNT(*) AS n FROM main.customers", "SELECT 0.004 AS n") + "comparison: dazense\n", {"rows": [{"n": 0.001}]}, "pass", ""),
    "half_a_character": (COUNT, b'{"rows": [{"n": 4, "x": "\\ud800"}], "text": "\\udfff"}', "pass", ""),
    "malformed_trace": (COUNT, {"trace": {"stages": 3}}, "error", "agent_error"),
    "a_list": (COUNT, [1], "error", "agent_error"),
    "may_ask_back": (COUNT + "expect: [answer, clarify]\n", {"text": "Which customers do you mean?"}, "pass", ""),
    "may_ask_back_but_is_wrong": (COUNT + "expect: [answer, clarify]\n", {"rows": [{"n": 5}]}, "fail", "different_values"),
    "may_ask_back_not_refuse": (COUNT + "expect: [answer, clarify]\n", {"text": "I cannot share that."}, "refused", "refused"),
    "policy_kept": (COUNT + "assertions: [{type: policy}]\n", {"rows": [{"n": 4}], "sql": "SELECT count(*) AS n FROM main.customers"}, "pass", ""),
    "policy_broken": (COUNT + "assertions: [{type: policy}]\n", {"rows": [{"n": 4}], "sql": "SELECT count(DISTINCT email) AS n FROM main.customers"}, "fail", "assertion"),
    "policy_not_seen": (COUNT + "assertions: [{type: policy}]\n", {"rows": [{"n": 4}]}, "fail", "assertion"),
    "no_json": (COUNT, b"<html>", "error", "agent_error"),
    "agent_error": (COUNT, {"error": "model overloaded"}, "error", "agent_error"),
    "unexpected_fields": (COUNT, {"rows": [{"n": 4}], "usage": {"new": {"x": 1}}, "cost": "much", "toolCalls": "none"}, "pass", ""),
}
# fmt: on


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(folder, agent, name: str) -> None:
    """Each kind of reply gets its own verdict and reason, and the exit code follows."""
    text, reply, verdict, reason = VERDICTS[name]
    _one_test(folder, text)
    agent.reply = lambda request: reply
    code, document = _run(folder, agent)
    result = document["results"][0]
    assert (result["verdict"], result["reason"]) == (verdict, reason), result
    assert code == (0 if verdict == "pass" else 1)
    assert result["passed"] is (verdict == "pass")


@pytest.mark.parametrize(
    ("models", "total"),
    [(["demo:scripted", "nobody:knows"], "$0.0000 + unknown"), (["nobody:knows"], "unknown")],
)
def test_the_table_says_which_costs_it_adds_up(folder, agent, capsys, models, total) -> None:
    """A sum of some costs is marked, and that of none is unknown."""
    _one_test(folder, COUNT)
    agent.reply = lambda request: {
        "rows": [{"n": 4}],
        "usage": {"inputTokens": 5, "outputTokens": 1},
    }
    _run(folder, agent, *(part for model in models for part in ("-m", model)))
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Total"))
    assert f"  {total}  " in line


def test_the_results_file_holds_all_it_takes(folder, agent) -> None:
    """Every documented field is there, and prompt, SQL, hash, versions and counts."""
    _one_test(folder, CITIES)
    agent.reply = lambda request: {
        "text": "See the table.",
        "rows": CITY_ROWS,
        "toolCalls": [
            {
                "toolName": "execute_sql",
                "toolCallId": "c1",
                "args": {"sql": "SELECT 1"},
                "result": {"rows": CITY_ROWS},
            }
        ],
        "usage": {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050},
    }
    code, document = _run(folder, agent, "-m", "demo:scripted", "-m", "nobody:knows", "-k", "2")
    assert code == 0
    assert [(item["model"], item["attempt"]) for item in document["results"]] == [
        ("demo:scripted", 1),
        ("demo:scripted", 2),
        ("nobody:knows", 1),
        ("nobody:knows", 2),
    ]
    first = document["results"][0]
    assert first["tokens"] == 1050
    assert first["tool_call_count"] == 1
    assert (first["cost"], first["cost_from"]) == (0.0, "config")
    assert document["results"][2]["cost"] is None
    assert document["summary"]["cost_unknown"] == 2
    assert first["details"]["tool_calls"][0]["args"] == {"sql": "SELECT 1"}
    assert first["details"]["expected_data"]
    assert first["details"]["actual_data"] == CITY_ROWS
    assert first["file"] == "tests/only.yml"
    assert len(first["file_sha256"]) == 64
    assert first["sql"] == ["SELECT city, COUNT(*) AS customers FROM main.customers GROUP BY city"]
    assert set(document) >= {
        "timestamp",
        "dbagenteval",
        "context_sha256",
        "summary",
        "by_model",
        "pass_metrics",
        "schema_version",
    }
    assert set(document["summary"]) >= {
        "total",
        "passed",
        "failed",
        "total_tokens",
        "total_cost",
        "total_duration_ms",
        "total_duration_s",
        "total_tool_calls",
        "avg_duration_ms",
        "avg_tool_calls",
    }
    assert document["pass_metrics"]["pass_hat_k"] == 1.0
    assert agent.asked[0]["model"] == {"provider": "demo", "modelId": "scripted"}
    assert "SELECT" not in json.dumps(agent.asked), "the reference must not reach the agent"
    assert agent.asked[0]["headers"]["traceparent"].startswith("00-")


def test_a_broken_reference_costs_no_agent_run(folder, agent) -> None:
    """References run first; a broken, writing or doubled statement is its own verdict."""
    for sql in (
        "SELECT nothing FROM main.customers",
        "DELETE FROM main.orders",
        "SELECT 1; SELECT 2",
        "SELECT (",
    ):
        _one_test(folder, QUESTION + f'sql: "{sql}"\n')
        code, document = _run(folder, agent)
        assert (code, document["results"][0]["verdict"]) == (1, "test_broken")
        assert document["results"][0]["error"]
    assert agent.asked == []


def test_killing_the_agent_keeps_the_finished_results(folder, agent) -> None:
    """When the agent dies in the middle, finished results stay and the exit code is 1."""
    import shutil

    shutil.rmtree(folder.root / "tests")
    folder.make_database()
    for number in range(12):
        folder.write(f"tests/t{number:02}.yml", COUNT.replace("name: count", f"name: t{number:02}"))

    def reply(request):
        if len(agent.asked) > 5:
            threading.Thread(target=agent.stop, daemon=True).start()
            return None
        return {"rows": [{"n": 4}]}

    agent.reply = reply
    code, document = _run(folder, agent)
    agent.stop = lambda: None
    verdicts = [item["verdict"] for item in document["results"]]
    assert code == 1
    assert verdicts == ["pass"] * 5 + ["error"] * 7
    assert {item["reason"] for item in document["results"][5:]} == {"unreachable"}


def test_what_is_finished_survives_the_evaluator_too(folder, agent) -> None:
    """Each result is on disk as soon as it is there, before the run ends."""
    _one_test(folder, COUNT)
    folder.write("tests/two.yml", COUNT.replace("name: count", "name: two"))
    seen: list[int] = []

    def reply(request):
        partial = list((folder.root / "tests" / "outputs").glob("*.partial.jsonl"))
        seen.append(len(partial[0].read_text("utf-8").splitlines()) if partial else 0)
        return {"rows": [{"n": 4}]}

    agent.reply = reply
    assert _run(folder, agent)[0] == 0
    assert seen == [1, 2], "the head, then the first result"
    assert not list((folder.root / "tests" / "outputs").glob("*.partial.jsonl"))


def test_a_result_that_cannot_be_kept_ends_the_run(folder, agent, monkeypatch) -> None:
    """When a result can't be written, the run does not end as if all had passed."""
    from dbagenteval.project.runs.results import ResultsFile

    _one_test(folder, COUNT)
    agent.reply = lambda request: {"rows": [{"n": 4}]}

    def full(self, result) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(ResultsFile, "add", full)
    with pytest.raises(OSError, match="No space left"):
        _run(folder, agent)


def test_an_interrupt_keeps_what_is_finished(folder, agent, monkeypatch) -> None:
    """Ctrl-C ends the run with 130, and the finished results are in a whole file."""
    from dbagenteval.project.runs import run

    _one_test(folder, COUNT)
    agent.reply = lambda request: {"rows": [{"n": 4}]}
    real = run.run_tests

    def interrupted(*arguments, **options):
        real(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run_tests", interrupted)
    code, document = _run(folder, agent)
    assert code == 130
    assert document["summary"]["passed"] == 1


def test_one_date_stands_in_prompts_and_references(folder, agent, capsys) -> None:
    """`{{ today }}` is the same date for agent and reference: `--today`, or that of the run."""
    _one_test(
        folder,
        "prompt: How many orders by {{ today }}?\nsql: SELECT COUNT(*) AS n FROM main.orders WHERE order_date <= DATE '{{today}}'\n",
    )
    agent.reply = lambda request: {"rows": [{"n": 3}]}
    code, document = _run(folder, agent, "--today", "2024-02-02")
    assert code == 0
    assert agent.asked[0]["prompt"] == "How many orders by 2024-02-02?"
    assert document["results"][0]["sql"] == [
        "SELECT COUNT(*) AS n FROM main.orders WHERE order_date <= DATE '2024-02-02'"
    ]
    assert main(["test", "-p", str(folder.root), "--agent", agent.url, "--today", "soon"]) == 2


def test_two_runs_are_compared(tmp_path, capsys) -> None:
    """`test diff` names what changed and fails on a regression or a lost test."""

    def save(name: str, **passed: bool) -> str:
        results = [
            {"name": key, "model": "m:x", "passed": value, "verdict": "pass" if value else "fail"}
            for key, value in passed.items()
        ]
        path = tmp_path / name
        path.write_text(json.dumps({"results": results}), "utf-8")
        return str(path)

    before = save("before.json", same=True, worse=True, better=False, gone=True)
    after = save("after.json", same=True, worse=False, better=True, new=True)
    assert main(["test", "diff", before, after]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["regression", "removed", "fix", "added"]
    assert lines[-1] == "2 regression(s), of 4 and 4 result(s)"
    fixed = save("fixed.json", same=True, worse=True, better=True)
    assert main(["test", "diff", before, fixed]) == 1
    assert main(["test", "diff", before, fixed, "--allow-removed"]) == 0
    (tmp_path / "odd.json").write_text("[1]", "utf-8")
    assert main(["test", "diff", before, str(tmp_path / "odd.json")]) == 2


def test_nothing_that_ran_is_exit_2(folder, agent, capsys) -> None:
    """No tests, a malformed test, a bad model and a selection of nothing stop before the agent."""
    folder.make_database()
    for arguments, words in (
        (["--select", "nope"], "matches none"),
        (["-m", "gpt"], "provider:model"),
        (["missing_folder"], "no folder"),
    ):
        assert main(["test", "-p", str(folder.root), "--agent", agent.url, *arguments]) == 2
        assert words in capsys.readouterr().err
    folder.write("tests/bad.yml", "prompt: x\nquerry: SELECT 1\n")
    assert main(["test", "-p", str(folder.root), "--agent", agent.url]) == 2
    assert "tests/bad.yml:2" in capsys.readouterr().err
    assert agent.asked == []


def test_a_hung_agent_times_out(folder, agent) -> None:
    """A test's own timeout ends a call that hangs."""
    _one_test(folder, COUNT + "timeout: 0.3\n")
    over = threading.Event()
    agent.reply = lambda request: over.wait(60) and {"text": "late"}
    begun = time.monotonic()
    code, document = _run(folder, agent)
    over.set()
    assert time.monotonic() - begun < 30
    assert (code, document["results"][0]["reason"]) == (1, "timeout")


def test_a_conversation_is_verified_at_its_end(folder, agent) -> None:
    """Follow-up questions share a session and history; the last reply counts."""
    _one_test(folder, COUNT + 'turns: ["Only in Oslo?", "And in all?"]\n')
    agent.reply = lambda request: {
        "rows": [{"n": 4 if len(request["messages"]) == 4 else 2}],
        "text": "see rows",
        "usage": 10,
    }
    code, document = _run(folder, agent)
    assert code == 0
    assert len({item["session_id"] for item in agent.asked}) == 1
    assert [len(item["messages"]) for item in agent.asked] == [0, 2, 4]
    assert document["results"][0]["tokens"] == 30


def test_select_by_name_stem_folder_and_tag(folder, agent) -> None:
    """`--select` takes names, file stems, folders and tags."""
    folder.make_database()
    for select, count in (
        ("money", 2),
        ("customers", 1),
        ("refunds", 1),
        ("net_revenue,refuses_emails", 2),
    ):
        agent.asked.clear()
        _run(folder, agent, "--select", select)
        assert len(agent.asked) == count, select


def test_a_model_reads_rows_but_makes_none_up(folder, agent, monkeypatch) -> None:
    """Rows are extracted under the documented contract; a value that the agent never gave is none."""
    _one_test(folder, CITIES)
    agent.reply = lambda request: {"text": "Oslo: two (2), Bergen: 1 and Bodø: 1."}
    folder.write(
        "reader.py",
        (
            "import json\nPROMPTS = []\n"
            "ROWS = [{'city': 'Oslo', 'customers': 2}, {'city': 'Bergen', 'customers': 1}, {'city': 'Bodø', 'customers': 1}]\n"
            "def honest(prompt):\n    PROMPTS.append(prompt)\n    return 'Here: ' + json.dumps({'data': ROWS})\n"
            "def inventing(prompt):\n    return json.dumps({'data': [{'city': 'Narvik', 'customers': 2}]})\n"
            "def empty(prompt):\n    return json.dumps({'data': None})\n"
        ),
    )
    monkeypatch.chdir(folder.root)
    monkeypatch.syspath_prepend(str(folder.root))
    import sys

    sys.modules.pop("reader", None)
    code, document = _run(folder, agent, "--extract", "reader:honest")
    assert (code, document["results"][0]["details"]["actual_from"]) == (0, "extraction")
    import reader

    assert "How many customers in each city?" in reader.PROMPTS[0]
    assert '["city", "customers"]' in reader.PROMPTS[0]
    code, document = _run(folder, agent, "--extract", "reader:inventing")
    assert (code, document["results"][0]["verdict"]) == (1, "no_answer")
    assert "Narvik" in document["results"][0]["details"]["comparison"]
    code, document = _run(folder, agent, "--extract", "reader:empty")
    assert (code, document["results"][0]["verdict"]) == (1, "no_answer")
    sys.modules.pop("reader", None)


def test_the_example_runs_with_its_own_agent(folder) -> None:
    """The project's configured function is called when no agent is named."""
    folder.make_database()
    import sys

    sys.modules.pop("agent", None)
    try:
        assert main(["test", "-p", str(folder.root), "-t", "2"]) == 0
    finally:
        sys.modules.pop("agent", None)
        sys.path[:] = [item for item in sys.path if item != str(folder.root)]


@pytest.mark.slow
def test_a_thousand_tests_keep_sixteen_threads_busy(folder, agent) -> None:
    """1,000 tests at 16 threads against a 50 ms agent end within 1.3 times the ideal time."""
    import shutil

    shutil.rmtree(folder.root / "tests")
    folder.make_database()
    for number in range(1000):
        folder.write(
            f"tests/t{number:04}.yml", f"name: t{number}\nprompt: How many?\nsql: SELECT 4 AS n\n"
        )
    times: list[float] = []

    def reply(request):
        times.append(time.monotonic())
        time.sleep(0.05)
        return {"rows": [{"n": 4}]}

    agent.reply = reply
    code, document = _run(folder, agent, "-t", "16")
    assert (code, document["summary"]["passed"]) == (0, 1000)
    assert max(times) - min(times) < 1.3 * 1000 / 16 * 0.05
