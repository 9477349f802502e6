"""Text of agents, cases and databases is shown in Markdown, never rendered."""

import pytest

from dbagenteval.report import diff_to_markdown, to_markdown
from dbagenteval.scorecard import FAIL, CheckResult, Scorecard, SuiteResult


def cell(text: str) -> str:
    card = Scorecard("q", [CheckResult("c", "s", FAIL, text)])
    line = next(
        line for line in to_markdown(SuiteResult([card]).to_dict()).splitlines() if "| q |" in line
    )
    return line.removeprefix("| q | FAIL | s | c | ").removesuffix(" |")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![p](http://evil/p.png)", r"![p\](http://evil/p.png)"),
        ("[x][y] [z]: u", r"[x\][y] [z\]: u"),
        (r"[x\](u)", r"[x\\\](u)"),
        ("ask @team, a@b.com", "ask @<!-- -->team, a@b.com"),
        ("<img src=x>", "&lt;img src=x>"),
        ("&#64;team &lt;b", "&amp;#64;team &amp;lt;b"),
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("two\nlines", "two lines"),
        ("got [{'n': 1}], R&D, a < b, x[0]", "got [{'n': 1}], R&D, a &lt; b, x[0]"),
    ],
)
def test_what_would_be_active_in_a_cell_is_escaped(text: str, shown: str) -> None:
    """And nothing else is."""
    assert cell(text) == shown


@pytest.mark.parametrize(
    ("case", "shown"),
    [
        ("# big", r"\# big"),
        ("> said", r"\> said"),
        ("![p](u)", r"![p\](u)"),
        ("a|b", "a|b"),
        ("--flag", r"\--flag"),
        ("-flag", "-flag"),
    ],
)
def test_what_would_be_active_in_a_list_is_escaped(case: str, shown: str) -> None:
    """A name of a case starts the line."""
    text = diff_to_markdown({"added": [{"case": case, "verdict": "PASS"}]})
    assert f"- {shown} (PASS)\n" in text
