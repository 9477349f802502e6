"""Answers with the right verdict: by default, or by the option that gives it."""

from datetime import date, datetime
from pathlib import Path

import pytest
import yaml

from dbagenteval.cases import Case
from dbagenteval.checks.numbers import NumbersGrounded, reference_numbers
from dbagenteval.traces import Stage, Trace

DATA = Path(__file__).parent / "data"


def load(name):
    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))


def cell(value):
    if isinstance(value, dict):
        return (
            date.fromisoformat(value["date"])
            if "date" in value
            else datetime.fromisoformat(value["timestamp"])
        )
    return value


def trace_of(item):
    rows = [{name: cell(value) for name, value in row.items()} for row in item["rows"]]
    return Trace.simple(item.get("question", ""), answer=item["answer"], rows=rows)


def case_of(item):
    return Case(item.get("case_question", "q"))


VERDICTS = load("number_verdicts.yaml")


@pytest.mark.parametrize("item", VERDICTS, ids=[item["id"] for item in VERDICTS])
def test_the_verdict_is_right(item):
    """The default gives the right verdict, or the option does where the default is documented."""
    result = NumbersGrounded(**item.get("options", {})).run(trace_of(item), case_of(item))
    assert result.status == item["right"], result.detail


@pytest.mark.parametrize(
    "item", [item for item in VERDICTS if item["right"] == "fail"], ids=lambda item: item["id"]
)
def test_a_failure_names_what_is_not_grounded(item):
    """The detail shows each unsupported figure, and only claims of the answer."""
    result = NumbersGrounded(**item.get("options", {})).run(trace_of(item), case_of(item))
    for figure in item.get("unsupported", []):
        assert figure.lstrip("$") in result.detail


@pytest.mark.parametrize(
    "item", [item for item in VERDICTS if "default" in item], ids=lambda item: item["id"]
)
def test_a_documented_default_holds_and_warns(item):
    """Where the documented default errs it stays, and its detail says so."""
    result = NumbersGrounded().run(trace_of(item), case_of(item))
    assert result.status == item["default"]
    assert item["warns"] in result.detail


REFERENCES = load("reference_verdicts.yaml")


@pytest.mark.parametrize("item", REFERENCES, ids=[item["id"] for item in REFERENCES])
def test_an_answer_is_compared_with_the_reference(item):
    """An answer text is held against the reference rows with the right verdict."""
    status, detail = reference_numbers(item["answer"], "", item["rows"])
    assert status == item["right"], detail


SHOP = load("shop_answers.yaml")


def shop_trace(item):
    stages = []
    for number, execution in enumerate(item["executions"]):
        stages.append(Stage("generate", f"generate-{number}", output=execution["sql"]))
        rows = execution.get("rows")
        if rows is not None:
            rows += rows[-1:] * (execution.get("repeat_last_to", 0) - len(rows))
            rows = [dict(zip(execution["columns"], row, strict=True)) for row in rows]
        error = execution.get("error")
        stages.append(Stage("execute", f"execute-{number}", rows=rows, error=error))
    return Trace(item["question"], [*stages, Stage("answer", output=item["answer"])])


@pytest.mark.parametrize("item", SHOP, ids=[item["id"] for item in SHOP])
def test_the_answers_of_a_shop_agent_get_the_right_status(item):
    """A wrong number and a wrong name fail; derived and two-query answers pass."""
    check = NumbersGrounded(derived=True, pairing=True)
    result = check.run(shop_trace(item), Case(item["question"]))
    assert result.status == item["status"], result.detail


def test_a_derived_percentage_is_explained():
    """The pass of q16 says what its 10.6 percent rests on."""
    item = next(item for item in SHOP if item["id"] == "q16")
    result = NumbersGrounded(derived=True).run(shop_trace(item), Case("q"))
    assert "10.6 percent = 5 / 47" in result.detail


def test_the_wrong_winner_is_named_with_the_right_one():
    """The failure of q17 shows who really is the biggest customer."""
    item = next(item for item in SHOP if item["id"] == "q17")
    result = NumbersGrounded(pairing=True).run(shop_trace(item), Case("q"))
    assert "Noël Rossi" in result.detail
    assert "5776.31" in result.detail
