"""What a question in English asks of a project: tables, columns, measures, time, vague words.

Only words that stand for something in the project count, as whole words; never parts of words.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.model import Bundle, Project, Term
from dbagenteval.project.policy.piiwords import pii_asked
from dbagenteval.project.policy.timewords import TimeWindow, find_window
from dbagenteval.project.policy.words import has_phrase, name_words, words_of
from dbagenteval.rules.query.sql import read_sql

__all__ = ["Asked", "read_question"]

_GENERIC = frozenset(
    ("count", "total", "sum", "avg", "average", "number", "amount", "of", "the", "num")
)

_NOT_A_TABLE = re.compile(
    r"\.(com|org|net|io|ai|dev|gov|edu|co|uk|de|fr|example|csv|tsv|txt|md|json|jsonl|xlsx?|pdf|parquet|py|ya?ml|html?)$"
)

_SQL_START = re.compile(
    r"\b(?:with\s+(?:recursive\s+)?\w+\s+as\s*\(|select\b|insert\s+into\b|update\s+\S+\s+set\b"
    r"|delete\s+from\b|drop\s+table\b|truncate\b|alter\s+table\b|create\s+table\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question is about.

    Args:
        tables: Keys of the bundle's tables that it names, directly or by a measure.
        outside: Tables that it names but that are not in the bundle.
        pii: `(table, column, words)` of PII columns that it asks for.
        window: The time that it names, or None.
        vague: Words with several meanings that nothing in the question settles.
        rules: Business rules about what it names.
        sql: SQL that stands in the question, or None.
    """

    tables: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    pii: tuple[tuple[str, str, str], ...] = ()
    window: TimeWindow | None = None
    vague: tuple[Term, ...] = ()
    rules: tuple[str, ...] = ()
    sql: str | None = None
    measures: tuple[str, ...] = field(default=())


def read_question(
    question: str,
    project: Project,
    bundle: Bundle | None,
    today: datetime.date,
    catalog: Catalog | None = None,
) -> Asked:
    """Read a question against a project.

    Args:
        question: English, which may hold SQL.
        project: The project.
        bundle: The bundle that the question is judged in, or None.
        today: The date that relative times count from.
        catalog: The real schema, which lets more table names be recognised.
    """
    words = words_of(question)
    scoped = (
        dict(bundle.tables)
        if bundle
        else {key: name for item in project.bundles.values() for key, name in item.tables.items()}
    )
    measures = _measures(words, project, scoped)
    tables = [key for key in scoped if has_phrase(words, name_words(key.split(".")[-1]))]
    tables += [
        model.key
        for model in project.models.values()
        if model.key in scoped and has_phrase(words, name_words(model.name))
    ]
    tables += [project.models[name.split(".")[0]].key for name in measures]
    found_tables = tuple(dict.fromkeys(tables))
    return Asked(
        tables=found_tables,
        outside=_outside(question, project, scoped, catalog),
        pii=tuple(pii_asked(question, words, project, scoped)),
        window=find_window(question, today, bundle.data_start if bundle else None),
        vague=tuple(_vague(words, project.terms or ())),
        rules=_rules(words, project, found_tables, measures),
        sql=_sql_in(question, project, bundle, catalog),
        measures=measures,
    )


def _measures(words: Sequence[str], project: Project, scoped: Iterable[str]) -> tuple[str, ...]:
    """Give `model.measure` of what the question names: all its telling words, or the last one."""
    found: list[str] = []
    for model in project.models.values():
        if model.key not in scoped:
            continue
        for name in model.measures:
            telling = [word for word in name_words(name) if word not in _GENERIC]
            if telling and telling[-1] in words:
                found.append(f"{model.name}.{name}")
    return tuple(found)


def _vague(words: Sequence[str], terms: Iterable[Term]) -> Iterable[Term]:
    for term in terms:
        if has_phrase(words, words_of(term.term)) and not any(
            has_phrase(words, words_of(phrase)) for phrase in term.settled_by
        ):
            yield term


def _rules(
    words: Sequence[str], project: Project, tables: Sequence[str], measures: Sequence[str]
) -> tuple[str, ...]:
    touched = {*tables, *(table.split(".")[-1] for table in tables)}
    touched |= {measure.casefold() for measure in measures}
    touched |= {model.name.casefold() for model in project.models.values() if model.key in tables}
    found = []
    for rule in project.rules.values():
        for target in rule.applies_to:
            owner, _, column = target.casefold().rpartition(".")
            about_column = owner in touched and has_phrase(words, name_words(column))
            if target.casefold() in touched or about_column:
                found.append(rule.name)
                break
    return tuple(found)


def _outside(
    question: str, project: Project, scoped: Iterable[str], catalog: Catalog | None
) -> tuple[str, ...]:
    """Give the tables that the question names and that are not in scope."""
    scope = set(scoped)
    known = {key for item in project.bundles.values() for key in item.tables}
    known |= {model.key for model in project.models.values()}
    known |= set(catalog.tables) if catalog else set()
    schemas = {key.split(".")[0] for key in known}
    owners = {key.split(".")[-1] for key in known} | {name.casefold() for name in project.models}
    found: list[str] = []
    for match in re.finditer(r"(?<![\w.@/:-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w@/:])", question):
        word = match.group(0)
        parts = word.casefold().split(".")
        key = ".".join(parts[:2])
        if key in scope or (len(parts) == 3 and ".".join(parts[1:]) in scope):
            continue
        if parts[0] in schemas or key in known:
            found.append(word)
        elif parts[0] in owners or any(len(part) < 2 for part in parts):
            continue  # a column of a known table, or "e.g."
        elif _NOT_A_TABLE.search(word.casefold()) is None and (
            "_" in word
            or re.search(r"\b(in|from|table|join|of)\s+$", question[: match.start()], re.IGNORECASE)
        ):
            found.append(word)
    here = {key.split(".")[-1] for key in scope}
    elsewhere = {key.split(".")[-1]: key for key in known - scope}
    found += [
        elsewhere[word.casefold()]
        for word in re.findall(r"(?<![\w.])[A-Za-z]\w*_\w+(?![\w.(])", question)
        if word.casefold() in elsewhere and word.casefold() not in here
    ]
    return tuple(dict.fromkeys(found))


def _sql_in(
    question: str, project: Project, bundle: Bundle | None, catalog: Catalog | None
) -> str | None:
    """Give the SQL statement that stands in a question, if it is one and not English."""
    start = _SQL_START.search(question)
    if start is None:
        return None
    database = project.database_of(bundle)
    dialect = database.dialect if database else None
    text = question[start.start() :].strip().rstrip("?!.;` ").strip()
    known = {
        name
        for item in project.bundles.values()
        for key in item.tables
        for name in (key, key.split(".")[-1])
    }
    known |= {
        name for key in (catalog.tables if catalog else ()) for name in (key, key.split(".")[-1])
    }
    while text.count(" ") >= 1:
        sql = read_sql(text, dialect)
        reads_nothing = sql.problem is not None and "does not parse" in sql.problem
        if not reads_nothing and sql.statements and _is_code(text, known):
            return text
        text = text.rsplit(" ", 1)[0].rstrip("?!.,; ")
    return None


def _is_code(text: str, known: Iterable[str]) -> bool:
    """Say whether a text that parses as SQL is meant as such: "select all orders from May"."""
    if re.search(r"[*(=<>_;\"`]|\w\.\w", text):
        return True
    match = re.search(r"\b(?:from|into|update|table)\s+(\w+)", text, re.IGNORECASE)
    return match is not None and match.group(1).casefold() in known
