"""The ladder of forms in which rows arrive."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbagenteval.traces.content import MISSING
from dbagenteval.traces.pyliteral import read_literal
from dbagenteval.traces.rows import read_rows

TWO = [{"name": "Berlin", "n": "1"}, {"name": "Bad Ems", "n": "22"}]
SQL = "SELECT name, count(*) AS n FROM stores GROUP BY name"


@pytest.mark.parametrize(
    "text",
    [
        "name,n\nBerlin,1\nBad Ems,22\n",
        "name,n\r\nBerlin,1\r\nBad Ems,22\r\n",
        "name\tn\nBerlin\t1\nBad Ems\t22",
        "name;n\nBerlin;1\nBad Ems;22",
        "| name | n |\n|---|---:|\n| Berlin | 1 |\n| Bad Ems | 22 |",
        " name    | n  \n---------+----\n Berlin  | 1  \n Bad Ems | 22 \n(2 rows)",
        "┌─────────┬───────┐\n│  name   │   n   │\n│ varchar │ int64 │\n├─────────┼───────┤\n│ Berlin  │     1 │\n│ Bad Ems │    22 │\n└─────────┴───────┘",
        "+---------+----+\n| name    | n  |\n+---------+----+\n| Berlin  | 1  |\n| Bad Ems | 22 |\n+---------+----+",
        "      name   n\n0   Berlin   1\n1  Bad Ems  22",
        '{"name": "Berlin", "n": "1"}\n{"name": "Bad Ems", "n": "22"}',
        "{'name': 'Berlin', 'n': '1'}\n{'name': 'Bad Ems', 'n': '22'}",
        '{"name": ["Berlin", "Bad Ems"], "n": ["1", "22"]}',
        '{"name": {"0": "Berlin", "1": "Bad Ems"}, "n": {"0": "1", "1": "22"}}',
        '{"columns": [{"name": "name"}, {"name": "n"}], "data": [["Berlin", "1"], ["Bad Ems", "22"]]}',
        "[('name', 'n'), ('Berlin', '1'), ('Bad Ems', '22')]",
        "Result:\n[{'name': 'Berlin', 'n': '1'}, {'name': 'Bad Ems', 'n': '22'}]",
    ],
)
def test_named_forms(text):
    """Text tables and JSON give the same rows under their column names."""
    read = read_rows(text, SQL)
    assert (read.rows, read.state, read.positional) == (TWO, "present", False)


@pytest.mark.parametrize(
    "text",
    [
        "[('Berlin', 1), ('Bad Ems', 22)]",
        '[["Berlin", 1], ["Bad Ems", 22]]',
        "('Berlin', 1)\n('Bad Ems', 22)",
        "\n('Berlin', 1)\n('Bad Ems', 22)",
        "(('Berlin', 1), ('Bad Ems', 22))",
    ],
)
def test_forms_without_names(text):
    """Tuples are rows by position."""
    read = read_rows(text, SQL)
    assert read.rows == [
        {"column_1": "Berlin", "column_2": 1},
        {"column_1": "Bad Ems", "column_2": 22},
    ]
    assert read.positional


def test_one_tuple_is_one_row():
    """`(47,)` is a row of one cell, `(1, 2)` one of two."""
    assert read_rows("(47,)").rows == [{"column_1": 47}]
    assert read_rows("(1, 2)").rows == [{"column_1": 1, "column_2": 2}]
    assert read_rows("47").rows == [{"column_1": 47}]


def test_python_values_keep_their_kind():
    """Decimal, dates and None come out as what they are."""
    text = "[(Decimal('1.10'), datetime.date(2025, 1, 2), None, True, -3, datetime.datetime(2025, 1, 2, 3, 4))]"
    (row,) = read_rows(text).rows
    assert list(row.values()) == [
        Decimal("1.10"),
        datetime.date(2025, 1, 2),
        None,
        True,
        -3,
        datetime.datetime(2025, 1, 2, 3, 4),
    ]


@pytest.mark.parametrize(
    ("written", "hours"),
    [
        ("datetime.timezone.utc", 0),
        ("zoneinfo.ZoneInfo(key='UTC')", 0),
        ("datetime.timezone(datetime.timedelta(seconds=7200))", 2),
    ],
)
def test_times_keep_their_zone(written, hours):
    """PostgreSQL's drivers give a timestamp with a time zone as any of these."""
    text = f"[(datetime.datetime(2025, 1, 2, 3, 4, tzinfo={written}), None)]"
    (row,) = read_rows(text).rows
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    assert row["column_1"] == datetime.datetime(2025, 1, 2, 3, 4, tzinfo=zone)
    assert row["column_1"].utcoffset() == datetime.timedelta(hours=hours)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n[{"n": 47}]\n```',
        'Found 1 row:\n\n```\n[{"n": 47}]\n```\nDone.',
        "```csv\nn\n47\n```",
    ],
)
def test_rows_in_a_fence_are_those_inside_it(text):
    """The marks around them are no column."""
    assert [list(row) for row in read_rows(text, "SELECT COUNT(*) AS n FROM t").rows] == [["n"]]


def test_big_numbers_keep_their_digits():
    """Numbers beyond a float's precision are not rounded."""
    (row,) = read_rows('[{"id": 12345678901234567890, "v": 0.1234567890123456789}]').rows
    assert row == {"id": 12345678901234567890, "v": Decimal("0.1234567890123456789")}
    (row,) = read_rows("[(12345678901234567890,)]").rows
    assert row == {"column_1": 12345678901234567890}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "[(open('/etc/passwd').read(),)]",
        "[(1, (lambda: 2)())]",
        "[x for x in range(3)]",
        "datetime.datetime.now()",
        "[Decimal(open('x'))]",
        "[().__class__]",
        "[1 + 1]",
        "f'{1}'",
        "[{**{}}]",
    ],
)
def test_code_is_no_value(text):
    """A repr is parsed; nothing in it is ever run."""
    assert read_literal(text) is MISSING
    assert read_rows(text).rows is None


@pytest.mark.parametrize(
    "text",
    [
        "No rows.",
        "No results found",
        "0 rows",
        "(0 rows)",
        "Empty set (0.00 sec)",
        "Query executed successfully. No rows returned.",
        "Query returned no results.",
        "The query returned no rows",
        "The result is empty",
        "[]",
        "",
        "  \n",
        '{"rows": []}',
        "name,n\n",
        "| name | n |\n|---|---|",
    ],
)
def test_nothing_found(text):
    """An empty result is evidence: it is not the same as a result that isn't there."""
    read = read_rows(text, SQL)
    assert (read.rows, read.state) == ([], "empty")


@pytest.mark.parametrize(
    "text",
    [
        "There are 47 orders in Berlin, which is a lot.",
        "Berlin has 1 store.\nBad Ems has 22.",
        "3 rows affected",
        "Sure! Here is what I found",
        '{"status": "ok", "message": "done"}',
        "[1, [2]]",
        "Berlin,1\nBad Ems,22",
        "<html></html>",
    ],
)
def test_prose_is_no_result(text):
    """What can't be read is said to be unreadable: never rows, never empty."""
    read = read_rows(text, SQL)
    assert (read.rows, read.state) == (None, "unparseable")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[('Berlin', 1), ('Bad Ems', 22), ('Ha", 2),
        ('[{"n": 1}, {"n": 2}, {"n"', 2),
        ("name,n\nBerlin,1\n\n(Results truncated to 1000 characters.)", 1),
        ("name,n\nBerlin,1\nBad", 1),
        ("| name | n |\n|---|---|\n| Berlin | 1 |\n... 5 more rows", 1),
        ("   n\n0  1\n..  ..\n9  3\n\n[10 rows x 1 columns]", 2),
        ('{"rows": [{"n": 1}], "has_more": true}', 1),
        ('{"rows": [{"n": 1}], "total_rows": 7}', 1),
    ],
)
def test_cut_results_say_so(text, count):
    """What is left is shown, and marked."""
    read = read_rows(text, SQL)
    assert read.state == "cut"
    assert read.why
    assert len(read.rows) == count


def test_a_value_of_the_statement_is_no_header():
    """`WHERE status = 'pending'` doesn't make a row with `pending` a line of names."""
    sql = "SELECT DISTINCT status FROM orders WHERE status = 'pending'"
    assert read_rows("[('pending',)]", sql).rows == [{"column_1": "pending"}]
    assert read_rows("[['pending'], ['open']]", sql).rows == [
        {"column_1": "pending"},
        {"column_1": "open"},
    ]


def test_repeated_column_names_are_kept_apart():
    """A join may give two columns one name."""
    read = read_rows('{"columns": ["id", "id"], "rows": [[1, 2]]}')
    assert read.rows == [{"id": 1, "id_2": 2}]


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_list_of_tuples_reads_back(rows):
    """Whatever a driver gives, its repr gives the same cells."""
    read = read_rows(repr(rows))
    assert read.state == "present"
    assert [tuple(row.values()) for row in read.rows] == rows


@given(
    st.lists(
        st.dictionaries(
            st.text(min_size=1, max_size=8), st.text(max_size=20), min_size=1, max_size=3
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_list_of_objects_reads_back(rows):
    """JSON and the Python repr of the same objects give the same rows."""
    assert read_rows(json.dumps(rows)).rows == rows
    assert read_rows(repr(rows)).rows == rows


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_an_error(text):
    """No text raises, and rows are there only with a state that says so."""
    read = read_rows(text, SQL)
    assert (read.rows is not None) or read.state in ("unparseable", "cut", "masked")
