"""Whose fault an error of the database is: the statement's, or that of the run."""

from __future__ import annotations

import re

__all__ = ["blames_statement"]

_RUN = re.compile(
    r"time[d]?[ -]?out|connection|connect to|network|socket|broken pipe|too many (?:clients|conn)"
    r"|database is locked|deadlock|out of memory|memory limit|disk|no space|unavailable|canceling"
    r"|cancell?ed|interrupted|recovery mode|shutting down|throttl|rate limit|quota|authentication"
    r"|password|ssl|could not serialize",
    re.IGNORECASE,
)
"""Errors that another run of the same statement may not give."""

_STATEMENT = re.compile(
    # SQLite, and words that several databases share
    r"no such (?:table|column|function|view)|syntax|ambiguous|unrecognized|misuse of"
    r"|wrong number of arguments|incomplete input|does ?n.?t exist|not exist"
    r"|unknown (?:column|table|function|identifier|database)"
    r"|invalid (?:object|column|identifier|input|reference|use)"
    r"|not found|must appear in the group by|not in (?:the )?group by|group function|aggregate"
    r"|division by zero|divide by zero|out of range|cannot (?:cast|convert|be cast)"
    r"|could not convert"
    r"|type mismatch|operator does not|undefined (?:table|column|function)|missing from-clause"
    r"|read-?only|permission denied|not authorized|access denied|not allowed"
    # DuckDB
    r"|(?:catalog|binder|parser|conversion|invalid input) error"
    # Oracle, and error classes of Snowflake, Spark and ClickHouse
    r"|ORA-009\d\d|ORA-01476|compilation error|UNRESOLVED_|PARSE_SYNTAX_ERROR|TABLE_OR_VIEW"
    r"|UNKNOWN_(?:TABLE|IDENTIFIER|FUNCTION)|SQLSTATE\W*(?:42|22)",
    re.IGNORECASE,
)


def blames_statement(error: str) -> bool:
    """Say whether an error's text speaks of what the statement says.

    A text that names neither is taken as the run's.

    Args:
        error: As a driver gives it, in English.
    """
    return bool(_STATEMENT.search(error)) and not _RUN.search(error)
