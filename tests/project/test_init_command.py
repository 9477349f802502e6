"""`dbagenteval init` makes a project that validates, evaluates and tests for stated reasons."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from dbagenteval.cli.main import main
from dbagenteval.project import read_catalog, validate_project
from dbagenteval.project.load import load_project


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


def test_a_project_from_sqlite_with_odd_names(tmp_path, capsys, monkeypatch) -> None:
    """Names that need quotes, a single table and no time work too."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute('CREATE TABLE "Order Lines" (id INTEGER, "Unit Price" REAL, kind TEXT)')
        connection.execute("INSERT INTO \"Order Lines\" VALUES (1, 2.5, 'a'), (2, 3.5, 'b')")
    assert main(["init", f"sqlite:///{tmp_path / 'shop.db'}", "-p", str(tmp_path / "made")]) == 0
    _check(tmp_path / "made", capsys, monkeypatch)


def test_a_password_stays_out_of_the_files(tmp_path) -> None:
    """A URL with a password is read from a variable."""
    from dbagenteval.cli.init import _url_entry

    assert _url_entry("postgresql://ana:s3cret@db/shop", "SHOP_URL") == "{{ env('SHOP_URL') }}"
    assert _url_entry("postgresql://db/shop", "SHOP_URL") == "postgresql://db/shop"


@pytest.mark.parametrize("url", ["oracle://x/y", "nonsense"])
def test_unknown_databases_are_refused(tmp_path, url: str) -> None:
    """A URL that no project can be made from is the user's error."""
    assert main(["init", url, "-p", str(tmp_path)]) == 2
