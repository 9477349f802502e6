"""The results file of a run: every documented field and what it takes to understand it later.

Each result is written to a `.partial.jsonl` beside it as soon as it is there; the file itself is
written whole at the end. A run that was killed leaves the partial file, which can be shown too.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from dbagenteval.project.folder.model import Project
from dbagenteval.project.runs.attempt import AnswerResult
from dbagenteval.project.runs.file import PARTIAL_SUFFIX, hold
from dbagenteval.project.runs.passrates import pass_metrics
from dbagenteval.project.runs.settings import RunSettings

__all__ = ["ResultsFile", "results_document"]

SCHEMA_VERSION = 2
_CONTEXT = ("*.yaml", "*.md", "datasets/*/*", "policies/*", "semantics/*")


class ResultsFile:
    """Where the results of one run go.

    Args:
        folder: `tests/outputs` of the project; made if need be.
        facts: About the run (see `run_facts`); the first line of the partial file.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.datetime.now().astimezone().strftime("%Y%m%d_%H%M%S")
        self.path = self._free(folder, stamp)
        self._partial_path = self.path.with_suffix(PARTIAL_SUFFIX)
        self._partial = self._partial_path.open("ab")
        hold(self._partial)
        self._write_line({"run": dict(facts)})

    def add(self, result: Mapping[str, Any]) -> None:
        """Write one result, see `result_document`, so that it is there whatever comes."""
        self._write_line(result)

    def finish(self, document: Mapping[str, Any]) -> None:
        """Write the whole file, and take the partial one away."""
        temporary = self.path.with_suffix(".tmp")
        temporary.write_bytes(_dumps(document, indent=True))
        temporary.replace(self.path)
        self._partial.close()
        self._partial_path.unlink()

    @staticmethod
    def _free(folder: Path, stamp: str) -> Path:
        """Take a name that no other run has, also when two start in one second."""
        number = 1
        while True:
            suffix = "" if number == 1 else f"_{number}"
            path = folder / f"results_{stamp}{suffix}.json"
            try:
                path.with_suffix(PARTIAL_SUFFIX).open("xb").close()
            except FileExistsError:
                number += 1
                continue
            if not path.exists():
                return path
            path.with_suffix(PARTIAL_SUFFIX).unlink()
            number += 1

    def _write_line(self, data: Mapping[str, Any]) -> None:
        self._partial.write(_dumps(data) + b"\n")
        self._partial.flush()


def run_facts(project: Project, settings: RunSettings) -> dict[str, Any]:
    """Give what identifies a run: time, versions, commit, digest of the project's context."""
    from dbagenteval import __version__  # noqa: PLC0415 the package is complete only by now

    return {
        "schema_version": SCHEMA_VERSION,
        "timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "project": project.config.project_name,
        "dbagenteval": __version__,
        "python": platform.python_version(),
        "git_commit": _commit(project.root),
        "context_sha256": _context_digest(project.root),
        "models": list(settings.models),
        "k": settings.k,
        "threads": settings.threads,
        "comparison": settings.mode,
    }


def results_document(
    results: Sequence[AnswerResult], facts: Mapping[str, Any], k: int
) -> dict[str, Any]:
    """Give the whole results file.

    Args:
        results: In order.
        facts: As `run_facts` gives them.
        k: Attempts for each test.
    """
    return document_of([result_document(result) for result in results], facts, k)


def document_of(
    listed: Sequence[Mapping[str, Any]], facts: Mapping[str, Any], k: int
) -> dict[str, Any]:
    """Give the results file of results that are plain data already."""
    models = list(dict.fromkeys(item["model"] for item in listed))
    by_model = [
        {
            "model": model,
            **_summary([item for item in listed if item["model"] == model]),
            **_metrics([item for item in listed if item["model"] == model], k),
        }
        for model in models
    ]
    return {
        **facts,
        "results": list(listed),
        "summary": _summary(listed),
        "by_model": by_model,
        "pass_metrics": _metrics(listed, k),
    }


def result_document(result: AnswerResult) -> dict[str, Any]:
    """Give one result as plain data."""
    reply, answer = result.reply, result.answer
    expected = result.reference.rows
    details = None
    if reply is not None:
        details = {
            "response_text": reply.text,
            "outcome": reply.outcome,
            "actual_data": _plain(answer.actual if answer else reply.rows),
            "actual_from": answer.actual_from if answer else "",
            "expected_data": _plain(expected[0] if expected else None),
            "comparison": (answer.detail or None) if answer else None,
            "evidence": _plain(dict(answer.evidence)) if answer else None,
            "notes": list(answer.notes) if answer else [],
            "tool_calls": _plain([dict(call) for call in reply.tool_calls]),
            "executed_sql": list(reply.sqls),
        }
    document: dict[str, Any] = _plain(
        {
            "name": result.test.name,
            "model": result.model,
            "attempt": result.attempt,
            "passed": result.passed,
            "verdict": result.verdict,
            "message": result.message,
            "reason": result.reason,
            "tokens": reply.tokens if reply else None,
            "tokens_by_kind": dict(reply.token_kinds) if reply else {},
            "cost": result.cost,
            "cost_from": result.cost_from,
            "bytes_scanned": reply.bytes_scanned if reply else None,
            "duration_ms": result.duration_ms,
            "tool_call_count": len(reply.tool_calls) if reply else None,
            "error": result.error or None,
            "failed_assertions": list(result.problems),
            "prompt": result.test.prompt,
            "turns": list(result.test.turns),
            "expect": list(result.test.expect),
            "sql": list(result.test.sqls),
            "tags": list(result.test.tags),
            "file": result.test.file,
            "file_sha256": result.test.sha256,
            "started_at": result.started.isoformat() if result.started else None,
            "details": details,
        }
    )
    return document


def _summary(listed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    passed = sum(bool(item["passed"]) for item in listed)
    verdicts: dict[str, int] = {}
    for item in listed:
        verdicts[item["verdict"]] = verdicts.get(item["verdict"], 0) + 1
    durations = [item["duration_ms"] for item in listed if item["duration_ms"] is not None]
    calls = [item["tool_call_count"] for item in listed if item["tool_call_count"] is not None]
    ran = [item for item in listed if item["verdict"] != "test_broken"]
    return {
        "total": len(listed),
        "passed": passed,
        "failed": len(listed) - passed,
        "verdicts": verdicts,
        "total_tokens": _total([item["tokens"] for item in ran]),
        "total_cost": _total([item["cost"] for item in ran]),
        "cost_unknown": sum(item["cost"] is None for item in ran),
        "total_duration_ms": sum(durations),
        "total_duration_s": round(sum(durations) / 1000, 1),
        "total_tool_calls": sum(calls),
        "avg_duration_ms": round(sum(durations) / len(durations)) if durations else None,
        "avg_tool_calls": round(sum(calls) / len(calls), 2) if calls else None,
    }


def _total(values: Sequence[Any]) -> Any:
    """Sum what is known; None if nothing is, so that unknown never looks like zero."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _metrics(listed: Sequence[Mapping[str, Any]], k: int) -> dict[str, Any]:
    groups: dict[tuple[str, str], list[bool]] = {}
    for item in listed:
        groups.setdefault((item["name"], item["model"]), []).append(bool(item["passed"]))
    return pass_metrics(list(groups.values()), k)


def _plain(value: Any) -> Any:
    """Give JSON data that loses nothing: big integers and decimals stay exact."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        # A lone surrogate, as a broken agent may send, is no UTF-8.
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if abs(value) != float("inf") and value == value else str(value)  # noqa: PLR0124 NaN
    if isinstance(value, decimal.Decimal):
        return (
            int(value) if value.is_finite() and value == value.to_integral_value() else str(value)
        )
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    return str(value)


def _dumps(data: Mapping[str, Any], *, indent: bool = False) -> bytes:
    return orjson.dumps(data, default=str, option=orjson.OPT_INDENT_2 if indent else None)


def _commit(root: Path) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 fixed words and a folder
            ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607 the git that the user has
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _context_digest(root: Path) -> str:
    """Give a digest of everything that the agent is configured with."""
    digest = hashlib.sha256()
    paths = sorted({path for pattern in _CONTEXT for path in root.glob(pattern) if path.is_file()})
    for path in paths:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()
