"""Apache Kafka as a process: one broker that is its own controller (KRaft), on free ports."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import cache_dir, free_port, missing

POM = Path(__file__).parent / "kafka" / "pom.xml"
START_TIMEOUT_S = 60
JAVA = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
CLUSTER_ID = "dbagentevalTestsAAAAAA"


def kafka_jars() -> Path:
    """Give the folder with Kafka's jars, which Maven fetches the first time."""
    target = cache_dir() / "kafka" / hashlib.sha256(POM.read_bytes()).hexdigest()[:16]
    if target.is_dir():
        return target
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            missing(f"Apache Kafka ({program} to fetch and run it)")
    part = target.with_name(f"{target.name}.{os.getpid()}")
    part.mkdir(parents=True)
    ended = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies",
         f"-DoutputDirectory={part}", "-DincludeScope=runtime"],
        capture_output=True,
        text=True,
    )  # fmt: skip
    if ended.returncode:
        missing(f"Apache Kafka (Maven: {ended.stdout.strip()[:300]})")
    try:
        part.rename(target)
    except OSError:  # another worker was first
        shutil.rmtree(part)
    return target


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Run a broker that keeps its data in a folder; gives its address."""
    address, controller = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    settings = folder / "server.properties"
    settings.write_text(
        f"""
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@{controller}
        controller.listener.names=CONTROLLER
        listeners=PLAINTEXT://{address},CONTROLLER://{controller}
        log.dirs={folder / "data"}
        num.partitions=3
        offsets.topic.num.partitions=1
        offsets.topic.replication.factor=1
        group.initial.rebalance.delay.ms=0
        """
    )
    java = ["java", *JAVA, "-cp", f"{kafka_jars()}/*"]
    format_data = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings)]
    subprocess.run([*java, *format_data], check=True, capture_output=True)
    with (folder / "kafka.log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        _wait_until_it_listens(process, address, folder / "kafka.log")
        yield address
    finally:
        process.kill()  # its data goes away with the test's folder
        process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        else:
            return
