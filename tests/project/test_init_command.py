"""`dbagenteval init` makes a project that validates, evaluates and tests for stated reasons."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from dbagenteval.cli.main import main
from dbagenteval.project import read_catalog, validate_project
from dbagenteval.project.folder.load import load_project


def _check(root, capsys, monkeypatch) -> None:
    project = load_project(root)
    catalogs = {"main": read_catalog(project.config.databases[0])}
    assert validate_project(root, catalogs=catalogs) == []
    assert main(["eval", "-p", str(root)]) == 0
    capsys.readouterr()
    before = list(sys.path)
    sys.modules.pop("agent", None)
    try:
        assert main(["test", "-p", str(root)]) == 1
    finally:
        sys.path[:] = before
        sys.modules.pop("agent", None)
    out = capsys.readouterr().out
    assert "no agent is connected yet" in out
    assert "test_broken" not in out
    assert "0 passed, 5 failed, 5 total" in out


def test_a_project_from_duckdb(folder, tmp_path, capsys, monkeypatch) -> None:
    """Tables, joins, time, PII candidates and tests come from the database."""
    url = f"duckdb:///{folder.make_database()}"
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / ".gitignore").write_text("mine\n", "utf-8")
    assert main(["init", url, "-p", str(tmp_path / "made")]) == 0
    assert "3 column(s) that may be personal data" in capsys.readouterr().out
    project = load_project(tmp_path / "made")
    assert project.policy.pii_columns == {"main.customers": {"email", "first_name", "last_name"}}
    assert len(project.bundles["main"].joins) == 2
    assert project.bundles["main"].fact_tables == ("main.orders",)
    assert str(project.bundles["main"].today) == "2024-03-21"
    assert len(list((tmp_path / "made/tests").glob("*.yml"))) == 5
    _check(tmp_path / "made", capsys, monkeypatch)
    assert main(["init", url, "-p", str(tmp_path / "made")]) == 2, "nothing is overwritten"
    assert (tmp_path / "made" / ".gitignore").read_text("utf-8") == "mine\n"


def test_a_project_from_sqlite_with_odd_names(tmp_path, capsys, monkeypatch) -> None:
    """Names that need quotes, a single table and no time work too."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute('CREATE TABLE "Order Lines" (id INTEGER, "Unit Price" REAL, kind TEXT)')
        connection.execute("INSERT INTO \"Order Lines\" VALUES (1, 2.5, 'a'), (2, 3.5, 'b')")
    assert main(["init", f"sqlite:///{tmp_path / 'shop.db'}", "-p", str(tmp_path / "made")]) == 0
    _check(tmp_path / "made", capsys, monkeypatch)


def test_dates_of_sqlite_are_found_though_they_are_text(tmp_path, capsys, monkeypatch) -> None:
    """A text column named like a time that holds dates is the time; others are not."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER, updated_at TEXT, city TEXT);"
            "CREATE TABLE orders (id INTEGER, customer_id INTEGER, ordered_at TEXT, amount REAL);"
            "INSERT INTO customers VALUES (1, 'lately', 'Oslo');"
            "INSERT INTO orders VALUES (1, 1, '2024-01-05', 5.0), (2, 1, '2024-02-05 10:00', 7.0);"
        )
    made = tmp_path / "made"
    assert main(["init", f"sqlite:///{tmp_path / 'shop.db'}", "-p", str(made)]) == 0
    bundle = load_project(made).bundles["main"]
    assert bundle.time_columns == {"main.orders": "ordered_at"}
    assert bundle.fact_tables == ("main.orders",)
    assert (str(bundle.data_start), str(bundle.today)) == ("2024-01-05", "2024-02-05")
    _check(made, capsys, monkeypatch)


def test_a_password_stays_out_of_the_files(postgres_url, tmp_path, capsys, monkeypatch) -> None:
    """A URL with a password is read from a variable, which the made project then needs."""
    from sqlalchemy.engine import make_url

    url = make_url(postgres_url).set(password="s3cret", drivername="postgresql")
    text = url.render_as_string(hide_password=False)
    _fill(text)
    made = tmp_path / "made"
    assert main(["init", text, "-p", str(made), "--url-variable", "SHOP_URL"]) == 0
    assert not any("s3cret" in file.read_text("utf-8") for file in made.rglob("*.y*ml"))
    monkeypatch.delenv("SHOP_URL", raising=False)
    assert main(["validate", str(made)]) == 1
    assert "'SHOP_URL' is not set" in capsys.readouterr().out
    monkeypatch.setenv("SHOP_URL", text)
    _check(made, capsys, monkeypatch)


def _fill(url: str) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE orders (id int, order_date date, amount numeric)")
        connection.exec_driver_sql(
            "INSERT INTO orders VALUES (1, '2024-01-05', 5), (2, '2024-02-01', 7)"
        )
    engine.dispose()


@pytest.mark.parametrize("url", ["oracle://x/y", "nonsense"])
def test_unknown_databases_are_refused(tmp_path, url: str) -> None:
    """A URL that no project can be made from is the user's error."""
    assert main(["init", url, "-p", str(tmp_path)]) == 2
