"""The values that a project's files stand for."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbagenteval.project.folder.config import Config, Database
from dbagenteval.project.folder.document import Node
from dbagenteval.project.folder.problems import ERROR_LEVEL, Problem

__all__ = [
    "Bundle",
    "BusinessRule",
    "GovernanceCase",
    "Join",
    "Measure",
    "MeasureFilter",
    "ModelJoin",
    "Policy",
    "Project",
    "Role",
    "SemanticModel",
    "Term",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """An allowed way to join; sides are `(schema.table, column)`, all casefolded."""

    left: tuple[str, str]
    right: tuple[str, str]
    type: str = ""

    @property
    def edge(self) -> frozenset[tuple[str, str]]:
        """The two sides without direction."""
        return frozenset((self.left, self.right))


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceCase:
    """One item of `eval_test_cases`.

    Args:
        id: Unique in its bundle.
        prompt: The question.
        category: Free label.
        expected: As written.
        bundle_id: The bundle whose file it stands in, by which it is judged.
        sql: The SQL to judge in place of the question, or None.
        roles: Roles of who asks.
        today: The date the question is asked on, or None.
        file: The bundle's file.
        line: Its line there.
    """

    id: str
    prompt: str
    category: str
    expected: Mapping[str, Any]
    bundle_id: str
    sql: str | None = None
    roles: tuple[str, ...] = ()
    today: datetime.date | None = None
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A scope: the tables and joins that a class of questions may use.

    Args:
        bundle_id: Its name.
        database_id: Name of the database it lies in.
        tables: Casefolded `schema.table` to the spelling of the file.
        joins: The allowed joins.
        time_columns: Table key to its time column.
        fact_tables: Table keys that must be read with a time filter.
        max_rows: Row limit of the bundle, or None.
        today: Fixed current date, or None.
        data_start: First day that there is data for, or None.
        level: `certified`, `candidate` or `experimental`.
        cases: Its governance cases.
        file: Path of the file in the project.
        node: The file with its lines.
    """

    bundle_id: str
    database_id: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    joins: tuple[Join, ...] = ()
    time_columns: Mapping[str, str] = field(default_factory=dict)
    fact_tables: tuple[str, ...] = ()
    max_rows: int | None = None
    today: datetime.date | None = None
    data_start: datetime.date | None = None
    level: str = "experimental"
    cases: tuple[GovernanceCase, ...] = ()
    file: str = ""
    node: Node | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What an actor of that role may do beyond or below the policy.

    Args:
        bundles: Bundles it may use; None is all.
        tools: Tools it may use; None is all that the policy allows.
        max_rows: Row limit in place of the policy's, or None.
        pii_columns: Casefolded `schema.table` to the PII columns that it may read.
    """

    bundles: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    max_rows: int | None = None
    pii_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The governance policy; the defaults are those of the file format.

    Args:
        faults: Why the file can't be used; a policy with faults blocks every request.
        pii_columns: Casefolded `schema.table` to casefolded column names, the tagged ones too.
        pii_tags: Casefolded tags that make a column of the semantic files personal data.
        must_compile: SQL must compile on the database.
        node: The file with its lines.
    """

    faults: tuple[str, ...] = ()
    max_rows: int = 200
    require_limit_for_raw_rows: bool = True
    require_time_filter_for_fact_tables: bool = True
    pii_mode: str = "block"
    pii_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pii_tags: frozenset[str] = frozenset(("pii", "sensitive"))
    pii_aggregates: frozenset[str] = frozenset()
    mask_with: str = "***"
    prefer_level: str = "certified"
    require_level_for_sql: bool = False
    require_level_for_metrics: bool = False
    enforce_joins: bool = True
    allow_cross_bundle: bool = False
    allow_sql: bool = True
    allow_metrics: bool = True
    require_bundle: bool = False
    allow_functions: frozenset[str] = frozenset()
    must_compile: bool = False
    disallow_multi_statement: bool = True
    enforce_limit: bool = True
    roles: Mapping[str, Role] = field(default_factory=dict)
    node: Node | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFilter:
    """A condition that is part of a measure."""

    column: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of a semantic model; `column` is None for a plain count."""

    type: str
    column: str | None = None
    filters: tuple[MeasureFilter, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJoin:
    """How a semantic model joins another."""

    to_model: str
    foreign_key: str
    related_key: str
    type: str = "many_to_one"


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticModel:
    """A model of `semantic_model.yml`; `dimensions` is name to physical column."""

    name: str
    schema: str
    table: str
    primary_key: str | None = None
    time_dimension: str | None = None
    dimensions: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    joins: Mapping[str, ModelJoin] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The casefolded `schema.table`."""
        return f"{self.schema}.{self.table}".casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessRule:
    """A rule in words, and the `table`, `model.measure` or `table.column` it is about."""

    name: str
    severity: str = "info"
    applies_to: tuple[str, ...] = ()
    guidance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word with several meanings, and the phrases that settle which is meant."""

    term: str
    meanings: tuple[str, ...]
    settled_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All of a project.

    Args:
        root: Its folder.
        config: The configuration.
        bundles: Bundle id to bundle, in order of their folders.
        policy: The policy, or None if there is no file.
        models: The semantic models by name.
        rules: The business rules by name.
        terms: The glossary's ambiguous terms; None if there is no glossary.
        has_rules_file: There is a `business_rules.yml`.
        problems: Every fault found on reading; cross-references are `validate`'s.
        nodes: Path in the project to the file with its lines.
    """

    root: Path
    config: Config
    bundles: Mapping[str, Bundle] = field(default_factory=dict)
    policy: Policy | None = None
    models: Mapping[str, SemanticModel] = field(default_factory=dict)
    rules: Mapping[str, BusinessRule] = field(default_factory=dict)
    terms: tuple[Term, ...] | None = None
    has_rules_file: bool = False
    problems: tuple[Problem, ...] = ()
    nodes: Mapping[str, Node] = field(default_factory=dict, repr=False)

    @property
    def errors(self) -> list[Problem]:
        """The faults that are errors."""
        return [problem for problem in self.problems if problem.level == ERROR_LEVEL]

    def database_of(self, bundle: Bundle | None) -> Database | None:
        """Give the database that a bundle lies in; without one the only database, or None."""
        return self.config.database(bundle.database_id if bundle else None)
