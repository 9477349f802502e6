"""The program that is to be run: its interpreter, and what is installed there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dbagenteval.errors import TargetError, quoted

__all__ = ["Environment", "Program", "look_at"]

_ASK = """
import importlib.metadata as m, importlib.util as u, json, os, re
dists = {}
for d in m.distributions():
    name = d.metadata["Name"]
    if name:
        dists.setdefault(re.sub(r"[-_.]+", "-", name).lower(), d.version)
def where(name):
    try:
        spec = u.find_spec(name)
    except Exception:
        return ""
    return os.path.dirname(spec.origin) if spec and spec.origin else ""
print(json.dumps({"installed": dists,
    "hook": where("opentelemetry.instrumentation.auto_instrumentation"),
    "recorder": bool(where("dbagenteval.instrument"))}))
"""
_TIMEOUT_S = 60
_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?$")


@dataclass(frozen=True, slots=True)
class Environment:
    """What an interpreter has.

    Args:
        installed: Versions by distribution, names in lower case with hyphens.
        hook: Folder whose `sitecustomize` instruments a program at its start, or empty.
        has_recorder: It can import this package.
    """

    installed: dict[str, str]
    hook: str
    has_recorder: bool


@dataclass(frozen=True, slots=True)
class Program:
    """A command with its interpreter.

    Args:
        command: As the user gave it, the first word as a path.
        interpreter: The Python that will run it.
    """

    command: tuple[str, ...]
    interpreter: str

    @property
    def name(self) -> str:
        """Name the program, for `service.name`."""
        words = list(self.command)
        if _PYTHON.search(Path(words[0]).name):
            words = [word for word in words[1:] if not word.startswith("-") or word == "-m"]
            words = words[1:] if words[:1] == ["-m"] else words
        return Path(words[0]).stem if words else "python"

    def environment(self) -> Environment:
        """Ask the interpreter what it has.

        Raises:
            TargetError: It doesn't run.
        """
        try:
            told = subprocess.run(  # noqa: S603 the user's own command
                [self.interpreter, "-c", _ASK],
                capture_output=True,
                check=True,
                text=True,
                timeout=_TIMEOUT_S,
            )
            facts = json.loads(told.stdout.splitlines()[-1])
        except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
            raise TargetError(f"{self.interpreter} is no Python that runs: {error}") from None
        return Environment(facts["installed"], facts["hook"], facts["recorder"])


def look_at(command: tuple[str, ...]) -> Program:
    """Find the program that a command names, and its interpreter.

    Raises:
        TargetError: There is no such program.
    """
    found = shutil.which(command[0])
    if found is None and command[0] in ("python", "python3"):
        found = sys.executable
    if found is None:
        hint = f"python {command[0]}" if command[0].endswith(".py") else None
        raise TargetError(f"there is no program {quoted(command[0])}", hint=hint)
    return Program((found, *command[1:]), _interpreter_of(found))


def _interpreter_of(path: str) -> str:
    if _PYTHON.search(Path(path).name):
        return path
    with Path(path).open("rb") as file:
        first = file.readline(512)
    if first.startswith(b"#!"):  # what pip makes of a console script
        words = first[2:].decode(errors="replace").split()
        if words and words[0].endswith("/env"):
            words = [shutil.which(word) or word for word in words[1:]]
        if words and _PYTHON.search(Path(words[0]).name):
            return words[0]
    return sys.executable
