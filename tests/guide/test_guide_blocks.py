"""The user's guide, executed: each code block runs, each output block is compared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbagenteval import Case, Scorecard, SuiteResult, Trace, check_question, evaluate, load_cases
from tests.guide.blocks import Block, block, blocks

REPOSITORY = Path(__file__).parents[2]
QUESTION = "How many orders are delivered?"
REPLY = '{"pass": true, "reason": "the rows say so"}'


class Reader:
    """Somebody who follows the guide in a folder, from top to bottom."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed = ""
        self.steps: list[str] = []

    def follow(self, each: Block) -> None:
        """Do what one block says."""
        action, _, argument = each.directive.partition(": ")
        first = action.partition(" ")[0]
        getattr(self, f"_{first}", self._pass)(argument, each)

    def run(self, command: str, folder: Path | None = None) -> int:
        """Run one command line and remember all that it prints."""
        program, *arguments = command.split()
        module = ["-m", "dbagenteval"] if program == "dbagenteval" else []
        done = subprocess.run(
            [sys.executable, *module, *arguments],
            cwd=folder or self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        self.steps.append(command)
        self.printed = done.stdout
        return done.returncode

    def _pass(self, argument: str, each: Block) -> None:
        pass

    def _file(self, name: str, each: Block) -> None:
        (self.folder / name).write_text(each.text)

    def _append(self, name: str, each: Block) -> None:
        with (self.folder / name).open("a") as file:
            file.write("\n\n" + each.text)

    def _replace(self, name: str, each: Block) -> None:
        before = (self.folder / name).read_text()
        (self.folder / name).write_text(before[: before.index("card = ")] + each.text)

    def _second(self, name: str, each: Block) -> None:
        before = (self.folder / name).read_text()
        after = before.replace(
            "\"SELECT SUM(amount) AS total FROM orders WHERE status = 'DELIVERED'\"",
            each.text.strip(),
        )
        assert after != before
        (self.folder / name).write_text(after)

    def _run(self, _: str, each: Block) -> None:
        if each.directive != "run":
            return
        for command in each.text.strip().split("\n"):
            code = self.run(command)
            got_worse = re.search(r"^FAIL|^ERROR|[1-9]\d* regressions", self.printed, re.MULTILINE)
            assert code == (1 if got_worse else 0), self.printed

    def _output(self, command: str, each: Block) -> None:
        if command:
            self.run(command)
        assert self.printed == each.text, f"guide.md:{each.line}"
        self.steps.append("compared")


def test_following_the_guide_gives_the_output_that_it_shows(tmp_path: Path) -> None:
    """Every file, command and output block, in order, in one folder."""
    (tmp_path / "bad.yaml").write_text(f'- question: "{QUESTION}"\n  expects: {{rows: []}}\n')
    reader = Reader(tmp_path)
    for each in blocks():
        if "--judge shop:my_judge" in each.text:
            with (tmp_path / "shop.py").open("a") as file:
                file.write(f"\n\ndef call_my_llm(prompt):\n    return '{REPLY}'\n")
        reader.follow(each)
    assert reader.steps.count("compared") == 9
    assert len(reader.steps) - reader.steps.count("compared") == 12


def test_the_judge_of_the_guide_adds_its_three_checks(tmp_path: Path) -> None:
    """`--judge` shows reference_answer, faithful and relevant beside the other checks."""
    namespace: dict = {"call_my_llm": lambda prompt: REPLY}
    exec(_block_with("def my_judge"), namespace)
    shop: dict = {}
    exec(block("file: shop.py"), shop)
    card = check_question(
        shop["my_agent"],
        QUESTION,
        "SELECT COUNT(*) FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'",
        execute=shop["run_sql"],
        judge=namespace["my_judge"],
    )
    assert [result.check for result in card.results] == [
        "no_error",
        "no_error",
        "no_error",
        "reference_rows",
        "reference_answer",
        "faithful",
        "relevant",
    ]
    assert card.verdict == "PASS"


def _block_with(text: str) -> str:
    (found,) = [each.text for each in blocks() if text in each.text]
    return found


@pytest.fixture
def result() -> SimpleNamespace:
    """What a real agent of a reader might hold after one question."""
    return SimpleNamespace(
        answer="There are 2.",
        sql="SELECT COUNT(*) AS total FROM orders",
        rows=[{"total": 2}],
        question_type="data_question",
        table_chosen="orders",
        columns_found=["status", "amount"],
    )


def test_the_agent_function_of_the_guide_gives_three_stages(result: SimpleNamespace) -> None:
    """The block under "The agent function", with the reader's own call filled in."""
    namespace: dict = {"call_my_real_agent": lambda question: result}
    exec(block("exec: agent"), namespace)
    trace = namespace["my_agent"](QUESTION)
    assert [stage.kind for stage in trace.stages] == ["generate", "execute", "answer"]
    assert trace.last_of("execute").rows == [{"total": 2}]


def test_the_executor_of_the_guide_turns_tuples_into_dicts(tmp_path: Path) -> None:
    """The block under "The executor" works with a database library of the standard library."""
    import sqlite3

    namespace: dict = {"connect_to_my_database": lambda: sqlite3.connect(":memory:")}
    exec(block("exec: executor"), namespace)
    assert namespace["run_sql"]("SELECT 1 AS a, 'x' AS b") == [{"a": 1, "b": "x"}]


def test_every_step_of_the_guide_is_checked_by_its_case(
    result: SimpleNamespace, tmp_path: Path
) -> None:
    """The six stages of the guide against the case below them."""
    namespace: dict = {"call_my_real_agent": lambda question: result}
    exec(block("exec: stages"), namespace)
    path = tmp_path / "cases.yaml"
    path.write_text(block("case: stages"))
    (case,) = load_cases(path)
    card = evaluate(namespace["my_agent"](QUESTION), case, execute=lambda sql: [{"count": 2}])
    assert card.stages() == dict.fromkeys(
        ["classify", "view", "retrieve", "generate", "execute", "answer"], "pass"
    )
    assert {result.check for result in card.results} == {
        "no_error",
        "expected",
        "recall",
        "reference_rows",
    }
    result.columns_found = ["amount"]
    card = evaluate(namespace["my_agent"](QUESTION), case, execute=lambda sql: [{"count": 2}])
    assert (card.verdict, card.failed_stage) == ("FAIL", "retrieve")


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([{"name": "Electronics", "sum": 2000}], "PASS"),
        ([{"name": "Electronics"}], "PASS"),
        ([{"name": "Toys"}], "FAIL"),
    ],
)
def test_several_correct_results_of_the_guide(rows: list[dict], verdict: str) -> None:
    """The block under `expect.rows`: one of the results must match."""
    import yaml

    case = Case("q", **yaml.safe_load(block("case: accepted")))
    assert evaluate(Trace.simple("q", rows=rows), case).verdict == verdict


def test_the_python_interface_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """The block under "Use it from Python" runs with the names of the earlier blocks."""
    namespace: dict = {}
    exec(block("file: shop.py") + _block_with("RULES = ["), namespace)
    (tmp_path / "cases.yaml").write_text(block("file: cases.yaml"))
    monkeypatch.chdir(tmp_path)
    namespace["trace"] = namespace["my_agent"](QUESTION)
    exec(block("exec: api"), namespace)
    assert isinstance(namespace["card"], Scorecard)
    assert isinstance(namespace["result"], SuiteResult)
    printed = capsys.readouterr().out.split("\n")
    assert printed[:3] == ["PASS", "None", f"Q: {QUESTION}"]
    assert "'total': 3, 'passed': 2, 'failed': 1" in printed[-2]


@pytest.mark.parametrize(
    ("trace", "status", "detail"),
    [
        (Trace.simple("q", answer="x" * 400), "pass", "400 characters"),
        (Trace.simple("q", answer="x" * 401), "fail", "401 characters"),
        (Trace.simple("q", sql="SELECT 1"), "skip", ""),
    ],
)
def test_the_rule_of_the_guide(trace: Trace, status: str, detail: str) -> None:
    """The block under "Write your own rule" passes, fails and skips."""
    namespace: dict = {"__name__": "guide"}
    exec(block("exec: rule"), namespace)
    card = evaluate(trace, rules=[namespace["ShortAnswer"]()])
    result = card.results[-1]
    assert (result.check, result.stage, result.status, result.detail) == (
        "short_answer",
        "answer",
        status,
        detail,
    )


def test_the_examples_of_the_repository_run_as_the_guide_says(tmp_path: Path) -> None:
    """The two commands at the end, from the main folder."""
    reader = Reader(tmp_path)
    commands = [each.text for each in blocks() if each.directive == "run in the repository"]
    assert len(commands) == 2
    assert reader.run(commands[0].replace("\\\n", " "), REPOSITORY) == 1
    assert "4 of 5 passed (80%), 1 failed, 0 errors" in reader.printed
    assert "generate / tenant_filter: no store_id = 's1' filter on ['orders']" in reader.printed
    assert reader.run(commands[1].strip(), REPOSITORY) == 0
    assert re.findall(r"VERDICT +(\w+)", reader.printed) == ["PASS", "FAIL", "FAIL", "PASS"]
