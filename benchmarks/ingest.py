"""How fast the receiver takes and stores spans, and what it costs.

Server and load generator are processes on the same machine. `python benchmarks/ingest.py` prints a
table; `--runs 3` gives the spread; `--only genai-grpc` one line of it. The line `scale` stores ten
million spans; it takes some minutes and 25 GB of disk. `--peers` sends the same (less of it) to
arize-phoenix and mlflow, installs them first, and prints the ratios.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ingest_peers import PEERS, measure_peer
from ingest_scale import measure_burst, measure_scale
from ingest_server import Server, cpu_seconds, disk_bytes, load, resident_mb

SETTINGS: dict[str, dict[str, Any]] = {
    "genai-grpc": {"protocol": "grpc", "spans": 200_000},
    "genai-http": {"protocol": "http", "spans": 200_000},
    "small-grpc": {"protocol": "grpc", "spans": 400_000, "options": ["--profile", "small"]},
    "genai-gzip": {"protocol": "http", "spans": 100_000, "options": ["--gzip"]},
    "genai-json": {"protocol": "http", "spans": 50_000, "options": ["--json"]},
}


def measure(name: str, folder: Path) -> dict[str, float]:
    """Run one setting in a fresh store."""
    setting = SETTINGS[name]
    options = setting.get("options", [])
    server = Server(folder / "store")
    target = server.target(setting["protocol"])
    idle_mb = resident_mb(server.process.pid)
    warm = load(target, 10_240, *options, "--seed", "201")
    server.wait_stored(warm["spans"])
    cpu = cpu_seconds(server.process.pid)
    found = load(target, setting["spans"], *options)
    done = server.wait_stored(warm["spans"] + found["spans"])
    cpu = cpu_seconds(server.process.pid) - cpu
    stored_rate = found["spans"] / (done - found["started"])
    paced = load(
        target,
        30_720,
        *options,
        "--seed",
        "202",
        "--rate",
        str(stored_rate / 2),
    )
    server.wait_stored(warm["spans"] + found["spans"] + paced["spans"])
    server.stop()
    total = warm["spans"] + found["spans"] + paced["spans"]
    return {
        "acked/s": found["spans"] / found["seconds"],
        "stored/s": stored_rate,
        "p99 ms": found["p99_ms"],
        "p99 half ms": paced["p99_ms"],
        "cpu s/100k": cpu / found["spans"] * 1e5,
        "peak MB": server.peak_mb,
        "idle MB": idle_mb,
        "disk B/span": disk_bytes(server.store) / total,
        "start s": server.start_s,
        "B/span sent": found["bytes_per_span"],
        "refused": float(sum(found["refusals"].values())),
    }


def show(name: str, runs: list[dict[str, float]]) -> None:
    """Print the median of each figure, and the spread."""
    cells = []
    for key in runs[0]:
        values = [run[key] for run in runs]
        spread = f" ({min(values):,.4g} to {max(values):,.4g})" if len(values) > 1 else ""
        cells.append(f"{key} {statistics.median(values):,.4g}{spread}")
    print(f"{name}: {'; '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", choices=[*SETTINGS, "burst", "scale", *PEERS], action="append")
    parser.add_argument("--scale-spans", type=int, default=10_000_000)
    parser.add_argument("--peers", action="store_true", help="beside arize-phoenix and mlflow")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/dbagenteval-benchmarks")
    parser.add_argument("--folder", help="where the stores are made; scale needs 25 GB")
    options = parser.parse_args()
    measures: dict[str, Callable[[Path], dict[str, float]]] = {
        **{name: partial(measure, name) for name in SETTINGS},
        "burst": measure_burst,
        "scale": partial(measure_scale, spans=options.scale_spans),
    }
    if options.peers:
        measures |= {
            name: partial(measure_peer, peer, cache=options.cache) for name, peer in PEERS.items()
        }
    rates = {}
    for name in options.only or measures:
        runs = []
        for _ in range(options.runs):
            folder = Path(tempfile.mkdtemp(prefix="dbagenteval-bench-", dir=options.folder))
            try:
                runs.append(measures[name](folder))
            finally:
                shutil.rmtree(folder)
        show(name, runs)
        rates[name] = statistics.median(run.get("stored/s", 0.0) for run in runs)
    for name in rates.keys() & PEERS.keys():
        ratio = rates["genai-http"] / rates[name]
        print(f"genai-http / {name}: {ratio:,.0f} (required {PEERS[name].required})")


if __name__ == "__main__":
    main()
