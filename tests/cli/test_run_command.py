"""`dbagenteval run`: options, output and exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., int]


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
            ["--agent", "m:good", "--rules", "m:NO_RULES"],
            "NO_RULES is an empty list, so no rule would be checked; leave out --rules",
        ),
        (
            ["--agent", "m:good", "--dialect", "postgrs"],
            "'postgrs' is no database type; write one such as postgres, mysql",
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
