"""Cases files in JSON, JSON lines and CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbagenteval import Case, DatasetError, load_cases


def load(folder: Path, name: str, text: str) -> list[Case]:
    """Write a cases file and load it."""
    (folder / name).write_bytes(text.encode())
    return load_cases(folder / name)


def problems(folder: Path, name: str, text: str) -> list[str]:
    """Give what is wrong with a file, without its folder."""
    with pytest.raises(DatasetError) as raised:
        load(folder, name, text)
    return [each.replace(f"{folder}/", "") for each in raised.value.problems]


def test_json_as_a_list_and_wrapped(tmp_path: Path) -> None:
    """Tabs are white space in JSON."""
    expected = [Case("q", expect={"rows": []})]
    assert load(tmp_path, "c.json", '[\t{"question": "q", "expect": {"rows": []}}]') == expected
    assert (
        load(tmp_path, "c.json", '{"cases": [{"question": "q", "expect": {"rows": []}}], "v": 1}')
        == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[{"question": "q"},]',
            "c.json:1: invalid JSON (Illegal trailing comma before end of array)",
        ),
        (
            "[{'question': 'q'}]",
            "c.json:1: invalid JSON (Expecting property name enclosed in double quotes)",
        ),
        ('[{"question": "q", "expect": {"x": NaN}}]', "c.json: invalid JSON (NaN is not JSON)"),
        ('"text"', "c.json: expected a list of cases, or a mapping with a 'cases' list"),
        ("[]", "c.json: no cases found"),
        ('[{"question": "q"}, {"id": "a"}]', "c.json: case 2: missing 'question'"),
        (
            '[{"question": "q", "expect": {"x": {"a": 1, "a": 2}}}]',
            "c.json: case 1: duplicate key 'a'",
        ),
        ("[" * 100_000, "c.json: invalid JSON (nested too deeply)"),
    ],
)
def test_json_with_faults(tmp_path: Path, text: str, expected: str) -> None:
    """The message names the place as well as the format allows."""
    (found,) = problems(tmp_path, "c.json", text)
    # Python 3.13 words the trailing comma otherwise than those before it.
    assert found.split("(")[0] == expected.split("(", maxsplit=1)[0]
    if "comma" not in expected:
        assert found == expected


def test_json_lines(tmp_path: Path) -> None:
    """A byte order mark, blank lines and U+2028 within a text."""
    text = '\ufeff{"question": "a\u2028b"}\r\n\n{"question": "c", "expect": {"rows": []}}\n'
    assert load(tmp_path, "c.jsonl", text) == [Case("a\u2028b"), Case("c", expect={"rows": []})]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    """The good lines between them do not hide the later ones."""
    text = '{"question": "a"}\n{"question": \n[]\n\n{"id": 1, "id": 2, "question": "d"}\n{"question": "a"}\n'
    assert problems(tmp_path, "c.jsonl", text) == [
        "c.jsonl:2: invalid JSON (Expecting value)",
        "c.jsonl:5: duplicate key 'id'",
        "c.jsonl:3: a case must be a mapping",
        "c.jsonl:6: duplicate case 'a' (first at c.jsonl:1)",
    ]
    assert problems(tmp_path, "c.jsonl", "\n \n") == ["c.jsonl: no cases found"]


def test_csv_as_a_spreadsheet_writes_it(tmp_path: Path) -> None:
    """Byte order mark, CRLF, quoted commas, quotes and line breaks."""
    text = (
        "\ufeffid,question,reference_sql,tags,ordered,precision\r\n"
        'c1,"Orders, ""paid"" ones?","SELECT 1\r\n-- note\r\nFROM t","easy, money",TRUE,4\r\n'
        "c2,How many?,,,,\r\n"
    )
    first, second = load(tmp_path, "c.csv", text)
    assert first == Case(
        'Orders, "paid" ones?',
        reference_sql="SELECT 1\r\n-- note\r\nFROM t",
        id="c1",
        tags=["easy", "money"],
        ordered=True,
        precision=4,
    )
    assert second == Case("How many?", id="c2")


def test_csv_cells_stay_text(tmp_path: Path) -> None:
    """Leading zeros and the texts NA, None and null survive; an empty cell gives no field."""
    text = "id,question,expect.answer,expect.code\n007,Country of Namibia?,NA,01234\n008,Flag?,None,\n1.10,x,null,1e5\n"
    cases = load(tmp_path, "c.csv", text)
    assert [case.id for case in cases] == ["007", "008", "1.10"]
    assert [case.expect for case in cases] == [
        {"answer": "NA", "code": "01234"},
        {"answer": "None"},
        {"answer": "null", "code": "1e5"},
    ]


def test_csv_with_rows_and_several_references(tmp_path: Path) -> None:
    """Cells that hold JSON."""
    text = 'question,expect.rows,reference_sql,expect.view\nq,"[{""n"": 2, ""zip"": ""01""}]","[""SELECT 1"", ""SELECT 2""]",orders\n'
    (case,) = load(tmp_path, "c.csv", text)
    assert case.expect == {"rows": [{"n": 2, "zip": "01"}], "view": "orders"}
    assert case.reference_sqls == ["SELECT 1", "SELECT 2"]


@pytest.mark.parametrize("start", ["", "sep=;\r\n"])
def test_csv_with_semicolons(tmp_path: Path, start: str) -> None:
    """As Excel writes it where the comma is the decimal sign."""
    (case,) = load(tmp_path, "c.csv", f"{start}id;question\r\n1;How many, if any?\r\n")
    assert (case.id, case.question) == ("1", "How many, if any?")


def test_csv_faults_have_the_line_where_the_record_starts(tmp_path: Path) -> None:
    """Also after a cell with line breaks."""
    text = 'id,question,expected,precision\na,"two\nlines",,\nb,q,x,\nc,,,\nd,q2,,two\ne,q3,,2,surplus\n'
    assert problems(tmp_path, "c.csv", text) == [
        "c.csv:6: 5 cells, but the header names 4 columns".replace("6", "7"),
        "c.csv:4: unknown field(s) ['expected']; allowed: expect, id, ordered, precision, question, reference_sql, tags",
        "c.csv:5: missing 'question'",
        "c.csv:6: 'precision' must be a whole number of decimal places",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "c.csv: no cases found"),
        ("id,question\n", "c.csv: no cases found"),
        ("id,question,id\n1,q,2\n", "c.csv:1: duplicate column 'id'"),
        ('question\n"open\n', "c.csv:2: invalid CSV (unexpected end of data)"),
        (
            "question,expect.rows\nq,[{]\n",
            "c.csv:2: column 'expect.rows': must be JSON (Expecting property name enclosed in double quotes: line 1 column 3 (char 2))",
        ),
    ],
)
def test_csv_that_can_not_be_read(tmp_path: Path, text: str, expected: str) -> None:
    """One line says what is wrong, and where."""
    assert problems(tmp_path, "c.csv", text)[0] == expected
