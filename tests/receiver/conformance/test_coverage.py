"""Every item of the checklist has a test that carries its number, and item 79."""

from __future__ import annotations

import re
from pathlib import Path

from dbagenteval.store import Store
from dbagenteval.traces import assemble
from tests.rpc.test_reading_while_serving import question_request
from tests.store.requests import logs_request

FOLDER = Path(__file__).parent


def test_every_item_has_a_test() -> None:
    """1 to 80, each at least once."""
    names = re.findall(
        r"^def (test_items?_\w+)", "".join(p.read_text() for p in FOLDER.glob("*.py")), re.MULTILINE
    )
    found = set()
    for name in names:
        numbers = re.match(r"test_items?_((?:\d+_and_)*\d+)", name)
        assert numbers, name
        found |= {int(number) for number in numbers[1].split("_and_")}
        # Further items stand behind another "and".
        found |= {int(number) for number in re.findall(r"_and_(\d+)", name)}
    assert found == set(range(1, 81))


def test_item_79_evaluation_events_that_come_back_are_no_new_turns(tmp_path: Path) -> None:
    """They are kept with their trace, and change neither its stages nor the number of traces."""
    request = question_request()
    events = logs_request((5, 1), (5, 1))
    for record in events.resource_logs[0].scope_logs[0].log_records:
        record.event_name = "gen_ai.evaluation.result"
        record.attributes.add(key="gen_ai.evaluation.name").value.string_value = "reference_rows"
        record.attributes.add(key="gen_ai.evaluation.score.label").value.string_value = "FAIL"
    with Store.open(tmp_path / "s", write=True, create=True) as store:
        store.load([("traces", request.SerializeToString())])  # type: ignore[attr-defined]
        (before,) = assemble(store.otel_traces())
        store.load([("logs", events.SerializeToString())])
        (after,) = assemble(store.otel_traces())
        (raw,) = store.otel_traces()
    assert len(raw.logs) == 2
    assert after.question == before.question
    assert [stage.output for stage in after.stages] == [stage.output for stage in before.stages]
