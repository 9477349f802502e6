"""Changing a YAML file of cases: what was not to change stays, byte for byte."""

import random

import pytest
import yaml

from dbagenteval.cases.yaml_edit import append_cases, remove_case, remove_field, set_field
from dbagenteval.errors import UserError

LIVED_IN = """\
# Cases of the Ä😀 shop.   Two blanks and a trailing one: \n\
- id:   delivered      # the first one
  question: "How many orders are delivered?"
  tags: [easy,   'money']
  reference_sql: >-
    SELECT COUNT(*)
    FROM orders

  expect: &rows
    rows: [{n: 2}]

# Why this one is here.
- {id: "007", question: 'Are there none?', status: draft, expect: *rows}
-   id: late
    status: draft   # not looked at
    question: |
      Which orders
      are late?
    harvested:
      trace: abc
      rows: []
# last words
"""
NEW = {
    "id": "new",
    "question": "How much: NO, 012, or 'x'?",
    "status": "draft",
    "tags": ["harvested"],
    "reference_sql": "SELECT 1\n  AS n -- one\nFROM t",
    "harvested": {"trace": "t1", "count": 2, "rows": [{"n": 1.5, "day": "2026-01-31"}]},
}


def read(text):
    """Give the items of a document."""
    document = yaml.safe_load(text)
    return document["cases"] if isinstance(document, dict) else document


def test_appending_keeps_every_byte():
    """Comments, quotes, anchors, folded text and odd spacing are as they were."""
    text = append_cases(LIVED_IN, [NEW], "c.yaml")
    assert text.startswith(LIVED_IN + "\n- id: new\n")
    assert read(text) == [*read(LIVED_IN), NEW]


@pytest.mark.parametrize(
    "empty",
    ["", "# nothing here yet\n", "# no line break", "---\n", "cases:\n", "cases:\n  # gone\n"],
)
def test_the_first_case_of_a_file(empty):
    """A file may hold nothing, or comments only."""
    text = append_cases(empty, [NEW, NEW], "c.yaml")
    assert text.startswith(empty)
    assert read(text) == [NEW, NEW]


def test_a_mapping_that_goes_on_after_its_cases():
    """New cases stand in the list, at its indentation."""
    before = "version: 1\ncases:\n    - id: a\n      question: A?\n    # c\n"
    after = "owner: me # who\n"
    text = append_cases(before + after, [NEW], "c.yaml")
    assert text.startswith("version: 1\ncases:\n    - id: a\n      question: A?\n")
    assert text.endswith("    # c\n" + after)
    assert read(text) == [{"id": "a", "question": "A?"}, NEW]


def test_windows_line_breaks_stay_and_are_used():
    """No line of the file ends otherwise than the others."""
    before = "- id: a\r\n  question: A?\r\n"
    text = append_cases(before, [NEW], "c.yaml")
    assert text.startswith(before)
    assert "\n" not in text.replace("\r\n", "")
    assert read(text) == [{"id": "a", "question": "A?"}, NEW]


@pytest.mark.parametrize(
    "text", ["[{question: A?}]", "cases: []", "a: 1", "text", "- id: [", "- a: &x *x"]
)
def test_files_that_can_t_be_appended_to(text):
    """They are named and not changed."""
    with pytest.raises(UserError, match=r"^c\.yaml: "):
        append_cases(text, [NEW], "c.yaml")


def test_a_block_that_keeps_its_line_breaks_is_not_given_more():
    """`|+` holds the blank lines behind it: they stay its own."""
    before = "cases:\n  - question: |+\n      A?\n\n\nowner: me\n"
    with pytest.raises(UserError, match="edit the file by hand"):
        append_cases(before, [NEW], "c.yaml")
    root = before.removeprefix("cases:\n").removesuffix("owner: me\n")
    assert read(append_cases(root, [NEW], "c.yaml")) == [*read(root), NEW]


def test_removing_a_field():
    """Its line goes with the remark behind it; in braces, the pair goes."""
    text = remove_field(LIVED_IN, "late", "status", "c.yaml")
    assert text == LIVED_IN.replace("    status: draft   # not looked at\n", "")
    text = remove_field(text, "007", "status", "c.yaml")
    assert "- {id: \"007\", question: 'Are there none?', expect: *rows}\n" in text
    assert remove_field(text, "007", "status", "c.yaml") == text


def test_removing_the_first_field():
    """The dash stays for the next one."""
    text = "- status: draft\n  id: a\n  question: A?\n"
    assert remove_field(text, "a", "status", "c.yaml") == "- id: a\n  question: A?\n"


def test_a_last_text_without_line_break_is_said():
    """One more would be part of the text."""
    text = "- id: a\n  reference_sql: |\n    SELECT 1"
    with pytest.raises(UserError, match="its last text ends without a line break; end"):
        append_cases(text, [NEW], "c.yaml")
    assert append_cases(text + "\n", [NEW], "c.yaml").startswith(text + "\n\n- id: new\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "-\n  # note\n  status: draft # c\n\n  # about id\n  id: a\n",
            "-\n  # note\n\n  # about id\n  id: a\n",
        ),
        ("- status: draft\n  # about id\n  id: a\n", "- # about id\n  id: a\n"),
        ("- status: draft # c\n\n  id: a\n", "- id: a\n"),
        ("- status:\n    draft\n  id: a\n", "- id: a\n"),
        ("- {status: draft,\n   id: a}\n", "- {id: a}\n"),
        ("- {\n   status: draft, id: a}\n", "- {\n   id: a}\n"),
    ],
)
def test_comments_of_the_next_field_stay(before, after):
    """Only the field's own line goes."""
    assert remove_field(before, "a", "status", "c.yaml") == after


def test_a_field_that_another_case_shares_is_not_set():
    """The other case would change as well."""
    text = "- id: a\n  harvested: &h\n    trace: x\n- id: b\n  harvested: *h\n"
    with pytest.raises(UserError, match="this case can't be changed by itself"):
        set_field(text, "a", ("harvested", "accepted"), "me", "c.yaml")


def test_setting_a_field():
    """In its place if it is there, else behind the others; texts of several lines as they are."""
    text = set_field(LIVED_IN, "delivered", ("reference_sql",), "SELECT 1\nFROM t\n", "c.yaml")
    assert "  reference_sql: |\n    SELECT 1\n    FROM t\n\n  expect: &rows\n" in text
    text = set_field(text, "late", ("reference_sql",), "SELECT 2", "c.yaml")
    assert text.endswith("      rows: []\n    reference_sql: SELECT 2\n# last words\n")


def test_setting_a_field_of_a_field():
    """Comments within the mapping stay."""
    text = set_field(LIVED_IN, "late", ("harvested", "accepted"), {"by": "ann"}, "c.yaml")
    assert text == LIVED_IN.replace(
        "      rows: []\n", "      rows: []\n      accepted:\n        by: ann\n"
    )
    with pytest.raises(UserError, match="case 'delivered' has no mapping 'harvested'"):
        set_field(LIVED_IN, "delivered", ("harvested", "accepted"), 1, "c.yaml")


def test_removing_a_case():
    """A comment tells that it was there; one that others lean on is not removed."""
    text = remove_case(LIVED_IN, "late", "c.yaml", comment="rejected: late")
    assert text.endswith("expect: *rows}\n# rejected: late\n# last words\n")
    assert [item["id"] for item in read(text)] == ["delivered", "007"]
    with pytest.raises(UserError, match="edit the file by hand"):
        remove_case(LIVED_IN, "delivered", "c.yaml")
    with pytest.raises(UserError, match="no case has the id 'gone'"):
        remove_case(LIVED_IN, "gone", "c.yaml")


def test_the_last_case_can_be_removed():
    """And another one be written."""
    text = remove_case("# top\n- id: a\n  question: A?\n", "a", "c.yaml", comment="rejected: a")
    assert text == "# top\n# rejected: a\n"
    assert read(append_cases(text, [NEW], "c.yaml")) == [NEW]


ALPHABET = [
    *list("ab :#-'\"\\\n\t{}[]&*!|>%@`,?\u2028\x85\r\x07é😀"),
    "NO",
    "012",
    "~",
    "12:30",
    "\n\n",
]


@pytest.mark.parametrize("seed", range(150))
def test_any_text_comes_back(seed):
    """Whatever a question or a query holds, it is read as it was written."""
    draw = random.Random(seed)
    text = "".join(draw.choices(ALPHABET, k=draw.randint(1, 12)))
    case = {"id": "x", "question": text, "harvested": {"rows": [{text: text}], "n": draw.random()}}
    written = append_cases(LIVED_IN, [case], "c.yaml")
    assert written.startswith(LIVED_IN)
    assert read(written)[-1] == case
    again = set_field(written, "x", ("question",), "Q", "c.yaml")
    assert set_field(again, "x", ("question",), text, "c.yaml") == written
