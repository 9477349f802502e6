"""`dbagenteval harvest`: what becomes a draft, what has a case already, what is written."""

import json
import re

import pytest
import yaml

from dbagenteval.cli import main
from dbagenteval.store import Store
from dbagenteval.store.scorecards import ScorecardRun
from dbagenteval.traces import assemble
from tests.harvest.shop_agents import CASES, QUESTIONS

COUNT = "SELECT COUNT(*) AS n FROM customers"


@pytest.fixture
def drafts(shop):
    """Give the items of new.yaml by question."""
    return lambda: {item["question"]: item for item in yaml.safe_load(shop.new)}


def test_a_draft_says_what_happened_and_what_is_proposed(shop, drafts):
    """Question, reference, and where both come from."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    assert (
        shop.harvest("--rules", shop.rules, "--database", shop.url, "--tenant", "tenant_id=1") == 0
    )
    item = drafts()[QUESTIONS[0]]
    harvested = item.pop("harvested")
    assert item == {
        "id": "customers",
        "question": QUESTIONS[0],
        "status": "draft",
        "tags": ["harvested", "generate"],
        "reference_sql": "SELECT COUNT(*) AS n FROM customers WHERE tenant_id = 1",
    }
    assert harvested["service"] == "test-agent"
    assert harvested["failed"] == "generate / tenant_filter"
    assert harvested["sql"] == COUNT
    assert harvested["rows"] == [{"n": 3}]
    assert harvested["answer"] == "It is 3."
    assert harvested["reference_rows"] == [{"n": 2}]
    assert harvested["reference_from"].startswith("the agent's SQL repaired: ")
    assert len(harvested["trace"]) == 32
    assert "redacted" not in harvested


def test_near_duplicates_are_one_draft_with_a_count(shop, drafts, capsys):
    """The first of them stands for all."""
    shop.turn("How many customers do we have?", sql=COUNT, rows=[{"n": 3}])
    shop.turn("how many  customers do we have", sql=COUNT, rows=[{"n": 3}])
    shop.turn("How many customers do we have now?", sql="SELECT count(*) FROM customers", rows=[])
    shop.turn("Which customers have no order?", sql="SELECT full_name FROM customers", rows=[])
    shop.ingest()
    assert shop.harvest("--rules", shop.rules) == 0
    counts = {question: item["harvested"]["count"] for question, item in drafts().items()}
    assert counts == {"How many customers do we have?": 3, "Which customers have no order?": 1}
    assert "DRAFT customers  (3 times)  [" in capsys.readouterr().out


def test_one_wrong_query_for_many_questions_makes_a_draft_of_each(shop, drafts):
    """The same SQL alone makes no duplicates."""
    shop.turn("How many customers do we have?", sql=COUNT, rows=[{"n": 3}])
    shop.turn("Who placed the largest order in March?", sql=COUNT, rows=[{"n": 3}])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    assert len(drafts()) == 2


def test_an_existing_case_is_named_instead(shop, capsys):
    """By its question, or by a reference that does the same for nearly the same words."""
    (shop.folder / "cases.yaml").write_text(
        CASES + "- id: averages\n  question: What is the average order value in EUR?\n"
        "  reference_sql: select avg(o.total) from orders o where o.tenant_id = 9\n"
    )
    shop.ask("old", QUESTIONS[0])
    right = "SELECT AVG(total) FROM orders WHERE tenant_id = 1"
    shop.turn("What is the average order value in EUR now?", sql=right, rows=[])
    shop.ingest()
    assert shop.harvest("--rules", shop.rules, "--cases", "cases.yaml") == 0
    out = capsys.readouterr().out
    assert "2 trace(s) have a case already\n" in out
    assert "      How many customers do we have?: 1\n      averages: 1\n" in out
    assert out.endswith("nothing to harvest: all of it has a case\n")
    assert not (shop.folder / "new.yaml").exists()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_what_is_there_stays_byte_for_byte(shop, mark, line_break):
    """New drafts stand at the end, in the file's own manner."""
    before = (
        "# ours\n- id:  customers   # taken\n  question: 'Who  are we?'\n  expect: {answer: us}\n"
    )
    before = mark + before.replace("\n", line_break)
    path = shop.folder / "new.yaml"
    path.write_bytes(before.encode())
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    first = path.read_bytes().decode()
    assert first.startswith(f"{before}{line_break}- id: customers-")
    assert first.count("\n") == first.count(line_break)
    shop.harvest("--rules", shop.rules)
    assert path.read_bytes().decode() == first


def test_two_stores_fill_one_file(shop, drafts):
    """A second harvest adds what is new, and only that."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    shop.ask("old", *QUESTIONS[:2])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    assert list(drafts()) == QUESTIONS[:2]
    assert drafts()[QUESTIONS[0]]["harvested"]["count"] == 1


def test_the_most_frequent_questions_come_first(shop, drafts, capsys):
    """`--top` makes drafts of them only; asked again, of the next ones."""
    shop.ask("old", QUESTIONS[0], QUESTIONS[1], QUESTIONS[1], QUESTIONS[2])
    shop.ingest()
    shop.harvest("--top", "1")
    assert list(drafts()) == [QUESTIONS[1]]
    assert "2 less frequent question(s) not looked at" in capsys.readouterr().out
    shop.harvest("--top", "1")
    assert list(drafts()) == [QUESTIONS[1], QUESTIONS[0]]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], [0, 1, 2, 3]),
        (["--failed"], [0, 3]),
        (["--unmatched"], [0, 1, 2, 3]),
        (["--rule", "tenant_filter"], [0]),
        (["--rule", "numbers_grounded"], [3]),
        (["--rule", "read_only"], []),
        (["--since", "2020-01-01"], [0, 1, 2, 3]),
        (["--since", "0s"], []),
        (["--service", "other"], []),
    ],
)
def test_selections(shop, drafts, options, found, capsys):
    """What failed, what matched no case, what broke a rule."""
    shop.ask("old", *QUESTIONS)
    shop.ingest()
    assert shop.harvest("--rules", shop.rules, *options) == 0
    if found:
        assert list(drafts()) == [QUESTIONS[index] for index in found]
    else:
        assert "nothing to harvest: " in capsys.readouterr().out
        assert not (shop.folder / "new.yaml").exists()


def test_one_trace(shop, drafts):
    """By how its id starts, whatever became of it."""
    shop.ask("fixed", *QUESTIONS)
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    trace = drafts()[QUESTIONS[2]]["harvested"]["trace"]
    (shop.folder / "new.yaml").unlink()
    shop.harvest("--trace", trace[:12].upper())
    assert list(drafts()) == [QUESTIONS[2]]


def test_verdicts_of_an_earlier_scoring_count(shop, drafts):
    """What passed against its case is no failure, and shows how the question is answered."""
    shop.ask("old", QUESTIONS[1])
    shop.ask("fixed", QUESTIONS[1], QUESTIONS[3])
    shop.ingest()
    shop.harvest()
    (shop.folder / "new.yaml").unlink()
    keep_verdicts(shop)
    shop.harvest("--database", shop.url)
    (item,) = drafts().values()
    assert item["question"] == QUESTIONS[1]
    assert item["reference_sql"] == "SELECT AVG(total) AS value FROM orders WHERE tenant_id = 1"
    assert item["harvested"]["failed"] == "generate / reference_rows"
    assert item["harvested"]["reference_from"].endswith(", which passed, answered this question")


def keep_verdicts(shop):
    """Keep what a scoring would say: the first of the three traces failed."""
    with Store.open(shop.directory, write=False) as store:
        traces = list(assemble(store.otel_traces()))
    with ScorecardRun(shop.directory, {}) as run:
        for number, trace in enumerate(traces):
            card = {
                "turn": str(number),
                "trace_id": trace.meta["trace_ids"][0],
                "start_ns": trace.meta["start_ns"],
                "case_id": "c",
                "verdict": "PASS" if number else "FAIL",
            }
            failed = {"check": "reference_rows", "status": "fail", "detail": "got 60, not 30"}
            run.add(
                card
                if number
                else {**card, "stage": "generate", "check": "reference_rows", "results": [failed]}
            )


def test_names_are_known_from_rows_that_are_not_shown(shop, drafts):
    """The answer may speak of any row; without rows it is left out if it may name people."""
    sql = "SELECT full_name FROM customers"
    rows = [{"full_name": f"Person Nr{number}"} for number in range(50)]
    rows[40] = {"full_name": "Xylo Quastrom"}
    shop.turn("Who ordered most?", sql=sql, rows=rows, answer="Mostly Quastrom did.")
    shop.turn("Who ordered least?", sql=sql, answer="Mostly Quastrom did.")
    shop.turn("How many ordered?", sql=COUNT.replace("COUNT(*)", "MAX(customer_id)"), answer="9.")
    shop.ingest()
    shop.harvest()
    answers = [item["harvested"].get("answer") for item in drafts().values()]
    assert len(answers) == 3
    assert "9." in answers
    assert None in answers
    assert "quastrom" not in shop.new.casefold()


def test_small_talk_is_proposed_as_an_answer_without_sql(shop, drafts):
    """Nothing else can be said of it."""
    shop.turn("Hello, who are you?", answer="I answer questions about orders.")
    shop.ingest()
    shop.harvest()
    assert drafts()["Hello, who are you?"]["sql"] == "none"
    assert "reference_sql" not in drafts()["Hello, who are you?"]


def test_a_follow_up_says_what_was_asked_before(shop, drafts):
    """`And last year?` alone is no question."""
    session = {"session.id": "s1"}
    shop.turn("How many orders are pending?", sql="SELECT 1 AS n", rows=[{"n": 1}], **session)
    shop.turn("And for customer Emma Quastrom?", sql=COUNT, rows=[{"n": 3}], **session)
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    harvested = drafts()["And for customer Name1 Name2?"]["harvested"]
    assert harvested["asked_before"] == ["How many orders are pending?"]


@pytest.mark.parametrize("with_database", [True, False])
def test_sql_that_writes_is_never_run_nor_proposed(shop, drafts, with_database):
    """Not even on a database that would refuse it."""
    shop.turn("Remove the pending orders", sql="DELETE FROM orders", rows=[], answer="Done.")
    shop.ingest()
    shop.harvest(*(["--database", shop.url] if with_database else []))
    assert "reference_sql" not in drafts()["Remove the pending orders"]


def test_an_empty_store(shop, capsys):
    """It is said, and no file is made."""
    Store.open(shop.directory, write=True, create=True).close()
    assert shop.harvest() == 0
    assert "nothing to harvest: the store has no traces" in capsys.readouterr().out
    assert not (shop.folder / "new.yaml").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "new.yaml"], "harvest needs --store"),
        (["--store", "store"], "harvest needs -o"),
        (["--store", "store", "-o", "new.json"], "drafts are written as YAML"),
        (["--store", "nowhere", "-o", "new.yaml"], "there is no store here"),
        (["--store", "store", "-o", "no/new.yaml"], "is not a directory"),
        (["--store", "store", "-o", "new.yaml", "--trace", ""], "--trace is empty"),
        (["--store", "store", "-o", "new.yaml", "--slice"], "--slice needs --database"),
        (
            ["--store", "store", "-o", "new.yaml", "--tenant", "x"],
            "--tenant: expected COLUMN=VALUE",
        ),
        (["--store", "store", "-o", "broken.yaml"], "broken.yaml:1: unknown field(s) ['x']"),
        (["--store", "store", "-o", "flow.yaml", "--unmatched"], "is written in brackets"),
        (["--store", "store", "-o", "new.yaml", "--cases", "gone.yaml"], "cannot read file"),
    ],
)
def test_mistakes_of_the_user(shop, capsys, words, message):
    """Exit 2, and nothing is written."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    (shop.folder / "broken.yaml").write_text("- question: A?\n  x: 1\n")
    (shop.folder / "flow.yaml").write_text(json.dumps([{"question": "A?"}]))
    before = {path: path.stat().st_mtime_ns for path in shop.folder.glob("*.yaml")}
    assert main(["harvest", *words]) == 2
    assert message in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in shop.folder.glob("*.yaml")} == before


def test_a_template_of_a_question_is_no_duplicate(shop, drafts):
    """Other words in it ask for something else; another value does not."""
    for asked in (
        "What is the revenue of stores by region in 2024?",
        "What is the discount of brands by supplier in 2024?",
        "What is the revenue of stores by region in 2025?",
    ):
        shop.turn(asked, sql=COUNT, rows=[{"n": 3}])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    assert [item["harvested"]["count"] for item in drafts().values()] == [2, 1]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total of orders?", r"total-orders"),
        ("Größte Käufe im März?", r"grosste-kaufe-marz"),
        (
            "Which " + "extraordinarily " * 9 + "late?",
            r"extraordinarily-extraordinarily-extraordinarily",
        ),
        ("???", r"question-[0-9a-f]{6}"),
        ("顧客は何人いますか？", r"question-[0-9a-f]{6}"),
    ],
)
def test_ids_can_be_read(shop, drafts, question, expected):
    """Words of the question, or a digest where its script is another one."""
    shop.turn(question, sql=COUNT, rows=[{"n": 3}])
    shop.ingest()
    shop.harvest("--rules", shop.rules)
    assert re.fullmatch(expected, drafts()[question]["id"])


def test_a_mistyped_tenant_column_is_refused(shop, capsys):
    """No reference would be repaired, in silence; nothing is written."""
    assert shop.harvest("--database", shop.url, "--tenant", "tenantid=1") == 2
    assert "error: tenant column 'tenantid': no table of the database has it" in (
        capsys.readouterr().err
    )
