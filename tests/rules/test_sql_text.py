"""Parsing: once for all rules, bounded, and an answer for texts of any size and depth."""

from __future__ import annotations

import importlib.util
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dbagenteval.cases import Case
from dbagenteval.rules import AllowedTables, ReadOnly, TenantFilter
from dbagenteval.rules.query import sql as sql_module
from dbagenteval.rules.query.sql import Sql, read_sql
from dbagenteval.traces import Trace

LIMIT_S = 60.0
RULE = TenantFilter("t", "s1")


def verdict(sql: str) -> tuple[str, str]:
    result = RULE.run(Trace.simple("q", sql=sql), Case("q"))
    return result.status, result.detail


def test_rules_share_one_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rules on one trace, run twice, parse its text once."""
    parsed: list[str] = []
    real = sql_module._parse

    def counting(dialect: Any, tokens: Any, text: str, depth: int) -> Any:
        parsed.append(text)
        return real(dialect, tokens, text, depth)

    monkeypatch.setattr(sql_module, "_parse", counting)
    trace = Trace.simple("q", sql="SELECT count(*) AS shared_parse FROM t WHERE t = 's1'")
    for _ in range(2):
        for rule in (ReadOnly(), RULE, AllowedTables("t")):
            assert rule.run(trace, Case("q")).status == "pass"
    assert len(parsed) == 1


def test_the_cache_is_bounded() -> None:
    """The cache holds so many texts and no long ones."""
    assert sql_module._cached.cache_info().maxsize == 1024
    long = "SELECT '" + "a" * 70_000 + "'"
    assert read_sql(long) is not read_sql(long)
    assert read_sql("SELECT 1") is read_sql("SELECT 1")
    assert read_sql("SELECT 1") is not read_sql("SELECT 1", "mysql")


def test_memos_are_bounded() -> None:
    """What a parsed text remembers for rules is bounded too."""
    sql = Sql("SELECT 1", None)
    for number in range(1000):
        assert sql.memo(number, lambda number=number: number) == number  # type: ignore[misc]
    assert len(sql._memo) <= 64


@pytest.mark.parametrize(
    ("name", "sql", "expected"),
    [
        ("parentheses", "SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "SQL is too deeply nested to analyse"),
        ("400 parentheses", "SELECT " + "(" * 400 + "1" + ")" * 400, "SQL is too deeply nested to analyse"),
        ("NOT", "SELECT 1 WHERE " + "NOT " * 10_000 + "TRUE", "SQL is too deeply nested to analyse"),
        ("CASE", "SELECT " + "CASE WHEN a THEN " * 5_000 + "1" + " END" * 5_000, "SQL is too deeply nested to analyse"),
        ("subqueries", "SELECT * FROM " + "(SELECT * FROM " * 9_000 + "t" + ") a" * 9_000, "SQL is too deeply nested to analyse"),
        ("open joins", "SELECT 1 FROM t" + " JOIN a" * 60, "has too many JOINs without ON or USING to analyse"),
        ("long", "SELECT " + "1, " * 300_000 + "1", "SQL is too long to analyse (600002 tokens, at most 400000)"),
        ("very long", "SELECT '" + "a" * 3_000_000 + "'", "SQL is too long to analyse (3000009 characters, at most 2000000)"),
        ("50 parentheses", "SELECT * FROM o WHERE " + "(" * 50 + "t = 's1'" + ")" * 50, ""),
        ("60 subqueries", "SELECT * FROM " + "(SELECT * FROM " * 60 + "o WHERE t = 's1'" + ") x" * 60, ""),
        ("3,000 ANDs", "SELECT 1 FROM o WHERE " + " AND ".join(["t = 's1'"] * 3_000), ""),
        ("5,000 ORs", "SELECT 1 FROM o WHERE t = 's1' AND (" + " OR ".join(["a = 1"] * 5_000) + ")", ""),
        ("120 arms", " UNION ALL ".join(["SELECT a FROM o WHERE t = 's1'"] * 120), ""),
        ("IN of 100,000", f"SELECT 1 FROM o WHERE t = 's1' AND a IN ({', '.join(map(str, range(100_000)))})", ""),
        ("1 MB of text", "SELECT 1 FROM o WHERE t = 's1' AND a = '" + "x" * 1_000_000 + "'", ""),
    ],
)  # fmt: skip
def test_texts_of_any_size_get_an_answer(name: str, sql: str, expected: str) -> None:
    """Deep, wide and long texts get a right verdict or a plain refusal, within seconds."""
    started = time.process_time()
    status, detail = verdict(sql)
    assert time.process_time() - started < LIMIT_S, name
    assert (status, detail) == ("fail" if expected else "pass", expected)


def test_deep_texts_are_parsed_in_small_threads() -> None:
    """A thread with a small stack judges a nested text without harm to the process."""
    found: list[str] = []
    before = threading.stack_size(256 * 1024)
    try:
        sql = "SELECT " + "(" * 240 + "1" + ")" * 240
        thread = threading.Thread(target=lambda: found.append(verdict(sql)[0]))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == ["pass"]


def test_several_threads_share_the_cache() -> None:
    """Rules may run in several threads on the same and on different texts."""
    wrong: list[object] = []

    def work(first: int) -> None:
        for number in range(first, first + 60):
            sql = f"SELECT a FROM o WHERE t = 's1' AND a = {number % 40}"
            if verdict(sql) != ("pass", ""):
                wrong.append(sql)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 80, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b", " \n"])
def test_invisible_ends_are_no_part_of_the_sql(mark: str) -> None:
    """Byte-order marks and zero-width characters at the ends are taken off."""
    assert verdict(f"{mark}SELECT * FROM o WHERE t = 's1'{mark}")[0] == "pass"


def test_odd_blanks_inside_are_refused() -> None:
    """A no-break space is a letter to some databases and a blank to the parser."""
    assert verdict("SELECT * FROM o\u00a0WHERE t = 's1'")[0] == "fail"
    assert verdict("SELECT * FROM o WHERE t = 's1' AND a = 'x\u00a0y'")[0] == "pass"


def _fuzz() -> Any:
    path = Path(__file__).parents[2] / "fuzz" / "rules.py"
    spec = importlib.util.spec_from_file_location("fuzz_rules", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_sql_crashes_and_hangs_no_rule() -> None:
    """A short run of the fuzzer's plain loop over all rules and dialects."""
    assert _fuzz().plain(4, 7) > 10


@pytest.mark.slow
def test_mutated_sql_crashes_and_hangs_no_rule_for_long() -> None:
    """Ten minutes of it."""
    assert _fuzz().plain(600, 8) > 10_000
