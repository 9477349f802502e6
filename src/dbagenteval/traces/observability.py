"""What share of a service's turns has question, SQL, rows and answer, and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbagenteval.traces.trace import Trace

__all__ = ["FIELDS", "FieldCoverage", "ServiceCoverage", "coverage"]

FIELDS = ("question", "sql", "rows", "answer")


@dataclass(slots=True)
class FieldCoverage:
    """How often one field was seen.

    Args:
        seen: Turns in which it is evidence all over: present or rightly empty.
        expected: Turns in which there was something to see: rows need a statement that didn't
            fail, SQL a statement.
        states: State (masked, cut, unparseable, not captured) to turns in which it hid the field.
    """

    seen: int = 0
    expected: int = 0
    states: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float | None:
        """Give the share seen, 0 to 1, or None when there was nothing to see."""
        return self.seen / self.expected if self.expected else None


@dataclass(slots=True)
class ServiceCoverage:
    """What can be seen of one service.

    Args:
        service: The name in `service.name`, or empty.
        turns: How many turns there were.
        conventions: The conventions its spans speak.
        fields: By name as in `FIELDS`.
        advice: What to change, with the number of turns it would help, most first.
    """

    service: str
    turns: int = 0
    conventions: set[str] = field(default_factory=set)
    fields: dict[str, FieldCoverage] = field(
        default_factory=lambda: {name: FieldCoverage() for name in FIELDS}
    )
    advice: Counter[str] = field(default_factory=Counter)


def coverage(traces: Iterable[Trace]) -> list[ServiceCoverage]:
    """Sum up what was observable, by service.

    Args:
        traces: As `assemble` gives them; they are read once and not kept.

    Returns:
        One for each service, by name.
    """
    services: dict[str, ServiceCoverage] = {}
    for trace in traces:
        name = str(trace.meta.get("service") or "")
        _add(services.setdefault(name, ServiceCoverage(name)), trace)
    return [services[name] for name in sorted(services)]


def _add(service: ServiceCoverage, trace: Trace) -> None:
    service.turns += 1
    service.conventions.update(trace.meta.get("conventions") or ())
    hidden: dict[str, Counter[str]] = {name: Counter() for name in FIELDS}
    reasons = set()
    for note in trace.meta.get("not_observed") or ():
        name = _field_of(note, trace)
        if name is not None:
            hidden[name][note["state"]] += 1
            reasons.add(note["why"])
    service.advice.update(reasons)
    for name in FIELDS:
        if not _is_expected(name, trace):
            continue
        seen = service.fields[name]
        seen.expected += 1
        if hidden[name]:
            seen.states.update(hidden[name].keys())
        else:
            seen.seen += 1


def _field_of(note: dict[str, str], trace: Trace) -> str | None:
    """Tell which field a note is about: the output of a generate stage is SQL."""
    if note["what"] in ("question", "rows"):
        return note["what"]
    stage = trace.stage(note["stage"]) if note.get("stage") else None
    kind = stage.kind if stage is not None else None
    return {"generate": "sql", "answer": "answer"}.get(kind or "")


def _is_expected(name: str, trace: Trace) -> bool:
    if name == "sql":
        return any(stage.kind == "generate" for stage in trace.stages)
    if name == "rows":
        return any(stage.kind == "execute" and stage.error is None for stage in trace.stages)
    if name == "answer":
        return any(stage.kind == "answer" for stage in trace.stages)
    return True
