"""Materialized views of PostgreSQL are tables like others."""

import psycopg

from dbagenteval.cases import Case
from dbagenteval.slices import SameFailure, rows_differ, slice_data


def test_a_materialized_view_is_sliced(postgres_url):
    """Its rows are read, and become a table of the script."""
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "CREATE TABLE orders AS SELECT n, n % 3 AS kind FROM generate_series(1, 9) n"
        )
        connection.execute("CREATE MATERIALIZED VIEW kinds AS SELECT kind, SUM(n) AS s FROM orders GROUP BY 1")  # fmt: skip
    agent, reference = "SELECT SUM(s) FROM kinds", "SELECT SUM(s) FROM kinds WHERE kind > 0"
    failure = SameFailure(rows_differ(agent, Case("?", reference_sql=reference)))
    found = slice_data(postgres_url, [agent, reference], failure)
    assert found.tables == ("kinds",)
    assert min(found.rows["kinds"]) == (0, 18)
    assert found.row_count == 2
