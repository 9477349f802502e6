"""The files in `examples/deploy` call the command as it is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dbagenteval.cli.serve import command

FOLDER = Path(__file__).parents[2] / "examples" / "deploy"


def options_of(text: str) -> list[str]:
    return [word for word in shlex.split(text) if word.startswith("--")]


@pytest.mark.parametrize("name", ["dbagenteval.service", "Containerfile"])
def test_options_exist(name: str) -> None:
    """Every option of `serve` that stands there is one."""
    text = (FOLDER / name).read_text().replace("\\\n", " ")
    lines = re.findall(r"^(?:ExecStart=|ENTRYPOINT |CMD )(.*)$", text, re.MULTILINE)
    found = [option for line in lines for option in options_of(re.sub(r'[\[\],"]', " ", line))]
    known = {name for parameter in command.params for name in parameter.opts}
    assert "--store" in found
    assert set(found) <= known
