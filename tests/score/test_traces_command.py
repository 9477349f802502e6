"""`dbagenteval traces`: what the agent did, for a person and for a program."""

import json

from dbagenteval import Trace
from dbagenteval.cli import main


def _exported(store, capsys):
    assert main(["traces", "export", "--store", store]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_export_gives_traces_that_can_be_read_back(recorder, capsys):
    """Each line is a Trace with its stages."""
    recorder.turn("One?", sql="SELECT 1 AS one", rows=[{"one": 1}], answer="Eins, näm­lich 1.")
    recorder.turn("Two?", answer="2")
    exported = _exported(recorder.save(), capsys)
    traces = [Trace.from_dict(data) for data in exported]
    assert [trace.question for trace in traces] == ["One?", "Two?"]
    assert [stage.kind for stage in traces[0].stages] == ["generate", "execute", "answer"]
    assert traces[0].stages[1].rows == [{"one": 1}]


def test_list_has_a_line_for_each_trace(recorder, capsys):
    """Id, service, stages and question are in it; a limit cuts the list."""
    for number in range(3):
        recorder.turn(f"Question {number}?", sql="SELECT 1", rows=[])
    store = recorder.save()
    assert main(["traces", "list", "--store", store]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("test-agent  generate execute  Question 1?")
    assert main(["traces", "list", "--store", store, "--limit", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_list_filters_by_time_and_service(recorder, capsys):
    """Nothing started in the future; nothing is of a service that never sent."""
    recorder.turn("One?", answer="1")
    store = recorder.save()
    assert main(["traces", "list", "--store", store, "--since", "1h"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main(["traces", "list", "--store", store, "--since", "2999-01-01"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["traces", "list", "--store", store, "--service", "other"]) == 0
    assert capsys.readouterr().out == ""


def test_show_prints_the_stages_as_a_tree(recorder, capsys):
    """Stages with durations, SQL and rows; the id may be cut."""
    recorder.turn("One?", sql="SELECT 1 AS one", rows=[{"one": 1}], answer="It is 1.")
    store = recorder.save()
    (trace,) = _exported(store, capsys)
    trace_id = trace["meta"]["trace_ids"][0]
    for given in (trace_id, trace_id[:10], trace_id.upper()):
        assert main(["traces", "show", given, "--store", store]) == 0
        out = capsys.readouterr().out
        assert trace_id in out
        assert out.index("generate") < out.index("SELECT 1 AS one") < out.index("1 row(s)")
        assert " ms" in out
        assert "It is 1." in out


def test_show_of_an_unknown_id_exits_2(recorder, capsys):
    """The message names the id and what to do."""
    recorder.turn("One?", answer="1")
    store = recorder.save()
    assert main(["traces", "show", "f" * 32, "--store", store]) == 2
    assert "no trace has an id that starts with" in capsys.readouterr().err


def test_hostile_values_reach_no_terminal(recorder, capsys):
    """Escape sequences and markup in values are shown, not obeyed."""
    hostile = "\x1b]0;owned\x07 [bold]x[/bold] \u202egnp"
    recorder.turn(hostile, sql=hostile, rows=[{hostile: hostile}], answer=hostile)
    store = recorder.save()
    main(["traces", "list", "--store", store])
    listed = capsys.readouterr().out
    main(["traces", "show", listed.split()[0], "--store", store])
    out = listed + capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\u202e" not in out
    assert "[bold]x[/bold]" in out
