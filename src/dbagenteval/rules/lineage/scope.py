"""Names in a query: what a table alias or a column may stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dbagenteval.rules.lineage.facts import Read, Schema

__all__ = ["SHARED", "Output", "QueryOutputs", "QueryScope", "Source", "shared"]


SHARED = -1
"""Occurrence number in origins that no condition bounds."""


@dataclass(frozen=True, slots=True)
class Output:
    """One column that a table or subquery gives.

    Args:
        name: Folded for comparing, casefolded.
        reads: The columns of tables that it depends on.
        origins: `(occurrence, table, column)` it is the very value of; empty if computed.
    """

    name: str
    reads: frozenset[Read] = frozenset()
    origins: frozenset[tuple[int, str, str]] = frozenset()


@dataclass(slots=True)
class QueryOutputs:
    """What a query gives.

    Args:
        columns: In order; stars over unknown tables are in `rest` instead.
        rest: Sources of which all columns are given, with those left out.
        is_single_row: An aggregate without groups.
        is_raw: Rows as they stand in a table.
        tables: Keys of the tables below.
    """

    columns: list[Output] = field(default_factory=list)
    rest: list[tuple[Source, frozenset[str]]] = field(default_factory=list)
    is_single_row: bool = False
    is_raw: bool = False
    tables: frozenset[str] = frozenset()

    def all_reads(self) -> frozenset[Read]:
        """Give every read that some output depends on."""
        found: set[Read] = set()
        for column in self.columns:
            found |= column.reads
        for source, excluded in self.rest:
            found |= source.whole(excluded)
        return frozenset(found)


@dataclass(slots=True)
class Source:
    """One source of a FROM clause.

    Args:
        name: Folded alias.
        outputs: Columns that it surely has, by casefolded name.
        order: Their names in order.
        use: Occurrence number if it is a table, else negative.
        table: Table key if it is a table.
        is_open: It may have columns that are not known.
        rest: Sources whose unknown columns it passes on.
        tables: Keys of the tables below it.
        is_single_row: It gives one row.
        is_raw: It gives rows as they stand in a table.
        is_opaque: A table function or the like, whose columns come from its arguments.
        is_shared: It is used several times, or cut off inside, so that a condition on it does not
            bound what is read below.
    """

    name: str
    outputs: dict[str, Output] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    use: int = -2
    table: str = ""
    is_open: bool = False
    rest: list[tuple[Source, frozenset[str]]] = field(default_factory=list)
    tables: frozenset[str] = frozenset()
    is_single_row: bool = False
    is_raw: bool = False
    is_opaque: bool = False
    is_shared: bool = False

    @classmethod
    def of_table(cls, name: str, use: int, table: str, schema: Schema) -> Source:
        """Make the source of a real table."""
        names = schema.columns.get(table, ())
        outputs = {column: _base(use, table, column) for column in names}
        return cls(
            name=name,
            outputs=outputs,
            order=list(names),
            use=use,
            table=table,
            is_open=table not in schema.complete,
            tables=frozenset((table,)),
            is_raw=True,
        )

    @classmethod
    def of_query(cls, name: str, given: QueryOutputs, renamed: list[str]) -> Source:
        """Make the source of a subquery or CTE; `renamed` is its list of column names."""
        source = cls(
            name=name,
            rest=list(given.rest),
            tables=given.tables,
            is_single_row=given.is_single_row,
            is_raw=given.is_raw,
        )
        if renamed and given.rest:
            # Which column gets which name can't be told: each may be any of them.
            reads = given.all_reads()
            source.outputs = {item: Output(item, reads) for item in renamed}
            source.order = list(renamed)
            return source
        for index, column in enumerate(given.columns):
            label = renamed[index] if index < len(renamed) else column.name
            before = source.outputs.get(label)
            reads = column.reads | (before.reads if before else frozenset())
            origins = column.origins if before is None else frozenset()
            source.outputs[label] = Output(label, reads, origins)
            source.order.append(label)
        return source

    def find(self, name: str) -> tuple[Output | None, bool]:
        """Give the column of that name if it may have one, and whether it surely has it."""
        output, is_sure = self._find(name)
        return (shared(output) if output is not None and self.is_shared else output), is_sure

    def _find(self, name: str) -> tuple[Output | None, bool]:
        if name in self.outputs:
            return self.outputs[name], True
        if self.use >= 0:
            return (_base(self.use, self.table, name), False) if self.is_open else (None, False)
        found: list[Output] = []
        sure = False
        for source, excluded in self.rest:
            if name not in excluded:
                output, is_sure = source.find(name)
                sure = sure or is_sure
                if output is not None:
                    found.append(output)
        if found:
            reads = frozenset().union(*(item.reads for item in found))
            origins = frozenset().union(*(item.origins for item in found))
            return Output(name, reads, origins), sure
        return (Output(name), False) if self.is_opaque else (None, False)

    def given(self, name: str) -> Output:
        """Give the column of that name, which it surely has."""
        output = self.outputs[name]
        return shared(output) if self.is_shared else output

    def whole(self, excluded: frozenset[str] = frozenset()) -> frozenset[Read]:
        """Give the reads of all its columns but the excluded ones."""
        found: set[Read] = set()
        for name, output in self.outputs.items():
            if name in excluded:
                continue
            if self.use >= 0:
                found.add(Read(self.use, self.table, name, by_star=True))
            else:
                found |= output.reads
        if self.use >= 0 and self.is_open:
            found.add(Read(self.use, self.table, "*", by_star=True, excluded=excluded))
        for source, left_out in self.rest:
            found |= source.whole(excluded | left_out)
        return frozenset(found)

    def shared(self) -> Source:
        """Give it with origins that conditions do not bound."""
        return replace(self, is_shared=True)

    @property
    def knows_all(self) -> bool:
        """True if every column is known by name."""
        return not (self.is_open or self.is_opaque or self.rest)


@dataclass(slots=True)
class QueryScope:
    """The sources that an expression can name, the innermost first.

    Args:
        sources: Those of the FROM clause.
        outer: The scope around, for correlated subqueries.
        aliases: Names of the SELECT list, which conditions may use.
    """

    sources: list[Source] = field(default_factory=list)
    outer: QueryScope | None = None
    aliases: dict[str, Output] = field(default_factory=dict)

    def levels(self) -> Iterator[QueryScope]:
        """Give this scope and those around it."""
        scope: QueryScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def source_named(self, name: str) -> Source | None:
        """Give the source of that folded alias, the innermost first."""
        for scope in self.levels():
            for source in scope.sources:
                if source.name == name:
                    return source
        return None

    def find(
        self, name: str, folded: str
    ) -> tuple[frozenset[Read], frozenset[tuple[int, str, str]], bool]:
        """Resolve a column without a table: its reads, its origins, and whether it is anything.

        Args:
            name: Casefolded.
            folded: As a table alias would be compared; a whole row may be meant.
        """
        reads: set[Read] = set()
        origins: set[tuple[int, str, str]] = set()
        found = False
        for scope in self.levels():
            sure = False
            for source in scope.sources:
                output, is_sure = source.find(name)
                if output is not None:
                    found = True
                    sure = sure or is_sure
                    reads |= output.reads
                    origins |= output.origins
            if sure:
                return frozenset(reads), frozenset(origins), True
            if name in scope.aliases:
                alias = scope.aliases[name]
                return frozenset(reads | alias.reads), frozenset(origins | alias.origins), True
            row = next((item for item in scope.sources if item.name == folded), None)
            if row is not None:
                return frozenset(reads | row.whole()), frozenset(), True
        return frozenset(reads), frozenset(origins), found


def shared(output: Output) -> Output:
    """Give a column with origins that conditions do not bound."""
    origins = frozenset((SHARED, table, column) for _, table, column in output.origins)
    return Output(output.name, output.reads, origins)


def _base(use: int, table: str, column: str) -> Output:
    return Output(
        column, frozenset((Read(use, table, column),)), frozenset(((use, table, column),))
    )
