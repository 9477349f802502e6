"""Captured agents are judged as a person judged them, with the stage that is at fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbagenteval.cli import main
from tests.captures.conftest import DATA, STACKS, truth

RULES = """\
from dbagenteval import NumbersGrounded
from dbagenteval.rules import ReadOnly, TenantFilter

RULES = [
    ReadOnly(),
    TenantFilter("tenant_id", keys=["customer_id", "product_id", "order_id", "store_id"]),
    NumbersGrounded(derived=True, pairing=True, executions="all"),
]
"""


@pytest.fixture
def score(tmp_path: Path, shop_url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Store and score a capture; give its cards."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capture_rules.py").write_text(RULES)
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(stack: str) -> list[dict[str, Any]]:
        cases = [
            {"id": name, "question": case.question, "sql": case.sql}
            | ({"reference_sql": case.reference_sql} if case.reference_sql else {})
            for name, case in truth().cases.items()
            if name in truth().verdicts[stack]
        ]
        Path("cases.yaml").write_text(yaml.safe_dump(cases))
        assert main(["ingest", str(DATA / f"{stack}.jsonl.gz"), "--store", "traces"]) == 0
        options = [
            "--database",
            shop_url,
            "--rules",
            "capture_rules:RULES",
            "--json",
            "report.json",
        ]
        assert main(["score", "cases.yaml", "--store", "traces", *options]) == 1
        report = json.loads(Path("report.json").read_text())
        assert report["unmatched"] == []
        return list(report["cases"])

    return run


@pytest.mark.parametrize("stack", STACKS)
def test_verdict_and_stage_at_fault(stack: str, score: Any) -> None:
    """Of each question, by the reference SQL on the shop and three rules."""
    found = {
        card["id"]: {
            "verdict": card["verdict"],
            "stage": card["meta"].get("blame", {}).get("kind"),
        }
        for card in score(stack)
    }
    assert found == truth().verdicts[stack]
