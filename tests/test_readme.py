"""The README is true: its commands are run, every command and document is in it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dbagenteval.cli.main import _CommandsOnDemand
from tests.conftest import missing

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n(.*?)\n```", README, re.DOTALL)


def test_its_first_commands_are_the_two_of_the_makefile():
    """`make demo` and `make test`, one command each; the Makefile has both."""
    assert COMMANDS[:2] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo:", makefile, re.MULTILINE)
    assert re.search(r"^test:", makefile, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(_CommandsOnDemand.modules))
def test_every_command_is_in_it(name):
    """A command that nobody can find might as well not be there."""
    assert f"| `dbagenteval {name}` |" in README


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_its_links_lead_somewhere(target):
    """Every file that it names is in the repository."""
    assert (ROOT / target).exists()


def test_the_usage_commands_run_as_they_stand(tmp_path):
    """Serve, send, score, list and run, with the README's own lines, one after the other."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    bin_dir = Path(sys.executable).parent
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
        "PATH": f"{bin_dir}:{os.environ['PATH']}",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "10",
    }

    def start(command, **options):
        return subprocess.Popen(
            shlex.split(command),
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )

    serve, *others = COMMANDS[2:]
    expected = {
        "python examples/shop/agent.py": (0, "> How many orders are delivered?"),
        "dbagenteval score": (1, "5 of 6 passed (83%), 1 failed, 0 errors"),
        "dbagenteval traces list": (0, "shop-agent"),
        "dbagenteval harvest": (0, "the agent's SQL repaired: filter store_id = 's1' on orders"),
        "dbagenteval run": (1, "4 of 5 passed (80%), 1 failed, 0 errors"),
    }
    assert len(others) == len(expected)
    # Default ports, since that is what the README says; busy ones mean a receiver of the user's.
    receiver = start(serve)
    lines = iter(receiver.stdout.readline, "")
    if not any(line.strip() == "ready" for line in lines):
        missing("a free port 4317 or 4318, the defaults that the README relies on,")
    try:
        for command, (start_of, (code, text)) in zip(others, expected.items(), strict=True):
            assert command.startswith(start_of)
            process = start(command)
            out, _ = process.communicate(timeout=60)
            assert (process.returncode, text in out) == (code, True), out
        receiver.terminate()
        assert receiver.wait(30) == 0
    finally:
        receiver.kill()
        receiver.wait()
