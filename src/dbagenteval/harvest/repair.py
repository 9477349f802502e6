"""What a wrong query may have been meant to be: the agent's SQL with a common mistake mended.

Every repair is a proposal for a person; none is known to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbagenteval.harvest.repair_aggregates import mend_aggregates, mend_distinct
from dbagenteval.harvest.repair_fan_out import mend_fan_out
from dbagenteval.harvest.repair_names import mend_names
from dbagenteval.harvest.repair_tenant import mend_tenant
from dbagenteval.rules.query.sql import read_sql
from dbagenteval.slices.schema import Schema
from dbagenteval.suite.reading import why_not_run

__all__ = ["Repair", "repairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A query with what was mended in it.

    Args:
        sql: The query, in the dialect of the agent's.
        kind: `names`, `fan_out`, `aggregate`, `distinct` or `tenant_filter`; several joined by `+`.
        words: What was changed and why, in one line for a person.
    """

    sql: str
    kind: str
    words: str


def repairs(
    agent_sql: str,
    *,
    dialect: str | None,
    schema: Schema | None = None,
    tenant: tuple[str, Any] | None = None,
    question: str = "",
) -> Iterator[Repair]:
    """Mend what is commonly wrong in a query.

    Args:
        agent_sql: One SELECT.
        dialect: sqlglot's name, or None.
        schema: All tables of the database; without it names are not mended, and every table is
            taken to have the tenant's column.
        tenant: Column and value of the tenant who asked.
        question: In English or German; its words say which aggregate was asked for.

    Yields:
        Queries that parse and only read, each once: everything mended that looks wrong, then, if
        that is more than one thing, each alone. Nothing if nothing looks wrong.
    """
    parsed = read_sql(agent_sql, dialect)
    if parsed.problem or len(parsed.statements) != 1:
        return
    original = parsed.statements[0]
    dialect = parsed.dialect
    seen = {original.sql(dialect=dialect)}

    steps: dict[str, Callable[[exp.Expr], list[str]]] = {
        # Names come first, since the others look them up; a filter on what stays comes last.
        "names": lambda tree: mend_names(tree, schema, dialect),
        "fan_out": lambda tree: mend_fan_out(tree, schema),
        "aggregate": lambda tree: mend_aggregates(tree, question),
        "distinct": lambda tree: mend_distinct(tree, question),
        "tenant_filter": lambda tree: mend_tenant(tree, schema, tenant),
    }
    together = _mended(original, steps)
    alone: list[_Mended] = []
    if len(together.said) > 1:
        alone = [
            _mended(original, {"names": steps["names"], kind: steps[kind]})
            for kind in together.said
        ]
    for mended in (together, *alone):
        sql = mended.tree.sql(dialect=dialect)
        if mended.said and sql not in seen and why_not_run(sql, dialect) is None:
            seen.add(sql)
            words = "; ".join(each for said in mended.said.values() for each in said)
            yield Repair(sql=sql, kind="+".join(mended.said), words=words)


@dataclass(frozen=True, slots=True)
class _Mended:
    """A statement after some steps, and what each of them that did something said."""

    tree: exp.Expr
    said: dict[str, list[str]]


def _mended(original: exp.Expr, steps: Mapping[str, Callable[[exp.Expr], list[str]]]) -> _Mended:
    tree = original.copy()
    said = {kind: step(tree) for kind, step in steps.items()}
    return _Mended(tree, {kind: words for kind, words in said.items() if words})
