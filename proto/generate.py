# ruff: noqa: INP001 a script, no package
"""Compile `proto/` into the descriptors that the package loads; run it after every change.

Descriptors, not Python code: generated code runs only with the protobuf release that made it and
the next, and users have any. `python proto/generate.py --check` fails if they are stale.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).parent
SOURCES = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.proto"))
TARGET = HERE.parent / "src" / "dbagenteval" / "rpc" / "descriptors.binpb"


def compiled() -> bytes:
    """Compile all sources."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "descriptors.binpb"
        code = protoc.main(
            ["protoc", f"--proto_path={HERE}", f"--descriptor_set_out={out}", *SOURCES]
        )
        if code:
            sys.exit(code)
        return out.read_bytes()


def main() -> int:
    """Write the descriptors, or check that they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    fresh = compiled()
    if not parser.parse_args().check:
        TARGET.write_bytes(fresh)
        return 0
    if not TARGET.exists() or TARGET.read_bytes() != fresh:
        sys.exit(f"{TARGET} is stale; run python proto/generate.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
