"""Every SQL statement is a file, and every file is used."""

from __future__ import annotations

import re
from pathlib import Path

import dbagenteval.store
from dbagenteval.store import statements

FOLDER = Path(dbagenteval.store.__file__).parent


def test_statements_and_files_agree() -> None:
    """A name in the code has a file, and a file has a name in the code or in the order."""
    code = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    asked = set(re.findall(r'statement\(\s*"(\w+)"', code))
    assert asked <= statements.names()
    used = set(re.findall(r'"(\w+)"', code)) & statements.names()
    for pattern in re.findall(r'statement\(\s*f"(\w+)\{name\}"\)', code):
        used |= {name for name in statements.names() if name.startswith(pattern)}
    assert used | set(statements.creation_order()) == statements.names()


def test_no_sql_in_python() -> None:
    """Only opening the file and choosing it are not statements of ours."""
    allowed = {"USE store", "USE {name}"}
    for path in FOLDER.glob("*.py"):
        for text in re.findall(r'execute\(\s*f?"([^"]*)"', path.read_text()):
            assert text in allowed or text.startswith("ATTACH"), f"{path.name}: {text}"
