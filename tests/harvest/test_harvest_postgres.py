"""Harvesting with a PostgreSQL database: proposals, their rows, and the data of a draft."""

import psycopg
import pytest

from dbagenteval import load_cases
from tests.harvest.shop_agents import SHOP

QUESTION = "How many orders were placed per day by customer Emma Quastrom?"
SQL = (
    "SELECT date_trunc('day', o.placed) AS day, COUNT(*)::int AS n FROM orders o "
    "JOIN customers c USING (customer_id) WHERE c.full_name ILIKE 'emma quastrom' GROUP BY 1"
)


@pytest.fixture
def database(postgres_url):
    """The shop in PostgreSQL, with days."""
    with psycopg.connect(postgres_url) as connection:
        connection.execute(SHOP)
        connection.execute("ALTER TABLE orders ADD COLUMN placed timestamptz DEFAULT '2026-01-31'")
    return postgres_url


def test_a_draft_from_postgres(shop, database):
    """Its SQL stays PostgreSQL's, and runs on the data in the sandbox."""
    shop.turn(
        QUESTION, sql=SQL, rows=[{"day": "2026-01-31", "n": 3}], **{"db.system": "postgresql"}
    )
    shop.ingest()
    options = ["--rules", shop.rules, "--database", database, "--tenant", "tenant_id=1", "--slice"]
    assert shop.harvest(*options) == 0
    (draft,) = load_cases(shop.folder / "new.yaml")
    assert draft.harvested["reference_rows"][0]["n"] == 2
    assert draft.data is not None
    assert "date_trunc" in draft.reference_sql.lower()
    assert "quastrom" not in shop.new.casefold()
    code, report = shop.report("score", "new.yaml", "--store", str(shop.directory))
    assert code == 1
    assert report["drafts"] == [draft.id]
    text = shop.new.replace("  status: draft\n", "")
    (shop.folder / "new.yaml").write_text(text.replace(draft.question, QUESTION))
    _, report = shop.report("score", "new.yaml", "--store", str(shop.directory))
    (card,) = report["cases"]
    assert card["verdict"] == "FAIL"
    assert card["failed_check"] == "reference_rows"
