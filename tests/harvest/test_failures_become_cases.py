"""From a failed production trace to an accepted case, with the commands a user runs."""

import pytest

from dbagenteval import load_cases
from dbagenteval.cli import main
from tests.harvest.shop_agents import CASES, PERSONAL, PLANTED, QUESTIONS


@pytest.mark.parametrize("with_data", [False, True])
def test_a_fixed_agent_passes_and_the_old_one_fails_as_its_traces_did(shop, with_data):
    """Ingest, score, harvest, accept, run: the new cases tell the agents apart."""
    questions = [*QUESTIONS, PERSONAL] if with_data else QUESTIONS
    shop.ask("old", *questions)
    shop.ingest()
    (shop.folder / "cases.yaml").write_text(CASES)
    store = ["--store", str(shop.directory), "--database", shop.url, "--rules", shop.rules]
    code, scored = shop.report("score", "cases.yaml", *store)
    assert code == 1
    cards = scored["cases"] + scored["unmatched"]
    failed = {card["question"]: card["failed_stage"] for card in cards}
    assert set(failed) == set(questions)
    assert None not in failed.values()

    options = ["--slice"] if with_data else []
    harvest = ["--database", shop.url, "--rules", shop.rules, "--tenant", "tenant_id=1", *options]
    assert shop.harvest(*harvest) == 0
    drafts = load_cases("new.yaml")
    assert len(drafts) == len(questions)
    assert all(draft.is_draft and draft.reference_sql for draft in drafts)
    first = shop.new
    assert shop.harvest(*harvest) == 0
    assert shop.new == first

    run = ["new.yaml", "--rules", shop.rules, "--database", shop.url, "--agent"]
    code, report = shop.report("run", *run, f"{shop.module}:fixed")
    assert code == 1
    assert report["summary"]["drafts"] == len(questions)
    accept = [word for draft in drafts for word in ("--accept", draft.id)]
    assert main(["harvest", "review", "new.yaml", "--database", shop.url, *accept]) == 0

    code, report = shop.report("run", *run, f"{shop.module}:fixed")
    assert [card["verdict"] for card in report["cases"]] == ["PASS"] * len(questions)
    assert code == 0
    code, report = shop.report("run", *run, f"{shop.module}:old")
    assert code == 1
    assert [card["verdict"] for card in report["cases"]] == ["FAIL"] * len(questions)
    stages = [card["failed_stage"] for card in report["cases"]]
    assert stages == [failed[question] for question in questions]

    written = [path.read_text().casefold() for path in shop.folder.rglob("new*") if path.is_file()]
    written += [path.read_text().casefold() for path in shop.folder.rglob("*.sql")]
    assert len(written) == (1 + len(questions) if with_data else 1)
    assert not [value for value in PLANTED for text in written if value in text]
