"""Properties that hold for any two results."""

import json
import random
import uuid
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dbagenteval.compare import RowOptions, canonical, compare_rows, rowsets

LONG = settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

integers = st.integers(-(10**20), 10**20) | st.integers(-3, 3)
decimals = st.decimals(-(10**12), 10**12, places=3, allow_nan=False) | st.sampled_from(
    [Decimal("0.005"), Decimal("2.665"), Decimal("-0.005")]
)
floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
words = st.text(min_size=0, max_size=4)
dates = st.dates()
stamps = st.datetimes()
instants = st.datetimes(
    datetime(2, 1, 1),
    datetime(9998, 1, 1),
    timezones=st.just(timezone.utc),
)
COLUMNS = {
    "integer": integers,
    "decimal": decimals,
    "float": floats,
    "text": words,
    "flag": st.booleans(),
    "date": dates,
    "stamp": stamps,
    "instant": instants,
    "uuid": st.uuids(),
    "bytes": st.binary(max_size=4),
    "list": st.lists(integers | words, max_size=3),
    "object": st.dictionaries(words, integers | words | st.none(), max_size=3),
}
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text(st.characters())
    | st.binary()
    | st.binary().map(memoryview)
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.timezones())
    | st.times()
    | st.timedeltas()
    | st.uuids()
    | st.builds(pow, st.just(10), st.just(5000))
    | st.just(Decimal("9E+999999"))
    | st.just(Decimal("-1E-999999"))
    | st.just(Decimal("sNaN"))
    | st.just("\ud800")
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def tables(draw, kinds=tuple(COLUMNS), min_rows=1):
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    count = draw(st.integers(min_rows, 7))
    cells = [
        draw(st.lists(COLUMNS[kind] | st.none(), min_size=count, max_size=count)) for kind in chosen
    ]
    names = [f"{kind}_{place}" for place, kind in enumerate(chosen)]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


seeds = st.integers(0, 10**6)


def shuffled(rows, seed):
    copy = list(rows)
    random.Random(seed).shuffle(copy)
    return copy


def renamed(rows, seed):
    names = list(rows[0])
    places = shuffled(range(len(names)), seed)
    return [{f"x{place}": row[names[place]] for place in places} for row in rows]


def widened(value):  # noqa: C901 - one line per type
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return float(value) if abs(value) < 2**53 else Decimal(value)
    if isinstance(value, Decimal):
        return str(value) if "E" not in str(value) else value
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(timezone(timedelta(hours=5, minutes=30)))
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, bytes):
        return memoryview(value)
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        return tuple(value)
    return value


def changed(value):  # noqa: C901 - one line per type
    if value is None:
        return 17
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value + abs(value) * 0.01 + 0.02 if abs(value) < 1e300 else 0.0
    if isinstance(value, Decimal):
        return value + 1 + abs(value) / 1000
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value.strip() + "x"
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, datetime):
        return value + timedelta(seconds=1) if value.year < 9999 else value - timedelta(seconds=1)
    if isinstance(value, date):
        return value + timedelta(days=1) if value < date.max else value - timedelta(days=1)
    if isinstance(value, uuid.UUID):
        return uuid.UUID(int=(value.int + 1) % 2**128)
    if isinstance(value, list):
        return [*value, 1]
    return {**value, "other key": 1}


def check_reflexive(rows, seed):
    found = compare_rows(rows, rows)
    assert found.equal
    assert found.notes == ()
    assert compare_rows(rows, rows, RowOptions(ordered=True)).equal
    assert compare_rows(rows, rows, RowOptions(tolerance={"absolute": 0.0})).equal
    assert compare_rows(rows, shuffled(rows, seed)).equal


def check_invariant(rows, seed):
    assert compare_rows(rows, shuffled(renamed(rows, seed), seed)).equal
    assert compare_rows(shuffled(renamed(rows, seed), seed), rows).equal
    wide = [{name: widened(value) for name, value in row.items()} for row in rows]
    assert compare_rows(rows, wide).equal
    assert compare_rows(wide, rows).equal
    more = [{**row, "one_more": place} for place, row in enumerate(wide)]
    assert compare_rows(rows, shuffled(more, seed)).equal
    assert not compare_rows(rows, more, RowOptions(extra_columns="fail")).equal


def check_change(rows, seed):
    pick = random.Random(seed)
    place, name = pick.randrange(len(rows)), pick.choice(list(rows[0]))
    other = [dict(row) for row in rows]
    other[place][name] = changed(rows[place][name])
    for actual in (other, shuffled(other, seed), renamed(other, seed)):
        for options in (None, RowOptions(tolerance={"relative": 1e-9}), RowOptions(precision=4)):
            found = compare_rows(rows, actual, options)
            assert not found.equal
            assert found.reason
            json.dumps(found.evidence)
            assert not compare_rows(actual, rows, options).equal


@SHORT
@given(tables(), seeds)
def test_a_result_equals_itself_in_any_order(rows, seed):
    """Rows equal themselves without a note, shuffled too."""
    check_reflexive(rows, seed)


@SHORT
@given(tables(), seeds)
def test_renaming_widening_and_extra_columns_change_nothing(rows, seed):
    """Other names, wider types and one more column keep the verdict."""
    check_invariant(rows, seed)


@SHORT
@given(tables(), seeds)
@example([{"a": -1, "b": 5}, {"a": 3, "b": 4}], 0)
def test_a_changed_cell_never_passes(rows, seed):
    """One cell changed by more than the tolerance fails, whatever the names and the order."""
    check_change(rows, seed)


@SHORT
@given(tables(), tables())
def test_comparison_is_symmetric_on_the_same_columns(rows, other):
    """With the same column names on both sides the direction does not matter."""
    names = [f"c{place}" for place in range(min(len(rows[0]), len(other[0])))]
    ours = [dict(zip(names, row.values(), strict=False)) for row in rows]
    theirs = [dict(zip(names, row.values(), strict=False)) for row in other]
    assert compare_rows(ours, theirs).equal == compare_rows(theirs, ours).equal


@SHORT
@given(
    st.lists(st.dictionaries(st.sampled_from("abcA"), anything, max_size=3), max_size=4),
    st.lists(st.dictionaries(st.sampled_from("abdA"), anything, max_size=3), max_size=4),
)
def test_no_value_crashes_the_comparison(rows, other):
    """Any Python value may be in a cell: there is a verdict, and evidence that JSON can hold."""
    for ours, theirs in ((rows, other), (rows, rows), (other, rows)):
        found = compare_rows(ours, theirs)
        json.dumps(found.evidence).encode()
        compare_rows(ours, theirs, RowOptions(ordered=True, tolerance={"relative": 0.1}))
    assert compare_rows(rows, rows).equal
    for row in rows:
        for value in row.values():
            assert isinstance(canonical(value), str)


@SHORT
@given(
    tables(kinds=("integer", "float", "decimal", "text", "flag", "date", "stamp", "instant")),
    seeds,
    st.booleans(),
)
def test_the_path_for_large_results_gives_the_same_verdicts(rows, seed, is_changed):
    """Arrow and the plain path agree on equal, renamed and changed results."""
    check_paths_agree(rows, seed, is_changed)


def check_paths_agree(rows, seed, is_changed):
    other = shuffled(rows, seed)
    if is_changed:
        other[0] = {name: changed(value) for name, value in other[0].items()}
    for actual in (other, renamed(other, seed), [dict(row) for row in rows[:1]] + other[1:]):
        for options in (RowOptions(), RowOptions(ordered=True), RowOptions(precision=0)):
            plain = compare_rows(rows, actual, options)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(rowsets, "_LARGE_CELLS", 0)
                assert compare_rows(rows, actual, options).equal == plain.equal


@pytest.mark.slow
@LONG
@given(tables(), seeds, st.booleans())
def test_long_run_of_all_properties(rows, seed, is_changed):
    """All of the above, many times."""
    check_reflexive(rows, seed)
    check_invariant(rows, seed)
    check_change(rows, seed)
    check_paths_agree(rows, seed, is_changed)
