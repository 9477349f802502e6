"""What the rules know of the databases' functions: a data file for each dialect.

A file of `functions/` has `# source:` lines, then sections. `[pure]` functions compute from their
arguments, the clock, chance or the schema; `[rows]` make rows from their arguments; the others do
more, and their section says what. A function in no section is one the rules can't see into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

__all__ = ["EFFECTS", "READING", "KnownFunctions", "known_functions"]

EFFECTS: Mapping[str, str] = {
    "writes": "changes stored data",
    "locks": "takes or gives up locks",
    "server": "controls the server",
    "waits": "holds the session up",
    "session": "changes the session",
    "files": "reads or writes files",
    "network": "reaches other systems",
    "runs": "runs text as SQL or reads tables by name",
}
"""Sections other than pure and rows: what such a function does."""

READING = ("files", "network", "runs")
"""Sections whose functions bring data in that no rule sees the source of."""

_ALL = [
    "bigquery",
    "clickhouse",
    "duckdb",
    "mysql",
    "oracle",
    "postgres",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "trino",
    "tsql",
]
_FAMILIES = {
    "redshift": ["redshift", "postgres"],
    "materialize": ["postgres"],
    "risingwave": ["postgres"],
    "databricks": ["spark"],
    "spark2": ["spark"],
    "hive": ["spark"],
    "presto": ["trino"],
    "athena": ["trino"],
    "singlestore": ["mysql"],
    "doris": ["mysql"],
    "starrocks": ["mysql"],
    "fabric": ["tsql"],
}


@dataclass(frozen=True, slots=True)
class KnownFunctions:
    """The functions of one dialect, lower case, packages dotted.

    Args:
        pure: Without effects.
        rows: Table functions without effects.
        effects: Name to section for those that do more.
    """

    pure: frozenset[str]
    rows: frozenset[str]
    effects: Mapping[str, str]


@lru_cache(maxsize=32)
def known_functions(dialect: str) -> KnownFunctions:
    """Give the functions of a dialect by its base name; without one, of all dialects together.

    A name that is harmless in one dialect and not in another counts as harmless only if the
    dialect is not known.
    """
    parts = [_read(name) for name in _FAMILIES.get(dialect, [dialect] if dialect in _ALL else _ALL)]
    pure = frozenset[str]().union(*(part.pure for part in parts))
    rows = frozenset[str]().union(*(part.rows for part in parts))
    effects = {name: kind for part in reversed(parts) for name, kind in part.effects.items()}
    if len(parts) == len(_ALL):
        effects = {name: kind for name, kind in effects.items() if name not in pure | rows}
    return KnownFunctions(pure - effects.keys(), rows - effects.keys(), effects)


@lru_cache(maxsize=32)
def _read(name: str) -> KnownFunctions:
    text = files("dbagenteval.rules").joinpath("functions", f"{name}.txt").read_text("utf-8")
    sections: dict[str, set[str]] = {}
    section: set[str] = set()
    for line in text.splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            section.update(line.lower().split())
    pure = sections.pop("pure", set())
    rows = sections.pop("rows", set())
    effects = {one: kind for kind, names in sections.items() for one in names}
    return KnownFunctions(frozenset(pure), frozenset(rows), effects)
