"""Coverage: what of a database and of SQL the cases exercise, and which questions no case asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.cases import Case
from dbagenteval.checks import Check
from dbagenteval.evaluation import rule_name
from dbagenteval.failures.clusters import Cluster
from dbagenteval.failures.facts import Facts, column_of, columns_of, facts_of, owners_of
from dbagenteval.failures.names import last, written
from dbagenteval.failures.operators import OPERATORS, operators_of
from dbagenteval.failures.questions import nearest, words_of
from dbagenteval.failures.shape import Shape
from dbagenteval.failures.shape_reader import read_shape
from dbagenteval.failures.structure import structure
from dbagenteval.rules.query.dialects import from_system_name
from dbagenteval.scorecard import FAIL, PASS, SKIP
from dbagenteval.traces import Trace

__all__ = ["Coverage", "Known", "coverage_of"]

_PARTS = ("tables", "columns", "joins", "operators", "tenants")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What there is to exercise; what is empty is not known.

    Args:
        columns: Tables with their columns, folded to lower case.
        joins: Foreign keys as `a.x = b.y`, the sides sorted.
        tenants: Values of the tenant column.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    joins: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()


@dataclass(slots=True)
class Coverage:
    """What the cases exercise: for each thing the keys of the cases that do.

    Args:
        cases: Accepted cases.
        drafts: Cases that nobody has accepted; they exercise nothing.
        without_sql: Keys of the cases without reference SQL.
        unreadable: Keys of the cases whose reference can't be analysed.
        tables: By name.
        columns: By `table.column`.
        joins: By `a.x = b.y`, the sides sorted.
        operators: By the names of `OPERATORS`.
        tenants: By the value that the tenant column must have.
        rules: For each rule the cases whose reference keeps it.
        broken_rules: For each rule the cases whose reference breaks it.
        missing: For each of the parts above what no case exercises, where that is known.
        structures: Structure of each reference.
        questions: Questions of all cases by their keys.
    """

    cases: int = 0
    drafts: int = 0
    without_sql: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)
    joins: dict[str, list[str]] = field(default_factory=dict)
    operators: dict[str, list[str]] = field(default_factory=dict)
    tenants: dict[str, list[str]] = field(default_factory=dict)
    rules: dict[str, list[str]] = field(default_factory=dict)
    broken_rules: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    structures: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)

    def covering(self, clusters: Iterable[Cluster]) -> list[tuple[Cluster, str]]:
        """Give each cluster of production questions with the case that asks it in other words.

        A case does if its reference has the structure of the cluster's SQL, or if its question
        has nearly the same words; empty if none does. Those that no case asks come first.
        """
        clusters = list(clusters)
        keys = list(self.questions)
        words = [words_of(self.questions[key]) for key in keys]
        words += [words_of(cluster.name) for cluster in clusters]
        alike = nearest(words)
        found = []
        for index, cluster in enumerate(clusters, start=len(keys)):
            key = self.structures.get(cluster.structure, "")
            if not key and alike[index] < len(keys):
                key = keys[alike[index]]
            found.append((cluster, key))
        return sorted(found, key=lambda pair: bool(pair[1]))

    def to_dict(self) -> dict[str, Any]:
        """Give it JSON-ready."""
        parts = (*_PARTS, "rules", "broken_rules", "missing")
        return {
            "cases": self.cases,
            "drafts": self.drafts,
            "without_sql": self.without_sql,
            "unreadable": self.unreadable,
            **{part: getattr(self, part) for part in parts},
        }


def coverage_of(
    cases: Iterable[Case],
    *,
    known: Known | None = None,
    tenant: str | None = None,
    rules: Iterable[Check] = (),
    dialect: str | None = None,
) -> Coverage:
    """Find out what the cases exercise.

    Args:
        cases: With conversations, of which every turn counts.
        known: What there is to exercise, such as the tables of the database.
        tenant: Name of the column that tells tenants apart.
        rules: Tried on the reference SQL of every case.
        dialect: Of cases that name none.
    """
    reader = _Reader(known or Known(), tenant, list(rules), dialect)
    for case in cases:
        for turn in case.each_turn():
            reader.add(turn)
    return reader.finished()


class _Reader:
    def __init__(
        self, known: Known, tenant: str | None, rules: list[Check], dialect: str | None
    ) -> None:
        self.known = known
        self.tenant = None if tenant is None else tenant.lower()
        self.rules = rules
        self.dialect = dialect
        self.coverage = Coverage()

    def add(self, case: Case) -> None:
        coverage = self.coverage
        if case.is_draft:
            coverage.drafts += 1
            return
        coverage.cases += 1
        coverage.questions[case.key] = case.question
        if not case.reference_sqls:
            coverage.without_sql.append(case.key)
        for sql in case.reference_sqls:
            self._add_sql(case, sql)
            self._try_rules(case, sql)

    def finished(self) -> Coverage:
        """Add what nothing exercises."""
        coverage, known = self.coverage, self.known
        columns = (
            f"{written(table)}.{written(name)}"
            for table, names in known.columns.items()
            for name in names
        )
        all_of = {
            "tables": map(written, known.columns),
            "columns": columns,
            "joins": known.joins,
            "operators": OPERATORS,
            "tenants": known.tenants,
        }
        for part, names in all_of.items():
            exercised = getattr(coverage, part)
            coverage.missing[part] = [name for name in names if name not in exercised]
        return coverage

    def _add_sql(self, case: Case, sql: str) -> None:
        given = case.dialect or self.dialect
        dialect = None if given is None else from_system_name(given)
        coverage = self.coverage
        coverage.structures.setdefault(structure(sql, dialect), case.key)
        shape = read_shape(sql, dialect)
        if shape is None:
            coverage.unreadable.append(case.key)
            return
        owners = self._owners(shape)
        facts = facts_of(shape, owners)
        _note(coverage.tables, map(str.lower, facts.tables), case)
        _note(coverage.columns, map(str.lower, columns_of(shape, owners)), case)
        _note(coverage.joins, (link.text.lower() for link in facts.links), case)
        _note(coverage.operators, operators_of(shape), case)
        _note(coverage.tenants, self._tenants(facts), case)

    def _owners(self, shape: Shape) -> dict[str, set[str]]:
        """Give the tables that have each column, as the dialect of the statement cases them."""
        if not self.known.columns:
            return owners_of((shape,))
        found: dict[str, set[str]] = {}
        tables = {name.lower(): name for name in map(last, shape.tables)}
        for table, columns in self.known.columns.items():
            named = tables.get(written(table), "")
            for column in columns if named else ():
                found.setdefault(written(column), set()).add(named)
        return found

    def _tenants(self, facts: Facts) -> Iterator[str]:
        """Give the values that the tenant column must have or be one of."""
        for term in facts.filters if self.tenant is not None else ():
            column = column_of(term)
            if last(column).lower() == self.tenant and term.text.startswith(f"{column} "):
                for values in term.values:
                    yield from values.split(", ")

    def _try_rules(self, case: Case, sql: str) -> None:
        trace = Trace.simple(case.question, sql=sql)
        for rule in self.rules:
            name = rule_name(rule)
            try:
                status = rule.run(trace, case).status
            except Exception:  # noqa: BLE001 a rule of the user's; what it raises is no coverage
                status = SKIP
            kept = self.coverage.rules.setdefault(name, [])
            broken = self.coverage.broken_rules.setdefault(name, [])
            if status == PASS:
                kept.append(case.key)
            elif status == FAIL:
                broken.append(case.key)


def _note(part: dict[str, list[str]], names: Iterable[str], case: Case) -> None:
    for name in sorted(set(names)):
        keys = part.setdefault(name, [])
        if case.key not in keys[-1:]:
            keys.append(case.key)
