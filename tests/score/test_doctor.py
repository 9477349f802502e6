"""`doctor`: what share of each service's turns shows question, SQL, rows and answer."""

from dbagenteval.cli.main import main
from dbagenteval.store import Store


def test_a_service_that_shows_everything_is_healthy(recorder, capsys):
    """All shares are 100% and the exit code is 0."""
    recorder.turn("How many?", sql="SELECT 1", rows=[{"n": 1}], answer="One.")
    assert main(["doctor", "--store", recorder.save()]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("test-agent: 1 turn (")
    assert [line.split() for line in lines[1:]] == [
        ["question", "100%", "1", "of", "1"],
        ["SQL", "100%", "1", "of", "1"],
        ["rows", "100%", "1", "of", "1"],
        ["answer", "100%", "1", "of", "1"],
    ]


def test_hidden_rows_are_counted_and_what_would_show_them_is_said(recorder, capsys):
    """One of three turns without rows is 66%, with the reason and the remedy."""
    for _ in range(2):
        recorder.turn("How many?", sql="SELECT 1", rows=[{"n": 1}], answer="One.")
    asked = recorder.tracer.start_as_current_span(
        "ask", attributes={"dbagenteval.question": "How?"}
    )
    ran = recorder.tracer.start_as_current_span("SELECT", attributes={"db.query.text": "SELECT 2"})
    with asked, ran:
        pass
    assert main(["doctor", "--store", recorder.save()]) == 1
    out = capsys.readouterr().out
    assert "rows       66%  2 of 3  (1 not captured)" in out
    assert "to change, for 1 of 3: " in out
    assert "dbagenteval instrument" in out


def test_a_store_without_turns_is_not_healthy(tmp_path, capsys):
    """Nothing to see is said, not passed over."""
    with Store.open(tmp_path / "store", write=True, create=True):
        pass
    assert main(["doctor", "--store", str(tmp_path / "store")]) == 1
    assert "no turns" in capsys.readouterr().out
