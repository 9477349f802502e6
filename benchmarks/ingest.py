"""How fast the receiver takes and stores spans, and what it costs.

Server and load generator are processes on the same machine. `python benchmarks/ingest.py` prints a
table; `--runs 3` gives the spread; `--only genai-grpc` one line of it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
SETTINGS: dict[str, dict[str, Any]] = {
    "genai-grpc": {"protocol": "grpc", "spans": 200_000},
    "genai-http": {"protocol": "http", "spans": 200_000},
    "small-grpc": {"protocol": "grpc", "spans": 400_000, "options": ["--profile", "small"]},
    "genai-gzip": {"protocol": "http", "spans": 100_000, "options": ["--gzip"]},
    "genai-json": {"protocol": "http", "spans": 50_000, "options": ["--json"]},
}


def tree(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += tree(int(child))
    return found


def cpu_seconds(pid: int) -> float:
    total = 0.0
    for member in tree(pid):
        try:
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def resident_mb(pid: int) -> float:
    total = 0
    for member in tree(pid):
        try:
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{member}/status").read_text())
        except OSError:
            continue
        total += int(found[1]) if found else 0
    return total / 1024


class Server:
    """A running `dbagenteval serve`."""

    def __init__(self, store: Path) -> None:
        self.store = store
        begun = time.perf_counter()
        command = [sys.executable, "-m", "dbagenteval", "serve", "--store", str(store)]
        command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(3)]
        self.start_s = time.perf_counter() - begun
        self.grpc, self.http = (line.split("//")[1].strip() for line in lines[:2])
        self.peak_mb = 0.0
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        while self.process.poll() is None:
            self.peak_mb = max(self.peak_mb, resident_mb(self.process.pid))
            time.sleep(0.1)

    def stored(self) -> int:
        text = urllib.request.urlopen(f"http://{self.http}/metrics").read().decode()
        found = re.search(r"^dbagenteval_store_spans_added (\S+)$", text, re.MULTILINE)
        return int(float(found[1])) if found else 0

    def wait_stored(self, count: int, timeout_s: float = 120) -> float:
        deadline = time.monotonic() + timeout_s
        while self.stored() < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.stored()} of {count} spans stored")
            time.sleep(0.05)
        return time.time()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.store.rglob("*") if path.is_file())


def load(server: Server, protocol: str, spans: int, *options: str) -> dict[str, Any]:
    """Send spans from another process."""
    grpc_target, http_target = f"grpc://{server.grpc}", f"http://{server.http}/v1/traces"
    target = grpc_target if protocol == "grpc" else http_target
    command = [sys.executable, str(HERE / "ingest_load.py"), target, "--spans", str(spans)]
    output = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(output.stdout)
    return found


def measure(name: str, folder: Path) -> dict[str, float]:
    """Run one setting in a fresh store."""
    setting = SETTINGS[name]
    options = setting.get("options", [])
    server = Server(folder / "store")
    idle_mb = resident_mb(server.process.pid)
    warm = load(server, setting["protocol"], 10_240, *options, "--seed", "201")
    server.wait_stored(warm["spans"])
    cpu = cpu_seconds(server.process.pid)
    found = load(server, setting["protocol"], setting["spans"], *options)
    done = server.wait_stored(warm["spans"] + found["spans"])
    cpu = cpu_seconds(server.process.pid) - cpu
    stored_rate = found["spans"] / (done - found["started"])
    paced = load(
        server,
        setting["protocol"],
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
        "disk B/span": server.disk_bytes() / total,
        "start s": server.start_s,
        "B/span sent": found["bytes_per_span"],
        "refused": float(sum(found["refusals"].values())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", choices=list(SETTINGS), action="append")
    options = parser.parse_args()
    for name in options.only or SETTINGS:
        runs = []
        for _ in range(options.runs):
            folder = Path(tempfile.mkdtemp(prefix="dbagenteval-bench-"))
            try:
                runs.append(measure(name, folder))
            finally:
                shutil.rmtree(folder)
        cells = []
        for key in runs[0]:
            values = [run[key] for run in runs]
            spread = f" ({min(values):,.4g} to {max(values):,.4g})" if len(values) > 1 else ""
            cells.append(f"{key} {statistics.median(values):,.4g}{spread}")
        print(f"{name}: {'; '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
