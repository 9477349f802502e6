"""Settings of a case, and facts of a stage, that change how rows are compared."""

from typing import Any

import pytest

from dbagenteval import Case, Stage, Trace, evaluate


@pytest.mark.parametrize(
    ("setting", "expected", "given"),
    [
        ({"text_numbers": "equal"}, [{"v": "1.10"}, {"v": "x"}], [{"v": "1.1"}, {"v": "x"}]),
        ({"trim_char_padding": True}, [{"v": "ab"}, {"v": "c"}], [{"v": "ab  "}, {"v": "c "}]),
    ],
)
def test_a_setting_reaches_the_comparison(
    setting: dict[str, Any], expected: list[dict[str, Any]], given: list[dict[str, Any]]
) -> None:
    """Rows pass with it; without it they fail, or pass with a note."""
    trace = Trace.simple("q", rows=given)
    with_it = evaluate(trace, Case("q", expect={"rows": expected}, **setting))
    without = evaluate(trace, Case("q", expect={"rows": expected}))
    (one,) = [each for each in with_it.results if each.check == "rows_match"]
    (other,) = [each for each in without.results if each.check == "rows_match"]
    assert (one.status, one.detail) == ("pass", "2 row(s)")
    assert (other.status, other.detail) != (one.status, one.detail)


@pytest.mark.parametrize(
    ("meta", "q1", "verdict"),
    [({"positional": True}, 80, "PASS"), ({"positional": True}, 100, "FAIL"), ({}, 80, "FAIL")],
)
def test_rows_without_names_stand_in_the_order_of_the_columns(
    meta: dict[str, Any], q1: int, verdict: str
) -> None:
    """Where columns go by name, those of rows that have none go by their place."""
    stage = Stage("execute", rows=[{"column_1": 80, "column_2": 100}], meta=meta)
    case = Case("q", expect={"rows": [{"q1": q1, "q2": 180 - q1}]}, columns="by_name")
    assert evaluate(Trace("q", [stage]), case).verdict == verdict


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_a_switch_is_true_or_false(given: Any) -> None:
    """The message names both."""
    with pytest.raises(ValueError, match="'trim_char_padding' must be one of true, false"):
        Case("q", trim_char_padding=given)
