"""What is kept of a scored trace, and why its verdict changed since."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dbagenteval
from dbagenteval.cases import Case
from dbagenteval.checks import Check, plain
from dbagenteval.failures import outcome_of
from dbagenteval.scorecard import Scorecard
from dbagenteval.suite.match import Match, normalised
from dbagenteval.traces import Trace

__all__ = ["KeptCards", "RowDigests", "digest_of", "digest_of_rules", "why_changed"]

_NOT_JUDGED_BY = ("id", "tags", "status", "harvested")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_CHANGES = (
    ("evaluator", "the evaluator is {new}, was {old}"),
    ("rules", "the rules changed"),
    ("settings", "the settings of the scoring changed"),
    ("case", "the case changed"),
    ("data", "the reference gives other rows: the data changed"),
    ("trace", "the trace changed: more of its spans arrived"),
)
"""What a verdict rests on, and how to say that it is another one now."""


class KeptCards:
    """Makes what is kept of each scored trace.

    Args:
        settings: What judges every trace alike: digests of `evaluator`, `rules` and `settings`.
        rows_digest: Gives a digest of the rows of a reference SQL, empty if they are not known.
    """

    def __init__(
        self, settings: dict[str, str], rows_digest: Callable[[str], str] = lambda _: ""
    ) -> None:
        self._settings = settings
        self._rows_digest = rows_digest
        self._case_digests: dict[str, str] = {}
        self._turns = _Turns()

    def card(self, match: Match, card: Scorecard) -> dict[str, Any]:
        """Give the JSON-ready card: the outcome's fields, all results, and what it rests on."""
        trace, case = match.trace, match.case
        blame = card.meta.get("blame") or {}
        outcome = outcome_of(card, trace, case, stage=blame.get("kind", ""))
        rests_on = {**self._settings, "trace": digest_of(_content(trace))}
        if case is not None:
            rests_on["case"] = self._digest_of_case(case)
        if case is not None and not case.is_draft:
            rests_on["data"] = self._digest_of_data(case)
        return {
            **outcome.to_dict(),
            "turn": self._turns.key(trace),
            "rests_on": rests_on,
            "results": [_result(result.to_dict()) for result in card.results],
            **({"error": card.error} if card.error else {}),
            **({"blame": blame} if blame else {}),
        }

    def _digest_of_data(self, case: Case) -> str:
        if case.data is None:
            return "".join(map(self._rows_digest, case.reference_sqls))
        try:
            return hashlib.sha256(Path(case.data).read_bytes()).hexdigest()
        except OSError:
            return ""

    def _digest_of_case(self, case: Case) -> str:
        if case.key not in self._case_digests:
            fields = {k: v for k, v in asdict(case).items() if k not in _NOT_JUDGED_BY}
            self._case_digests[case.key] = digest_of(plain(fields))
        return self._case_digests[case.key]


def why_changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Say what a verdict rests on that is another one now; empty if nothing of it is.

    Args:
        before: An older card as `KeptCards.card` made it.
        now: The card of the same turn today.
    """
    old, new = before["rests_on"], now["rests_on"]
    if ("case" in old) != ("case" in new):
        return ["no case matched it then" if "case" in new else "no case matches it any more"]
    return [
        words.format(old=old.get(what, "unknown"), new=new.get(what, "unknown"))
        for what, words in _CHANGES
        if old.get(what) != new.get(what)
    ]


def digest_of_rules(rules: Sequence[Check]) -> str:
    """Give a digest of rules: their settings, and the source of those that are the user's."""
    return digest_of([_rule(rule) for rule in rules])


class RowDigests:
    """Digests of rows by the SQL that gave them, made once each.

    Args:
        execute: Gives rows; keeps them, so that asking again costs nothing.
    """

    def __init__(self, execute: Callable[[str], list[dict[str, Any]]]) -> None:
        self._execute = execute
        self._known: dict[str, str] = {}

    def __call__(self, sql: str) -> str:
        """Give the digest, the same in whatever order the rows come; empty if the SQL fails."""
        if sql not in self._known:
            try:
                rows = sorted(json.dumps(plain(row)) for row in self._execute(sql))
            except Exception:  # noqa: BLE001 whatever the database raises is told by the card
                rows = None
            self._known[sql] = "" if rows is None else digest_of(rows)
        return self._known[sql]


class _Turns:
    """Names each question of the traces, the same way in every run.

    A trace may hold several questions, and one of them twice: those are numbered. The turns of
    one OTel trace come one after the other.
    """

    def __init__(self) -> None:
        self._trace_id = ""
        self._asked: dict[str, int] = {}

    def key(self, trace: Trace) -> str:
        trace_id = trace.trace_id
        if trace_id != self._trace_id or not trace_id:
            self._trace_id, self._asked = trace_id, {}
        question = normalised(trace.question)
        number = self._asked[question] = self._asked.get(question, 0) + 1
        return digest_of([trace_id, question, number])


def _content(trace: Trace) -> list[Any]:
    return [
        trace.question,
        *(
            [stage.kind, stage.name, plain(stage.output), plain(stage.rows), stage.error]
            for stage in trace.stages
        ),
    ]


def _result(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in result.items() if v not in ("", None) and k != "evidence"}


def _rule(rule: Check) -> list[Any]:
    kind = type(rule)
    known = [kind.__module__, kind.__qualname__, _settled(vars(rule))]
    is_ours = kind.__module__.startswith(f"{dbagenteval.__name__}.")
    return known if is_ours else [*known, _source(kind)]


def _settled(value: Any) -> Any:
    """Give what of a setting is the same in every process."""
    if isinstance(value, dict):
        return sorted([str(name), _settled(item)] for name, item in value.items())
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, (list, tuple)):
        return [_settled(item) for item in value]
    return _ADDRESS.sub("", repr(value))


def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):  # made in a shell
        return ""


def digest_of(value: Any) -> str:
    """Give 16 hex digits that stand for a JSON-ready value."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
