"""Whether two texts tell of one statement: a driver sees it with more or less around it."""

from __future__ import annotations

import re

from dbagenteval.traces.sqltext import normal_sql

__all__ = ["is_told_by", "is_wrapped"]

_MIN_CHARS = 16
_COMMENT = re.compile(r"/\*(?!!).*?\*/", re.DOTALL)  # MySQL runs what stands in /*! */
_LINE_COMMENT = re.compile(r"--[^\n]*")
_NAME_CHAR = re.compile(r"[\w.$]")
# What makes more of a statement than a limit, a count or a name around it does: another
# statement, a write, or another table.
_MORE = re.compile(
    r"""; | --
    | \b(?:insert|into|update|delete|drop|alter|create|truncate|merge|replace|grant|revoke|copy
      |call|exec|execute|do|attach|detach|set|union|intersect|except|join|with|where|or|and|in
      |exists)\b
    | \bfrom\s*["'`\[\w] | ,\s*["'`\[\w]
    | \b(?!(?:count|from|as)\b)\w+\s*\(""",
    re.IGNORECASE | re.VERBOSE,
)


def is_wrapped(ran: str, sql: str) -> bool:
    """True if what ran is the statement, perhaps with a limit, a count or a comment around it."""
    outer, wanted = normal_sql(ran), normal_sql(sql)
    if outer == wanted:
        return True
    if len(wanted) < _MIN_CHARS or wanted not in outer:
        return False
    before, _, after = outer.partition(wanted)
    if _goes_on(before, after):
        return False
    return not any(_MORE.search(_COMMENT.sub(" ", part)) for part in (before, after))


def is_told_by(ran: str, known: str) -> bool:
    """True if a known execution's text holds what ran, outside its comments, or ran wrapped."""
    if is_wrapped(ran, known):
        return True
    wanted = normal_sql(ran)
    told = normal_sql(_LINE_COMMENT.sub(" ", _COMMENT.sub(" ", known)))
    if len(wanted) < _MIN_CHARS or wanted not in told:
        return False
    before, _, after = told.partition(wanted)
    return not _goes_on(before, after)


def _goes_on(before: str, after: str) -> bool:
    """True if a name goes on past an end of the found text, so that it is another name."""
    return _NAME_CHAR.match(before[-1:]) is not None or _NAME_CHAR.match(after) is not None
