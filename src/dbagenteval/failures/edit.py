"""What an agent's SQL does other than the reference, in codes and in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dbagenteval.failures.differences import Differences, apart
from dbagenteval.failures.facts import Facts, facts_of, owners_of
from dbagenteval.failures.shape import Shape
from dbagenteval.failures.shape_reader import read_shape
from dbagenteval.failures.wording import edit_words
from dbagenteval.rules.query.dialects import from_system_name

__all__ = ["SqlEdit", "sql_edit"]

_MAX_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class SqlEdit:
    """What turned the reference into the agent's SQL.

    Args:
        kinds: Stable codes, such as `missing_filter:orders.tenant_id` or `aggregate:AVG->MAX`
            (the reference's, then the agent's); `same`, `rewritten` (no difference that has a
            code) or `unreadable` stand alone.
        words: The same in one line for a person; holds no literal of either query.
    """

    kinds: tuple[str, ...]
    words: str


def sql_edit(agent: str, reference: str, dialect: str | None = None) -> SqlEdit:
    """Say what the agent's SQL does other than the reference.

    Args:
        agent: The agent's SQL.
        reference: The reference SQL.
        dialect: sqlglot's name of the dialect of both or the database's own, or None.
    """
    dialect = None if dialect is None else from_system_name(dialect)
    if len(agent) + len(reference) > _MAX_CHARS:
        return _edit(agent, reference, dialect)
    return _cached(agent, reference, dialect)


def _edit(agent: str, reference: str, dialect: str | None) -> SqlEdit:
    kinds = _kinds(agent, reference, dialect)
    return SqlEdit(kinds, edit_words(kinds))


def _kinds(agent: str, reference: str, dialect: str | None) -> tuple[str, ...]:
    if " ".join(agent.split()) == " ".join(reference.split()):
        return ("same",)
    got, wanted = read_shape(agent, dialect), read_shape(reference, dialect)
    if got is None or wanted is None:
        return ("unreadable",)
    codes = Differences(*_comparable(got, wanted)).codes()
    if codes:
        return codes
    return ("same",) if _literals(got) == _literals(wanted) else ("rewritten",)


def _literals(shape: Shape) -> tuple[str, list[tuple[str, ...]]]:
    """Give the whole of a statement: its text and its literals."""
    return str(shape), [term.values for block in shape.blocks for term in block.terms()]


_cached = lru_cache(maxsize=4096)(_edit)


def _comparable(got: Shape, wanted: Shape) -> tuple[Facts, Facts]:
    """Give the facts of both; a table read instead of another is called as the other."""
    owners = owners_of((got, wanted))
    got_facts, wanted_facts = facts_of(got, owners), facts_of(wanted, owners)
    missing, extra = apart(wanted_facts.tables, got_facts.tables)
    if len(missing) == len(extra) == 1:
        tables = got_facts.tables
        got_facts = facts_of(got, owners, (extra[0], missing[0]))
        got_facts.tables = tables
    return got_facts, wanted_facts
