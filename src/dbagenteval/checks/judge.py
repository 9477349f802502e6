"""Checks that ask a language model, and how its reply is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

from dbagenteval.cases import Case
from dbagenteval.checks.check import Check
from dbagenteval.checks.evidence import NOT_OBSERVED, last_result, one_line, why_hidden
from dbagenteval.checks.prompts import (
    DATA_NOTICE,
    FAITHFUL_PROMPT,
    REFERENCE_PROMPT,
    RELEVANT_PROMPT,
    VERDICT_REQUEST,
)
from dbagenteval.checks.verdict import parse_verdict, verdicts_disagree
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Rows, Trace

__all__ = [
    "Faithful",
    "Judge",
    "JudgeCheck",
    "Relevant",
    "ask_judge",
    "check_reference_answer",
    "parse_verdict",
    "rows_json",
]

Judge = Callable[[str], str]
"""Takes a prompt and returns the model's reply as text."""

MAX_ROWS_CHARS = 20_000
_FIGURE = re.compile(r"[0-9.,:%+-]{1,40}")
_PLACEHOLDER = re.compile(r"\{(question|answer|rows)\}")
_DISAGREEING = " (warning: the reply held verdicts that disagree; the last one was taken)"


class JudgeCheck(Check):
    """A check whose verdict a language model gives. Subclass it with your own `prompt`.

    Args:
        judge: Takes the prompt, returns the reply. A plain function, not an async one.
        stage: Name of the answer stage; None means the last stage of kind `answer`.
        max_rows_chars: How much of the rows goes into the prompt.
    """

    prompt: ClassVar[str] = ""
    """The task; `{question}`, `{answer}` and `{rows}` are replaced by data."""
    needs_rows: ClassVar[bool] = False
    """True if there is nothing to judge without the agent's rows."""

    def __init__(
        self, judge: Judge, stage: str | None = None, max_rows_chars: int = MAX_ROWS_CHARS
    ) -> None:
        self.judge = judge
        self.stage = stage
        self.max_rows_chars = max_rows_chars

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Ask the judge about the answer; SKIP without an answer, or without needed rows.

        Raises:
            TypeError: The judge returned something else than text.
            ValueError: The reply holds no verdict.
        """
        found = [stage.name for stage in trace.stages if stage.kind == "answer"]
        stage = trace.last_of("answer") if self.stage is None else trace.stage(self.stage)
        name = stage.name if stage is not None else self.stage or "answer"
        if stage is None and found:
            detail = f"stage {self.stage!r} is not in the trace (found {found})"
            return self.result(name, FAIL, detail)
        hidden = why_hidden(trace, stage, "output", "answer")
        if hidden:
            return self.result(name, SKIP, hidden, reason=NOT_OBSERVED)
        if stage is None or not isinstance(stage.output, str) or not stage.output.strip():
            return self.result(name, SKIP, "no answer text")
        result = last_result(trace)
        hidden = why_hidden(trace, result, "rows", "execute")
        rows = result.rows if result is not None and not hidden else None
        if self.needs_rows and hidden:
            return self.result(name, SKIP, hidden, reason=NOT_OBSERVED)
        if self.needs_rows and rows is None:
            return self.result(name, SKIP, "no query result to judge the answer against")
        question = case.question or trace.question
        passed, why = ask_judge(
            self.judge, self.prompt, question, stage.output, rows, self.max_rows_chars
        )
        return self.result(name, PASS if passed else FAIL, why)


class Faithful(JudgeCheck):
    """Passes when the judge says that the agent's own rows support the whole answer."""

    name = "faithful"
    prompt = FAITHFUL_PROMPT
    needs_rows = True


class Relevant(JudgeCheck):
    """Passes when the judge says that the answer really answers the question."""

    name = "relevant"
    prompt = RELEVANT_PROMPT


def check_reference_answer(
    trace: Trace, case: Case, references: list[Rows], judge: Judge
) -> CheckResult | None:
    """Ask the judge whether the answer agrees with the result of the reference SQL.

    Args:
        trace: The trace.
        case: Its question is put to the judge.
        references: Rows of each reference query; the judge sees those of all.
        judge: The judge.

    Returns:
        `reference_answer`, or None if there is no answer text to judge.
    """
    stage = trace.last_of("answer")
    hidden = why_hidden(trace, stage, "output", "answer")
    if hidden or stage is None or not isinstance(stage.output, str) or not stage.output.strip():
        return None
    rows: Any = (
        references[0]
        if len(references) == 1
        else [
            {"accepted result": number, "rows": each}
            for number, each in enumerate(references, start=1)
        ]
    )
    passed, why = ask_judge(judge, REFERENCE_PROMPT, case.question, stage.output, rows)
    return CheckResult("reference_answer", stage.name, PASS if passed else FAIL, why)


def ask_judge(
    judge: Judge,
    template: str,
    question: str,
    answer: str,
    rows: Rows | None,
    max_rows_chars: int = MAX_ROWS_CHARS,
) -> tuple[bool, str]:
    """Put one question to the judge.

    Question, answer and rows are data: each stands between two markers that their text can't
    contain, since the marker is a digest of all of it, and what is inserted is not scanned again.

    Args:
        judge: Takes the prompt, returns the reply.
        template: The task, with `{question}`, `{answer}` and `{rows}`; other braces stay.
        question: The user's question.
        answer: The agent's answer.
        rows: Rows to judge against, or None.
        max_rows_chars: How much of the rows goes into the prompt.

    Returns:
        Whether it passes, and the judge's reason on one line.

    Raises:
        TypeError: The judge returned something else than text.
        ValueError: The reply holds no verdict.
    """
    reply: Any = judge(judge_prompt(template, question, answer, rows, max_rows_chars))
    if not isinstance(reply, str):
        if hasattr(reply, "close"):
            reply.close()  # a coroutine that nobody awaits
        raise TypeError(
            "the judge must be a plain (not async) function returning the reply text, "
            f"got {type(reply).__name__}"
        )
    passed, reason = parse_verdict(reply)
    return passed, one_line(reason) + (_DISAGREEING if verdicts_disagree(reply) else "")


def judge_prompt(
    template: str, question: str, answer: str, rows: Rows | None, max_rows_chars: int
) -> str:
    """Fill a template in one pass and add the request for a verdict."""
    data = {
        "question": question,
        "answer": answer,
        "rows": "(no query was run)" if rows is None else rows_json(rows, max_rows_chars),
    }
    used = [data[name] for name in _PLACEHOLDER.findall(template)]
    digest = hashlib.sha256("\0".join(used).encode("utf-8", "surrogatepass")).hexdigest()
    marker = f"DATA-{digest[:16]}"

    def insert(name: re.Match[str]) -> str:
        within_a_line = template[: name.start()].rpartition("\n")[2].strip() != ""
        # A figure such as `15.` can say nothing, so it may stand within a sentence of the task.
        if within_a_line and _FIGURE.fullmatch(data[name[1]]):
            return data[name[1]]
        return f"<{marker}>\n{data[name[1]]}\n</{marker}>"

    filled = _PLACEHOLDER.sub(insert, template)
    return f"{filled}\n\n{DATA_NOTICE.replace('MARKER', marker)}\n{VERDICT_REQUEST}"


def rows_json(rows: Any, max_chars: int = MAX_ROWS_CHARS) -> str:
    """Give rows as JSON of at most about `max_chars` characters.

    Returns:
        All rows if they fit; else as many whole rows as fit and a note of how many there are;
        else the start of the first row and that note.
    """
    whole = json.dumps(rows, default=str, ensure_ascii=False)
    if len(whole) <= max_chars:
        return whole
    shown: list[str] = []
    length = 2
    for row in rows:
        text = json.dumps(row, default=str, ensure_ascii=False)
        length += len(text) + (2 if shown else 0)
        if length > max_chars:
            break
        shown.append(text)
    if not shown:
        return f"{whole[:max_chars]}\n(the first of {len(rows)} rows, cut short)"
    return f"[{', '.join(shown)}]\n(showing the first {len(shown)} of {len(rows)} rows)"
