"""A small agent that answers questions about the shop, instrumented with opentelemetry-sdk only.

    python agent.py --database shop.db --endpoint http://127.0.0.1:4318

It stands for any agent: where a real one asks a language model for the SQL, this one looks it up,
so that it runs anywhere and always makes the same mistakes. Nothing here imports dbagenteval: five
span attributes (`dbagenteval.*` and `db.query.text`) are all that the evaluator needs.
"""

import argparse
import json
import sqlite3
import sys
from pathlib import Path

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

STORE = "s1"

# question: (table, SQL, answer). The language model of this agent.
LEARNED = {
    "How many orders are delivered?": (
        "orders",
        "SELECT COUNT(*) AS delivered FROM orders WHERE store_id = 's1' AND status = 'DELIVERED'",
        "{delivered} orders are delivered.",
    ),
    # The planted mistake: no store filter, so the amounts of the other store are added.
    "What is the total amount of delivered orders?": (
        "orders",
        "SELECT SUM(amount) AS total FROM orders WHERE status = 'DELIVERED'",
        "Delivered orders are worth {total} in total.",
    ),
    "Which customer ordered the most often?": (
        "orders",
        "SELECT c.name, COUNT(*) AS orders FROM orders AS o JOIN customers AS c"
        " ON c.customer_id = o.customer_id AND c.store_id = o.store_id"
        " WHERE o.store_id = 's1' GROUP BY c.customer_id, c.name"
        " ORDER BY orders DESC, c.name LIMIT 1",
        "{name} ordered most often, {orders} times.",
    ),
    "How many customers live in Leeds?": (
        "customers",
        "SELECT COUNT(*) AS customers FROM customers WHERE store_id = 's1' AND city = 'Leeds'",
        "{customers} customer lives in Leeds.",
    ),
    "What was the largest order?": (
        "orders",
        "SELECT order_id, amount FROM orders WHERE store_id = 's1' ORDER BY amount DESC LIMIT 1",
        "The largest order is number {order_id}, worth {amount}.",
    ),
    "Hello, what can you do?": (None, None, "I answer questions about the orders of your store."),
}

tracer = trace.get_tracer("shop-agent")


def answer(question, database):
    """Answer one question; every step is a span, the turn is the span around them."""
    table, sql, wording = LEARNED[question]
    with tracer.start_as_current_span("ask", attributes={"dbagenteval.question": question}):
        values = {}
        if sql is not None:
            with tracer.start_as_current_span("choose table") as span:
                span.set_attribute("dbagenteval.stage", "route")
                span.set_attribute("dbagenteval.output", table)
            with tracer.start_as_current_span("write sql") as span:
                span.set_attribute("dbagenteval.stage", "generate")
                span.set_attribute("db.query.text", sql)
            with tracer.start_as_current_span("run sql") as span:
                span.set_attribute("dbagenteval.stage", "execute")
                span.set_attribute("db.query.text", sql)
                span.set_attribute("db.system.name", "sqlite")
                rows = [dict(row) for row in database.execute(sql)]
                span.set_attribute("dbagenteval.rows", json.dumps(rows))
            values = rows[0]
        with tracer.start_as_current_span("write answer") as span:
            text = wording.format(**values)
            span.set_attribute("dbagenteval.stage", "answer")
            span.set_attribute("dbagenteval.output", text)
    return text


def open_shop(path):
    """Open the shop's database for reading; make it from shop.sql if it isn't there."""
    if not Path(path).exists():
        with sqlite3.connect(path) as database:
            database.executescript(Path(__file__).with_name("shop.sql").read_text(encoding="utf-8"))
        database.close()
    database = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    return database


def main():
    """Answer every question that the agent knows, and send the spans."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", required=True, help="SQLite file, made if missing")
    parser.add_argument("--endpoint", default="http://127.0.0.1:4318", help="OTLP/HTTP receiver")
    options = parser.parse_args()

    provider = TracerProvider(resource=Resource.create({"service.name": "shop-agent"}))
    exporter = OTLPSpanExporter(endpoint=f"{options.endpoint}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)

    database = open_shop(options.database)
    for question in LEARNED:
        print(f"> {question}\n  {answer(question, database)}")
    delivered = provider.force_flush()
    provider.shutdown()
    return 0 if delivered else 1


if __name__ == "__main__":
    sys.exit(main())
