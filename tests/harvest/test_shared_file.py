"""Several writers of one file of drafts: none of them loses what another has written."""

import yaml

import dbagenteval.harvest.harvest as harvesting
from dbagenteval import load_cases
from dbagenteval.cli.case_files import replaced
from dbagenteval.harvest.casefile import read_case_file
from tests.harvest.shop_agents import QUESTIONS

OURS = "# ours\n- id: customers\n  question: Who are we?\n  reference_sql: SELECT 1\n"


def harvested(shop, *options):
    """Harvest with data for each draft; give the exit code."""
    tenant = ["--rules", shop.rules, "--tenant", "tenant_id=1"]
    return shop.harvest("--database", shop.url, "--slice", *tenant, *options)


def test_what_is_written_while_a_harvest_runs_stays(shop, monkeypatch):
    """The harvest looks again: ids that were taken meanwhile are not given twice."""
    shop.ask("old", *QUESTIONS[:2])
    shop.ingest()
    path = shop.folder / "new.yaml"
    harvest = harvesting.harvest

    def slow(*args, **options):
        found = harvest(*args, **options)
        if not path.exists():
            path.write_text(OURS)
        return found

    monkeypatch.setattr(harvesting, "harvest", slow)
    assert harvested(shop) == 0
    assert shop.new.startswith(OURS)
    ids = [case.id for case in load_cases(path)]
    assert len(ids) == 3
    assert ids[0] == "customers"
    assert ids[1].startswith("customers-")


def test_a_question_that_someone_else_harvests_meanwhile_is_not_harvested_twice(shop, monkeypatch):
    """Two harvests of one store at the same time leave what one would."""
    shop.ask("old", *QUESTIONS)
    shop.ingest()
    harvest = harvesting.harvest

    def other_first(*args, **options):
        monkeypatch.setattr(harvesting, "harvest", harvest)
        found = harvest(*args, **options)
        assert harvested(shop) == 0
        return found

    monkeypatch.setattr(harvesting, "harvest", other_first)
    assert harvested(shop) == 0
    assert [case.question for case in load_cases("new.yaml")] == QUESTIONS


def test_a_file_that_has_changed_is_not_replaced(tmp_path):
    """Neither it nor the data beside it."""
    path = tmp_path / "cases.yaml"
    path.write_text(OURS)
    before = read_case_file(path)
    path.write_text(OURS + "# more\n")
    data = {tmp_path / "cases.data" / "a.sql": "CREATE TABLE t (a INTEGER);"}
    after = before.with_cases([{"id": "a", "question": "A?", "sql": "none"}])
    assert not replaced(before, after, data)
    assert path.read_text() == OURS + "# more\n"
    assert not (tmp_path / "cases.data").exists()
    path.write_text(OURS)
    assert replaced(before, after, data)
    assert path.read_text() == after.text
    assert (tmp_path / "cases.data" / "a.sql").read_text() == "CREATE TABLE t (a INTEGER);"


def test_a_case_that_was_given_another_id_keeps_its_data(shop):
    """A later draft of the old id has a script of its own."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    assert harvested(shop) == 0
    script = (shop.folder / "new.data" / "customers.sql").read_text()
    text = shop.new.replace("- id: customers\n", "- id: count\n")
    text = text.replace(f"question: {QUESTIONS[0]}", "question: How many people buy here?")
    text = text.replace("trace: ", "trace: of-another-store-")
    (shop.folder / "new.yaml").write_text(text)
    shop.turn("What customers?", sql="SELECT customer_id FROM customers", rows=[{"customer_id": 1}])
    shop.ingest()
    assert harvested(shop, "--rule", "tenant_filter") == 0
    data = {item["id"]: item["data"] for item in yaml.safe_load(shop.new)}
    assert data.pop("count") == "new.data/customers.sql"
    assert "new.data/customers.sql" not in data.values()
    assert (shop.folder / "new.data" / "customers.sql").read_text() == script


def test_questions_that_differ_by_names_alone_are_one_draft(shop):
    """Without the names they are the same, and one case can't be asked three ways."""
    for name, sql in (
        ("Emma Quastrom", "SELECT SUM(total) AS s FROM orders WHERE customer_id IN "
         "(SELECT customer_id FROM customers WHERE full_name = 'Emma Quastrom')"),
        ("Bo Lind", "SELECT SUM(o.total) AS s FROM orders o JOIN customers c "
         "ON c.customer_id = o.customer_id WHERE c.full_name = 'Bo Lind'"),
        ("Anna Rask", "SELECT SUM(total) AS s FROM orders, customers "
         "WHERE full_name = 'Anna Rask'"),
    ):  # fmt: skip
        shop.turn(f"How much has customer {name} paid?", sql=sql, rows=[{"s": 1}])
    shop.ingest()
    assert shop.harvest("--rules", shop.rules) == 0
    (item,) = yaml.safe_load(shop.new)
    assert item["question"] == "How much has customer Name1 Name2 paid?"
    assert item["harvested"]["count"] == 3
    first = shop.new
    assert shop.harvest("--rules", shop.rules) == 0
    assert shop.new == first


def test_an_id_is_never_given_twice(shop):
    """Whatever ids are taken already."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    shop.harvest()
    taken = "- id: customers\n  question: A?\n  sql: none\n"
    path = shop.folder / "new.yaml"
    path.write_text(taken)
    shop.harvest()
    longer = load_cases(path)[1].id
    path.write_text(taken + f"- id: {longer}\n  question: B?\n  sql: none\n")
    shop.harvest()
    assert [case.id for case in load_cases(path)] == ["customers", longer, f"{longer}-2"]


def test_data_that_can_t_be_written_is_said(shop, capsys):
    """And no draft is written without its data."""
    shop.ask("old", QUESTIONS[0])
    shop.ingest()
    (shop.folder / "new.data").write_text("")
    assert harvested(shop) == 2
    assert "error: cannot write " in capsys.readouterr().err
    assert not (shop.folder / "new.yaml").exists()
