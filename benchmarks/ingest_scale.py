"""The receiver with ten million spans in its store: ingest, one trace, disk, and a burst."""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ingest_load import SALT, Bodies
from ingest_server import Server, cpu_seconds, disk_bytes, load

from dbagenteval.rpc.client import ServedStore, open_store

FILL_SEED = 100
ROUND_SPANS = 200_000
BURST_SPANS = 1_000_000


def one_round(server: Server, seed: int, total: list[int]) -> tuple[float, float]:
    """Spans stored a second when as many are sent as go through, and CPU seconds for 100,000."""
    cpu = cpu_seconds(server.process.pid)
    found = load(server.target("grpc"), ROUND_SPANS, "--seed", str(seed))
    total[0] += found["spans"]
    rate = found["spans"] / (server.wait_stored(total[0]) - found["started"])
    return rate, (cpu_seconds(server.process.pid) - cpu) / found["spans"] * 1e5


def medians(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    rates, costs = zip(*pairs, strict=True)
    return statistics.median(rates), statistics.median(costs)


def some_trace_ids(spans: int, count: int) -> list[str]:
    """Ids of traces of the filling, which are whole in the store."""
    options = argparse.Namespace(profile="genai", seed=FILL_SEED, spans=spans, json=False)
    bodies = Bodies(options)
    rounds = len(bodies) // len(bodies.made)
    pick = random.Random(1)
    salt = SALT[:3] + bytes([FILL_SEED])
    return [
        (
            salt
            + pick.randrange(rounds).to_bytes(4, "big")
            + pick.randint(1, 1500).to_bytes(8, "big")
        ).hex()
        for _ in range(count)
    ]


def read_times_ms(store: Path, trace_ids: list[str]) -> list[float]:
    """How long each of these traces takes to be read through the owner of the store."""
    found = []
    with open_store(store) as served:
        assert isinstance(served, ServedStore)
        for trace_id in trace_ids:
            begun = time.perf_counter()
            (trace,) = served.otel_traces(trace_ids=[trace_id])
            found.append(1e3 * (time.perf_counter() - begun))
            assert 7 <= len(trace.spans) <= 12
    return sorted(found)


def p99(times: list[float]) -> float:
    return times[min(len(times) - 1, int(len(times) * 0.99))]


def measure_scale(folder: Path, spans: int) -> dict[str, float]:
    """Fill a store with so many spans, and measure before and after."""
    server = Server(folder / "store")
    total = [load(server.target("grpc"), 10_240, "--seed", "201")["spans"]]
    server.wait_stored(total[0])
    empty_rate, empty_cpu = medians([one_round(server, seed, total) for seed in (1, 2, 3)])
    filling = load(server.target("grpc"), spans - total[0], "--seed", str(FILL_SEED), "--lazily")
    total[0] += filling["spans"]
    fill_rate = filling["spans"] / (server.wait_stored(total[0]) - filling["started"])
    print(f"filled at {fill_rate:,.0f} spans/s; empty {empty_rate:,.0f}", file=sys.stderr)
    full_rate, full_cpu = medians([one_round(server, seed, total) for seed in (4, 5, 6)])
    print(f"full {full_rate:,.0f} spans/s, cpu {empty_cpu:.2f} {full_cpu:.2f}", file=sys.stderr)
    trace_ids = some_trace_ids(filling["spans"], 600)
    idle = read_times_ms(server.store, trace_ids[:300])
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(load, server.target("grpc"), 3 * ROUND_SPANS, "--seed", "7", "--lazily")
        busy = read_times_ms(server.store, trace_ids[300:])
        total[0] += job.result()["spans"]
    server.wait_stored(total[0])
    server.stop()
    before = disk_bytes(server.store) / total[0]
    begun = time.perf_counter()
    compact = [sys.executable, "-m", "dbagenteval", "store", "compact", "--store"]
    subprocess.run([*compact, str(server.store)], check=True, stdout=subprocess.DEVNULL)
    return {
        "spans": float(total[0]),
        "stored/s empty": empty_rate,
        "stored/s filling": fill_rate,
        "stored/s full": full_rate,
        "full / empty": full_rate / empty_rate,
        "cpu s/100k empty": empty_cpu,
        "cpu s/100k full": full_cpu,
        "peak MB": server.peak_mb,
        "trace p50 ms": statistics.median(idle),
        "trace p99 ms": p99(idle),
        "trace p50 busy ms": statistics.median(busy),
        "trace p99 busy ms": p99(busy),
        "disk B/span": before,
        "compact s": time.perf_counter() - begun,
        "disk B/span compact": disk_bytes(server.store) / total[0],
    }


def measure_burst(folder: Path) -> dict[str, float]:
    """Send a million spans at once to an empty store."""
    server = Server(folder / "store")
    found = load(server.target("grpc"), BURST_SPANS)
    done = server.wait_stored(found["spans"])
    server.stop()
    return {
        "acked/s": found["spans"] / found["seconds"],
        "stored/s": found["spans"] / (done - found["started"]),
        "p99 ms": found["p99_ms"],
        "peak MB": server.peak_mb,
        "refused": float(sum(found["refusals"].values())),
    }
