"""CPU per case of `run_suite`, beside the published package.

    python benchmarks/run_suite.py [--peer /path/to/venv/bin/python] [--cases 1000]

Each side runs in processes of its own, taking turns, so that both see the same machine. Without
`--peer` the published package is installed into a temporary virtual environment.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PUBLISHED = "dbagenteval==0.1.0"
MEASURE = """
import json, resource, sys, time
from dbagenteval import Case, Trace, run_suite

expect = {"rows": [{"n": 0}]} if sys.argv[2] == "rows" else {}
cases = [Case(f"question {n}", expect=expect) for n in range(int(sys.argv[1]))]

def agent(question):
    return Trace.simple(question, answer="0", sql="SELECT n", rows=[{"n": 0}])

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

run_suite(cases[:50], agent)
before, started = cpu(), time.perf_counter()
result = run_suite(cases, agent)
print(json.dumps({
    "cpu": cpu() - before,
    "wall": time.perf_counter() - started,
    "passed": result.summary()["passed"],
}))
"""


def measure(python, cases, kind):
    """Run the measurement with one interpreter; give milliseconds per case."""
    command = [python, "-c", MEASURE, str(cases), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    if found["passed"] != cases:
        raise SystemExit(f"{python}: {found['passed']} of {cases} passed")
    return 1000 * found["cpu"] / cases, 1000 * found["wall"] / cases


def install_published(folder):
    """Make a virtual environment with the published package; give its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = Path(folder) / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", PUBLISHED], check=True)
    return str(python)


def main():
    """Measure both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", help="interpreter that has the published package")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peer = options.peer or install_published(folder)
        for kind, title in (("nothing", "nothing expected"), ("rows", "one expected row")):
            print(f"{options.cases} cases, {title}:")
            compare(
                [
                    (
                        measure(sys.executable, options.cases, kind),
                        measure(peer, options.cases, kind),
                    )
                    for _ in range(options.rounds)
                ]
            )


def compare(rounds):
    """Print both sides and the ratio of their medians."""
    medians = []
    for side, name in enumerate(("this package", PUBLISHED)):
        cpu = [each[side][0] for each in rounds]
        wall = [each[side][1] for each in rounds]
        medians.append(statistics.median(cpu))
        print(
            f"  {name:<20} CPU per case: median {medians[-1]:.3f} ms, least {min(cpu):.3f} ms; "
            f"wall: median {statistics.median(wall):.3f} ms"
        )
    print(f"  ratio of medians: {medians[0] / medians[1]:.2f}")


if __name__ == "__main__":
    main()
