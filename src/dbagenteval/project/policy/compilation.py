"""Whether SQL compiles on the database: it is planned there, and not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbagenteval.errors import UserError

__all__ = ["PLANNING_DIALECTS", "Compiler", "compiler_of"]

Compiler = Callable[[str], str]
"""Takes SQL, gives why it does not compile, or empty text."""

PLANNING_DIALECTS = frozenset(
    ("databricks", "duckdb", "mysql", "postgres", "redshift", "snowflake", "sqlite")
)
"""Those in which `EXPLAIN query` plans a query without running it."""


def compiler_of(execute: Callable[[str], list[dict[str, Any]]], dialect: str) -> Compiler | None:
    """Make a compiler of a database's executor; None if its dialect can't plan a query."""
    if dialect not in PLANNING_DIALECTS:
        return None

    def problem_of(sql: str) -> str:
        try:
            execute(f"EXPLAIN {sql}")
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 drivers share no base class
            reason = getattr(error, "orig", None) or error
            return " ".join(str(reason).split())[:300] or type(error).__name__
        return ""

    return problem_of
