"""One SQL text, parsed once: what all rules look at.

`read_sql` keeps the last texts it parsed, so that several rules on one trace, and the same query
in many traces, cost one parse.
"""

from __future__ import annotations

import gc
import logging
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from dbagenteval.rules.query import raw_text
from dbagenteval.rules.query.names import Folding, folding

__all__ = ["Sql", "read_sql"]

_T = TypeVar("_T")

_CACHED_TEXTS = 1024
_CACHED_CHARS = 65_536
"""Longer texts are parsed each time: a tree takes about 100 times the text's bytes."""

_MAX_CHARS = 2_000_000
_MEMO_ENTRIES = 64
_THREAD_NESTING = 20
_THREAD_FRAMES = 10_000
"""The parser without its compiled part takes 18 frames for each level of brackets."""

_THREAD_STACK_BYTES = 64 * 1024 * 1024

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Sql:
    """A parsed SQL text.

    Args:
        text: As the agent wrote it.
        dialect: sqlglot's name, or None for the standard's reading; then a text that only one
            family of databases accepts is read as theirs.
    """

    def __init__(self, text: str, dialect: str | None) -> None:
        self.text = raw_text.trim(text)
        self.dialect = dialect
        self.fold: Folding = folding(dialect)
        self.statements: list[exp.Expr] = []
        self.tokens: list[Token] = []
        self._memo: OrderedDict[object, Any] = OrderedDict()
        with _collector_paused():
            self.problem = self._read()
        """Why no rule can judge the text, or None."""

    def memo(self, key: object, compute: Callable[[], _T]) -> _T:
        """Give what `compute` gave for this key before, else compute it; keeps the last few."""
        try:
            return self._memo[key]  # type: ignore[no-any-return] # kept under the same key only
        except KeyError:
            value = self._memo[key] = compute()
        if len(self._memo) > _MEMO_ENTRIES:
            self._memo.popitem(last=False)
        return value

    @cached_property
    def nodes(self) -> dict[type[exp.Expr], list[exp.Expr]]:
        """All nodes of all statements by exact class, in tree order."""
        found: dict[type[exp.Expr], list[exp.Expr]] = {}
        for statement in self.statements:
            for node in statement.walk(bfs=False):
                found.setdefault(type(node), []).append(node)
        return found

    def find(self, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
        """Give all nodes of these classes or their subclasses."""
        for kind, nodes in self.nodes.items():
            if issubclass(kind, kinds):
                yield from nodes

    def _read(self) -> str | None:
        dialect = _dialect(self.dialect)
        if len(self.text) > _MAX_CHARS:
            return f"SQL is too long to analyse ({len(self.text)} characters, at most {_MAX_CHARS})"
        if self.text.startswith("```"):
            return "SQL is wrapped in a Markdown code fence; give the statement itself"
        if self.dialect is None and raw_text.has_escaped_quote(self.text):
            return "contains a backslash before a quote; set `dialect` so it is read correctly"
        try:
            self.tokens = dialect.tokenize(self.text)
            depth, problem = raw_text.nesting(self.text, self.tokens)
            problem = problem or raw_text.text_problem(self.text, self.tokens, self.dialect)
            if problem:
                return problem
            self.statements = _parse(dialect, self.tokens, self.text, depth)
            return _structure_problem(self)
        except SqlglotError as error:
            inferred = None if self.dialect else raw_text.inferred_dialect(self.text)
            if inferred is not None:
                self.dialect, self.fold = inferred, folding(inferred)
                return self._read()
            return f"SQL does not parse: {_one_line(str(error))}"
        except RecursionError:
            return "SQL is too deeply nested to analyse"
        except Exception as error:  # noqa: BLE001 # the parser's own faults are findings, not ours
            return f"SQL could not be analysed ({type(error).__name__}: {_one_line(str(error))})"


@lru_cache(maxsize=64)
def _dialect(name: str | None) -> Dialect:
    return Dialect.get_or_raise(name)


def _one_line(text: str) -> str:
    text = " ".join(_ANSI.sub("", text).split())
    return text if len(text) <= 200 else text[:199] + "…"


def _parse(dialect: Dialect, tokens: list[Token], text: str, depth: int) -> list[exp.Expr]:
    """Parse in this thread, or in one with a big stack when the text is nested."""
    if depth <= _THREAD_NESTING:
        return _statements(dialect, tokens, text)
    outcome: list[list[exp.Expr]] = []
    failure: list[Exception] = []

    def work() -> None:
        try:
            outcome.append(_statements(dialect, tokens, text))
        except Exception as error:  # noqa: BLE001 # raised again in the caller's thread
            failure.append(error)

    in_big_stack(work)
    if failure:
        raise failure[0]
    return outcome[0]


def in_big_stack(work: Callable[[], None]) -> None:
    """Run `work` in a thread whose stack holds the deepest text that is let through.

    One at a time, since the limit of frames is the whole process's.
    """
    with _STACK_LOCK:
        stack, frames = threading.stack_size(_THREAD_STACK_BYTES), sys.getrecursionlimit()
        try:
            sys.setrecursionlimit(max(frames, _THREAD_FRAMES))
            thread = threading.Thread(target=work, name="dbagenteval-sql")
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(frames)


_STACK_LOCK = threading.Lock()


def _statements(dialect: Dialect, tokens: list[Token], text: str) -> list[exp.Expr]:
    logger = logging.getLogger("sqlglot")
    quiet = _QuietHere()
    logger.addFilter(quiet)
    try:
        parsed = dialect.parser().parse(tokens, text)
    finally:
        logger.removeFilter(quiet)
    return [node for node in parsed if node is not None and not isinstance(node, exp.Semicolon)]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking a tree while it grows: a fifth of the time.

    Another thread that pauses meanwhile finds it off and leaves turning it on to us.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _QuietHere(logging.Filter):
    """Drop the parser's warnings of one parse: what it can't read is our finding."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Let only records of other threads through."""
        return record.thread != self._thread


def _structure_problem(sql: Sql) -> str | None:
    if not sql.statements:
        return "no SQL statement found"
    for statement in sql.statements:
        if not isinstance(statement, exp.Query):
            return f"not a SELECT statement ({type(statement).__name__})"
    for table in sql.find(exp.Table):
        if table.args.get("rows_from"):
            return "reads from a source that cannot be analysed (ROWS FROM)"
        alias = table.args.get("alias")
        if alias is not None and alias.this is None and alias.args.get("columns"):
            # How early versions of the parser read a call that they don't know.
            return f"reads from {table.name}(...), which cannot be analysed"
    return _table_word_problem(sql) or _dynamic_name_problem(sql)


def _table_word_problem(sql: Sql) -> str | None:
    """Find the TABLE shorthand and TABLE(...), which parser versions read differently."""
    if "TABLE" not in sql.text.upper():
        return None
    for index, token in enumerate(sql.tokens):
        if token.text.upper() != "TABLE" or sql.text[token.start] in "\"`['":
            continue
        before = sql.tokens[index - 1].text if index else ""
        after = sql.tokens[index + 1] if index + 1 < len(sql.tokens) else None
        if before == "." or after is None:
            continue
        if after.text == "(":
            return "reads a table through TABLE(...), which cannot be analysed"
        if before in ("(", "") or before.upper() in _BEFORE_QUERY:
            if after.text in _AFTER_OPERAND:
                continue
            return "uses the TABLE shorthand, which cannot be analysed; write SELECT ... FROM"
    return None


_BEFORE_QUERY = ("UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "AS", "MINUS")
_AFTER_OPERAND = (")", ",", ".", "=", "<", ">", "+", "-", "*", "/", "%", "::", "[")


def _dynamic_name_problem(sql: Sql) -> str | None:
    for node in sql.find(exp.Anonymous):
        if str(node.this).upper() in ("IDENTIFIER", "TABLE"):
            return "names a table dynamically (IDENTIFIER / TABLE), which cannot be analysed"
    if any(kind.__name__ == "DynamicIdentifier" for kind in sql.nodes):
        return "names a table dynamically (IDENTIFIER / TABLE), which cannot be analysed"
    for select in sql.find(exp.Select):
        if not select.expressions and not select.args.get("from_"):
            return "not a query: SELECT with nothing to select"
    return None


@lru_cache(maxsize=_CACHED_TEXTS)
def _cached(text: str, dialect: str | None) -> Sql:
    return Sql(text, dialect)


def read_sql(text: str, dialect: str | None = None) -> Sql:
    """Parse an SQL text, or give the parse of the same text and dialect made before.

    Args:
        text: One or more statements.
        dialect: A name that sqlglot knows, or None.

    Returns:
        The shared value; `problem` says why it can't be judged, if so.
    """
    if len(text) > _CACHED_CHARS:
        return Sql(text, dialect)
    return _cached(text, dialect)
