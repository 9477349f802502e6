"""`dbagenteval run`: options, output, exit codes, and agents that misbehave."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dbagenteval.cli import main

AGENT = """
import os, sys, time, sqlite3
from dbagenteval import Trace
from dbagenteval.rules import ReadOnly

def run_sql(sql):
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    return [dict(row) for row in db.execute(sql)]

def good(question): return Trace.simple(question, sql="SELECT 2 AS n", rows=[{"n": 2}], answer="2")
def by_question(question): return Trace.simple(question, sql="SELECT 2 AS n", rows=[{"n": 2 if "good" in question else 3}], answer="x")
def prints(question):
    print("noise on stdout"); sys.stdout.write("more noise"); print("noise on stderr", file=sys.stderr)
    return good(question)
def closes(question):
    sys.stdout.close(); sys.stdout = None
    return good(question)
def exits(question): sys.exit(0)
def hangs(question): time.sleep(60)
def hangs_in_a_pool(question):
    from concurrent.futures import ThreadPoolExecutor
    return ThreadPoolExecutor(1).submit(time.sleep, 3600).result()
async def async_good(question): return good(question)
def judge(prompt): return '{"pass": true, "reason": "ok"}'
RULES = [ReadOnly()]
NOT_RULES = [ReadOnly]
NUMBER = 3
"""
CASES = """\
- {id: one, question: good 1, tags: [a], expect: {rows: [{n: 2}]}}
- {id: two, question: good 2, tags: [b], reference_sql: SELECT 2}
- {id: three, question: bad 3, tags: [b], expect: {rows: [{n: 2}]}}
"""

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Run:
    """Run the command in a folder with an agent module of the test's own and cases."""
    name = "agents_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name)
    (tmp_path / f"{name}.py").write_text(AGENT)
    (tmp_path / "cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*words: str, cases: str = "cases.yaml") -> int:
        return main(["run", cases, *(word.replace("m:", f"{name}:") for word in words)])

    return call


def test_output_and_exit_code(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each case in case order, why it failed, and the totals."""
    assert run("--agent", "m:by_question", "--execute", "m:run_sql") == 1
    printed = capsys.readouterr()
    assert printed.out == (
        "PASS  one\n"
        "PASS  two\n"
        "FAIL  three\n"
        "      execute / rows_match: got 1 row(s), first: [{'n': 3}]; expected 1 row(s), first: [{'n': 2}]\n"
        "\n"
        "2 of 3 passed (67%), 1 failed, 0 errors\n"
        "  first failing stage execute: 1\n"
    )
    assert printed.err == ""
    assert run("--agent", "m:good", "--execute", "m:run_sql") == 0


@pytest.mark.parametrize(
    ("options", "cases"),
    [
        (["--tags", "a"], ["one"]),
        (["--tags", " a , b,"], ["one", "two", "three"]),
        (["--tags", ""], ["one", "two", "three"]),
        (["-k", "good and not 2"], ["one"]),
        (["-k", "three or one"], ["one", "three"]),
        (["--tags", "b", "-k", "bad"], ["three"]),
    ],
)
def test_choosing_cases(
    run: Run, capsys: pytest.CaptureFixture[str], options: list[str], cases: list[str]
) -> None:
    """By tag, by expression, or both; the executor is needed only by chosen cases."""
    execute = ["--execute", "m:run_sql"] if "two" in cases else []
    run("--agent", "m:good", *execute, *options)
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[1] for line in lines if line.startswith("PASS")] == cases


def test_a_judge_and_rules_are_run(run: Run) -> None:
    """They are in the JSON report."""
    assert (
        run(
            "--agent",
            "m:async_good",
            "--rules",
            "m:RULES",
            "--judge",
            "m:judge",
            "--tags",
            "a",
            "--json",
            "o.json",
            "--conc",
            "2",
        )
        == 0
    )
    (case,) = json.loads(Path("o.json").read_text())["cases"]
    assert [(result["check"], result["status"]) for result in case["results"]][-3:] == [
        ("read_only", "pass"),
        ("faithful", "pass"),
        ("relevant", "pass"),
    ]
    assert case["meta"]["sql"] == ["SELECT 2 AS n"]


def test_results_are_printed_while_the_run_goes_on(tmp_path: Path) -> None:
    """In case order: the second case waits until the test has read the line of the first."""
    (tmp_path / "agents.py").write_text(
        "import pathlib, time\n"
        "def agent(question):\n"
        "    while question == 'q2' and not pathlib.Path('go').exists(): time.sleep(0.01)\n"
        "    return 'x'\n"
    )
    (tmp_path / "cases.yaml").write_text("".join(f"- question: q{n}\n" for n in range(1, 4)))
    running = subprocess.Popen(
        [sys.executable, "-m", "dbagenteval", "run", "cases.yaml", "--agent", "agents:agent"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "PASS  q1\n"
    (tmp_path / "go").touch()
    rest, _ = running.communicate(timeout=30)
    assert rest == "PASS  q2\nPASS  q3\n\n3 of 3 passed (100%), 0 failed, 0 errors\n"


def names() -> list[str]:
    """List the files of the current folder."""
    return sorted(path.name for path in Path.cwd().iterdir() if path.name != "__pycache__")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agent", "m"], "error: expected module:attribute, got 'm'"),
        (
            ["--agent", "nowhere:agent"],
            "error: cannot import 'nowhere': ModuleNotFoundError: No module named 'nowhere'\nhint: run the command from the folder that has nowhere.py",
        ),
        (["--agent", "m:nothing"], "has no attribute 'nothing'"),
        (["--agent", "m:NUMBER"], "NUMBER is not a function; --agent needs one"),
        (
            ["--agent", "m:good", "--rules", "m:NUMBER"],
            "NUMBER must be a list of checks, such as [ReadOnly(), ...]",
        ),
        (
            ["--agent", "m:good", "--rules", "m:NOT_RULES"],
            "NOT_RULES must be a list of checks, such as [ReadOnly(), ...]",
        ),
        (
            ["--agent", "m:good", "--judge", "m:NUMBER"],
            "NUMBER is not a function; --judge needs one",
        ),
        (
            ["--agent", "m:good", "--execute", "m:NUMBER"],
            "NUMBER is not a function; --execute needs one",
        ),
        (
            ["--agent", "m:good"],
            "error: some cases have `reference_sql`; pass --execute module:function to run it (a function taking SQL and returning rows as dicts)",
        ),
        (
            ["--agent", "m:good", "--execute", "m:run_sql", "--database", "sqlite://"],
            "--execute and --database exclude each other",
        ),
        (["--agent", "m:good", "--concurrency", "0"], "error: --concurrency must be at least 1"),
        (["--agent", "m:good", "--repeat", "0"], "error: --repeat must be at least 1"),
        (["--agent", "m:good", "--retries", "-1"], "error: --retries must be at least 0"),
        (["--agent", "m:good", "--timeout", "0"], "error: --timeout must be above 0"),
        (["--agent", "m:good", "--tags", "x, y"], "error: no cases match tags ['x', 'y']"),
        (["--agent", "m:good", "-k", "nothing"], "error: no cases match -k 'nothing'"),
        (["--agent", "m:good", "-k", "("], "error: -k '(': a word is missing"),
        (
            ["--agent", "m:good", "--execute", "m:run_sql", "--json", "none/o.json"],
            "error: cannot write none/o.json: ",
        ),
        (
            ["--agent", "m:good", "--execute", "m:run_sql", "--md", "."],
            "error: cannot write .: it is a directory",
        ),
        (
            ["--agent", "m:good", "--execute", "m:run_sql", "--md", "o", "--json", "./o"],
            "--json and --md name the same file",
        ),
        ([], "Missing option '--agent'"),
        (["--agent", "m:good", "--concurrency", "two"], "'two' is not a valid integer"),
        (["--agent", "m:good", "--nothing"], "No such option"),
    ],
)
def test_mistakes_of_the_command_line(
    run: Run, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    """One message on stderr, exit 2, nothing run and nothing written."""
    before = names()
    assert run(*options) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert names() == before


def test_mistakes_in_the_cases_file(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, and exit 2."""
    Path("bad.yaml").write_text("- expects: 1\n- 3\n")
    assert run("--agent", "m:good", cases="bad.yaml") == 2
    assert capsys.readouterr().err == (
        "bad.yaml:1: unknown field(s) ['expects']; allowed: expect, id, ordered, precision, question, reference_sql, tags\n"
        "bad.yaml:2: a case must be a mapping\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("raise ValueError('no key')\n", "ValueError: no key"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0"),
    ],
)
def test_a_module_that_can_not_be_imported(
    run: Run, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """Not even one that exits counts as a pass."""
    name = f"cli_broken_{abs(hash(text))}"
    Path(f"{name}.py").write_text(text)
    assert run("--agent", f"{name}:agent", "--tags", "a") == 2
    assert f"error: cannot import '{name}': {message}" in capsys.readouterr().err


def test_what_an_agent_prints_does_not_mix_with_the_results(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes to stderr."""
    assert run("--agent", "m:prints", "--tags", "a") == 0
    printed = capsys.readouterr()
    assert printed.out == "PASS  one\n\n1 of 1 passed (100%), 0 failed, 0 errors\n"
    assert printed.err == "noise on stdout\nmore noisenoise on stderr\n"


def test_an_agent_that_closes_stdout_does_not_silence_the_results(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are written through a handle of their own."""
    assert run("--agent", "m:closes", "--tags", "a") == 0
    assert capsys.readouterr().out == "PASS  one\n\n1 of 1 passed (100%), 0 failed, 0 errors\n"


def test_an_agent_that_exits_fails_the_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """sys.exit(0) is no success."""
    assert run("--agent", "m:exits", "--tags", "a") == 1
    assert "ERROR one\n      agent raised SystemExit: 0\n" in capsys.readouterr().out


def test_the_old_report_is_kept_until_the_new_one_is_complete(run: Run) -> None:
    """Also when the run itself can't start."""
    Path("o.json").write_text("old")
    assert run("--agent", "m:good", "--json", "o.json", "--md", "none/o.md", "--tags", "a") == 2
    assert Path("o.json").read_text() == "old"
    assert run("--agent", "m:good", "--json", "o.json", "--tags", "a") == 0
    assert json.loads(Path("o.json").read_text())["summary"]["passed"] == 1


def test_quiet_prints_what_did_not_pass_and_the_totals(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else."""
    assert run("--agent", "m:by_question", "--execute", "m:run_sql", "--quiet") == 1
    assert capsys.readouterr().out.startswith("FAIL  three\n      execute / rows_match: got 1")


def test_fail_fast_and_repeat_and_timeout(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Each as `run_suite` does it."""
    assert (
        run(
            "--agent",
            "m:hangs",
            "--execute",
            "m:run_sql",
            "--timeout",
            "0.1",
            "--fail-fast",
            "--concurrency",
            "1",
        )
        == 1
    )
    assert capsys.readouterr().out == (
        "ERROR one\n      agent timed out after 0.1 s (set by `timeout`)\nSKIP  two\nSKIP  three\n\n"
        "0 of 3 passed (0%), 0 failed, 1 errors, 2 not run\n"
    )
    assert run("--agent", "m:good", "--repeat", "3", "--tags", "a") == 0
    assert "PASS  one  (passed 3 of 3)\n" in capsys.readouterr().out


def test_a_database_url_in_place_of_an_executor(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reference runs there."""
    import sqlite3

    db = sqlite3.connect("shop.db")
    db.execute("CREATE TABLE t AS SELECT 2 AS n")
    db.commit()
    db.close()
    Path("db.yaml").write_text("- {question: q, reference_sql: SELECT n FROM t}\n")
    assert run("--agent", "m:good", "--database", "sqlite:///shop.db", cases="db.yaml") == 0
    assert "1 of 1 passed" in capsys.readouterr().out


def test_a_dialect_reaches_rules_that_name_none(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown one is a mistake of the case, not a pass."""
    Path("mysql_agent.py").write_text(
        "from dbagenteval import Trace\n"
        "from dbagenteval.rules import TenantFilter\n"
        "RULES = [TenantFilter('store_id')]\n"
        "def agent(q): return Trace.simple(q, sql='SELECT `n` FROM `t` WHERE `store_id` = 1', rows=[{'n': 2}])\n"
    )
    Path("plain.yaml").write_text("- question: q\n")
    options = ["--agent", "mysql_agent:agent", "--rules", "mysql_agent:RULES"]
    assert run(*options, "--dialect", "mysql", cases="plain.yaml") == 0
    assert run(*options, "--dialect", "postgres", cases="plain.yaml") == 1


class Terminal(io.StringIO):
    """A stderr that a person watches."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "environment", "shown"),
    [
        ([], {}, True),
        (["--quiet"], {}, False),
        ([], {"CI": "true"}, False),
    ],
)
def test_progress_is_shown_to_a_person_only(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    environment: dict[str, str],
    shown: bool,
) -> None:
    """On stderr, with the failures so far; stdout holds the results alone."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    run("--agent", "m:by_question", "--execute", "m:run_sql", *options)
    text = stderr.getvalue()
    assert ("3/3" in text and "1 not passed: three" in text) is shown
    assert "\x1b[3" not in text
    assert "\x1b" not in capsys.readouterr().out


def process(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    (folder / "agents.py").write_text(AGENT)
    (folder / "cases.yaml").write_text(CASES)
    return subprocess.run(
        [sys.executable, "-m", "dbagenteval", "run", "cases.yaml", "--tags", "a", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_threads_that_an_agent_leaves_hanging_do_not_hold_the_process(
    tmp_path: Path, concurrency: str
) -> None:
    """Not even those that Python would wait for at exit."""
    started = time.monotonic()
    done = process(
        tmp_path,
        "--agent",
        "agents:hangs_in_a_pool",
        "--timeout",
        "0.2",
        "--concurrency",
        concurrency,
    )
    assert time.monotonic() - started < 30
    assert done.returncode == 1
    assert "ERROR one\n      agent timed out after 0.2 s" in done.stdout


def test_results_reach_the_real_stdout_of_a_process(tmp_path: Path) -> None:
    """Also from an agent that closes it."""
    done = process(tmp_path, "--agent", "agents:closes")
    assert (done.returncode, done.stdout) == (
        0,
        "PASS  one\n\n1 of 1 passed (100%), 0 failed, 0 errors\n",
    )


def test_text_outside_the_encoding_of_the_terminal(tmp_path: Path) -> None:
    """Files are UTF-8 whatever the locale; what can't be printed is replaced."""
    (tmp_path / "cases.yaml").write_text("")
    words = ("--agent", "agents:good", "--json", "o.json")
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "zurich.yaml").write_text(
        "- {id: Umsatz Zürich ≥ 100 €, question: q, tags: [a]}\n", encoding="utf-8"
    )
    (folder / "agents.py").write_text(AGENT)
    done = subprocess.run(
        [sys.executable, "-m", "dbagenteval", "run", "zurich.yaml", *words],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("PASS  Umsatz Z?rich ? 100 ?\n")
    assert json.loads((folder / "o.json").read_text())["cases"][0]["id"] == "Umsatz Zürich ≥ 100 €"


def test_a_reader_that_goes_away_gives_no_traceback(tmp_path: Path) -> None:
    """As `| head -1` does."""
    (tmp_path / "agents.py").write_text(AGENT)
    text = "".join(f"- {{id: c{n:0200}, question: q{n}}}\n" for n in range(1000))
    (tmp_path / "cases.yaml").write_text(text)
    command = f"{sys.executable} -m dbagenteval run cases.yaml --agent agents:good | head -1"
    done = subprocess.run(
        command, cwd=tmp_path, shell=True, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == f"PASS  c{0:0200}\n"
    assert done.stderr == ""


@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_ctrl_c_keeps_the_old_report(tmp_path: Path, concurrency: str) -> None:
    """One line, and an exit code of its own."""
    (tmp_path / "agents.py").write_text(
        "import pathlib, time\n"
        "def agent(question):\n"
        "    pathlib.Path('started').touch()\n"
        "    time.sleep(60)\n"
    )
    (tmp_path / "cases.yaml").write_text("- question: q\n- question: r\n")
    (tmp_path / "o.json").write_text("old")
    words = ["--agent", "agents:agent", "--json", "o.json", "--concurrency", concurrency]
    running = subprocess.Popen(
        [sys.executable, "-m", "dbagenteval", "run", "cases.yaml", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err.strip()) == (130, "", "interrupted")
    assert (tmp_path / "o.json").read_text() == "old"
