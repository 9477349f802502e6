"""SQL rules side by side with the published package, in one run.

    python benchmarks/rules.py --published /path/to/venv/with/dbagenteval-0.1.0/bin/python

Each figure is processor time, the best of several runs, in a process of its own. Without
`--published` only ours is measured. Exits with 1 if a target is missed.
"""

# ruff: noqa: PLC0415 - the import of the package is not measured

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

NEW_TEXTS = 200
SEEN_TEXTS = 50
TEXT = """
SELECT o.id, o.status, c.name, SUM(i.quantity * i.price) AS total
FROM orders AS o
JOIN customers AS c ON c.id = o.customer_id AND c.store_id = o.store_id
JOIN items AS i ON i.order_id = o.id AND i.store_id = o.store_id
WHERE o.store_id = 's1' AND o.created_at >= '2024-01-{day:02d}' AND o.amount > {number}
GROUP BY o.id, o.status, c.name
HAVING SUM(i.quantity * i.price) > 100
ORDER BY total DESC
LIMIT 20
"""
SHORT = "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1' AND amount > {number}"


def rules():
    from dbagenteval.rules import AllowedTables, ReadOnly, TenantFilter

    return [
        ReadOnly(dialect="postgres"),
        TenantFilter("store_id", value="s1", dialect="postgres"),
        AllowedTables(["orders", "customers", "items"], dialect="postgres"),
    ]


def judge(checks, texts):
    from dbagenteval import Case, Trace

    case = Case("q")
    for text in texts:
        trace = Trace.simple("q", sql=text)
        for check in checks:
            result = check.run(trace, case)
            if result.status != "pass":
                raise SystemExit(f"unexpected: {result}")


def best(run, times):
    found = []
    for number in range(times):
        started = time.process_time()
        run(number)
        found.append(time.process_time() - started)
    return min(found)


def measure():
    checks = rules()
    warm = [TEXT.format(day=1, number=-1), SHORT.format(number=-1)]
    judge(checks, warm)

    def new(form):
        def run(number):
            first = 10_000 * (number + 1)
            judge(
                checks,
                [form.format(day=n % 28 + 1, number=first + n) for n in range(NEW_TEXTS)],
            )

        return run

    seen = [TEXT.format(day=n % 28 + 1, number=n) for n in range(SEEN_TEXTS)]
    judge(checks, seen)
    in_list = "SELECT id FROM orders WHERE store_id = 's1' AND id IN ({})"
    one = checks[1:2]

    def long_list(number):
        judge(one, [in_list.format(", ".join(map(str, range(number, number + 10_000))))])

    return {
        "three rules, new text (ms a trace)": best(new(TEXT), 5) / NEW_TEXTS * 1e3,
        "three rules, new short text (ms a trace)": best(new(SHORT), 5) / NEW_TEXTS * 1e3,
        "three rules, seen text (ms a trace)": best(lambda _: judge(checks, seen), 7)
        / SEEN_TEXTS
        * 1e3,
        "one rule, IN list of 10,000 (ms)": best(long_list, 5) * 1e3,
    }


TARGETS = {
    "three rules, new text (ms a trace)": 1 / 3,
    "three rules, new short text (ms a trace)": 1 / 3,
    "three rules, seen text (ms a trace)": 1 / 30,
    "one rule, IN list of 10,000 (ms)": 0.3,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", help="python of an environment with the published package")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure()))
        return 0
    ours = json.loads(_run(sys.executable))
    theirs = json.loads(_run(options.published)) if options.published else {}
    missed = False
    for name, figure in ours.items():
        line = f"{name:45} {figure:9.3f}"
        if name in theirs:
            share = figure / theirs[name]
            is_met = share <= TARGETS[name]
            missed = missed or not is_met
            line += f"   published {theirs[name]:9.3f}   {1 / share:6.1f} times faster"
            line += "" if is_met else f"   MISSED: wanted {1 / TARGETS[name]:.1f}"
        print(line)
    return int(missed)


def _run(python):
    command = [python, __file__, "--measure"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
