"""What an agent sends commands no terminal."""

from dbagenteval.cli import main

EVIL = "ex\x1b]0;owned\x07\nPASS \u202efake"


def test_traces_list_and_show_write_no_control_characters(recorder, capsys):
    """Stage names, ids and services from outside are escaped, on one line each."""
    facts = {"dbagenteval.stage": "execute", "dbagenteval.stage.name": EVIL}
    facts |= {"db.query.text": f"SELECT '{EVIL}'", "dbagenteval.error": EVIL}
    turn = {"dbagenteval.question": EVIL, "session.id": EVIL, "dbagenteval.case.id": EVIL}
    with recorder.tracer.start_as_current_span("ask", attributes=turn) as asked:
        trace_id = f"{asked.get_span_context().trace_id:032x}"
        with recorder.tracer.start_as_current_span(EVIL, attributes=facts):
            pass
        with recorder.tracer.start_as_current_span(EVIL, attributes={"dbagenteval.stage": EVIL}):
            pass
    store = recorder.save()
    assert main(["traces", "list", "--store", store]) == 0
    listed = capsys.readouterr().out
    assert listed.count("\n") == 1
    assert main(["traces", "show", trace_id, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "ex\\x1b]0;owned\\x07 PASS \\u202efake" in listed
    assert "ex\\x1b]0;owned\\x07 PASS \\u202efake (execute)" in shown
    for out in (listed, shown):
        assert not set("\x1b\x07\u202e") & set(out)
        assert not any(line.startswith("PASS") for line in out.splitlines())
