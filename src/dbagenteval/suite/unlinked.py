"""Services that don't continue the trace of a request: which of their turns answers it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from dbagenteval import semconv
from dbagenteval.errors import quoted
from dbagenteval.otlp import OtelTrace, Span
from dbagenteval.suite.span_source import CallContext
from dbagenteval.traces import Trace, assemble

__all__ = ["AmbiguousSpans", "find_turn"]

_SHOWN_CHARS = 80


class AmbiguousSpans(RuntimeError):
    """Spans came, but none of which it is certain that they are those of the question."""


def find_turn(call: CallContext, groups: Sequence[OtelTrace], *, is_alone: bool) -> Trace | None:
    """Find the one turn of a service that answers a question.

    Links to the request, the case id, the session id and the text of the question tell it; the
    time alone does only where no other question is asked at the same time, and where the turn
    tells of no other question.

    Args:
        call: The question.
        groups: The OTel traces that began since it was asked.
        is_alone: True if no other question was asked meanwhile.

    Returns:
        The turn, with what told it in `meta["joined"]`; None if no turn came.

    Raises:
        AmbiguousSpans: Several turns fit, or one that fits by its time alone may be another's.
    """
    turns = [turn for turn in assemble(groups) if turn.stages]
    if not turns:
        return None
    spans = {group.trace_id: group.spans for group in groups}
    by = ""
    for name, fits in _signs(call).items():
        fitting = [turn for turn in turns if fits(turn, _spans_of(turn, spans))]
        if fitting:
            turns, by = fitting, name
        if len(fitting) == 1:
            return _joined(turns[0], by)
    if not by and is_alone and len(turns) == 1 and not turns[0].question:
        return _joined(turns[0], "time")
    raise AmbiguousSpans(_why(turns, by, is_alone=is_alone))


_Fits = Callable[[Trace, list[Span]], bool]


def _signs(call: CallContext) -> dict[str, _Fits]:
    """Give what can tell that a turn answers a question, the surest first."""
    return {
        "link": lambda _, spans: any(
            link.trace_id == call.trace_id for span in spans for link in span.links
        ),
        "case id": lambda _, spans: (
            call.case_id != ""
            and any(span.attributes.get(semconv.CASE_ID) == call.case_id for span in spans)
        ),
        "session id": lambda turn, _: (
            call.session_id != "" and turn.meta.get("session_id") == call.session_id
        ),
        "question": lambda turn, _: _plain(call.question) in _plain(turn.question),
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _spans_of(turn: Trace, spans: dict[str, tuple[Span, ...]]) -> list[Span]:
    return [span for trace_id in turn.meta["trace_ids"] for span in spans.get(trace_id, ())]


def _joined(turn: Trace, by: str) -> Trace:
    turn = copy.copy(turn)
    joined = [
        {"trace_id": trace_id, "by": f"{by} of the request"} for trace_id in turn.meta["trace_ids"]
    ]
    turn.meta = {**turn.meta, "joined": [*turn.meta.get("joined", ()), *joined]}
    return turn


def _why(turns: list[Trace], by: str, *, is_alone: bool) -> str:
    asked = ", ".join(quoted(turn.question[:_SHOWN_CHARS]) for turn in turns[:3] if turn.question)
    if by:
        found = f"{len(turns)} turns fit it by their {by}"
    elif len(turns) == 1 and asked:
        found = f"the one turn that came asks {asked}"
    elif is_alone:
        found = f"{len(turns)} turns came in its time" + (f" and ask {asked}" if asked else "")
    else:
        found = "nothing but time tells whose they are, and several questions are asked at once"
    return (
        f"which spans answer the question can't be told: {found}; let the service continue the "
        "trace of the request (`traceparent`)"
        + ("" if by or is_alone else ", or ask with --concurrency 1")
    )
