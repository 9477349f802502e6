"""Compare assembled Traces with the ground truth of a capture; run as a script for a table."""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dbagenteval.traces import Trace, assemble
from tests.traces.otlp_json import load

FIELDS = ("question", "sql", "rows", "error", "answer")


@cache
def traces_of(folder: Path) -> list[Trace]:
    """Assemble a capture."""
    paths = [*sorted(folder.glob("requests.jsonl*")), *sorted(folder.glob("logs.jsonl*"))]
    return list(assemble(load(*paths)))


@cache
def truths_of(folder: Path) -> list[dict[str, Any]]:
    """Read the ground truth of a capture."""
    packed = folder / "questions.json.gz"
    if packed.exists():
        return list(json.loads(gzip.decompress(packed.read_bytes()))["questions"])
    with (folder / "questions.yaml").open(encoding="utf-8") as file:
        return list(yaml.safe_load(file)["questions"])


def trace_for(truth: dict[str, Any], traces: list[Trace]) -> Trace | None:
    """Find the Trace made of a question's OTel traces: the one with most of its stages."""
    wanted = set(truth["trace_ids"])
    found = [trace for trace in traces if wanted & set(trace.meta["trace_ids"])]
    return max(found, key=lambda trace: len(trace.stages), default=None)


def compare(truth: dict[str, Any], trace: Trace | None) -> dict[str, str]:
    """Give for each field `ok`, `-` (nothing to see), or what differs."""
    if trace is None:
        return dict.fromkeys(FIELDS, "no trace")
    executes = [stage for stage in trace.stages if stage.kind == "execute"]
    generates = [stage for stage in trace.stages if stage.kind == "generate"]
    ran = truth["agent_sql"]
    result = {"question": _question(truth, trace)}
    same = [sql_text(stage.output) for stage in generates] == [sql_text(one["sql"]) for one in ran]
    same = same and len(executes) == len(ran)
    hidden = [stage.observed("output").state for stage in generates if stage.output is None]
    result["sql"] = "ok" if same else hidden[0] if hidden else f"{[g.output for g in generates]}"
    if not ran:
        result["rows"] = result["error"] = "-"
    elif len(executes) != len(ran):
        result["rows"] = result["error"] = f"{len(executes)} executions, not {len(ran)}"
    else:
        pairs = list(zip(ran, executes, strict=True))
        rows = [rows_differ(one, stage) for one, stage in pairs if "rows" in one]
        errors = [_error(one, stage) for one, stage in pairs]
        result["rows"] = next((one for one in rows if one != "ok"), "ok") if rows else "-"
        result["error"] = next((one for one in errors if one != "ok"), "ok")
    result["answer"] = _answer(truth, trace)
    return result


def _state(trace: Trace, what: str) -> str:
    states = [one["state"] for one in trace.meta["not_observed"] if one["what"] == what]
    return states[0] if states else ""


def _question(truth: dict[str, Any], trace: Trace) -> str:
    if trace.question == truth["question"].strip():
        return "ok"
    return _state(trace, "question") if not trace.question else f"got {trace.question!r}"


def _answer(truth: dict[str, Any], trace: Trace) -> str:
    stage = trace.last_of("answer")
    if stage is None:
        return "no answer stage"
    if stage.output is None:
        return stage.observed("output").state
    wanted = str(truth["final_answer"]).strip()
    return "ok" if stage.output == wanted else f"got {stage.output!r} for {wanted!r}"


def sql_text(text: Any) -> str:
    return re.sub(r"\s+", " ", str(text)).strip().rstrip(";")


def rows_differ(one: dict[str, Any], stage: Any) -> str:
    if stage.rows is None or not stage.observed("rows").is_evidence:
        return stage.observed("rows").state
    got = [tuple(row.values()) for row in stage.rows]
    wanted = [tuple(row) for row in one["rows"]]
    if len(got) != len(wanted):
        return f"{len(got)} rows, not {len(wanted)}"
    for mine, theirs in zip(got, wanted, strict=True):
        if len(mine) != len(theirs) or not all(map(_equal, mine, theirs)):
            return f"got {mine!r} for {theirs!r}"
    if not stage.meta.get("positional") and wanted and list(stage.rows[0]) != one["columns"]:
        return f"columns {list(stage.rows[0])}, not {one['columns']}"
    return "ok"


def _equal(mine: Any, theirs: Any) -> bool:
    if mine == theirs or str(mine) == str(theirs):
        return True
    try:
        return math.isclose(Decimal(str(mine)), Decimal(str(theirs)), rel_tol=1e-9)
    except (InvalidOperation, TypeError):
        return False


def _error(one: dict[str, Any], stage: Any) -> str:
    if "error" not in one:
        return "ok" if stage.error is None else f"unexpected error {stage.error[:80]!r}"
    if stage.error is None:
        if stage.rows is None:
            return stage.observed("rows").state
        return f"no error for {one['error'][:80]!r}"
    words = re.sub(r"^\w+: ", "", one["error"]).splitlines()[0]
    return "ok" if words[:60] in stage.error else f"got {stage.error[:100]!r} for {words!r}"


def table(folders: list[Path]) -> tuple[str, dict[str, dict[str, list[str]]]]:
    """Give a table of stacks and fields for a person, and what differs by stack and field."""
    lines = [f"{'stack':34}" + "".join(f"{name:>12}" for name in FIELDS)]
    differing: dict[str, dict[str, list[str]]] = {}
    for folder in folders:
        traces, truths = traces_of(folder), truths_of(folder)
        counts = dict.fromkeys(FIELDS, 0)
        for truth in truths:
            for name, value in compare(truth, trace_for(truth, traces)).items():
                if value in ("ok", "-"):
                    counts[name] += 1
                else:
                    differing.setdefault(folder.name, {}).setdefault(name, []).append(
                        f"{truth['id']}: {value}"
                    )
        extra = len(traces) - len(truths)
        cells = "".join(f"{f'{counts[name]}/{len(truths)}':>12}" for name in FIELDS)
        lines.append(f"{folder.name:34}{cells}" + (f"  {extra:+} traces" if extra else ""))
    return "\n".join(lines), differing


if __name__ == "__main__":
    where = Path(sys.argv[1])
    chosen = sorted(folder for folder in where.iterdir() if list(folder.glob("questions.*")))
    text, problems = table(chosen)
    print(text)  # noqa: T201 - a script then
    for stack, by_field in problems.items():
        for name, found in by_field.items():
            print(  # noqa: T201
                f"{stack} {name}:",
                *(one[:230] for one in found[: int(sys.argv[2]) if len(sys.argv) > 2 else 3]),
                sep="\n    ",
            )
