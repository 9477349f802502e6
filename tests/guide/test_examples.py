"""The examples of the repository show what the guide says of them."""

from examples import reference_check, toy_agent

from dbagenteval import load_cases, run_suite


def test_the_reference_example_shows_each_outcome(capsys):
    """A right and a wrong text, a wrong and a right query, against one reference."""
    cards = reference_check.main()
    assert [card.verdict for card in cards] == ["PASS", "FAIL", "FAIL", "PASS"]
    assert [card.failed.check for card in cards if card.failed] == [
        "reference_numbers",
        "reference_rows",
    ]
    assert "--- sql_without_store_filter" in capsys.readouterr().out


def test_the_toy_agent_fails_one_case_of_five_for_its_unsafe_query():
    """The number of that case is right, the query is not."""
    result = run_suite(
        load_cases("examples/cases.yaml"),
        toy_agent.agent,
        rules=toy_agent.RULES,
        execute=toy_agent.run_sql,
    )
    assert [card.verdict for card in result.cards].count("PASS") == 4
    (failed,) = [card for card in result.cards if card.verdict != "PASS"]
    assert (failed.failed_stage, failed.failed.check) == ("generate", "tenant_filter")
