"""The assertions of an answer test, beside its reference."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.checks import Judge
from dbagenteval.checks.judge import ask_judge
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.policy import Request, decide
from dbagenteval.project.verdict.provenance import provenance_problem
from dbagenteval.project.verdict.references import Reference

__all__ = ["failed_assertions"]

_RUBRIC_PROMPT = """\
An agent queried a database and answered a user. Decide whether the answer meets a criterion.

Pass: it meets all of the criterion.
Fail: it misses any part of it, or the criterion can't be decided by what stands here.

CRITERION
%s

QUESTION
{question}

ROWS (JSON)
{rows}

ANSWER
{answer}
"""
_BRACES = re.compile(r"[{}]")


def failed_assertions(
    assertions: Sequence[Mapping[str, Any]],
    reply: AgentReply,
    *,
    cost: float | None,
    seconds: float,
    prompt: str = "",
    project: Project | None = None,
    judge: Judge | None = None,
    reference: Reference | None = None,
) -> list[str]:
    """Give a line for each assertion that does not hold; what can't be known does not hold.

    Raises:
        Exception: What the judge raised, or its reply holds no verdict.
    """
    measured: dict[str, float | None] = {
        "max_tokens": reply.tokens,
        "max_cost": cost,
        "max_seconds": seconds,
        "max_tool_calls": len(reply.tool_calls),
        "max_bytes": reply.bytes_scanned,
    }
    problems = []
    for item in assertions:
        kind = str(item["type"])
        if kind in measured:
            problem = _budget(kind, measured[kind], float(item["value"]))
        elif kind == "policy":
            problem = _policy(item, reply, project)
        elif kind == "provenance":
            problem = provenance_problem(item, reply.sqls, project, reference or Reference())
        elif kind == "rubric":
            problem = _rubric(str(item["text"]), prompt, reply, judge)
        elif kind in ("tool_call", "no_tool_call"):
            problem = _tool_call(kind, item, reply)
        else:
            problem = _text(kind, item, reply)
        if problem:
            problems.append(problem)
    return problems


def _budget(kind: str, value: float | None, most: float) -> str:
    what = kind.removeprefix("max_").replace("_", " ")
    if value is None:
        return f"{what} unknown, at most {most:g} allowed"
    return f"{what} {value:g}, at most {most:g} allowed" if value > most else ""


def _tool_call(kind: str, item: Mapping[str, Any], reply: AgentReply) -> str:
    tool, args = item["tool"], item.get("args") or {}
    count = sum(
        call.get("toolName") == tool and (not args or _contains(call.get("args"), args))
        for call in reply.tool_calls
    )
    shown = f"{tool}({json.dumps(args, default=str)})" if args else str(tool)
    if kind == "no_tool_call":
        return f"{shown} was called {count} time(s), must not be" if count else ""
    least = item.get("min_count", 1)
    return f"{shown} was called {count} time(s), at least {least} expected" if count < least else ""


def _policy(item: Mapping[str, Any], reply: AgentReply, project: Project | None) -> str:
    """Hold every statement that the agent ran against the project's policy."""
    if project is None or project.policy is None:
        return "there is no policy to hold the agent's SQL against"
    if not reply.sqls:
        return "no SQL was seen to hold against the policy"
    for sql in reply.sqls:
        request = Request(sql=sql, roles=texts(item.get("roles")), has_run=True)
        decision = decide(request, project)
        if decision.outcome != "allow":
            return f"the agent ran SQL that the policy does not allow: {decision.reason}"
    return ""


def _rubric(text: str, prompt: str, reply: AgentReply, judge: Judge | None) -> str:
    if judge is None:
        return "there is no judge to decide the rubric"
    template = _RUBRIC_PROMPT % _BRACES.sub(" ", text)  # what stands in braces is filled in
    passed, why = ask_judge(judge, template, prompt, reply.text, reply.rows)
    return "" if passed else f"the rubric {text!r} is not met: {why}"


def _contains(actual: Any, wanted: Any) -> bool:
    """Say whether mappings hold the wanted ones; lists and scalars must be equal, kinds too."""
    if isinstance(wanted, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and _contains(actual[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, bool) or isinstance(actual, bool):
        return wanted is actual
    return bool(actual == wanted)


def _text(kind: str, item: Mapping[str, Any], reply: AgentReply) -> str:
    if kind == "matches":
        pattern = str(item["pattern"])
        found = re.search(pattern, reply.text, re.IGNORECASE | re.DOTALL)
        return "" if found else f"the reply does not match {pattern!r}"
    text = str(item["text"])
    holds = text.casefold() in reply.text.casefold()
    if kind == "contains":
        return "" if holds else f"the reply does not contain {text!r}"
    return f"the reply contains {text!r}, which it must not" if holds else ""
