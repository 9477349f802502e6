"""What a tool is for, told by its name, its arguments and what it gave."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from dbagenteval.traces.content import plain

__all__ = [
    "CHECK",
    "EXECUTE",
    "FINAL",
    "HANDOFF",
    "OTHER",
    "SCHEMA",
    "WRITE",
    "asked_tables",
    "kind_given_sql",
    "tool_kind",
]

FINAL, HANDOFF, SCHEMA, CHECK = "final", "handoff", "schema", "check"
WRITE, EXECUTE, OTHER = "write", "execute", "other"

_FINAL = re.compile(
    r"^(?:final[_ ]?(?:answer|result|response|output)(?:tool)?|finish|submit(?:_\w*answer)?"
    r"|finalanswertool|give_answer|structured_?output|answer)$",
    re.IGNORECASE,
)
_HANDOFF = re.compile(
    r"^(?:handoff\b|hand_?off_to|transfer_to|transfer_back|delegate|route_to|escalate)|\.handoff$|→",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"schema|list_?(?:tables|columns|databases|datasets|views|collections)|table_?(?:list|names)"
    r"|(?:describe|get|show|inspect|search|find|info|retrieve|fetch)_?(?:table|column|database)s?"
    r"(?:_?(?:info|details|names|structure|metadata))?$"
    r"|(?:table|column|database)s?_?(?:info|details|structure|metadata|description)",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"check|valid|\blint|lint_|verif|review|pars(?:e|er)_?sql|format_?sql|sql_?format|optimi[sz]e"
    r"|explain_?(?:sql|query|plan)|dry_?run",
    re.IGNORECASE,
)
_WRITE = re.compile(
    r"(?:generate|write|create|build|draft|make|compose|translate|fix|correct|text_?(?:2|to))"
    r"_?\w*(?:sql|query)|(?:nl|text|question)_?(?:2|to)_?sql|sql_?(?:generator|writer|coder)",
    re.IGNORECASE,
)
# Names that say that the tool runs SQL; a bare `query` or `execute` may search documents.
_EXECUTE = re.compile(
    r"sql|database|warehouse|\bdb\b|_db\b|\bdb_|duckdb|sqlite|postgres|snowflake|bigquery"
    r"|(?:run|read|write|exec\w*|submit|perform|do)_?(?:the_)?(?:db_)?query|run_?statement"
    r"|query_?(?:table|data(?!_?source)|runner|executor|engine)",
    re.IGNORECASE,
)


@lru_cache(maxsize=2048)
def tool_kind(name: str) -> str:
    """Tell a tool's kind by its name alone; `EXECUTE` means that it may run SQL."""
    for kind, pattern in (
        (FINAL, _FINAL),
        (HANDOFF, _HANDOFF),
        (CHECK, _CHECK),
        (WRITE, _WRITE),
        (SCHEMA, _SCHEMA),
        (EXECUTE, _EXECUTE),
    ):
        if pattern.search(name):
            return kind
    return OTHER


_MENDS = re.compile(r"fix|correct|repair|translate|rewrite", re.IGNORECASE)


def kind_given_sql(kind: str, name: str, sql: str | None) -> str:
    """Tell the kind of a tool that was given SQL: it runs it, unless it checks or mends it.

    `write_query` of mcp-server-sqlite runs what it is given, though its name says that it writes.
    """
    if sql is None or kind in (CHECK, FINAL, HANDOFF):
        return kind
    return WRITE if kind == WRITE and _MENDS.search(name) else EXECUTE


_TABLE_KEYS = (
    "table_names",
    "tables",
    "table_name",
    "table",
    "tool_input",
    "table_list",
    "names",
    "name",
    "collection",
    "dataset",
)


def asked_tables(arguments: Any) -> list[str]:
    """Give the tables that a schema tool was asked about."""
    arguments = plain(arguments)
    if isinstance(arguments, str):
        return [name for part in arguments.split(",") if (name := part.strip().strip("'\"`"))]
    if isinstance(arguments, list):
        return [str(name) for name in arguments if isinstance(name, str) and name]
    if isinstance(arguments, dict):
        for key in _TABLE_KEYS:
            if arguments.get(key):
                return asked_tables(arguments[key])
        for key in ("kwargs", "inputs", "args", "arguments", "input"):
            if arguments.get(key):
                return asked_tables(arguments[key])
    return []
