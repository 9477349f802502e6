"""Dialect names: sqlglot's own, and the names that databases give themselves in spans."""

from __future__ import annotations

from functools import lru_cache

from sqlglot.dialects.dialect import Dialect

from dbagenteval.dialects import DIALECT_OF

__all__ = ["base_name", "check_dialect", "from_system_name"]


@lru_cache(maxsize=256)
def check_dialect(name: str) -> str:
    """Give the name back if sqlglot knows it, settings such as `, normalization_strategy = …` too.

    Raises:
        ValueError: Unknown dialect.
    """
    Dialect.get_or_raise(name)
    return name


@lru_cache(maxsize=256)
def from_system_name(name: str) -> str | None:
    """Give sqlglot's name for what a span or a case calls the database; None if there is none."""
    plain = name.strip().lower()
    try:
        return check_dialect(DIALECT_OF.get(plain, plain)) or None
    except ValueError:
        return None


def base_name(dialect: str | None) -> str:
    """Give the dialect's name without settings, lower case; empty if there is no dialect."""
    return "" if dialect is None else dialect.split(",", 1)[0].strip().lower()
