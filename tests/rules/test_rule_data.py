"""Each rule against its data file of passing and failing SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import dbagenteval.rules
from dbagenteval.cases import Case
from dbagenteval.checks import Check
from dbagenteval.rules import MaxRows, ProveTenant, SqlRule
from dbagenteval.traces import Stage, Trace

DATA = Path(__file__).parent / "data"
SQL_RULES = {
    name: rule
    for name in dbagenteval.rules.__all__
    if isinstance(rule := getattr(dbagenteval.rules, name), type)
    and issubclass(rule, SqlRule)
    and rule not in (SqlRule, ProveTenant)  # the proof needs a database and has tests of its own
}


def _cases() -> list[Any]:
    found = []
    for path in sorted(DATA.glob("*.yml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        for status, key in (("pass", "passes"), ("fail", "fails")):
            for dialect, named in data[key].items():
                for name, given in named.items():
                    case = {"sql": given} if isinstance(given, str) else given
                    label = f"{path.stem}-{status}-{dialect}-{name[:40]}"
                    found.append(pytest.param(data["rule"], status, dialect, case, id=label))
    return found


@pytest.mark.parametrize(("rule", "status", "dialect", "case"), _cases())
def test_verdict(rule: str, status: str, dialect: str, case: dict[str, Any]) -> None:
    """The rule gives the verdict that the data file says."""
    arguments = dict(case.get("args", {}))
    if dialect != "any":
        arguments["dialect"] = dialect
    checked = SQL_RULES[rule](**arguments)
    stages = [*case.get("stages", []), Stage("generate", output=case["sql"])]
    result = checked.run(Trace("q", stages), Case("q"))
    assert status == result.status, result.detail
    says_why = bool(result.detail) and not result.detail.startswith("warning: ")
    assert says_why == (status == "fail")


@pytest.mark.parametrize("name", sorted(SQL_RULES))
def test_every_rule_has_data_for_both_verdicts(name: str) -> None:
    """Every rule has a data file with SQL that passes and SQL that fails."""
    data = yaml.safe_load((DATA / f"{SQL_RULES[name].name}.yml").read_text("utf-8"))
    assert data["rule"] == name
    assert all(any(data[key].values()) for key in ("passes", "fails"))


@pytest.mark.parametrize("name", [*sorted(SQL_RULES), "MaxRows", "ProveTenant"])
def test_every_rule_documents_itself(name: str) -> None:
    """Every rule's docstring says when it passes, what fails and passes, and its limits."""
    rule = getattr(dbagenteval.rules, name)
    assert rule.__doc__.splitlines()[0].endswith(".")
    for part in ("**Passes when**", "**Fails**", "**Passes**", "**Limits**"):
        assert part in rule.__doc__, part


def test_max_rows_counts_recorded_rows() -> None:
    """MaxRows fails above its number, passes at it and skips without rows."""
    rule: Check = MaxRows(2)
    rows = [{"a": number} for number in range(3)]
    assert rule.run(Trace.simple("q", rows=rows), Case("q")).status == "fail"
    assert rule.run(Trace.simple("q", rows=rows[:2]), Case("q")).status == "pass"
    assert rule.run(Trace.simple("q", sql="SELECT 1"), Case("q")).status == "skip"
    assert MaxRows(2, stage="x").run(Trace.simple("q", rows=rows), Case("q")).status == "fail"
