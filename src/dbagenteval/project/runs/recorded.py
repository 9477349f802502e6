"""What an earlier run left: replies to judge again without an agent, results to go on from."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from dbagenteval.errors import UserError
from dbagenteval.project.agent.call import AgentError, Asked
from dbagenteval.project.agent.reply import AgentReply
from dbagenteval.project.folder.answertests import AnswerTest
from dbagenteval.project.runs.run import Job

__all__ = ["RecordedAgent", "finished_jobs"]

_SAME_RUN = ("context_sha256", "comparison")
_SEEN = ("rows", "stage", "tool_call", "verification")
"""Where rows came from the agent itself, and not from its text."""


class RecordedAgent:
    """Gives the replies of a results file again, in the order of their attempts.

    What an agent said, ran and cost is in the file; how long it took is not given again. Of a
    conversation only the last reply is on record: earlier turns are answered by nothing.

    Args:
        results: Of a results file.
    """

    def __init__(self, results: Sequence[Mapping[str, Any]]) -> None:
        self._lock = threading.Lock()
        self._replies: dict[tuple[str, str], deque[Mapping[str, Any]]] = defaultdict(deque)
        for result in results:
            self._replies[str(result.get("name")), str(result.get("model") or "")].append(result)

    def __call__(self, asked: Asked) -> AgentReply:
        """Give the next reply to a test.

        Raises:
            AgentError: There is none, or it was an error.
        """
        with self._lock:
            waiting = self._replies[asked.test, asked.model]
            if not waiting:
                raise AgentError("the results file holds no (further) reply to this test")
            turns = len(waiting[0].get("turns") or ())
            if len(asked.messages) < 2 * turns:
                return AgentReply(tokens=0, cost=0.0)
            result = waiting.popleft()
        details = result.get("details")
        if not isinstance(details, Mapping):
            raise AgentError(str(result.get("error") or "the agent gave no reply"))
        return _reply(result, details)


def _reply(result: Mapping[str, Any], details: Mapping[str, Any]) -> AgentReply:
    seen = details.get("actual_from") in _SEEN
    return AgentReply(
        text=str(details.get("response_text") or ""),
        rows=details.get("actual_data") if seen else None,
        rows_from=str(details["actual_from"]) if seen else "",
        sqls=tuple(details.get("executed_sql") or ()),
        tool_calls=tuple(details.get("tool_calls") or ()),
        tokens=result.get("tokens"),
        token_kinds=result.get("tokens_by_kind") or {},
        cost=result.get("cost") if result.get("cost_from") == "agent" else None,
        bytes_scanned=result.get("bytes_scanned"),
        outcome=str(details.get("outcome") or ""),
        error=str(result.get("error") or ""),
    )


def finished_jobs(
    run: Mapping[str, Any], facts: Mapping[str, Any], tests: Sequence[AnswerTest]
) -> dict[Job, Mapping[str, Any]]:
    """Give the results of an earlier run that need not be run again, by job.

    What changed since is run again: tests whose file is another, and those that the agent did not
    answer (it was not reached, or too slow).

    Args:
        run: The results file.
        facts: Of the run to come.
        tests: Its tests.

    Raises:
        UserError: The project or the comparison is another than it was.
    """
    for name in _SAME_RUN:
        if run.get(name) != facts.get(name):
            raise UserError(
                f"--resume: {name} is another than in the run before, whose results would not "
                "fit the new ones; run all of it"
            )
    digests = {test.name: test.sha256 for test in tests}
    return {
        (str(result.get("model") or ""), str(result["name"]), int(result["attempt"])): result
        for result in run["results"]
        if digests.get(str(result.get("name"))) == result.get("file_sha256")
        and result.get("reason") not in ("unreachable", "timeout")
    }
