"""Rows of an answer, read by a model where the agent's own rows can't be seen.

The model gets the question, the agent's text and its tool calls, and the columns. It gives back
rows; each value must stand in what the agent wrote or its tools gave, so that the model can't
answer in the agent's place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.verdict.numbertext import number_of_text

__all__ = ["Extracted", "extract_rows", "extraction_prompt"]

_MAX_CHARS = 200_000

_PROMPT = """\
Question that was asked:
{question}

Conversation of the agent that answered it (its tool calls with results, then its reply):
{conversation}

Based on the analysis above, provide the final answer to the original question.
Format the data with these columns: {columns}
Return the data as an array of rows, where each row is an object with the column names as keys.
If the agent did not answer, set data to null. Take every value from the conversation; do not
compute, correct or add any.
Reply with one JSON object only: {{"data": [...]}} or {{"data": null}}.
"""


@dataclass(frozen=True, slots=True)
class Extracted:
    """Rows, or why there are none."""

    rows: list[dict[str, Any]] | None
    problem: str = ""


def extraction_prompt(question: str, reply: AgentReply, columns: Sequence[str]) -> str:
    """Give the prompt that asks a model for the rows of an answer."""
    return _PROMPT.format(
        question=question, conversation=_conversation(reply), columns=json.dumps(list(columns))
    )


def extract_rows(
    question: str, reply: AgentReply, columns: Sequence[str], model: Callable[[str], str]
) -> Extracted:
    """Ask a model for the rows of an answer, and check that it made none up.

    Args:
        question: What the agent was asked.
        reply: What it replied.
        columns: Names of the reference's columns.
        model: Takes a prompt, gives the model's text.
    """
    text = model(extraction_prompt(question, reply, columns))
    data = _data_in(text)
    if data is _NOTHING:
        return Extracted(None, "the extracting model gave no JSON object with `data`")
    if data is None:
        return Extracted(None, "the extracting model found no answer in the reply")
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        return Extracted(None, "the extracting model gave rows of another shape")
    source = _conversation(reply)
    for row in data:
        for name, value in row.items():
            if not _stands_in(value, source):
                return Extracted(
                    None,
                    f"the extracting model made up {name} = {value!r}, which the agent never gave",
                )
    return Extracted([{str(name): value for name, value in row.items()} for row in data])


_NOTHING = object()


def _data_in(text: str) -> Any:
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(value, dict) and "data" in value:
            return value["data"]
    return _NOTHING


def _conversation(reply: AgentReply) -> str:
    parts = [
        f"tool {call.get('toolName')}: {json.dumps(call.get('args'), default=str)}\n"
        f"result: {json.dumps(call.get('result'), default=str, ensure_ascii=False)}"
        for call in reply.tool_calls
    ]
    text = "\n".join([*parts, f"reply: {reply.text}"])
    return text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + "\n(cut)"


def _stands_in(value: Any, source: str) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return _number_stands_in(value, source)
    text = " ".join(str(value).split()).casefold()
    return text in " ".join(source.split()).casefold() or (
        number_of_text(text) is not None
        and _number_stands_in(float(number_of_text(text) or 0), source)
    )


def _number_stands_in(value: float, source: str) -> bool:
    for match in re.finditer(r"\(?[-+]?[$€£¥₹]?\d[\d,]*(?:\.\d+)?%?\)?", source):
        number = number_of_text(match.group(0).rstrip(",").strip("()"))
        if number is not None and float(number) in (value, -value):
            return True
        if match.group(0).endswith("%") and number is not None and float(number) * 100 == value:
            return True
    return False
