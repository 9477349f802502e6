"""A real `dbagenteval serve` process for tests."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpSpanExporter,
)
from opentelemetry.sdk.trace.export import SpanExporter


@dataclass
class Served:
    """A running receiver."""

    process: subprocess.Popen[str]
    grpc: str
    http: str

    def exporter(self, protocol: str) -> SpanExporter:
        """A real exporter of opentelemetry-python that sends here."""
        if protocol == "grpc":
            return GrpcSpanExporter(endpoint=self.grpc, insecure=True)
        return HttpSpanExporter(endpoint=f"{self.http}/v1/traces")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(30)


def wait_until_free(store: Path, timeout_s: float = 30.0) -> None:
    """Wait for the end of the store process, which outlives a killed `serve` by a moment."""
    deadline = time.monotonic() + timeout_s
    with (store / "lock").open("rb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                assert time.monotonic() < deadline, "the store stays locked"
                time.sleep(0.02)
            else:
                return


@contextmanager
def serve(store: Path, *options: str) -> Iterator[Served]:
    """Run the command on free ports; whatever happens, it ends with the block."""
    command = [sys.executable, "-m", "dbagenteval", "serve", "--store", str(store)]
    command += ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        endpoints = []
        for line in process.stdout:
            if line.strip() == "ready":
                break
            endpoints.append(line.split()[1])
        else:
            raise AssertionError(f"serve ended with {process.wait()}")
        yield Served(process, *endpoints[:2])
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
