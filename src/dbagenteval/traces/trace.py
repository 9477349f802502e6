"""Trace and Stage: our record of what an agent did for one question."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from dbagenteval.errors import quoted

__all__ = [
    "RESERVED_STAGE_NAMES",
    "STAGE_KINDS",
    "Observed",
    "Rows",
    "Stage",
    "Trace",
    "check_rows_shape",
    "check_stages",
]

Rows = list[dict[str, Any]]
"""Result rows: a dict (column name to value) for each row."""

STAGE_KINDS = ("route", "plan", "retrieve", "generate", "execute", "answer")
RESERVED_STAGE_NAMES = ("rows",)
_ROWS_HINT = (
    "rows must be a list of dicts (column name -> value); "
    "convert cursor tuples with dict(zip(columns, row))"
)
_TRACE_FIELDS = ("question", "stages", "meta")


@dataclass(frozen=True, slots=True)
class Observed:
    """Whether a field of a stage was seen, and if not, why.

    Only `present` and `empty` are evidence; a check that needs another field SKIPs with `why`.

    Args:
        state: `present`, `empty`, `masked`, `cut`, `unparseable` or `not captured`.
        why: For a person: what hid it and what to change.
    """

    state: str
    why: str = ""

    @property
    def is_evidence(self) -> bool:
        """True if a check may rest on the field."""
        return self.state in ("present", "empty")


def check_rows_shape(rows: object, stage_name: str) -> None:
    """Check that rows are a list of dicts with text keys.

    Raises:
        ValueError: They are not; the message names the stage.
    """
    if isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(key, str) for key in row) for row in rows
    ):
        return
    raise ValueError(f"stage {stage_name!r}: {_ROWS_HINT}")


@dataclass
class Stage:
    """One step of a trace.

    Args:
        kind: One of `STAGE_KINDS`.
        name: Unique in its trace; empty means the kind.
        output: What the step gave: SQL text (generate), names (retrieve), text (answer), …
        rows: What the database returned (execute), or None if that is not known.
        error: The error text if the step failed.
        latency_ms: How long it took, in milliseconds.
        meta: JSON-ready facts. A stage made from spans has `span_ids`, and `observed`: for each
            field that is not plainly present a `{"state": …, "why": …}` (see `Observed`).

    Raises:
        ValueError: Unknown kind, reserved name, or rows of another shape.
    """

    kind: str
    name: str = ""
    output: Any = None
    rows: Rows | None = None
    error: str | None = None
    latency_ms: float | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in STAGE_KINDS:
            raise ValueError(
                f"unknown stage kind {quoted(self.kind)}; expected one of {', '.join(STAGE_KINDS)}"
            )
        self.name = self.name or self.kind
        if self.name in RESERVED_STAGE_NAMES:
            raise ValueError(f"stage name {self.name!r} is reserved")
        if self.rows is not None:
            check_rows_shape(self.rows, self.name)

    def observed(self, what: str) -> Observed:
        """Say whether `rows` or `output` was seen; a stage without notes is taken as it is."""
        note = self.meta.get("observed", {}).get(what)
        if note is not None:
            return Observed(note["state"], note.get("why", ""))
        value = self.rows if what == "rows" else self.output
        if value is None:
            return Observed("not captured")
        return Observed("empty" if value in ([], "") else "present")


@dataclass
class Trace:
    """What an agent did for one question: stages in order.

    Args:
        question: The question as the agent got it.
        stages: Stages, or dicts with the arguments of `Stage`.
        meta: JSON-ready facts. A trace made from spans has `trace_ids`, `session_id`, `service`,
            `service_version`, `model`, `tokens`, `cost`, `dialect`, `start_ns`, `end_ns`,
            `not_observed` (a list of `{"what", "stage", "state", "why"}`) and `unused` (spans no
            stage was made of).

    Raises:
        ValueError: A stage is malformed, or two have one name.
    """

    question: str
    stages: list[Stage] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = [_as_stage(stage) for stage in self.stages]
        counts = Counter(stage.name for stage in self.stages)
        doubled = sorted(name for name, count in counts.items() if count > 1)
        if doubled:
            raise ValueError(
                f"duplicate stage name(s) {doubled}; give stages of the same kind distinct names"
            )

    @classmethod
    def simple(
        cls,
        question: str,
        answer: Any = None,
        sql: Any = None,
        rows: Rows | None = None,
        error: str | None = None,
    ) -> Trace:
        """Make a trace of generate, execute and answer from what the agent gave."""
        stages = []
        if sql is not None:
            stages.append(Stage("generate", output=sql))
        if rows is not None or error is not None:
            stages.append(Stage("execute", rows=rows, error=error))
        if answer is not None:
            stages.append(Stage("answer", output=answer))
        return cls(question, stages)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """Read what `to_dict` gave.

        Raises:
            ValueError: Unknown or missing field, or a malformed stage.
        """
        unknown = sorted(str(key) for key in data if key not in _TRACE_FIELDS)
        if unknown:
            raise ValueError(
                f"unknown trace field(s) {unknown}; allowed: {', '.join(_TRACE_FIELDS)}"
            )
        if "question" not in data:
            raise ValueError("trace is missing 'question'")
        return cls(data["question"], list(data.get("stages") or []), dict(data.get("meta") or {}))

    def to_dict(self) -> dict[str, Any]:
        """Give a deep, plain dict: `question`, `stages`, `meta`."""
        return asdict(self)

    @property
    def trace_id(self) -> str:
        """The OTel trace that the trace was made from, the first of several; empty if of none."""
        return str(next(iter(self.meta.get("trace_ids") or ()), ""))

    def stage(self, name: str) -> Stage | None:
        """Give the stage of that name, or None."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def last_of(self, kind: str) -> Stage | None:
        """Give the last stage of that kind, or None."""
        return next((stage for stage in reversed(self.stages) if stage.kind == kind), None)


def check_stages(trace: Trace) -> None:
    """Check a trace as its construction does, for one that may have been changed since.

    Raises:
        ValueError: A stage is no Stage or malformed, or two have one name.
    """
    for stage in trace.stages:
        if not isinstance(stage, Stage):
            raise ValueError(f"a stage must be a Stage or a dict, got {type(stage).__name__}")
        name: object = stage.name
        meta: object = stage.meta
        if not (isinstance(name, str) and isinstance(meta, dict)):
            raise ValueError(f"stage {quoted(stage.name)}: name must be text and meta a dict")
        stage.__post_init__()
    trace.__post_init__()


def _as_stage(stage: object) -> Stage:
    if isinstance(stage, Stage):
        return stage
    if not isinstance(stage, dict):
        raise ValueError(f"a stage must be a Stage or a dict, got {type(stage).__name__}")
    try:
        return Stage(**stage)
    except TypeError as error:
        raise ValueError(f"bad stage {stage!r}: {error}") from error
