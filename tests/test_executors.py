"""Executors made from a database URL, against the real databases."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import duckdb
import psycopg
import pytest

from dbagenteval.errors import TargetError
from dbagenteval.executors import executor_for

SETUP = [
    "CREATE TABLE orders (id INTEGER, note TEXT)",
    "INSERT INTO orders VALUES (1, '50% off: 5:30'), (2, NULL)",
]


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def shop_url(request, tmp_path):
    """A database with two orders, in each kind."""
    if request.param == "sqlite":
        with sqlite3.connect(tmp_path / "a shop#1?.db") as database:
            for sql in SETUP:
                database.execute(sql)
        database.close()
        return f"sqlite:///{tmp_path}/a shop#1%3F.db"
    if request.param == "duckdb":
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
            for sql in SETUP:
                database.execute(sql)
        return f"duckdb:///{tmp_path}/shop.duckdb"
    url = request.getfixturevalue("postgres_url")
    with psycopg.connect(url) as database:
        for sql in SETUP:
            database.execute(sql)
    return url


def test_gives_rows_as_dicts(shop_url):
    """Rows come as dicts, and percent signs and colons in the SQL are no parameters."""
    rows = executor_for(shop_url)("SELECT id, note FROM orders WHERE note LIKE '%off: 5:30'")
    assert rows == [{"id": 1, "note": "50% off: 5:30"}]


def test_columns_of_one_name_are_kept_apart(shop_url):
    """No column of a result hides another of the same name."""
    rows = executor_for(shop_url)("SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a")
    assert [list(row.values()) for row in rows] == [[1, 2, 3, 4]]
    assert len(rows[0]) == 4


def test_never_writes(shop_url):
    """The database is opened for reading only."""
    with pytest.raises(Exception, match=r"(?i)read.?only"):
        executor_for(shop_url)("INSERT INTO orders VALUES (3, 'x') RETURNING id")
    assert len(executor_for(shop_url)("SELECT * FROM orders")) == 2


def test_runs_from_several_threads(shop_url):
    """Several cases may run their reference at once."""
    execute = executor_for(shop_url)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(execute, ["SELECT COUNT(*) AS n FROM orders"] * 32))
    assert results == [[{"n": 2}]] * 32


def test_a_failing_query_does_not_spoil_the_next(shop_url):
    """A bad reference of one case leaves the others alone."""
    execute = executor_for(shop_url)
    with pytest.raises(Exception, match="nothing_here"):
        execute("SELECT * FROM nothing_here")
    assert execute("SELECT 1 AS one") == [{"one": 1}]


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_mistyped_path_is_an_error_and_makes_no_file(tmp_path, scheme):
    """A wrong file name fails at once and leaves nothing behind."""
    with pytest.raises(TargetError, match="cannot open"):
        executor_for(f"{scheme}:///{tmp_path}/shpo.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["shop.db", "", "nosuchdb://x/y", "mysql+nosuch://x"])
def test_what_is_no_known_url_is_named(url):
    """A path or unknown scheme gets one clear error, which says what is known."""
    with pytest.raises(TargetError, match="--database") as caught:
        executor_for(url)
    assert "sqlite:///FILE" in f"{caught.value} {caught.value.hint}"


def test_the_password_is_never_shown():
    """Errors about a database hide its password."""
    with pytest.raises(TargetError) as caught:
        executor_for("postgresql://ann:s3cret@127.0.0.1:1/none")
    assert "s3cret" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)


@pytest.mark.parametrize("scheme", ["mysql", "mariadb", "mysql+pymysql"])
def test_mysql_is_opened_for_reading_only(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """MySQL and MariaDB take the packaged driver, and each session starts as read-only."""
    import pymysql

    seen: list[dict[str, object]] = []

    def refuse(*_: object, **options: object) -> None:
        seen.append(options)
        raise pymysql.err.OperationalError(2003, "no server here")

    monkeypatch.setattr(pymysql, "connect", refuse)
    with pytest.raises(TargetError, match="no server here"):
        executor_for(f"{scheme}://ana:pw@db/shop")
    assert seen[0]["init_command"] == "SET SESSION TRANSACTION READ ONLY"
    assert (seen[0]["host"], seen[0]["database"]) == ("db", "shop")
