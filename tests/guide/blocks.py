"""The code blocks and tables of a Markdown document, in its order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<directive>.*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is for (a comment above it), its language and text."""

    directive: str
    language: str
    text: str
    line: int


def blocks() -> list[Block]:
    """Give all code blocks of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    return [
        Block(
            match["directive"] or "",
            match["language"],
            match["text"],
            text.count("\n", 0, match.start()) + 1,
        )
        for match in _BLOCK.finditer(text)
    ]


def block(directive: str) -> str:
    """Give the text of the one block with a directive."""
    (found,) = [each.text for each in blocks() if each.directive == directive]
    return found


def table(heading: str, first_column: str) -> list[list[str]]:
    """Give the rows of the table under a heading, cells without code marks."""
    text = GUIDE.read_text(encoding="utf-8")
    section = text[re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE).end() :]
    lines = section[section.index(f"| {first_column} |") :].split("\n")
    rows = []
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")])
    return rows
