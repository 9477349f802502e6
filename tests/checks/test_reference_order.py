"""Where order counts, the reference's ORDER BY says which rows tie."""

import pytest

from dbagenteval import Case, Trace, evaluate
from dbagenteval.checks.sql_text import order_columns

NAMES = ["day", "n"]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT day, n FROM t", ()),
        ("SELECT day, n FROM t ORDER BY n DESC, day", ("n", "day")),
        ("SELECT day, n FROM t ORDER BY 2 DESC NULLS LAST LIMIT 3", ("n",)),
        ('SELECT t.day, t.n FROM t ORDER BY t."N" ASC;', ("n",)),
        ("SELECT day, COUNT(*) AS n FROM t GROUP BY day ORDER BY COUNT(*) DESC", ("n",)),
        ("SELECT day, n FROM t ORDER BY day_no", ("(day_no)",)),
        ("SELECT day, n FROM t ORDER BY lower(day), n", ("(lower ( day ))", "n")),
        ("SELECT day, n FROM (SELECT * FROM t ORDER BY n) s", ()),
        ("SELECT day, SUM(n) OVER (ORDER BY day) AS n FROM t", ()),
        ("SELECT day, n FROM t ORDER BY CASE WHEN n > 1 THEN 1 ELSE 2 END, day", None),
    ],
)
def test_the_order_is_read_off_the_query(sql, columns):
    """Names, positions, aliases of expressions; what is no output column stays its text."""
    found = order_columns(sql, NAMES)
    if columns is None:
        assert found[0] not in NAMES
        assert found[1] == "day"
    else:
        assert found == columns


def _verdict(order, rows, got, **case):
    sql = f"SELECT day, n FROM t ORDER BY {order}"
    trace = Trace.simple("q", sql=sql, rows=got)
    card = evaluate(trace, Case("q", reference_sql=sql, **case), execute=lambda _sql: rows)
    return card.verdict


MON, TUE, WED = {"day": "Mon", "n": 5}, {"day": "Tue", "n": 5}, {"day": "Wed", "n": 3}


@pytest.mark.parametrize(
    ("order", "got", "verdict"),
    [
        ("n DESC", [TUE, MON, WED], "PASS"),  # Mon and Tue tie
        ("n DESC", [WED, MON, TUE], "FAIL"),
        ("n DESC, day", [TUE, MON, WED], "FAIL"),
        ("day_no", [TUE, MON, WED], "FAIL"),  # ordered by what nobody sees: as it came
        ("day_no", [MON, TUE, WED], "PASS"),
    ],
)
@pytest.mark.parametrize("ordered", [True, "auto"])
def test_only_rows_that_tie_may_change_places(order, got, verdict, ordered):
    """A guess from the rows would let other rows change places too."""
    assert _verdict(order, [MON, TUE, WED], got, ordered=ordered) == verdict
