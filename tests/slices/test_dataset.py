"""Scripts of data as databases: what they may hold, and what runs on them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dbagenteval.errors import SliceError
from dbagenteval.slices import dataset_executor
from dbagenteval.slices.sandbox import Sandbox, SandboxRefused

SCRIPT = """\
-- Two customers; the second has a semicolon in its name.
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
/* a comment; with a semicolon
   and 'a quote */
INSERT INTO customers VALUES (1, 'Anna -- not a comment'), (2, 'O''Hara; GmbH');
CREATE UNIQUE INDEX by_name ON customers (name);
insert into "customers" select id + 2, name || '!' from customers;
"""


@pytest.fixture
def written(tmp_path):
    """Write a script and give its path."""

    def write(text, name="data.sql"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", None])
def test_queries_run_on_the_rows_of_the_script(written, dialect):
    """Whatever their dialect."""
    data = dataset_executor(written(SCRIPT), dialect=dialect)
    assert data.dialect == (dialect or "sqlite")
    assert data("SELECT name FROM customers WHERE id IN (2, 4) ORDER BY id") == [
        {"name": "O'Hara; GmbH"},
        {"name": "O'Hara; GmbH!"},
    ]


def test_the_script_says_in_which_dialect_queries_are(written):
    """In a comment, which wins over what the caller takes it to be."""
    text = f"-- dialect: postgresql\n{SCRIPT}"
    data = dataset_executor(written(text), dialect="sqlite")
    assert data.dialect == "postgres"
    assert data("SELECT 7 / 2 AS half, '5'::int AS five") == [{"half": 3, "five": 5}]


def test_a_dialect_may_have_the_name_that_databases_give_themselves(written):
    """As a case may name it; one that nobody knows is a mistake."""
    path = written(SCRIPT)
    assert dataset_executor(path, dialect="postgresql").dialect == "postgres"
    with pytest.raises(SliceError, match="unknown dialect 'klingon'"):
        dataset_executor(path, dialect="klingon")


def test_division_is_as_in_the_dialect(written):
    """DuckDB divides integers to a fraction, PostgreSQL and SQLite don't."""
    path = written("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)")
    halves = {
        dialect: dataset_executor(path, dialect=dialect)("SELECT n / 2 AS h FROM t")[0]["h"]
        for dialect in ("sqlite", "postgres", "duckdb")
    }
    assert halves == {"sqlite": 3, "postgres": 3, "duckdb": 3.5}


def test_namespaces_are_left_out(written):
    """A script has none; `public.customers` is its `customers`."""
    data = dataset_executor(written(SCRIPT), dialect="postgres")
    assert data("SELECT COUNT(*) AS n FROM shop.public.customers") == [{"n": 4}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1", "data.sql:1: 'SELECT 1' is not allowed in data; allowed: CREATE TABLE, "),
        ("\n\n  DROP TABLE t;", "data.sql:3: 'DROP TABLE t' is not allowed"),
        ("CREATE TABLE t (a INTEGER);\n-- x\nATTACH 'x' AS y;", "data.sql:3: .ATTACH"),
        ("CREATE VIEW v AS SELECT 1", "data.sql:1: 'CREATE VIEW v AS SELECT 1' is not allowed"),
        ("CREATE TEMP TABLE t (a INTEGER)", "data.sql:1: 'CREATE TEMP TABLE"),
        ("PRAGMA foreign_keys = OFF", "data.sql:1: 'PRAGMA"),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT 1", "data.sql:1: 'WITH"),
        ("CREATE TABLE t (a INTEGER);\nINSERT INTO t VALUES ('a)", "data.sql:2: the quote that"),
        ("CREATE TABLE t (a INTEGER);\n\nINSERT INTO u VALUES (1)", "data.sql:3: .*u"),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY);\nINSERT INTO t VALUES (1),\n(1)", "data.sql:2: "),
        ("CREATE TABLE t (a INTEGER,", "data.sql:1: "),
        ("\n-- dialect: klingon\nCREATE TABLE t (a INTEGER)", "data.sql:2: unknown dialect 'kl"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_faults_are_named_with_their_line(written, text, message, dialect):
    """A script that is not plain data, or that doesn't load, is a user's mistake."""
    with pytest.raises(SliceError, match=message):
        dataset_executor(written(text), dialect=dialect)


def test_files_that_cannot_be_read_are_named(tmp_path):
    """No such file, a folder, and what is no text."""
    with pytest.raises(SliceError, match=r"none\.sql: cannot read the data: No such file"):
        dataset_executor(tmp_path / "none.sql")
    with pytest.raises(SliceError, match="cannot read the data"):
        dataset_executor(tmp_path)
    (tmp_path / "latin.sql").write_bytes("-- Größe".encode("latin-1"))
    with pytest.raises(SliceError, match=r"latin\.sql: the data is not UTF-8 text"):
        dataset_executor(tmp_path / "latin.sql")


def test_a_file_is_loaded_once_until_it_changes(written):
    """The same database for all cases that name it."""
    path = written(SCRIPT)
    first = dataset_executor(path)
    assert dataset_executor(path).sandbox is first.sandbox
    written(SCRIPT.replace("Anna", "Hanna"))
    os.utime(path, ns=(1, 1))
    assert dataset_executor(path)("SELECT name FROM customers WHERE id = 1") == [
        {"name": "Hanna -- not a comment"}
    ]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM customers",
        "INSERT INTO customers VALUES (9, 'x')",
        "DROP TABLE customers",
        "CREATE TABLE t (a INTEGER)",
        "ATTACH ':memory:' AS other",
        "UPDATE customers SET name = 'x'",
        "SELECT 1; DELETE FROM customers",
        "COPY customers TO '/tmp/dbagenteval-must-not-be-there.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT load_extension('x')",
    ],
)
def test_only_reading_is_possible(dialect, sql):
    """Whatever gets there is refused, and the rows stay."""
    rows = [
        "CREATE TABLE customers (id INTEGER, name TEXT)",
        "INSERT INTO customers VALUES (1, 'x')",
    ]
    sandbox = Sandbox(rows, dialect=dialect)
    with pytest.raises(Exception):  # noqa: B017 each database says it in its own way
        sandbox.run(sql)
    assert sandbox.run("SELECT COUNT(*) AS n FROM customers") == [{"n": 1}]
    assert not Path("/tmp/dbagenteval-must-not-be-there.csv").exists()


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_query_takes_so_long_and_gives_so_much_and_no_more(dialect):
    """A query without end is stopped, and so is a result without end."""
    impatient, sandbox = Sandbox([], dialect=dialect, seconds=0.3), Sandbox([], dialect=dialect)
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
    with pytest.raises(SandboxRefused, match=r"took more than 0\.3 s"):
        impatient.run(f"{endless} SELECT MAX(n) FROM r")
    with pytest.raises(SandboxRefused, match="more than 10000 rows"):
        sandbox.run(f"{endless} SELECT n FROM r LIMIT 10001")
    assert impatient.run("SELECT 1 AS one") == [{"one": 1}]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_script_takes_so_long_and_no_more(dialect):
    """One without end is stopped, and it is said why."""
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
    script = ["CREATE TABLE t (n BIGINT)", f"INSERT INTO t {endless} SELECT MAX(n) FROM r"]
    with pytest.raises(SandboxRefused, match=r"took more than 0\.3 s"):
        Sandbox(script, dialect=dialect, seconds=0.3)


def test_a_statement_may_hold_many_texts(written):
    """The time that reading takes grows with the text, not with its square."""
    rows = ", ".join(f"({number}, 'name {number}')" for number in range(20_000))
    data = dataset_executor(
        written(f"CREATE TABLE t (id INTEGER, a TEXT);\nINSERT INTO t VALUES {rows}")
    )
    assert data("SELECT COUNT(DISTINCT a) AS n FROM t") == [{"n": 20_000}]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_several_threads_may_ask_at_once(dialect):
    """Cases run at the same time."""
    sandbox = Sandbox(["CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)"], dialect=dialect)
    found = []
    threads = [
        threading.Thread(target=lambda: found.extend(sandbox.run("SELECT a FROM t")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{"a": 1}] * 8
