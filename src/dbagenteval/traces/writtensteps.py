"""Tool calls and results that stand in the texts of messages, not in fields of their own.

Agents without a tool protocol write them: `Thought / Action / Action Input / Observation` (ReAct
in LangChain, LlamaIndex, CrewAI), DSPy's fields, and code (see `writtencode`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbagenteval.traces.messages import Message, ToolCall, ToolResult
from dbagenteval.traces.toolkinds import FINAL, tool_kind
from dbagenteval.traces.writtencode import calls_in_code, results_of_code

__all__ = ["final_of_steps", "with_written_steps"]

_MARKS = ("Action Input", "<code>", "<end_code>", "final_answer(", "[[ ## ")
_ACTION = re.compile(
    r"^[ \t]*Action[ \t]*\d*[ \t]*:[ \t]*(?P<name>[^\n]+?)[ \t]*\n+"
    r"[ \t]*Action[ \t]*\d*[ \t]*Input[ \t]*\d*[ \t]*:\s*(?P<input>.*?)\s*"
    r"(?=^[ \t]*(?:Observation|Thought|Action|Final Answer)[ \t]*\d*[ \t]*:|\Z)",
    re.DOTALL | re.MULTILINE,
)
_OBSERVATION = re.compile(
    r"^[ \t]*Observation[ \t]*\d*[ \t]*:[ \t]*(.*?)\s*"
    r"(?=^[ \t]*(?:Observation|Thought|Action|Final Answer)[ \t]*\d*[ \t]*:|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BEGIN = re.compile(r"^Begin!?.*?$", re.MULTILINE)
_ASKED = re.compile(
    r"^Question:[ \t]*(.*?)\s*(?=^[ \t]*Thought[ \t]*:|\Z)", re.DOTALL | re.MULTILINE
)
_FINAL = re.compile(r"(?:\A|^[ \t]*)Final Answer:\s*(.*)\Z", re.DOTALL | re.MULTILINE)
_THOUGHT_ANSWER = re.compile(r"\A\s*Thought:.*?^[ \t]*Answer:\s*(.*)\Z", re.DOTALL | re.MULTILINE)
_DSPY_NEXT = re.compile(
    r"\[\[ ## next_tool_name ## \]\]\s*\n(.*?)\s*\n\[\[ ## next_tool_args ## \]\]\s*\n(.*?)\s*"
    r"(?=\n\[\[ ## |\Z)",
    re.DOTALL,
)
_DSPY_DONE = re.compile(
    r"\[\[ ## tool_name_(\d+) ## \]\]\s*\n(.*?)\s*\n\[\[ ## tool_args_\1 ## \]\]\s*\n(.*?)\s*"
    r"\n\[\[ ## observation_\1 ## \]\]\s*\n(.*?)\s*(?=\n\[\[ ## |\Z)",
    re.DOTALL,
)
_DSPY_TRAJECTORY = "[[ ## trajectory ## ]]"


def with_written_steps(messages: list[Message], *, is_output: bool = False) -> list[Message]:
    """Give messages with the calls and results in their texts as calls and results.

    Args:
        messages: One conversation.
        is_output: True for what a model gave: an observation in it is the model's own invention.
    """
    if not any(mark in message.text for message in messages for mark in _MARKS):
        return messages
    read: list[Message] = []
    for message in messages:
        if message.calls or message.role == "system":
            read.append(message)
        elif is_output or message.role == "assistant":
            read += _of_assistant(message, is_output=is_output)
        else:
            read += _of_others(message, read[-1] if read else None, read)
    return read


def final_of_steps(text: str, inputs: list[Message]) -> str:
    """Give the answer in the last text of a model that was told to mark it, else the text."""
    final = _FINAL.search(text)
    if final and (text.lstrip().startswith(("Thought", "Final Answer:")) or _is_told(inputs)):
        return final.group(1).strip()
    answered = _THOUGHT_ANSWER.match(text)
    return answered.group(1).strip() if answered else text


def _is_told(inputs: list[Message]) -> bool:
    return any("Final Answer" in message.text for message in inputs)


def _of_assistant(message: Message, *, is_output: bool) -> list[Message]:
    text = message.text
    action = _ACTION.search(text)
    if action is not None:
        call = ToolCall("", _tool_name(action["name"]), action["input"])
        asked = Message(message.role, text, (call,), message.results)
        observed = [] if is_output else _OBSERVATION.findall(text, action.end())
        return [asked, *_answered(call, observed)]
    named = _DSPY_NEXT.search(text)
    if named is not None:
        call = ToolCall("", named.group(1), named.group(2))
        return [Message(message.role, text, (call,), message.results)]
    return [Message(message.role, text, tuple(calls_in_code(text)), message.results)]


def _tool_name(name: str) -> str:
    return name.strip("`*[]\"' ")


def _answered(call: ToolCall, observed: list[str]) -> Iterator[Message]:
    """Give the message of a result; of two observations one is the model's invention."""
    if len(observed) == 1:
        yield Message("tool", "", (), (ToolResult("", call.name, observed[0]),))


def _of_others(message: Message, before: Message | None, read: list[Message]) -> list[Message]:
    """Read a message of the user's side: a prompt with the steps so far, or an observation."""
    text = message.text or "".join(str(result.content or "") for result in message.results)
    if before is not None and before.role == "tool-call":
        before = next((one for one in reversed(read) if one.role == "assistant"), None)
    is_observed = bool(message.results) or text.lstrip().startswith("Observation")
    if is_observed and before is not None and before.calls and not before.calls[0].id:
        observed = text.lstrip()
        if calls_in_code(before.text):
            return [Message("tool", "", (), tuple(results_of_code(before.text, observed)))]
        found = _OBSERVATION.match(observed)
        return list(_answered(before.calls[-1], [found.group(1) if found else observed]))
    if message.role == "user" and _DSPY_TRAJECTORY in text:
        return _of_trajectory(message)
    if message.role in ("user", "") and "Action Input" in text:
        return _of_prompt(message)
    return [message]


def _of_trajectory(message: Message) -> list[Message]:
    head, _, steps = message.text.partition(_DSPY_TRAJECTORY)
    steps = steps.rpartition("\n\n")[0]  # the adapter ends each prompt with an instruction
    read = [Message(message.role, head.strip())]
    for _, name, arguments, observation in _DSPY_DONE.findall(steps):
        if tool_kind(name) != FINAL:  # `finish` ends the steps and tells nothing
            call = ToolCall("", name, arguments)
            read += [Message("assistant", "", (call,)), *_answered(call, [observation])]
    return read


def _of_prompt(message: Message) -> list[Message]:
    """Take a prompt that ends with the steps so far apart: the question, then each step."""
    begun = list(_BEGIN.finditer(message.text))
    start = begun[-1].end() if begun else 0
    text = message.text[start:]
    asked = list(_ASKED.finditer(text))
    if not asked:
        return [message]
    question = asked[0] if begun else asked[-1]
    told = message.text[: start + question.start()].strip()
    read = [Message("system", told)] if told else []
    read.append(Message(message.role or "user", question.group(1)))
    steps = text[question.end() :]
    actions = list(_ACTION.finditer(steps))
    for action, following in zip(actions, [*actions[1:], None]):  # noqa: B905 - one more on purpose
        end = following.start() if following else len(steps)
        call = ToolCall("", _tool_name(action["name"]), action["input"])
        read.append(Message("assistant", steps[action.start() : action.end()], (call,)))
        read += _answered(call, _OBSERVATION.findall(steps, action.end(), end))
    return read
