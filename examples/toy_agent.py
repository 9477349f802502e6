"""A small online-store agent that records every step it takes.

It stands for a real agent: the "model" is a table of known questions, the rest is real. One of
its queries forgets the store filter and gives the right number by luck.

    dbagenteval run examples/cases.yaml --agent examples.toy_agent:agent \
        --rules examples.toy_agent:RULES --execute examples.toy_agent:run_sql
"""

import sqlite3

from dbagenteval import NumbersGrounded, Trace
from dbagenteval.rules import AllowedTables, ReadOnly, TenantFilter

STORE = "s1"

# (store_id, status, category, amount). Only store s1 has cancelled orders today.
ORDERS = [
    ("s1", "DELIVERED", "Electronics", 1200),
    ("s1", "DELIVERED", "Books", 800),
    ("s1", "PENDING", "Books", 150),
    ("s1", "CANCELLED", "Toys", 500),
    ("s2", "DELIVERED", "Electronics", 9900),
    ("s2", "PENDING", "Toys", 70),
]

RULES = [
    ReadOnly(dialect="sqlite"),
    TenantFilter("store_id", value=STORE, dialect="sqlite"),
    AllowedTables(from_stage="view", dialect="sqlite"),
    NumbersGrounded(),
]

# What a model would write: the columns it needs, the SQL, how it words the answer.
WRITTEN = {
    "How many orders are delivered?": (
        ["status"],
        "SELECT COUNT(*) AS total FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'",
        "{total} orders are delivered.",
    ),
    "What do delivered orders bring in?": (
        ["status", "amount"],
        "SELECT SUM(amount) AS total FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'",
        "Delivered orders bring in {total}.",
    ),
    "How many orders are cancelled?": (
        ["status"],
        "SELECT COUNT(*) AS total FROM orders WHERE status = 'CANCELLED'",
        "There is {total} cancelled order.",
    ),
}


def run_sql(sql):
    """Run one SQL query on the shop's database and return the rows as a list of dicts."""
    db = sqlite3.connect(":memory:")
    try:
        db.row_factory = sqlite3.Row
        db.execute("CREATE TABLE orders (store_id, status, category, amount)")
        db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ORDERS)
        return [dict(row) for row in db.execute(sql)]
    finally:
        db.close()


def agent(question):
    """Answer one question and return the trace of all steps."""
    lowered = question.lower()
    if any(word in lowered for word in ("delete", "drop", "update")):
        return _without_data(question, "refusal", "Sorry, I only read data and change nothing.")
    if question not in WRITTEN:
        return _without_data(question, "smalltalk", "Hello! Ask me about the orders of your store.")
    columns, sql, wording = WRITTEN[question]
    rows = run_sql(sql)
    return Trace(
        question,
        [
            {"kind": "route", "name": "classify", "output": "data_question"},
            {"kind": "route", "name": "view", "output": "orders"},
            {"kind": "retrieve", "output": columns},
            {"kind": "generate", "output": sql},
            {"kind": "execute", "rows": rows},
            {"kind": "answer", "output": wording.format(**rows[0])},
        ],
    )


def _without_data(question, kind, answer):
    return Trace(
        question,
        [
            {"kind": "route", "name": "classify", "output": kind},
            {"kind": "answer", "output": answer},
        ],
    )
