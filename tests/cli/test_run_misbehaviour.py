"""`dbagenteval run` as a process, and with agents that print, close, exit or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.run_agents import AGENT, CASES

Run = Callable[..., int]


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


def test_what_programs_of_an_agent_print_goes_to_stderr(tmp_path: Path) -> None:
    """They write to the file descriptor, past Python's stdout."""
    done = process(tmp_path, "--agent", "agents:starts_a_program")
    assert done.stdout == "PASS  one\n\n1 of 1 passed (100%), 0 failed, 0 errors\n"
    assert done.stderr == "noise on descriptor 1\nnoise of a program\n"


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
        # A shell without job control starts background jobs with SIGINT ignored, and a child of
        # such a job inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err.strip()) == (130, "", "interrupted")
    assert (tmp_path / "o.json").read_text() == "old"
