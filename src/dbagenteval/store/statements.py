"""The SQL statements of the store: one file each under `sql/`."""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["creation_order", "names", "statement"]

_FOLDER = resources.files("dbagenteval.store") / "sql"


@cache
def statement(name: str) -> str:
    """Read the statement `sql/NAME.sql`."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def creation_order() -> tuple[str, ...]:
    """Name the statements that make the schema, in the order to run them (`sql/_order`)."""
    return tuple((_FOLDER / "_order").read_text(encoding="utf-8").split())


def names() -> frozenset[str]:
    """Name all statements that have a file."""
    return frozenset(
        entry.name.removesuffix(".sql")
        for entry in _FOLDER.iterdir()
        if entry.name.endswith(".sql")
    )
