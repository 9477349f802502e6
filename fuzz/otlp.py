"""Fuzz what the receiver does with requests over HTTP: no crash, no 500, nothing half taken.

    python fuzz/otlp.py CORPUS-DIR [atheris and libFuzzer options, such as -max_total_time=600]

Needs `pip install atheris` (Linux); `make fuzz` does it all. What must be true is in `target.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))

with atheris.instrument_imports(include=["dbagenteval"]):
    from fuzz.target import Targets

from fuzz.inputs import mutated, seeds


def mutator(data: bytes, max_size: int, seed: int) -> bytes:
    """Change an input, as atheris asks for it."""
    return mutated(data, seed, lambda some: atheris.Mutate(some, len(some) + 64))[:max_size]


def main() -> None:
    """Write the seeds into the corpus and start atheris."""
    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        (corpus / f"seed-{number:03d}").write_bytes(seed)

    atheris.Setup(sys.argv, Targets(), custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
