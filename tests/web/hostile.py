"""A results file whose every field is hostile, large or odd."""

from __future__ import annotations

SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked=2'>\"'>{{7*7}}"


def hostile_run(rows: int = 10_000, answer_bytes: int = 5_000_000) -> dict:
    big = SCRIPT + "x" * answer_bytes
    table = [{f"col{SCRIPT}": SCRIPT, "n": index} for index in range(rows)]
    changed = [dict(row) for row in table]
    changed[3]["n"] = SCRIPT
    return {
        "timestamp": SCRIPT,
        "project": SCRIPT,
        "context_sha256": SCRIPT,
        "git_commit": SCRIPT,
        "k": 1,
        "results": [
            {
                "name": SCRIPT,
                "model": SCRIPT,
                "attempt": 1,
                "passed": False,
                "verdict": SCRIPT,
                "message": SCRIPT,
                "reason": SCRIPT,
                "tokens": 10,
                "cost": None,
                "duration_ms": 5,
                "tool_call_count": 1,
                "error": SCRIPT,
                "failed_assertions": [SCRIPT],
                "prompt": SCRIPT,
                "turns": [SCRIPT],
                "file": SCRIPT,
                "sql": [SCRIPT],
                "tags": [SCRIPT],
                "details": {
                    "response_text": big,
                    "comparison": SCRIPT,
                    "notes": [SCRIPT],
                    "actual_data": changed,
                    "expected_data": table,
                    "tool_calls": [{"toolName": SCRIPT, "args": {SCRIPT: SCRIPT}, "result": big}],
                    "executed_sql": [SCRIPT],
                },
            },
            {"name": None, "passed": "yes", "details": None, "attempt": "x", "tokens": "many"},
            {},
        ],
    }
