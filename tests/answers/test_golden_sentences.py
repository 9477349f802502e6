"""The golden file of answer sentences: every figure is read, and has the right fate."""

import json
import re
from pathlib import Path

import pytest

from dbagenteval.answers import OPERATIONS, read_figures
from dbagenteval.answers.derivation import with_derived
from dbagenteval.answers.grounding import Grounds, fates_of

FATES = {"g": "grounded", "d": "derived", "u": "ungrounded", "i": "ignored"}
MARK = re.compile(r"\[\[(.+?)\|([gdui])\]\]")


def sentences():
    rows, question = [], ""
    path = Path(__file__).parent / "data" / "sentences.txt"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("@rows "):
            rows, question = json.loads(line[6:]), ""
        elif line.startswith("@question "):
            question = line[10:]
        elif line and not line.startswith("# "):
            yield pytest.param(line.replace("\\n", "\n"), rows, question, id=f"line{number}")


SENTENCES = list(sentences())


def plain(text):
    """Compare figures without blanks and in ASCII digits, as the reader sees them."""
    return "".join(str(int(sign)) if sign.isdecimal() else sign for sign in "".join(text.split()))


@pytest.mark.parametrize(("marked", "rows", "question"), SENTENCES)
def test_every_figure_has_its_fate(marked, rows, question):
    """The figures of a sentence are exactly those that are marked, with the marked fates."""
    wanted = [(plain(text), FATES[fate]) for text, fate in MARK.findall(marked)]
    answer = MARK.sub(lambda mark: mark[1], marked)
    fates = fates_of(read_figures(answer), Grounds(results=[rows], question=question))
    fates = with_derived(fates, [rows], answer, OPERATIONS)
    found = [(plain(fate.figure.text), fate.state) for fate in fates]
    assert found == wanted


def test_the_golden_file_is_broad():
    """It has three hundred sentences, and many figures of each fate."""
    assert len(SENTENCES) >= 300
    marks = [fate for sentence in SENTENCES for _, fate in MARK.findall(sentence.values[0])]
    assert all(marks.count(fate) >= 25 for fate in FATES)
