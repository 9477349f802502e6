"""SQL in the wild: whether a text is SQL, where it hides in arguments and prose."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from dbagenteval.traces.content import plain
from dbagenteval.traces.pyliteral import read_literal

__all__ = [
    "bare_sql",
    "catalog_tables",
    "is_catalog_query",
    "is_connection_noise",
    "is_sql",
    "normal_sql",
    "sql_in_arguments",
    "sql_in_text",
]

_SPACE = re.compile(r"\s+")
_LEADING = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*", re.DOTALL)
_STATEMENT = re.compile(
    r"""(?:
      select\b(?=.*\bfrom\b|\s+(?:distinct\s+)?[\w."'`\[*@(+-]*[\d(*'"@])
    | with\s+(?:recursive\s+)?["`\[\w]+\W.*?\bas\s+(?:not\s+)?(?:materialized\s+)?\(
    | with\s+(?:recursive\s+)?["`\[\w]+\s*as\s*\(
    | insert\s+(?:or\s+\w+\s+)?(?:into|overwrite)\b
    | replace\s+into\b
    | update\s+.{1,200}?\bset\b
    | delete\s+from\b
    | merge\s+into\b
    | truncate\s+(?:table\b|\w+\s*;?\s*$)
    | (?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:global\s+|local\s+|unique\s+|external\s+)?
      (?:temp(?:orary)?\s+)?(?:materialized\s+)?
      (?:table|view|index|schema|database|function|procedure|trigger|sequence|type|user|role)\b
    | (?:grant|revoke)\s+.*\b(?:on|to|from)\b
    | pragma\s+\w+
    | explain\s+(?:analyze\s+|query\s+plan\s+)?(?:select|with|insert|update|delete)\b
    | show\s+(?:tables|databases|schemas|columns|create|index|variables|all)\b
    | describe\s+[\w."`]+\s*;?\s*$
    | desc\s+[\w."`]+\s*;?\s*$
    | values\s*\(
    | call\s+[\w.]+\s*\(
    | exec(?:ute)?\s+[\w.\[\]]+
    | from\s+[\w."`]+\s+(?:select|where|join|group|order|limit)\b
    | (?:attach|detach)\s+(?:database\s+)?['"\w]
    | copy\s+[\w."]+\s*(?:\(|from\b|to\b)
    | (?:vacuum|analyze|use)(?:\s+[\w."`]+)?\s*;?\s*$
    | (?:begin|commit|rollback|start\s+transaction)(?:\s+(?:transaction|work))?\s*;?\s*$
    | set\s+(?:session\s+|local\s+)?[\w.@]+\s*(?:=|to\s)
    )""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_SELECT_PROSE = re.compile(
    r"select\s+(?:[a-z]+\s+){2,}[a-z]+\s+from\b|select\b[^,*()'\"=]*?\bfrom\s+(?:the|an?|our|this|your|all)\s+\w",
    re.IGNORECASE,
)
_HAS_AS = re.compile(r"\bas\b|\bdistinct\b", re.IGNORECASE)
_FENCE = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_LABEL = re.compile(r"^(?:assistant:\s*)?sql\s*query:\s*", re.IGNORECASE)
# Keys whose value is SQL by their name, and keys that may hold anything.
_SQL_KEYS = ("sql", "sql_query", "sqlQuery", "sql_statement", "sql_text", "statement", "sql_string")
_MAYBE_KEYS = ("query", "q", "query_text", "command", "input", "tool_input", "code", "text")
_WRAPPERS = (
    "kwargs",
    "inputs",
    "arguments",
    "args",
    "input",
    "tool_input",
    "parameters",
    "params",
    "content",
    "function_input",
    "request",
    "body",
)
_CATALOG = re.compile(
    r"\b(?:sqlite_master|sqlite_schema|sqlite_temp_master|information_schema|pg_catalog"
    r"|pg_tables|pg_class|pg_attribute|pg_namespace|pg_stat_user_tables|pg_indexes"
    r"|duckdb_tables|duckdb_columns|duckdb_views"
    r"|all_tables|all_tab_columns|user_tables|user_tab_columns|sys\.(?:tables|columns|objects))\b"
    r"|^\s*(?:pragma\s+(?:\w+\.)?(?:table_info|table_xinfo|table_list|index_list|foreign_key_list)"
    r"|show\s+(?:tables|columns|create|databases|schemas|index)|describe|desc)\b",
    re.IGNORECASE,
)
# What drivers and pools ask for themselves, never the agent.
_NOISE = re.compile(
    r"^\s*(?:(?:begin|commit|rollback|savepoint|release|set|deallocate|discard)\b|start\s+transaction\b"
    r"|select\s+1\s*;?\s*$|select\s+(?:pg_catalog\.)?version\(\)|select\s+current_schema\(\)"
    r"|select\s+cast\('test\b|select\s+@@|select\s+database\(\)"
    r"|show\s+(?:standard_conforming_strings|transaction|search_path|variables|server_version)"
    r"|pragma\s+(?:foreign_keys|journal_mode|synchronous|busy_timeout|encoding|read_uncommitted)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'(?:[^']|'')*'")
# A second statement, or a source of rows: no driver sends these on its own.
_MORE_THAN_NOISE = re.compile(r";\s*[^\s;]|\bfrom\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(?:insert\s+(?:or\s+\w+\s+)?into|delete\s+from|update\s+\S+\s+set|merge\s+into)\b"
    r"|^\s*(?:drop|alter|create|truncate|grant|revoke|copy|call|do)\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(?!(?:from|join|in|exists|as|and|or|on|not)\b)(\w+)\s*\([^()]*\)", re.IGNORECASE
)
_CTE = re.compile(r"\b(\w+)\s+as\s*(?:not\s+)?(?:materialized\s*)?\(", re.IGNORECASE)
_SOURCES = re.compile(
    r"(?<!distinct )\b(?:from|join)\s+([^();]+?)(?=\s+(?:where|group|order|limit|join|left|right"
    r"|inner|outer|cross|full|on|using|union|having|fetch|offset|natural|intersect|except)\b"
    r"|\s*[();]|\s*$)",
    re.IGNORECASE,
)
_CATALOG_NAME = re.compile(
    r"pg_|information_schema\b|sys\.|sqlite_|duckdb_|pragma_"
    r"|(?:all|user|dba)_(?:tab|col|cons|ind|view|object)|svv_|syscat\."
)
_PRAGMA_TABLE = re.compile(r"pragma\s+(?:\w+\.)?\w+\s*\(\s*['\"`]?([\w ]+)", re.IGNORECASE)
_MAX_CHARS = 200_000
_MAX_DEPTH = 12


@lru_cache(maxsize=4096)
def is_sql(text: str) -> bool:
    """True if a text is a statement, not prose that starts like one."""
    if len(text) > _MAX_CHARS:
        return False
    start = _LEADING.match(text)
    at = start.end() if start else 0
    if _STATEMENT.match(text, at) is None:
        return False
    prose = _SELECT_PROSE.match(text, at)
    return prose is None or _HAS_AS.search(prose.group()) is not None


@lru_cache(maxsize=4096)
def normal_sql(sql: str) -> str:
    """Give SQL with single spaces and no end mark, to tell whether two texts are one statement."""
    return _SPACE.sub(" ", sql).strip().rstrip("; ").strip()


def sql_in_arguments(arguments: Any, *, trusted: bool = False, depth: int = 0) -> str | None:
    """Find the SQL among a tool's arguments.

    Args:
        arguments: Text or an object, JSON or decoded.
        trusted: The tool's name says that it runs SQL, so that a broken statement counts too.
        depth: How deep among the arguments it stands.
    """
    arguments = plain(arguments) if depth < _MAX_DEPTH else None
    if isinstance(arguments, str) and arguments[:2] in ("{'", '{"'):
        written = read_literal(arguments)  # LangChain sends the repr of an object
        arguments = written if isinstance(written, dict) else arguments
    arguments = _unfenced(arguments) if isinstance(arguments, str) else arguments
    if isinstance(arguments, str):
        return arguments if is_sql(arguments) or (trusted and _is_worded(arguments)) else None
    if isinstance(arguments, list):
        inside = depth + 1
        found = (sql_in_arguments(item, trusted=trusted, depth=inside) for item in arguments[:4])
        return next((sql for sql in found if sql), None)
    if not isinstance(arguments, dict):
        return None
    return _sql_in_object(arguments, trusted=trusted, depth=depth)


def _sql_in_object(arguments: dict[str, Any], *, trusted: bool, depth: int) -> str | None:
    for key in (*_SQL_KEYS, *_MAYBE_KEYS):
        value = arguments.get(key)
        if value is None:
            continue
        value = _unfenced(value)
        if not isinstance(value, str) or not value.strip():
            continue
        if key in _SQL_KEYS or is_sql(value) or (trusted and key == "query"):
            return value
    for key in _WRAPPERS:
        value = arguments.get(key)
        if isinstance(value, (dict, list)) or (isinstance(value, str) and value[:1] in ("{", "[")):
            sql = sql_in_arguments(value, trusted=trusted, depth=depth + 1)
            if sql:
                return sql
    values = [_unfenced(value) for value in arguments.values()]
    others = [value for value in values if isinstance(value, str) and is_sql(value)]
    return others[0] if len(others) == 1 else None


def _unfenced(value: Any) -> Any:
    """Take a statement out of a fence or out of a list that holds it alone."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and value.lstrip().startswith("```"):
        return sql_in_text(value) or value
    return value


def _is_worded(text: str) -> bool:
    return len(text.split()) > 1 and text[:1] not in ("{", "[")  # these are broken JSON


def sql_in_text(text: str) -> str | None:
    """Find the SQL in a model's answer: bare, after `SQLQuery:`, or in a fence."""
    for language, body in _FENCE.findall(text):
        if (language.lower() in ("sql", "") or language.lower().endswith("sql")) and is_sql(body):
            return str(body).strip()
    return bare_sql(text)


def bare_sql(text: str) -> str | None:
    """Give the SQL that a text is, but for a label such as `SQLQuery:` or a fence; else None."""
    fenced = _FENCE.fullmatch(text.strip()) if "```" in text else None
    if fenced is not None and "```" not in fenced.group(2):
        return str(fenced.group(2)).strip() if is_sql(fenced.group(2)) else None
    bare = _LABEL.sub("", text.strip())
    if is_sql(bare):
        end = bare.find("\nSQLResult:")
        return (bare if end < 0 else bare[:end]).strip()
    return None


@lru_cache(maxsize=4096)
def is_catalog_query(sql: str) -> bool:
    """True if a statement reads the catalog: what tables and columns there are."""
    if _CATALOG.search(sql) is None:
        return False
    bare = normal_sql(_QUOTED.sub("''", sql))
    return ";" not in bare and _WRITES.search(bare) is None and _reads_catalog_only(bare)


def _reads_catalog_only(bare: str) -> bool:
    """True if no source of a statement without literals is a table of the user."""
    without_calls = _CALL.sub(r"\1#", bare)
    named = {name.lower() for name in _CTE.findall(bare)}
    for sources in _SOURCES.findall(without_calls):
        for source in sources.split(","):
            name = source.strip().split(" ")[0].strip('"`[]').lower()
            if name and not name.endswith("#") and name not in named and not _is_catalog(name):
                return False
    return True


def _is_catalog(name: str) -> bool:
    return _CATALOG.search(name) is not None or _CATALOG_NAME.match(name) is not None


def is_connection_noise(sql: str) -> bool:
    """True if a statement is one of those that drivers send on their own."""
    return _NOISE.match(sql) is not None and _MORE_THAN_NOISE.search(_QUOTED.sub("''", sql)) is None


def catalog_tables(sql: str) -> list[str]:
    """Give the tables that a PRAGMA asks about."""
    return [name.strip() for name in _PRAGMA_TABLE.findall(sql)]
