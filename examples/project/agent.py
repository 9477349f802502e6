"""A scripted agent for this example; a real one asks a language model to write the SQL."""

from pathlib import Path

import duckdb

from dbagenteval import Trace

DATABASE = Path(__file__).parent / "bakery.duckdb"

KNOWN = {
    "revenue": (
        "SELECT SUM(amount) AS net FROM main.orders "
        "WHERE status <> 'returned' AND order_date >= DATE '2024-01-01'"
    ),
    "refund": (
        "SELECT SUM(amount) AS refunded FROM main.orders "
        "WHERE status = 'returned' AND order_date >= DATE '2024-01-01'"
    ),
    "each city": "SELECT city, COUNT(*) AS people FROM main.customers GROUP BY city",
    "biggest": (
        "SELECT id, amount FROM main.orders WHERE order_date >= DATE '2024-01-01' "
        "ORDER BY amount DESC LIMIT 3"
    ),
}


def answer(question: str) -> Trace:
    if "e-mail" in question:
        return Trace.simple(question, answer="I can't share e-mail addresses: they are protected.")
    sql = next((sql for word, sql in KNOWN.items() if word in question), None)
    if sql is None:
        return Trace.simple(question, answer="Which orders do you mean?")
    with duckdb.connect(str(DATABASE), read_only=True) as connection:
        result = connection.execute(sql)
        columns = [column[0] for column in result.description]
        rows = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
    text = "; ".join(", ".join(str(value) for value in row.values()) for row in rows)
    return Trace.simple(question, answer=f"Here it is: {text}", sql=sql, rows=rows)
