"""Four small agents against one reference SQL: run with `python -m examples.reference_check`."""

import sqlite3

from dbagenteval import Scorecard, Trace, check_question

QUESTION = "How many orders are delivered?"
REFERENCE_SQL = "SELECT COUNT(*) FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"


def run_sql(sql):
    """Run one SQL query and return the rows as a list of dicts."""
    db = sqlite3.connect(":memory:")
    try:
        db.row_factory = sqlite3.Row
        db.execute("CREATE TABLE orders (store_id, status)")
        db.executemany(
            "INSERT INTO orders VALUES (?, ?)",
            [("s1", "DELIVERED"), ("s1", "DELIVERED"), ("s1", "CANCELLED"), ("s2", "DELIVERED")],
        )
        return [dict(row) for row in db.execute(sql)]
    finally:
        db.close()


def right_sql(question):
    """Write the right query."""
    sql = "SELECT COUNT(*) AS total FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'"
    return _answered(question, sql)


def sql_without_store_filter(question):
    """Count the orders of every store."""
    return _answered(question, "SELECT COUNT(*) AS total FROM orders WHERE status = 'DELIVERED'")


def wrong_text_only(_question):
    """Give only a text, with a wrong number."""
    return "There are 7 delivered orders."


async def right_text_only(_question):
    """Give only a text, with the right number, from an async function."""
    return "There are 2 delivered orders."


def _answered(question, sql):
    rows = run_sql(sql)
    answer = f"There are {rows[0]['total']} delivered orders."
    return Trace.simple(question, answer=answer, sql=sql, rows=rows)


def main() -> list[Scorecard]:
    """Check each agent, print its scorecard, and return all four."""
    cards = []
    for agent in (right_text_only, wrong_text_only, sql_without_store_filter, right_sql):
        card = check_question(agent, QUESTION, REFERENCE_SQL, execute=run_sql)
        print(f"--- {agent.__name__}")
        print(card.summary())
        cards.append(card)
    return cards


if __name__ == "__main__":
    main()
