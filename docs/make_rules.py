"""Write docs/rules.md from the rules' docstrings and the sources of their function tables.

    python docs/make_rules.py

A test fails when the page is not what this script writes.
"""

from __future__ import annotations

import inspect
import re
from importlib.resources import files
from pathlib import Path

import dbagenteval.rules
from dbagenteval.checks import Check
from dbagenteval.rules import SqlRule

PAGE = Path(__file__).parent / "rules.md"
FIRST = ("ReadOnly", "TenantFilter", "AllowedTables", "AllowedColumns", "NoJoins", "NoSubqueries")
INTRODUCTION = """# Rules

A rule is a check of the agent's SQL that needs no correct result. Give rules to `run` or `score`
as a list, `--rules file:NAME`, or to `evaluate` in Python.

{table}

Every SQL text of every generate stage is looked at, failed attempts too (`attempts="final"` looks
at the last only). The dialect is the rule's own (`dialect=`, one of sqlglot's names), else the
case's, else what the trace's spans call their database. A rule that can't understand the SQL fails
it and says which part. Rules are a test of the agent, not the protection of the database: keep a
read-only user and row-level security there.

Your own rule is a subclass of `SqlRule` with `problem(statements, trace) -> str | None` over the
parsed statements, and, if the raw text matters, `text_problem(sql) -> str | None`.
"""
TENANTS = """## How sure is TenantFilter?

Queries are generated over a two-tenant database and run on SQLite, DuckDB and PostgreSQL while the
other tenant's rows change (`tests/rules/test_tenant_truth.py`). Of 20,000 such queries no leak may
pass and at most 2% of those that don't leak may fail; the default test run takes a part of them,
`pytest -m slow tests/rules` all. `ReadOnly`, `AllowedTables` and `ForbiddenColumns` are checked the
same way against what the database shows.
"""


def rules() -> list[type[Check]]:
    """All rules, the documented six first."""
    found = [
        value
        for name in dbagenteval.rules.__all__
        if isinstance(value := getattr(dbagenteval.rules, name), type)
        and issubclass(value, Check)
        and value is not SqlRule
    ]
    return sorted(found, key=lambda rule: (rule.__name__ not in FIRST, _place(rule)))


def _place(rule: type[Check]) -> tuple[int, str]:
    name = rule.__name__
    return (FIRST.index(name) if name in FIRST else 0, name)


def page() -> str:
    """Give the page's text."""
    rows = ["| Rule | It passes when |", "|---|---|"]
    rows += [
        f"| [`{rule.__name__}`](#{rule.__name__.lower()}) | {_first(rule)} |" for rule in rules()
    ]
    parts = [INTRODUCTION.format(table="\n".join(rows))]
    parts += [f"## {rule.__name__}\n\n`{_signature(rule)}`\n\n{_body(rule)}\n" for rule in rules()]
    parts += [TENANTS, _sources()]
    return "\n".join(parts)


def _first(rule: type[Check]) -> str:
    return inspect.cleandoc(rule.__doc__ or "").splitlines()[0]


def _signature(rule: type[Check]) -> str:
    shown: list[str] = []
    for name, parameter in inspect.signature(rule).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = parameter.default
        if default is dbagenteval.rules.DEFAULT_FORBIDDEN_FUNCTIONS:
            shown.append(f"{name}=DEFAULT_FORBIDDEN_FUNCTIONS")
        else:
            shown.append(name if default is parameter.empty else f"{name}={default!r}")
    return f"{rule.__name__}({', '.join(shown)})"


def _body(rule: type[Check]) -> str:
    text = inspect.cleandoc(rule.__doc__ or "")
    text, _, arguments = text.partition("\nArgs:\n")
    arguments, _, _ = arguments.partition("\nRaises:")
    items = re.sub(r"\n {8,}", " ", "\n" + arguments.rstrip()).strip("\n").splitlines()
    listed = [re.sub(r"^ {4}(\w+): ", r"- `\1`: ", item) for item in items if item.strip()]
    return text.rstrip() + ("\n\n" + "\n".join(listed) if listed else "")


def _sources() -> str:
    lines = ["## Where the function tables come from", ""]
    for file in sorted(
        files("dbagenteval.rules").joinpath("functions").iterdir(), key=lambda f: f.name
    ):
        found = re.findall(r"^# source: (.*)$", file.read_text("utf-8"), re.MULTILINE)
        lines.append(f"- {file.name.removesuffix('.txt')}: {', '.join(found)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
