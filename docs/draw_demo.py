"""Draw docs/demo.svg from a real run of the demo: `python docs/draw_demo.py`.

Leaves out the scorecards that pass as the first one does, so that the picture fits a screen.
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

SHOWN_CARDS = 2
COLOURS = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "dbagenteval", "demo"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=True)
    cards, _, ending = done.stdout.partition("What arrived, scored:")[2].rpartition("\n\nReports:")
    *cards, totals = cards.strip().split("\n\n")
    totals = "\n".join(totals.splitlines()[-3:])
    parts = [*cards[:SHOWN_CARDS], "…", totals, f"Reports:{ending}".rstrip()]
    console = Console(record=True, width=104, file=io.StringIO())
    console.print(Text("$ make demo", style="bold"))
    for line in "\n\n".join(parts).splitlines():
        text = Text(line)
        for word, style in COLOURS.items():
            text.highlight_regex(rf"\b{word}\b", style)
        console.print(text)
    drawing = console.export_svg(title="dbagenteval")
    # The fonts would come from another host, which an image in a README may not ask.
    drawing = re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL)
    Path(__file__).with_name("demo.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
