"""Compare rows side by side with the published package, in one run.

    python benchmarks/compare.py --published /path/to/venv/with/dbagenteval-0.1.0/bin/python

Each figure is the best of several runs in a process of its own. Without `--published` only ours
is measured. Exits with 1 if a target is missed.
"""

# ruff: noqa: PLC0415 - the published package has no pyarrow, and its import is not measured

from __future__ import annotations

import argparse
import datetime
import json
import random
import subprocess
import sys
import time

ROWS = 100_000


def four_columns():
    chance = random.Random(1)
    start = datetime.date(2020, 1, 1)
    expected = [
        {
            "id": row,
            "name": f"customer {row % 5000}",
            "amount": round(chance.random() * 1e5, 2),
            "day": start + datetime.timedelta(days=row % 1000),
        }
        for row in range(ROWS)
    ]
    actual = [dict(row) for row in expected]
    chance.shuffle(actual)
    return expected, actual


def one_changed_cell():
    expected, actual = four_columns()
    actual[777]["amount"] += 5
    return expected, actual


def unrounded():
    expected, actual = four_columns()
    for row in actual:
        row["amount"] += 0.001
    return expected, actual


def ten_renamed_columns():
    chance = random.Random(2)
    expected = [
        {
            f"c{col}": (row * 7 + col * 13) % (1000 + col) if col % 2 else row * 1.5 + col
            for col in range(10)
        }
        for row in range(ROWS)
    ]
    actual = [{f"x{col}": row[f"c{col * 3 % 10}"] for col in range(10)} for row in expected]
    chance.shuffle(actual)
    return expected, actual


def two_hundred_columns():
    chance = random.Random(3)
    expected = [
        {f"c{col}": (row * 7 + col * 13) % (1000 + col) for col in range(200)}
        for row in range(2_000)
    ]
    actual = [dict(row) for row in expected]
    chance.shuffle(actual)
    return expected, actual


def shuffled_unnamed_columns(*, is_changed=False):
    order = list(range(26))
    random.Random(5).shuffle(order)
    table = [[(row * 31 + col * 7) % 97 for col in range(26)] for row in range(200)]
    expected = [{f"c{col}": cell for col, cell in enumerate(row)} for row in table]
    if is_changed:
        table[117][11] = -1
    actual = [{f"x{place}": row[col] for place, col in enumerate(order)} for row in table]
    return expected, actual


def shuffled_unnamed_columns_changed():
    return shuffled_unnamed_columns(is_changed=True)


# name: (what, builder, times faster than the published package, seconds at most, verdict)
SCENARIOS = {
    "dicts": ("100,000 x 4 dicts, shuffled", four_columns, 10, None, True),
    "arrow": ("100,000 x 4 Arrow, shuffled", four_columns, 100, None, True),
    "changed": ("100,000 x 4 dicts, one cell changed", one_changed_cell, None, None, False),
    "rounded": ("100,000 x 4 dicts, all differ below rounding", unrounded, None, None, True),
    "renamed": ("100,000 x 10 dicts, renamed", ten_renamed_columns, 20, None, True),
    "wide": ("2,000 x 200 dicts, shuffled", two_hundred_columns, 20, None, True),
    "unnamed": ("26 unnamed shuffled columns", shuffled_unnamed_columns, None, 1, True),
    "unnamed-changed": (
        "26 unnamed shuffled columns, one cell changed",
        shuffled_unnamed_columns_changed,
        None,
        1,
        False,
    ),
}


def measure(name, package):
    from dbagenteval.compare import rows_match

    _, build, _, _, verdict = SCENARIOS[name]
    expected, actual = build()
    if name == "arrow" and package == "ours":
        import pyarrow

        expected = pyarrow.Table.from_pylist(expected)
        actual = pyarrow.Table.from_pylist(actual)
    if package == "ours":
        rows_match([{"a": 1}] * 100_000, [{"b": 1}] * 100_000)  # imports what is loaded late
    times = []
    for _ in range(5 if package == "ours" else 2):
        start = time.perf_counter()
        found = rows_match(expected, actual)
        times.append(time.perf_counter() - start)
        if found != verdict:
            print(f"wrong verdict for {name}: {found}", file=sys.stderr)
    print(json.dumps(min(times)))


def measure_memory():
    """Peak of Arrow's pool and of Python's heap while two tables are compared."""
    import tracemalloc

    import pyarrow

    from dbagenteval.compare import rows_match

    tables = [pyarrow.Table.from_pylist(rows) for rows in four_columns()]
    rows_match(*tables)
    pool = pyarrow.system_memory_pool()
    pyarrow.set_memory_pool(pool)
    before = pool.bytes_allocated()
    tracemalloc.start()
    rows_match(*tables)
    heap = tracemalloc.get_traced_memory()[1]
    peak = pool.max_memory() - before
    print(json.dumps([(peak + heap) / 1e6, sum(table.nbytes for table in tables) / 1e6]))


def run(python, *arguments):
    command = [python, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sys.stderr.write(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def report(published):
    missed = 0
    print(f"{'':48}{'published':>12}{'ours':>12}{'faster':>9}{'target':>10}")
    for name, (what, _, factor, limit, _) in SCENARIOS.items():
        ours = run(sys.executable, "--measure", name)
        theirs = run(published, "--measure", name, "--package", "published") if published else None
        times = f"{theirs / ours:.0f}x" if theirs else ""
        target = f"{factor}x" if factor else f"{limit} s" if limit else ""
        met = (not factor or not theirs or theirs / ours >= factor) and (not limit or ours <= limit)
        missed += not met
        shown = f"{theirs * 1000:.0f} ms" if theirs else ""
        line = f"{what:48}{shown:>12}{ours * 1000:>9.1f} ms{times:>9}{target:>10}"
        print(line if met else f"{line} MISSED")
    peak, size = run(sys.executable, "--measure", "memory")
    met = peak <= 2 * size
    missed += not met
    line = f"memory beside two tables of {size:.1f} MB: {peak:.1f} MB, target {2 * size:.1f} MB"
    print(line if met else f"{line} MISSED")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--published", help="interpreter with dbagenteval 0.1.0 installed")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--package", default="ours", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure == "memory":
        measure_memory()
    elif given.measure:
        measure(given.measure, given.package)
    else:
        sys.exit(report(given.published))


if __name__ == "__main__":
    main()
