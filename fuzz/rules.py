"""Fuzz the SQL rules with mutated SQL in every dialect: no crash, no hang.

    python fuzz/rules.py [atheris and libFuzzer options, such as -max_total_time=600]

Needs `pip install atheris` (Linux). Without it `--plain SECONDS` mutates with Python's own chance,
which finds less and runs everywhere. A text that takes over 5 s, or an exception that is no
verdict, ends the run and is printed.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import yaml

from dbagenteval.cases import Case
from dbagenteval.rules import (
    AllowedColumns,
    AllowedTables,
    ForbiddenColumns,
    NoCartesianJoin,
    NoJoins,
    NoSelectStar,
    NoSubqueries,
    PartitionFilter,
    ReadOnly,
    RequireLimit,
    RequireTimeFilter,
    TenantFilter,
)
from dbagenteval.traces import Trace

MAX_S = 5.0
DIALECTS = (
    None, "postgres", "mysql", "sqlite", "duckdb", "bigquery", "snowflake", "tsql", "oracle",
    "clickhouse", "redshift", "databricks", "spark", "trino",
)  # fmt: skip
DATA = Path(__file__).parent.parent / "tests" / "rules" / "data"
PIECES = (
    "(", ")", "SELECT ", " FROM ", " WHERE ", " JOIN ", " LEFT JOIN ", " ON ", " USING (a)",
    " UNION ALL ", " GROUP BY ", " OR ", " AND ", " NOT ", " IN (", "'", '"', "`", "$$", "--",
    "/*", "*/", ";", ",", ".", "*", "[", "]", "{", "}", "\\", "\n", "\r", "\0", "\u00a0", "::int",
    "CASE ",
    "END ", "WITH x AS (", " OVER (", " LATERAL ", "EXISTS (", "?", ":a", "@a", "1", "0", "e9", "x",
    " AS ", " IS NULL", " PIVOT (", " QUALIFY ", " LIMIT 1", "TABLE ", "VALUES (1)", " ANY(", "||",
)  # fmt: skip


def rules(dialect: str | None) -> list[object]:
    """All SQL rules for one dialect."""
    return [
        ReadOnly(dialect=dialect),
        TenantFilter("store_id", "s1", dialect=dialect),
        TenantFilter("store_id", dialect=dialect, outer_filter=True),
        AllowedTables("orders", dialect=dialect),
        AllowedColumns(["status", "orders.amount"], dialect=dialect),
        ForbiddenColumns(["customers.ssn", "email"], dialect=dialect),
        NoJoins(dialect=dialect),
        NoSubqueries(dialect=dialect),
        NoSelectStar(dialect=dialect),
        NoCartesianJoin(dialect=dialect),
        RequireLimit(10, dialect=dialect),
        RequireTimeFilter("created_at", dialect=dialect),
        PartitionFilter("day", dialect=dialect),
    ]


RULES = {dialect: rules(dialect) for dialect in DIALECTS}
CASE = Case("q")


def judge(sql: str, dialect: str | None) -> None:
    """Run all rules; raise if one takes too long or gives no verdict."""
    trace = Trace.simple("q", sql=sql)
    for rule in RULES[dialect]:
        started = time.process_time()
        result = rule.run(trace, CASE)  # type: ignore[attr-defined]
        taken = time.process_time() - started
        if taken > MAX_S:
            raise TimeoutError(f"{type(rule).__name__} took {taken:.1f} s in {dialect}: {sql!r}")
        if "could not be analysed by this rule" in result.detail:
            raise AssertionError(f"{type(rule).__name__}: {result.detail} for {sql!r}")
        if result.status not in ("pass", "fail", "skip"):
            raise AssertionError(f"{result} for {sql!r}")


def corpus() -> list[str]:
    """The SQL of the rules' data files."""
    found: list[str] = []
    for path in sorted(DATA.glob("*.yml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        for key in ("passes", "fails"):
            for named in data[key].values():
                found += [one if isinstance(one, str) else one["sql"] for one in named.values()]
    return [sql for sql in found if len(sql) < 2_000]


def mutated(sql: str, other: str, rng: random.Random) -> str:
    """Change a text: insert, delete, repeat or splice parts."""
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at, to = sorted((rng.randrange(len(sql) + 1), rng.randrange(len(sql) + 1)))
        roll = rng.random()
        if roll < 0.4:
            sql = sql[:at] + rng.choice(PIECES) * rng.choice([1, 1, 1, 2, 40]) + sql[at:]
        elif roll < 0.6:
            sql = sql[:at] + sql[min(to, at + 8) :]
        elif roll < 0.75:
            sql = sql[:to] + sql[at:to] * rng.choice([1, 3, 30]) + sql[to:]
        else:
            start = rng.randrange(len(other) + 1)
            sql = sql[:at] + other[start : start + rng.randrange(60)] + sql[at:]
        sql = sql[:20_000]
    return sql


def plain(seconds: float, seed: int) -> int:
    """Mutate with Python's own chance; give the number of texts judged."""
    rng = random.Random(seed)
    texts = corpus()
    count = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sql = mutated(rng.choice(texts), rng.choice(texts), rng)
        dialect = rng.choice(DIALECTS)
        try:
            judge(sql, dialect)
        except BaseException:
            sys.stderr.write(f"{dialect}: {sql!r}\n")
            raise
        count += 1
    return count


def main() -> None:
    """Start atheris, or the plain loop."""
    if "--plain" in sys.argv:
        seconds = float(sys.argv[sys.argv.index("--plain") + 1])
        sys.stdout.write(f"{plain(seconds, int(time.time()))} texts, no crash, no hang\n")
        return
    import atheris  # noqa: PLC0415 # an extra of development, Linux only

    texts = corpus()

    def one_input(data: bytes) -> None:
        provider = atheris.FuzzedDataProvider(data)
        dialect = DIALECTS[provider.ConsumeIntInRange(0, len(DIALECTS) - 1)]
        if provider.ConsumeBool():
            judge(provider.ConsumeUnicodeNoSurrogates(4_000), dialect)
        else:
            rng = random.Random(provider.ConsumeInt(8))
            judge(mutated(rng.choice(texts), rng.choice(texts), rng), dialect)

    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
