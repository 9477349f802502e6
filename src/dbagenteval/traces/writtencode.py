"""Tool calls in the code that a code agent wrote, read without ever running it.

smolagents' `CodeAgent` answers each step with Python between `<code>` tags (or in a fence); its
tools are functions in that code, and what it printed is the observation of the next step.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from dbagenteval.traces.content import MISSING
from dbagenteval.traces.messages import ToolCall, ToolResult
from dbagenteval.traces.pyliteral import literal_value
from dbagenteval.traces.sqltext import sql_in_arguments
from dbagenteval.traces.toolkinds import OTHER, tool_kind

__all__ = ["calls_in_code", "results_of_code"]

INTERPRETER = "python_interpreter"
_CODE = re.compile(
    r"<code>(.*?)(?:</code>|\Z)|```(?:py|python)\s*\n(.*?)(?:```|<end_code>|\Z)", re.DOTALL
)
_MARKS = ("<code>", "<end_code>", "final_answer(")
_LOGS = "Execution logs:\n"
_LAST = "Last output from code snippet:\n"
_FAILED = re.compile(r"Error:\s*\nCode execution failed at line '(.*?)' due to: (.*)", re.DOTALL)
_ADVICE = re.compile(r"\nNow let's retry.*", re.DOTALL)


def calls_in_code(text: str) -> list[ToolCall]:
    """Find the tool calls in the code of a step; none if the text is no step of a code agent.

    A call whose arguments are computed has arguments None. Code without a call that is known is
    one call of the interpreter, so that the step is never taken for an answer.
    """
    code = _code_of(text)
    if code is None:
        return []
    tree = _parsed(code)
    calls = [call for _, call in _tool_calls(tree)] if tree is not None else []
    return calls or [ToolCall("", INTERPRETER, code)]


def results_of_code(text: str, observation: str) -> list[ToolResult]:
    """Give what the one tool call of a step gave, if the observation shows that and no more."""
    tree = _parsed(_code_of(text) or "")
    calls = _tool_calls(tree) if tree is not None else []
    if tree is None or len(calls) != 1:
        return []
    node, call = calls[0]
    failed = _FAILED.search(observation)
    if failed is not None:
        if call.name not in failed.group(1):
            return []
        return [ToolResult("", call.name, _ADVICE.sub("", failed.group(2)).strip(), True)]
    shown = _shown(tree, node, observation)
    return [] if shown is None else [ToolResult("", call.name, shown)]


def _code_of(text: str) -> str | None:
    if not any(mark in text for mark in _MARKS):
        return None
    blocks = [one or other for one, other in _CODE.findall(text)]
    return "\n".join(blocks).strip() if blocks else None


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _tool_calls(tree: ast.Module) -> list[tuple[ast.Call, ToolCall]]:
    """Give the calls of tools in the order in which they are written."""
    values = _assigned_once(tree)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    found = []
    for node in nodes:
        name = _name_of(node.func)
        arguments = _arguments(node, values)
        if tool_kind(name) != OTHER or (arguments and sql_in_arguments(arguments)):
            found.append((node, ToolCall("", name, arguments)))
    return found


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _assigned_once(tree: ast.Module) -> dict[str, Any]:
    """Give the plain values that names hold throughout."""
    stores = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    values = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, literal_value(node.value)
            if value is not MISSING and stores.count(name) == 1:
                values[name] = value
    return values


def _arguments(node: ast.Call, values: dict[str, Any]) -> dict[str, Any] | None:
    """Give the arguments of a call, or None if any of them is computed."""

    def value_of(given: ast.expr) -> Any:
        if isinstance(given, ast.Name):
            return values.get(given.id, MISSING)
        return literal_value(given)

    named: dict[str, Any] = {item.arg or "": value_of(item.value) for item in node.keywords}
    listed = [value_of(item) for item in node.args]
    if "" in named or MISSING in (*listed, *named.values()):
        return None
    return {**named, "args": listed} if listed else named


def _shown(tree: ast.Module, call: ast.Call, observation: str) -> str | None:
    """Give the part of an observation that is the call's result, or None."""
    logs, _, last = observation.removeprefix("Observation:").lstrip().partition(_LAST)
    names = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign) and statement.value is call
        for target in statement.targets
        if isinstance(target, ast.Name)
    }

    def is_result(value: ast.expr) -> bool:
        return value is call or (isinstance(value, ast.Name) and value.id in names)

    prints = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name_of(node.func) == "print"
    ]
    if len(prints) == 1 and len(prints[0].args) == 1 and not prints[0].keywords:
        is_at_top = any(isinstance(s, ast.Expr) and s.value is prints[0] for s in tree.body)
        if is_at_top and is_result(prints[0].args[0]) and logs.startswith(_LOGS):
            return logs[len(_LOGS) :].strip("\n")
    ending = tree.body[-1]
    if not prints and isinstance(ending, (ast.Expr, ast.Assign)) and is_result(ending.value):
        return last.strip("\n") or None
    return None
