"""The server of the ingest benchmarks, a process of its own, and what it costs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")


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


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


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

    def wait_stored(self, count: int, timeout_s: float = 600) -> float:
        deadline = time.monotonic() + timeout_s
        while self.stored() < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.stored()} of {count} spans stored")
            time.sleep(0.05)
        return time.time()

    def target(self, protocol: str) -> str:
        return f"grpc://{self.grpc}" if protocol == "grpc" else f"http://{self.http}/v1/traces"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def load(target: str, spans: int, *options: str) -> dict[str, Any]:
    """Send spans from another process."""
    command = [sys.executable, str(HERE / "ingest_load.py"), target, "--spans", str(spans)]
    output = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(output.stdout)
    return found
