"""A whole project through all four commands, with a real PostgreSQL and a real HTTP agent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from dbagenteval.cli.main import main


@pytest.fixture
def start_agent(postgres_url: str) -> Iterator[Callable[[int], str]]:
    """Start the agent's process; it ends itself after that many questions, or with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(dies_after: int = 0) -> str:
        script = Path(__file__).with_name("http_agent.py")
        process = subprocess.Popen(
            [sys.executable, str(script), postgres_url, str(dies_after)],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return f"http://127.0.0.1:{int(process.stdout.readline())}/"

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def bakery(folder, postgres_url: str, monkeypatch):
    """The example project over PostgreSQL; the URL comes from the environment."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute((folder.root / "bakery.sql").read_text("utf-8"))
    monkeypatch.setenv("BAKERY_URL", postgres_url)
    folder.replace(
        "dbagenteval.yaml",
        "    type: duckdb\n    path: bakery.duckdb\n",
        "    type: postgres\n    url: {{ env('BAKERY_URL') }}\n    schema_name: main\n",
    )
    folder.replace("datasets/sales/dataset.yaml", "type: duckdb", "type: postgres")
    return folder


def _results(folder) -> dict:
    files = sorted((folder.root / "tests/outputs").glob("results_*.json"))
    return json.loads(files[-1].read_text("utf-8"))


def test_a_project_passes_all_four_commands(bakery, start_agent, capsys) -> None:
    """validate with the real schema, eval, eval --engine, and test all pass."""
    root = str(bakery.root)
    assert main(["validate", root, "--database"]) == 0, capsys.readouterr().out
    assert main(["eval", "-p", root]) == 0, capsys.readouterr().out
    assert main(["eval", "-p", root, "--engine", "--database"]) == 0, capsys.readouterr().out
    page = bakery.root / "run.html"
    arguments = [
        "test",
        "-p",
        root,
        "--agent",
        start_agent(),
        "-t",
        "4",
        "-k",
        "2",
        "--html",
        str(page),
    ]
    assert main(arguments) == 0, capsys.readouterr().out
    document = _results(bakery)
    assert (document["summary"]["passed"], document["summary"]["total"]) == (10, 10)
    assert document["summary"]["total_tokens"] == 8 * 110
    assert "refunds_2024_q1" in page.read_text("utf-8")


def test_an_agent_that_dies_loses_nothing(bakery, start_agent, capsys) -> None:
    """The agent's process ends in the middle: what was finished is kept, and the exit code is 1."""
    assert main(["test", "-p", str(bakery.root), "--agent", start_agent(3)]) == 1
    document = _results(bakery)
    assert [item["verdict"] for item in document["results"]] == ["pass"] * 3 + ["error"] * 2
    assert document["results"][2]["details"]["actual_data"] is not None


def test_drift_of_the_database_is_found(bakery, postgres_url: str, capsys) -> None:
    """A renamed column is an error of validate, and breaks just the tests that use it."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE main.customers RENAME COLUMN city TO town")
    assert main(["validate", str(bakery.root), "--database"]) == 1
    assert "'city' is not in main.customers" in capsys.readouterr().out


def test_references_can_only_read(bakery, postgres_url: str, start_agent, capsys) -> None:
    """A reference that would write through a function is refused by the database too."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION main.wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM main.payments; SELECT 1'"
        )
    bakery.write("tests/wipe.yml", "name: wipe\nprompt: revenue?\nsql: SELECT main.wipe() AS n\n")
    assert main(["test", "-p", str(bakery.root), "--agent", start_agent(), "-s", "wipe"]) == 1
    assert _results(bakery)["results"][0]["verdict"] == "test_broken"
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM main.payments").fetchone() == (7,)


def test_a_project_from_a_postgresql_url(bakery, postgres_url: str, tmp_path, capsys) -> None:
    """init reads PostgreSQL, and its project is sound against the schema."""
    made = str(tmp_path / "made")
    assert main(["init", postgres_url, "-p", made]) == 0
    assert main(["validate", made, "--database"]) == 0, capsys.readouterr().out
    assert main(["eval", "-p", made, "--database"]) == 0, capsys.readouterr().out
