"""Cases files in YAML."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dbagenteval import DatasetError, load_cases
from dbagenteval.cases import CasesWarning


def written(folder: Path, text: str, name: str = "c.yaml") -> Path:
    """Write a cases file."""
    path = folder / name
    path.write_bytes(text.encode())
    return path


def problems(path: Path) -> list[str]:
    """Give what is wrong with a file, without its folder."""
    with pytest.raises(DatasetError) as raised:
        load_cases(path)
    return [each.replace(f"{path.parent}/", "") for each in raised.value.problems]


def test_a_list_and_a_mapping_with_cases_are_read(tmp_path: Path) -> None:
    """Keys beside `cases` are ignored."""
    plain = (
        "- {id: a, question: q1, tags: [x], ordered: true, precision: 4, reference_sql: SELECT 1}\n"
    )
    wrapped = "owner: me\ncases:\n- {id: a, question: q1, tags: [x], ordered: true, precision: 4, reference_sql: SELECT 1}\n"
    (case,) = load_cases(written(tmp_path, plain))
    assert load_cases(written(tmp_path, wrapped)) == [case]
    assert (case.id, case.question, case.tags, case.ordered, case.precision) == (
        "a",
        "q1",
        ["x"],
        True,
        4,
    )
    assert case.reference_sqls == ["SELECT 1"]


def test_all_faults_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    """Not only the first one, and also duplicates of a case that has other faults."""
    path = written(
        tmp_path,
        """\
- id: a
  question: one
- expects: 1
  question: two
- 7
-
  id: a
  question: three
  precision: -1
- {id: b}
- {question: q, expect: {rows: [{2023: 1}]}}
""",
    )
    assert problems(path) == [
        "c.yaml:3: unknown field(s) ['expects']; allowed: expect, id, ordered, precision, question, reference_sql, tags",
        "c.yaml:5: a case must be a mapping",
        "c.yaml:7: 'precision' cannot be negative",
        "c.yaml:10: missing 'question'",
        "c.yaml:11: column name 2023 in 'expect.rows' must be text; write it in quotes, as \"2023\"",
        "c.yaml:7: duplicate case 'a' (first at c.yaml:1)",
    ]


def test_duplicate_keys_at_any_depth_are_faults(tmp_path: Path) -> None:
    """YAML would silently take the last one."""
    path = written(
        tmp_path,
        "- question: q\n  expect:\n    rows: [{a: 1, a: 2}]\n  tags: [x]\n  expect: {}\n",
    )
    assert problems(path) == ["c.yaml:5: duplicate key 'expect'", "c.yaml:3: duplicate key 'a'"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- question: [\n", "c.yaml:2: invalid YAML (did not find expected node content)"),
        (
            "- question: q\n  t: !!python/none x\n",
            "c.yaml:2: invalid YAML (could not determine a constructor for the tag 'tag:yaml.org,2002:python/none')",
        ),
        (
            "- question: q\n  expect: {day: 2024-13-01}\n",
            "c.yaml:1: invalid YAML (month must be in 1..12)",
        ),
        ("- {question: q, ? [a] : b}\n", "c.yaml:1: invalid YAML (found unhashable key)"),
        ("", "c.yaml: expected a list of cases, or a mapping with a 'cases' list"),
        ("a: 1\n", "c.yaml: expected a list of cases, or a mapping with a 'cases' list"),
        ("[]\n", "c.yaml: no cases found"),
        ("--- [{question: q}]\n--- []\n", "c.yaml:2: invalid YAML (but found another document)"),
        (
            "- &a\n  question: q\n  expect: {x: *a}\n",
            "c.yaml:1: invalid YAML (an alias contains itself)",
        ),
    ],
)
def test_what_is_no_list_of_cases(tmp_path: Path, text: str, expected: str) -> None:
    """One line says what is wrong, and where."""
    assert problems(written(tmp_path, text)) == [expected]


def test_an_alias_bomb_is_refused_quickly(tmp_path: Path) -> None:
    """Nine lines that stand for millions of values."""
    names = "abcdefgh"
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{name}: &{name} [{','.join(['*' + names[i]] * 9)}]" for i, name in enumerate(names[1:])
    ]
    started = time.monotonic()
    (found,) = problems(written(tmp_path, "\n".join(lines) + "\ncases: [{question: q}]\n"))
    assert "its aliases expand to 48427561 values" in found or "its aliases expand to" in found
    assert time.monotonic() - started < 60


def test_deep_nesting_is_a_fault_of_the_file(tmp_path: Path) -> None:
    """Neither a traceback nor the end of the process."""
    (found,) = problems(written(tmp_path, "[" * 5000))
    assert "invalid YAML" in found


def test_a_large_plain_file_is_fine(tmp_path: Path) -> None:
    """The guard against bombs does not refuse many ordinary cases."""
    text = "".join(
        f"- {{id: c{n}, question: q{n}, expect: {{rows: [{{n: {n}}}]}}}}\n" for n in range(12_000)
    )
    assert len(load_cases(written(tmp_path, text))) == 12_000


def test_cases_that_share_an_anchor_do_not_share_the_object(tmp_path: Path) -> None:
    """Changing the expectations of one leaves the other as it was."""
    text = (
        "- {id: a, question: q, expect: &e {view: orders}}\n- {id: b, question: q2, expect: *e}\n"
    )
    first, second = load_cases(written(tmp_path, text))
    first.expect["view"] = "x"
    assert second.expect == {"view": "orders"}


def test_merge_keys_and_anchors_work(tmp_path: Path) -> None:
    """A key written beside a merge is not a duplicate."""
    text = "- &base {id: a, question: q, tags: [t]}\n- {<<: *base, id: b}\n"
    assert [(case.id, case.tags) for case in load_cases(written(tmp_path, text))] == [
        ("a", ["t"]),
        ("b", ["t"]),
    ]


def test_numeric_ids_stay_as_they_are_written(tmp_path: Path) -> None:
    """YAML alone reads 0123 as 83 and 1_0 as 10."""
    text = "- {id: 0123, question: a}\n- {id: 089, question: b}\n- {id: 7, question: c}\n- {id: 1.10, question: d}\n"
    assert [case.id for case in load_cases(written(tmp_path, text))] == ["0123", "089", "7", "1.10"]


def test_values_that_yaml_reads_otherwise_than_they_look_are_warned_of(tmp_path: Path) -> None:
    """NO is false, 012 is ten, 12:30 is 750."""
    path = written(
        tmp_path,
        '- question: q\n  expect:\n    rows:\n    - {country: NO, code: 012, at: 12:30, fine: "NO", ok: true, n: 10}\n',
    )
    with pytest.warns(CasesWarning) as caught:
        load_cases(path)
    told = [str(each.message).replace(f"{tmp_path}/", "") for each in caught]
    assert told == [
        'c.yaml:4: warning: YAML reads NO as false; write "NO" in quotes if it is text',
        'c.yaml:4: warning: YAML reads 012 as 10; write "012" in quotes if it is text',
        'c.yaml:4: warning: YAML reads 12:30 as 750; write "12:30" in quotes if it is text',
    ]


def test_files_of_other_editors(tmp_path: Path) -> None:
    """A byte order mark, CRLF line ends, text outside ASCII."""
    (case,) = load_cases(
        written(tmp_path, "\ufeff- id: c17\r\n  question: Umsatz für Zürich ≥ 100 €?\r\n")
    )
    assert (case.id, case.question) == ("c17", "Umsatz für Zürich ≥ 100 €?")


def test_what_can_not_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, another encoding, another type."""
    assert problems(tmp_path / "missing.yaml") == [
        "missing.yaml: cannot read file (No such file or directory)"
    ]
    (tmp_path / "folder.yaml").mkdir()
    assert problems(tmp_path / "folder.yaml") == ["folder.yaml: cannot read file (Is a directory)"]
    (tmp_path / "latin.yaml").write_bytes("- question: Zürich\n".encode("latin-1"))
    (found,) = problems(tmp_path / "latin.yaml")
    assert found.startswith("latin.yaml: not a UTF-8 text file (")
    assert problems(written(tmp_path, "x", "cases.txt")) == [
        "cases.txt: unsupported file type; use .yaml, .yml, .json, .jsonl or .csv"
    ]
    assert [
        case.question for case in load_cases(written(tmp_path, "- question: q\n", "UPPER.YML"))
    ] == ["q"]


def test_a_turn_may_not_have_the_name_of_another_case(tmp_path: Path) -> None:
    """Reports tell cases apart by it."""
    path = written(
        tmp_path,
        "- {id: a, turns: [{question: q1}, {question: q2}]}\n"
        "- {id: a#2, question: q3}\n"
        "- {id: a#3, question: q4}\n",
    )
    assert problems(path) == ["c.yaml:2: duplicate case 'a#2' (first at c.yaml:1)"]


def test_data_is_found_beside_the_file(tmp_path: Path) -> None:
    """Wherever the command runs; a script that is not there is a mistake."""
    path = tmp_path / "c.yaml"
    path.write_text("- question: A?\n  data: slices/a.sql\n")
    with pytest.raises(DatasetError, match=r"c\.yaml:1: 'data': there is no file '.*a\.sql'"):
        load_cases(path)
    (tmp_path / "slices").mkdir()
    (tmp_path / "slices" / "a.sql").write_text("CREATE TABLE t (a INTEGER);")
    assert load_cases(path)[0].data == str(tmp_path / "slices" / "a.sql")
