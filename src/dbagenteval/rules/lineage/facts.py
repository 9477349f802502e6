"""What a query reads: tables, columns by lineage, joins, time bounds, its limit.

The reading is meant for decisions that must not err towards "allowed": where a name may mean
several things, each of them counts; a part that is not understood is a problem; and every table
and column of the text must have been looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "Column",
    "Edge",
    "JoinBlock",
    "Joined",
    "QueryFacts",
    "Read",
    "Schema",
    "TableUse",
]

Column = tuple[str, str]
"""`(schema.table, column)`, both casefolded."""

Edge = tuple[Column, Column]
"""Two columns that a query demands to be equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """What is known of the database.

    Args:
        columns: Casefolded `schema.table` to the casefolded names of its columns.
        complete: Tables whose columns are all in `columns`, in the table's order.
        spelling: `schema.table` as the project spells it.
        default_schema: Where a table without a schema lies.
        catalog: The database's own name, which a table may be prefixed with.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    complete: frozenset[str] = frozenset()
    spelling: frozenset[str] = frozenset()
    default_schema: str = ""
    catalog: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """One column that the result of the query depends on.

    Args:
        use: Number of the table's occurrence in the query.
        table: Casefolded `schema.table`.
        column: Casefolded name; `*` for all columns of a table whose columns are not known.
        by_star: It is read by a star or as a whole row.
        aggregate: `count` or `count_distinct` if it is only counted, else empty.
        excluded: The columns that a star leaves out; only with column `*`.
    """

    use: int
    table: str
    column: str
    by_star: bool = False
    aggregate: str = ""
    excluded: frozenset[str] = frozenset()


@dataclass(slots=True)
class TableUse:
    """One occurrence of a table in a query.

    Args:
        table: Casefolded `schema.table`; a name in quotes that differs by case stays in quotes.
        written: As the query names it.
        bounds: Column to `lower` and `upper`, where conditions bound it by constants.
    """

    table: str
    written: str
    bounds: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Joined:
    """One source of a FROM clause: the tables below it, and whether it gives a single row."""

    name: str
    tables: frozenset[str]
    is_single_row: bool = False


@dataclass(slots=True)
class JoinBlock:
    """The sources of one FROM clause, and the equalities between them (by position)."""

    sources: list[Joined] = field(default_factory=list)
    edges: list[tuple[int, int, Edge]] = field(default_factory=list)


@dataclass(slots=True)
class QueryFacts:
    """What a query text does.

    Args:
        problem: Why it can't be judged, or empty; the rest is then not to be relied on.
        statement: Why it is not one statement that only reads, or empty.
        statement_count: Number of statements.
        uses: Every occurrence of a table.
        reads: Every column that the result depends on, with those of conditions.
        edges: Every equality of columns of two tables, and of IN with a subquery.
        blocks: Every FROM clause of more than one source.
        functions: Names of functions that are not known to be harmless, in lower case.
        limit: Outermost row limit, None if there is none.
        limit_problem: Why the outermost limit is no plain number, or empty.
        is_raw_rows: The result has rows as they stand in a table, not only aggregates.
        is_ordered: The outermost query has an ORDER BY.
        order_columns: Output names that it orders by, as far as it names them.
    """

    problem: str = ""
    statement: str = ""
    statement_count: int = 0
    uses: list[TableUse] = field(default_factory=list)
    reads: set[Read] = field(default_factory=set)
    edges: set[Edge] = field(default_factory=set)
    blocks: list[JoinBlock] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    limit: int | None = None
    limit_problem: str = ""
    is_raw_rows: bool = False
    is_ordered: bool = False
    order_columns: tuple[str, ...] = ()

    @property
    def tables(self) -> list[str]:
        """The tables, each once, sorted."""
        return sorted({use.table for use in self.uses})
