"""The store's directory: what lies where, with which modes, made by which version."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import dbagenteval
from dbagenteval.errors import StoreError, StoreTooNew

__all__ = ["FORMAT_VERSION", "Layout", "sync_folder", "write_private"]

FORMAT_VERSION = 1
"""Raised when an older version could not read what this one writes."""

_OF_A_CUT_CREATION = frozenset({"lock", "journal", "set-aside", "tmp", "store.json.part"})
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths inside one store directory."""

    root: Path

    @property
    def version_file(self) -> Path:
        """Holds the format version; read before anything else is touched."""
        return self.root / "store.json"

    @property
    def database(self) -> Path:
        """The DuckDB file."""
        return self.root / "traces.duckdb"

    @property
    def database_log(self) -> Path:
        """What DuckDB committed and has not yet moved into its file."""
        return self.root / "traces.duckdb.wal"

    @property
    def journal(self) -> Path:
        """Folder of the journal's segments."""
        return self.root / "journal"

    @property
    def set_aside(self) -> Path:
        """Folder of journal records that could not be stored."""
        return self.root / "set-aside"

    @property
    def attempt(self) -> Path:
        """Says what is being stored from the journal."""
        return self.root / "attempt.json"

    @property
    def spill(self) -> Path:
        """Folder for DuckDB's temporary files."""
        return self.root / "tmp"

    @property
    def lock_file(self) -> Path:
        """Locked by the process that owns the store."""
        return self.root / "lock"

    @property
    def owner_file(self) -> Path:
        """Says which process owns the store and where it answers."""
        return self.root / "owner.json"

    def check(self) -> bool:
        """Tell whether there is a store, after its version has been checked.

        Raises:
            StoreTooNew: A newer version made it.
            StoreError: The directory is something else, or can't be read.
        """
        try:
            text = self.version_file.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            self._check_free()
            return False
        except OSError as error:
            raise StoreError(f"store {self.root}: can't be read: {error.strerror}") from error
        try:
            known = json.loads(text)
            version, made_by = int(known["format"]), str(known.get("made_by", "unknown"))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"store {self.root}: {self.version_file.name} is damaged") from error
        if version > FORMAT_VERSION:
            raise StoreTooNew(
                f"store {self.root}: made by dbagenteval {made_by} with format {version}; "
                f"this version reads formats up to {FORMAT_VERSION}",
                hint="update dbagenteval, or use another --store",
            )
        return True

    def _check_free(self) -> None:
        """Refuse a path that holds something else than a store."""
        if not self.root.exists():
            return
        if not self.root.is_dir():
            raise StoreError(f"store {self.root}: is a file; a store is a directory")
        if any(entry.name not in _OF_A_CUT_CREATION for entry in self.root.iterdir()):
            raise StoreError(
                f"store {self.root}: holds other files and no store",
                hint="name a directory that is empty or doesn't exist",
            )

    def create(self) -> None:
        """Make the directory and its parts, readable by the owner only.

        Raises:
            StoreError: It can't be written.
        """
        try:
            self.root.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
            self.root.chmod(_DIRECTORY_MODE)
            for folder in (self.journal, self.set_aside, self.spill):
                folder.mkdir(mode=_DIRECTORY_MODE, exist_ok=True)
            content = {"format": FORMAT_VERSION, "made_by": dbagenteval.__version__}
            write_private(self.version_file, json.dumps(content).encode())
            sync_folder(self.root.parent)
        except OSError as error:
            raise StoreError(f"store {self.root}: can't be made: {error.strerror}") from error


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make safe on disk what was made, renamed or removed in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
