"""Cases with data of their own: judged there, whatever database the agent asked."""

import pytest

from dbagenteval import Case, NumbersGrounded, Trace, evaluate, run_suite
from dbagenteval.cli import main
from dbagenteval.slices import on_case_data

SCRIPT = """\
CREATE TABLE orders (store_id TEXT, status TEXT);
INSERT INTO orders VALUES ('s1', 'DELIVERED');
INSERT INTO orders VALUES ('s2', 'DELIVERED');
"""
QUESTION = "How many orders are delivered?"
RIGHT = "SELECT COUNT(*) AS n FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"
WRONG = "SELECT COUNT(*) AS n FROM orders WHERE status = 'DELIVERED'"
CASES = f"""\
- id: delivered
  question: {QUESTION}
  data: two.sql
  reference_sql: {RIGHT}
"""


@pytest.fixture
def case(tmp_path):
    """A case on two orders, of which one is the store's."""
    (tmp_path / "two.sql").write_text(SCRIPT)
    return Case(QUESTION, reference_sql=RIGHT, data=str(tmp_path / "two.sql"))


def production(sql, rows=({"n": 1700},), answer="1,700 orders."):
    """Give what an agent did on another database."""
    return Trace.simple(QUESTION, sql=sql, rows=list(rows), answer=answer)


def test_right_sql_passes_whatever_production_returned(case):
    """Its rows on the case's data are compared; rules see what was recorded."""
    card = evaluate(production(RIGHT), case, [NumbersGrounded()], on_data=on_case_data)
    assert card.verdict == "PASS"
    assert [
        (each.check, each.detail) for each in card.results if each.check == "reference_rows"
    ] == [("reference_rows", "1 row(s)")]
    assert card.meta["rows"]["first"] == [{"n": 1700}]


def test_wrong_sql_fails_though_production_agreed(case):
    """The recorded rows may be right by chance."""
    card = evaluate(production(WRONG, [{"n": 1}], "One."), case, on_data=on_case_data)
    assert card.verdict == "FAIL"
    assert card.failed.check == "reference_rows"
    assert "got 1 row(s), first: [{'n': 2}]" in card.failed.detail


def test_sql_that_writes_is_not_run(case):
    """And the case does not pass."""
    card = evaluate(production("DELETE FROM orders"), case, on_data=on_case_data)
    assert card.verdict != "PASS"


def test_expected_rows_are_those_of_the_data(tmp_path, case):
    """`expect.rows` too speaks of the case's data."""
    case = Case(QUESTION, expect={"rows": [{"n": 1}]}, data=case.data)
    assert evaluate(production(RIGHT), case, on_data=on_case_data).verdict == "PASS"
    assert evaluate(production(WRONG), case, on_data=on_case_data).verdict == "FAIL"


def test_an_answer_alone_can_t_be_compared(case):
    """It was made from other rows: a SKIP, no PASS and no FAIL."""
    trace = Trace.simple(QUESTION, answer="1,700 orders.")
    assert evaluate(trace, case, on_data=on_case_data).verdict == "SKIP"


def test_without_what_runs_it_the_case_is_an_error(case):
    """It is never compared with the rows of another database."""
    with pytest.raises(ValueError, match="the case has `data` but no `on_data` function"):
        evaluate(production(RIGHT), case)


def test_a_live_run(case):
    """`run_suite` takes it too."""
    result = run_suite([case], lambda _: production(WRONG), on_data=on_case_data)
    assert [card.verdict for card in result.cards] == ["FAIL"]


@pytest.mark.parametrize(("sql", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_score_needs_no_database_for_them(tmp_path, recorder, capsys, sql, code):
    """The script stands beside the cases file."""
    (tmp_path / "two.sql").write_text(SCRIPT)
    (tmp_path / "cases.yaml").write_text(CASES)
    recorder.turn(QUESTION, sql=sql, rows=[{"n": 1700}])
    assert main(["score", str(tmp_path / "cases.yaml"), "--store", recorder.save()]) == code


def test_a_script_that_does_more_than_make_data_is_an_error(tmp_path, recorder, capsys):
    """Its line is named."""
    (tmp_path / "two.sql").write_text(f"{SCRIPT}DROP TABLE orders;\n")
    (tmp_path / "cases.yaml").write_text(CASES)
    recorder.turn(QUESTION, sql=RIGHT, rows=[{"n": 1700}])
    assert main(["score", str(tmp_path / "cases.yaml"), "--store", recorder.save()]) == 1
    out = capsys.readouterr().out
    assert out.startswith("ERROR delivered")
    assert "two.sql:4: 'DROP TABLE orders' is not allowed in data" in out
