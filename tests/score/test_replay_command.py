"""`dbagenteval replay`: verdicts that are others than when they were kept, and why."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import dbagenteval
from dbagenteval.cli import main

COUNT = "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"
CASE = f"""\
- id: delivered
  question: How many orders are delivered?
  reference_sql: {COUNT}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one case and a list of rules that nothing breaks."""
    (tmp_path / "cases.yaml").write_text(CASE, encoding="utf-8")
    rules = "from dbagenteval.rules import MaxRows\nRULES = [MaxRows(100)]\n"
    (tmp_path / "replay_rules.py").write_text(rules, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(files: Path, recorder: Any, shop_url: str, capsys: Any, monkeypatch: Any) -> Any:
    """Run `score` or `replay`; give exit code and output."""
    recorder.turn("How many orders are delivered?", sql=COUNT, rows=[{"n": 3}], answer="3 orders.")
    recorder.turn("How are you?", answer="Fine.")
    store = recorder.save()
    monkeypatch.chdir(files)

    def command(name: str, *options: str) -> tuple[int, str]:
        given = ["--store", store, "--database", shop_url, *options]
        code = main([name, "cases.yaml", *given])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return command


def test_nothing_changed(run: Any) -> None:
    """Scoring again gives the same verdicts, to the last digest."""
    run("score")
    code, out = run("replay")
    assert (code, out) == (0, "0 of 2 verdicts flipped\n")


def test_a_trace_without_question(files: Path, recorder: Any, run: Any) -> None:
    """Where no content is captured there is none: rules judge it, and its flip is told."""
    recorder.turn("", sql="SELECT * FROM stores", rows=[{"n": 1}])
    recorder.save()
    (files / "asked.py").write_text(
        "from dbagenteval.rules import NoSelectStar\nRULES = [NoSelectStar()]\n"
    )
    code, out = run("score", "--rules", "asked:RULES")
    assert code == 1, out
    assert "1 unmatched trace(s) broke a rule" in out
    code, out = run("replay")
    assert code == 0, out
    assert "FAIL at generate / no_select_star -> SKIP" in out


def test_the_data_changed(run: Any, files: Path) -> None:
    """A pass is gone since the reference gives other rows now."""
    run("score")
    with sqlite3.connect(files / "shop.db") as database:
        database.execute("UPDATE orders SET status = 'DELIVERED'")
    database.close()
    code, out = run("replay")
    assert code == 1
    assert out.startswith("PASS -> FAIL at execute / reference_rows  delivered  [")
    assert "      the reference gives other rows: the data changed\n" in out
    assert "1 of 2 verdicts flipped: 1 PASS -> FAIL\n" in out
    assert out.endswith("not passed: 1 pass(es) are gone\n")
    assert run("replay", "--allow-lost")[0] == 0


def test_the_data_of_a_case_changed(run: Any, files: Path) -> None:
    """A script beside the cases is data as well."""
    script = "CREATE TABLE orders (status TEXT, store_id TEXT);\n"
    (files / "own.sql").write_text(script + "INSERT INTO orders VALUES ('DELIVERED', 's1');\n")
    (files / "cases.yaml").write_text(CASE.rstrip() + "\n  data: own.sql\n", encoding="utf-8")
    assert "1 of 1 passed" in run("score", "--allow-unmatched")[1]
    (files / "own.sql").write_text(script.replace("status TEXT", "state TEXT"))
    _, out = run("replay")
    assert "PASS -> ERROR" in out
    assert "the data changed\n" in out
    assert "nothing that we keep account of" not in out


def test_the_case_changed(run: Any, files: Path) -> None:
    """Another reference; and back again, against what was kept in between."""
    run("score")
    other = CASE.replace("DELIVERED", "OPEN")
    (files / "cases.yaml").write_text(other, encoding="utf-8")
    code, out = run("replay", "--keep")
    assert code == 1
    assert "      the case changed\n" in out
    (files / "cases.yaml").write_text(CASE, encoding="utf-8")
    code, out = run("replay")
    assert code == 0
    assert "FAIL at generate / reference_rows -> PASS" in out


def test_a_case_for_a_trace_that_had_none(run: Any, files: Path) -> None:
    """It is judged now."""
    run("score")
    more = "- {question: How are you?, expect: {answer: Well.}}\n"
    (files / "cases.yaml").write_text(CASE + more, encoding="utf-8")
    code, out = run("replay")
    assert code == 0
    assert "SKIP -> FAIL at answer / expected  How are you?" in out
    assert "      no case matched it then\n" in out


def test_the_rules_changed(run: Any, files: Path) -> None:
    """By a setting, though the file has the same name."""
    run("score", "--rules", "replay_rules:RULES")
    rules = "from dbagenteval.rules import MaxRows\nRULES = [MaxRows(0)]\n"
    (files / "other_rules.py").write_text(rules, encoding="utf-8")
    code, out = run("replay", "--rules", "other_rules:RULES")
    assert code == 1
    assert "      the rules changed\n" in out


def test_another_version(run: Any, monkeypatch: Any) -> None:
    """Of the evaluator is named with the one before."""
    run("score")
    monkeypatch.setattr(dbagenteval, "__version__", "99.0")
    monkeypatch.setattr("dbagenteval.checks.reference.compare_rows", _nothing_is_equal)
    code, out = run("replay")
    assert code == 1
    assert "      the evaluator is 99.0, was " in out


def _nothing_is_equal(*_: Any, **__: Any) -> Any:
    from dbagenteval.compare import compare_rows

    return compare_rows([{"n": 1}], [{"n": 2}])


def test_a_trace_that_is_new(run: Any, recorder: Any) -> None:
    """Is counted, and no flip."""
    run("score")
    with recorder.tracer.start_as_current_span(
        "ask", attributes={"dbagenteval.question": "How many orders are open?"}
    ):
        pass
    recorder.save()
    code, out = run("replay")
    assert code == 0
    assert "  1 trace(s) were not scored before\n" in out


def test_nothing_was_kept(run: Any) -> None:
    """Is a mistake of the user, with what to do."""
    run("score", "--no-keep")
    code, out = run("replay")
    assert code == 2
    assert "no scorecards are kept of these traces" in out
    assert "dbagenteval score" in out


def test_the_report(run: Any, files: Path) -> None:
    """Holds every flip, and the counts."""
    run("score")
    (files / "cases.yaml").write_text(CASE.replace("DELIVERED", "OPEN"), encoding="utf-8")
    run("replay", "--json", "flips.json")
    report = json.loads((files / "flips.json").read_text())
    assert report["summary"] == {
        "same": 1,
        "flipped": {"PASS -> FAIL": 1},
        "lost": 1,
        "new": 0,
        "gone": 0,
    }
    assert report["flips"][0]["case_id"] == "delivered"
    assert report["flips"][0]["why"] == [
        "the case changed",
        "the reference gives other rows: the data changed",
    ]
