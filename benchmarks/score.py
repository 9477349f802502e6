"""Ingest and score many traces: time, and memory at two sizes, which must not grow.

    python benchmarks/score.py [--traces 10000]

Writes a file of OTLP JSON lines with traces of 8 spans, ingests it and scores it against 100 cases,
at a quarter of the size and at the whole size, each step in a process of its own.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = 100
SPANS = 8


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=10_000)
    options = parser.parse_args()
    small, whole = (measure(count) for count in (options.traces // 4, options.traces))
    print(f"{'':8}{'traces':>10}{'seconds':>10}{'traces/s':>10}{'peak MB':>10}")
    for step in ("ingest", "score"):
        for figures in (small, whole):
            seconds, peak = figures[step]
            count = figures["traces"]
            print(f"{step:8}{count:>10,}{seconds:>10.1f}{count / seconds:>10,.0f}{peak:>10.0f}")
        print(f"{step:8} peak at 4 times the traces / peak: {whole[step][1] / small[step][1]:.2f}")


def measure(count):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_inputs(folder, count)
        ingest = timed("ingest", "spans.jsonl", "--store", "store", cwd=folder)
        score = timed(
            "score", "cases.jsonl", "--store", "store", "--database", "sqlite:///shop.db",
            "--rules", "bench_rules:RULES", "--json", "report.json", cwd=folder,
        )  # fmt: skip
        report = json.loads((folder / "report.json").read_text())
        assert report["summary"]["passed"] == count, report["summary"]
    return {"traces": count, "ingest": ingest, "score": score}


def timed(*arguments, cwd):
    started = time.perf_counter()
    command = [sys.executable, "-m", "dbagenteval", *arguments]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def write_inputs(folder, count):
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE orders (store_id TEXT, n INTEGER)")
        database.executemany("INSERT INTO orders VALUES ('s1', ?)", [(n,) for n in range(CASES)])
    (folder / "bench_rules.py").write_text(
        "from dbagenteval.rules import ReadOnly, TenantFilter\n"
        "RULES = [ReadOnly(dialect='sqlite'), TenantFilter('store_id', dialect='sqlite')]\n"
    )
    with (folder / "cases.jsonl").open("w") as cases:
        for case in range(CASES):
            item = {"id": f"c{case}", "question": question(case), "reference_sql": sql(case)}
            cases.write(json.dumps(item) + "\n")
    with (folder / "spans.jsonl").open("w") as file:
        for first in range(0, count, 50):
            traces = range(first, min(count, first + 50))
            spans = [span for trace in traces for span in spans_of(trace)]
            scope = {"scope": {"name": "bench"}, "spans": spans}
            file.write(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}) + "\n")


def question(case):
    return f"How many orders are below {case}?"


def sql(case):
    return f"SELECT COUNT(*) AS below FROM orders WHERE store_id = 's1' AND n < {case}"


def spans_of(trace):
    case = trace % CASES
    steps = [
        ("ask", {"dbagenteval.question": question(case)}),
        ("route", {"dbagenteval.stage": "route", "dbagenteval.output": "orders"}),
        ("plan", {"dbagenteval.stage": "plan", "dbagenteval.output": "count " * 50}),
        ("retrieve", {"dbagenteval.stage": "retrieve", "dbagenteval.output": '["store_id", "n"]'}),
        ("generate", {"dbagenteval.stage": "generate", "db.query.text": sql(case)}),
        (
            "execute",
            {
                "dbagenteval.stage": "execute",
                "db.query.text": sql(case),
                "dbagenteval.rows": json.dumps([{"below": case}]),
            },
        ),
        ("answer", {"dbagenteval.stage": "answer", "dbagenteval.output": f"{case} orders."}),
        ("http", {"http.route": "/ask", "note": "x" * 500}),
    ]
    start = 1_790_000_000_000_000_000 + trace * 1_000_000_000
    for number, (name, attributes) in enumerate(steps):
        yield {
            "traceId": f"{trace + 1:032x}",
            "spanId": f"{trace * SPANS + number + 1:016x}",
            "parentSpanId": "" if number == 0 else f"{trace * SPANS + 1:016x}",
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(start + number * 1000),
            "endTimeUnixNano": str(start + number * 1000 + (900_000 if number == 0 else 900)),
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
