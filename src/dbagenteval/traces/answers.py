"""The question and the answer of a turn, from the best place that tells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbagenteval.traces.content import (
    cut_mark,
    is_broken_json,
    is_masked,
    is_partly_masked,
    plain,
)
from dbagenteval.traces.conventions import own
from dbagenteval.traces.conventions.convention import AGENT, CHAIN, LLM, MESSAGE, SERVER, TOOL
from dbagenteval.traces.draft import StageDraft
from dbagenteval.traces.facts import Facts
from dbagenteval.traces.failures import span_error
from dbagenteval.traces.hints import masked_content
from dbagenteval.traces.messages import last_user_text
from dbagenteval.traces.spoken import answer_text, clean_question, question_text, unpacked
from dbagenteval.traces.sqltext import bare_sql, is_sql
from dbagenteval.traces.toolkinds import CHECK, EXECUTE, FINAL, OTHER
from dbagenteval.traces.turnreading import TurnReading
from dbagenteval.traces.turns import orphaned_steps
from dbagenteval.traces.writtensteps import final_of_steps

_MIN_BROKEN = 60
_ERROR = 2
_END_OF_PLAN = "<end_plan>"  # smolagents' planning call

__all__ = ["Question", "read_answer", "read_question"]


@dataclass(frozen=True, slots=True)
class Question:
    """The question, the span it was read from, and why it is missing if it is."""

    text: str
    source: Facts | None = None
    state: str = "present"
    why: str = ""


def read_question(reading: TurnReading) -> Question:
    """Find the question: on the turn's head, below it, or in the first model call."""
    hidden: list[tuple[str, str]] = []
    for one in _tellers(reading):
        raw = one.question
        if raw is not None and not _is_hidden(raw, reading, hidden):
            is_ours = own.QUESTION in one.node.span.attributes
            text = str(raw) if is_ours else question_text(raw)
            if text and (is_ours or not is_sql(text)):  # an orphaned step was given a statement
                return _asked(text, one)
    for one in reading.turn.facts:
        variables = plain(one.node.span.attributes.get("llm.prompt_template.variables"))
        if isinstance(variables, dict) and (text := question_text(variables)):
            return _asked(text, one)
    for one in reading.turn.facts:
        said = last_user_text(one.inputs) if one.role == LLM else ""
        text = clean_question(said)
        if text and not _is_hidden(said, reading, hidden):
            return _asked(text, one)
    state, why = hidden[0] if hidden else ("not captured", reading.missing("question"))
    return Question("", None, state, why)


def _asked(text: str, one: Facts) -> Question:
    if is_partly_masked(text):
        return Question(text, one, "masked", masked_content(text))
    mark = cut_mark(text)
    if mark:
        return Question(text, one, "cut", f"the text ends with {mark!r}")
    return Question(text, one)


def _is_hidden(raw: Any, reading: TurnReading, hidden: list[tuple[str, str]]) -> bool:
    """True if a value is masked or cut; what hid it is noted, and a whole one may be elsewhere."""
    if is_masked(raw):
        hidden.append(("masked", masked_content(raw)))
    elif isinstance(raw, str) and reading.limit.cuts(raw):
        hidden.append(("cut", reading.limit.why))
    elif is_broken_json(raw) and len(raw) >= _MIN_BROKEN:
        hidden.append(("cut", f"the text breaks off after {len(raw)} characters"))
    else:
        return False
    return True


def _tellers(reading: TurnReading) -> list[Facts]:
    """Give the spans that may hold the question or the answer, outermost first."""
    if reading.tellers is None:
        reading.tellers = _find_tellers(reading)
    return reading.tellers


def _find_tellers(reading: TurnReading) -> list[Facts]:
    heads = list(reading.turn.heads)
    known = {id(one) for one in heads}
    below = [
        one
        for one in reading.turn.facts
        if id(one) not in known
        and (one.role in (AGENT, MESSAGE) or (one.role == CHAIN and _is_only_child(one, heads)))
    ]
    return heads + below


def _is_only_child(one: Facts, heads: list[Facts]) -> bool:
    """True for a span that repeats the head it stands directly below."""
    parent = one.node.parent
    return parent is not None and any(
        parent is head.node and len(parent.children) == 1 for head in heads
    )


def read_answer(reading: TurnReading) -> StageDraft | None:
    """Find the answer: on the turn's head, in a node, a final-answer tool or the last model call.

    Returns:
        A draft; one without output says why there is none; None if the agent tags its stages.
    """
    if any(draft.kind == "answer" for draft in reading.drafts):
        return None
    hidden: list[tuple[str, str]] = []
    draft = (
        _from_tellers(reading, hidden)
        or _from_answer_node(reading)
        or _from_final_tool(reading, hidden)
        or _from_last_model(reading, hidden)
        or _without_answer(reading, hidden)
    )
    head = reading.turn.heads[0].node.span if reading.turn.heads else None
    if draft is not None and head is not None and head.status_code == _ERROR:
        # What a model said last is no answer of an agent that ended with an error.
        draft.error = draft.error or span_error(head)
    if draft is not None and is_partly_masked(draft.output):
        draft.note("output", "masked", masked_content(draft.output))
    elif draft is not None and draft.output and (mark := cut_mark(draft.output)):
        draft.note("output", "cut", f"the text ends with {mark!r}")
    return draft


def _made(one: Facts, text: str) -> StageDraft:
    span = one.node.span
    return StageDraft(
        kind="answer", output=text, nodes=[one.node], start_ns=span.start_ns, end_ns=span.end_ns
    )


def _from_tellers(reading: TurnReading, hidden: list[tuple[str, str]]) -> StageDraft | None:
    tellers = [one for one in _tellers(reading) if own.QUESTION not in one.node.span.attributes]
    # Of messages between actors the last tells the answer, of spans around each other the first.
    ordered = [one for one in tellers if one.role != MESSAGE]
    ordered += [one for one in reversed(tellers) if one.role == MESSAGE]
    steps = {id(one.node) for one in orphaned_steps(reading.turn.heads)}
    for one in ordered:
        if (
            one.role == SERVER
            or _is_nested_agent(one, reading)
            or {id(one.node), id(one.node.parent)} & steps
        ):
            continue
        raw = one.answer
        if raw is None or _is_hidden(raw, reading, hidden):
            continue
        text = answer_text(raw)
        if text and not bare_sql(text):  # SQL is what a pipeline gives besides its answer
            draft = _made(one, text)
            model = _last_model(reading)
            if model is not None and any(m.text.strip() == text for m in model.outputs):
                draft = _made(model, text)
                draft.nodes.append(one.node)
            elif one.role != MESSAGE:
                draft.implied = True  # the head's time is that of the whole turn
            return draft
    return None


def _is_nested_agent(one: Facts, reading: TurnReading) -> bool:
    """True for an agent that works for another as its tool, or before another that answers."""
    roles = {id(fact.node): fact.role for fact in reading.turn.facts}
    if any(roles.get(id(above)) == TOOL for above in one.node.ancestors):
        return True
    if one in reading.turn.heads or one.role != AGENT:
        return False
    later = [
        fact
        for fact in reading.turn.facts
        if fact.role == AGENT
        and fact.node.span.start_ns > one.node.span.end_ns
        and one.node not in fact.node.ancestors
    ]
    return bool(later)


def _from_answer_node(reading: TurnReading) -> StageDraft | None:
    steps = [step for step in reading.steps if step.kind == "answer" and step.output]
    if not steps:
        return None
    return _made(steps[-1].facts, str(steps[-1].output))


def _from_final_tool(reading: TurnReading, hidden: list[tuple[str, str]]) -> StageDraft | None:
    finals = [use for use in reading.uses if use.kind == FINAL]
    if not finals:
        return None
    use = finals[-1]
    one = use.source or use.writer
    if use.source is None and use.arguments is None:
        why = "the agent's code computes the answer, and no span shows what it came to"
        hidden.append(("not captured", why))
    for value in [value for value, _ in use.results] + [use.arguments]:
        if value is None or _is_hidden(value, reading, hidden):
            continue
        text = answer_text(unpacked(value))
        if text and one is not None:
            return _made(one, text)
    return None


def _from_last_model(reading: TurnReading, hidden: list[tuple[str, str]]) -> StageDraft | None:
    model = _last_model(reading)
    if model is None:
        return None
    outputs = model.outputs
    if any(message.calls for message in outputs):
        return None
    texts = [message.text for message in outputs if message.text]
    if not texts:
        return None
    text = answer_text(final_of_steps(texts[-1], model.inputs)) or ""
    if is_masked(text):
        hidden.append(("masked", masked_content(text)))
        return None
    if not text or bare_sql(text) or text.endswith(_END_OF_PLAN):
        return None
    draft = _made(model, text)
    if reading.limit.cuts(texts[-1]):
        draft.note("output", "cut", reading.limit.why)
    return draft


def _last_model(reading: TurnReading) -> Facts | None:
    """Give the last model call of the outermost agent."""
    tools = {
        id(use.source.node)
        for use in reading.uses
        if use.source is not None and use.kind in (CHECK, OTHER, EXECUTE)
    }
    models = [
        one
        for one in reading.turn.facts
        if one.role == LLM and not any(id(above) in tools for above in one.node.ancestors)
    ]
    # Of a call that two layers of a framework tell, the inner one has what the model said.
    outer = {
        id(above)
        for one in models
        if any(message.text or message.calls for message in one.outputs)
        for above in one.node.ancestors
    }
    inner = [one for one in models if id(one.node) not in outer]
    return max(inner or models, key=_end, default=None)


def _end(one: Facts) -> tuple[int, int]:
    return one.node.span.end_ns, one.node.position


def _without_answer(reading: TurnReading, hidden: list[tuple[str, str]]) -> StageDraft | None:
    """Make an answer stage that failed or is hidden."""
    turn = reading.turn
    head = turn.heads[0] if turn.heads else None
    error = span_error(head.node.span) if head is not None else None
    is_told = any(
        one.role is not None and own.QUESTION not in one.node.span.attributes for one in turn.facts
    )
    if error is None and (reading.tagged or not is_told):
        return None  # an agent that tags its stages says itself which there are
    state, why = hidden[0] if hidden else ("not captured", reading.missing("answer"))
    one = head or turn.facts[-1]
    draft = StageDraft(
        kind="answer", nodes=[one.node], error=error, implied=True, start_ns=0, end_ns=0
    )
    if error is None:
        draft.note("output", state, why)
    return draft
