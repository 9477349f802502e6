"""Packages of npm that tests run, as a folder's lock file names them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.conftest import cache_dir, missing


def npm_packages(folder: Path) -> Path:
    """Give the `node_modules` for a folder's `package-lock.json`; installed the first time."""
    lock = folder / "package-lock.json"
    target = cache_dir() / "npm" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if target.is_dir():
        return target / "node_modules"
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            missing(program)
    part = target.with_name(f"{target.name}.{os.getpid()}")
    part.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(folder / name, part)
    ended = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=part,
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        missing(f"packages of npm for {folder.name} ({ended.stderr.strip()[:300]})")
    try:
        part.rename(target)
    except OSError:  # another worker was first
        shutil.rmtree(part)
    return target / "node_modules"
