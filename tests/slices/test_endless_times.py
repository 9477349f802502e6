"""Times without end in PostgreSQL."""

import psycopg

from dbagenteval.cases import Case
from dbagenteval.slices import SameFailure, rows_differ, slice_data


def test_rows_that_are_valid_for_ever_are_sliced(postgres_url):
    """`infinity` is read, stays what it is, and compares as a time on the script."""
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE prices (price int, since date, until timestamptz)")
        connection.execute(
            "INSERT INTO prices VALUES (5, '-infinity', '2020-01-01'),"
            " (7, '2020-01-01', 'infinity'), (9, '2024-01-01', 'infinity')"
        )
    agent = "SELECT SUM(price) FROM prices"
    reference = f"{agent} WHERE until > '2025-01-01'"
    failure = SameFailure(rows_differ(agent, Case("?", reference_sql=reference)))
    found = slice_data(postgres_url, [agent, reference], failure)
    assert '"since" DATE' in found.script
    assert '"until" TIMESTAMPTZ' in found.script
    assert "'-infinity', '2020-01-01 00:00:00" in found.script
    assert ", 'infinity')" in found.script
    assert found.row_count == 2
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP TABLE prices")
        connection.execute(found.script)
        sums = [connection.execute(sql).fetchone() for sql in found.statements]
    assert sums[0] != sums[1]
