"""Where names stand: in literals of every kind, and deep in cells."""

import pytest

from dbagenteval.harvest.redact import Redaction


@pytest.mark.parametrize(
    ("dialect", "condition"),
    [
        ("sqlite", 'full_name = "Gwendolyn Quackenbush"'),
        (None, 'full_name IN ("Gwendolyn Quackenbush", "Bo Lind")'),
        ("postgres", "full_name = $$Gwendolyn Quackenbush$$"),
        ("postgres", "full_name = E'Gwendolyn Quackenbush'"),
        ("tsql", "full_name = N'Gwendolyn Quackenbush'"),
        ("bigquery", "full_name = r'Gwendolyn Quackenbush'"),
        ("postgres", "data->>'full_name' = 'Gwendolyn Quackenbush'"),
        ("sqlite", "json_extract(data, '$.full_name') = 'Gwendolyn Quackenbush'"),
        ("postgres", "id IN (SELECT i FROM (VALUES (1, 'Gwendolyn Quackenbush')) v(i, full_name))"),
        ("postgres", 'WHERE full_name = "Gwendolyn Quackenbush" AND ((('),
        ("postgres", "WHERE full_name = E'Gwendolyn Quackenbush' AND ((("),
    ],
)
def test_names_in_literals_of_every_kind(dialect, condition):
    """What a query compares with a column of names is a name, however it is quoted."""
    sql = f"SELECT total FROM orders WHERE {condition}"
    redaction = Redaction(dialect)
    redaction.learn_text("total of gwendolyn quackenbush")
    redaction.learn_sql(sql)
    assert redaction.text("total of gwendolyn quackenbush") == "total of name1 name2"
    assert "Name1 Name2" in redaction.sql(sql)
    assert "gwendolyn" not in redaction.sql(sql).casefold()


@pytest.mark.parametrize(
    "condition",
    ['c.full_name = p."Display"', 'full_name = "other_name"', '"Total" > 5', 'city = "Bonn"'],
)
def test_identifiers_in_double_quotes_stay(condition):
    """Those that are no text compared with a name."""
    sql = f"SELECT total FROM orders WHERE {condition}"
    redaction = Redaction("sqlite")
    redaction.learn_sql(sql)
    assert redaction.sql(sql) == sql


@pytest.mark.parametrize(
    ("row", "clean"),
    [
        (
            {"r": '{"full_name": "Gwen Quack", "total": 3}'},
            {"r": '{"full_name": "Name1 Name2", "total": 3}'},
        ),
        (
            {"boss": {"first_name": "Gwen", "last_name": "Quack", "city": "Bonn"}},
            {"boss": {"first_name": "Name1", "last_name": "Name2", "city": "Bonn"}},
        ),
        (
            {"r": "[" * 900 + '"gwen.q@corp.test"' + "]" * 900},
            {"r": "[" * 900 + '"email1@example.com"' + "]" * 900},
        ),
        (
            {"manager": {"first": "Gwen", "x": "Quack", "city": "Bonn", "name": "Al Gwen"}},
            {"manager": {"first": "Name1", "x": "Quack", "city": "Bonn", "name": "Name2 Name1"}},
        ),
        ({"manager": ["Gwen", "Quack"]}, {"manager": ["Name1", "Name2"]}),
    ],
)  # fmt: skip
def test_names_nested_in_cells(row, clean):
    """The nearest key says what a text is; JSON may hold it as a text too."""
    redaction = Redaction("postgres")
    sql = "SELECT row_to_json(t) AS r, boss, manager FROM teams AS t"
    redaction.learn_rows([row], sql)
    assert redaction.rows([row]) == [clean]
