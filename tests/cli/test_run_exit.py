"""How a run ends, whatever the agent does to its process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AGENTS = """
import atexit, os
from dbagenteval import Trace
def run_sql(sql): return [{"n": 2}]
def good(question): return Trace.simple(question, sql="SELECT n FROM t", rows=[{"n": 2}])
def wrong(question): return Trace.simple(question, sql="SELECT n FROM t", rows=[{"n": 3}])
def quits(question): os._exit(0)
def quits_late(question):
    atexit.register(lambda: os._exit(0))
    return wrong(question)
def forks(question):
    child = os.fork()
    if not child:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    return good(question)
def moves(question):
    os.chdir("elsewhere")
    return wrong(question)
"""
CASES = "- {id: one, question: q, reference_sql: SELECT n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(AGENTS)
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def run(folder: Path, agent: str, *words: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dbagenteval", "run", "cases.yaml"]
    options = ["--agent", f"shop:{agent}", "--execute", "shop:run_sql", *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(
        [*command, *options], cwd=folder, text=True, timeout=60, check=False, **streams
    )


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_an_agent_that_ends_the_process_is_an_error(folder: Path, concurrency: str) -> None:
    """The report is written."""
    done = run(folder, "quits", "--json", "o.json", "--concurrency", concurrency)
    assert done.returncode == 1
    assert "agent raised SystemExit: os._exit(0)" in done.stdout
    assert '"verdict": "ERROR"' in (folder / "o.json").read_text()


def test_an_agent_that_ends_the_process_at_exit_does_not_change_its_code(folder: Path) -> None:
    """The case failed."""
    assert run(folder, "quits_late").returncode == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_process_ends_as_it_asks(folder: Path) -> None:
    """The guard is for the process of the run alone."""
    done = run(folder, "forks")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "PASS  one")


def test_reports_go_where_they_were_asked_for(folder: Path) -> None:
    """Though the agent changes the folder."""
    run(folder, "moves", "--json", "o.json", "--md", "o.md")
    assert (folder / "o.json").exists()
    assert (folder / "o.md").exists()
    assert list((folder / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("target", ["cases.yaml", "./elsewhere/../cases.yaml", "shop.py"])
def test_a_report_never_replaces_what_the_run_reads(folder: Path, target: str) -> None:
    """The cases file and the agent's module stay as they are."""
    before = (folder / target).read_text()
    done = run(folder, "good", "--json", target)
    assert done.returncode == 2
    assert done.stderr == f"error: cannot write {target}: the run reads that file\n"
    assert (folder / target).read_text() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_can_not_be_written_is_said_in_one_line(folder: Path) -> None:
    """Nobody saw the results, so it is no success."""
    with Path("/dev/full").open("w") as full:
        done = run(folder, "good", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell closes stdout")
@pytest.mark.parametrize(("agent", "code"), [("good", 0), ("wrong", 1)])
def test_a_closed_stdout_changes_nothing(folder: Path, agent: str, code: int) -> None:
    """The exit code is that of the run, and there is no traceback."""
    command = f"{sys.executable} -m dbagenteval run cases.yaml --agent shop:{agent}"
    done = subprocess.run(
        ["sh", "-c", f"{command} --execute shop:run_sql >&-"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")
