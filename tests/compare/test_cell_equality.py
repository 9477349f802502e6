"""What equals what: the table of docs/comparison.md, both directions."""

import math
from collections import OrderedDict
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pytest

from dbagenteval.compare import RowOptions, compare_rows

UTC = timezone.utc
EQUAL = [
    (2, 2.0),
    (2, "2.00"),
    (2.0, Decimal("2.00")),
    (2.665, 2.67),
    (Decimal("2.665"), Decimal("2.67")),
    (-2.665, -2.67),
    (0.001, 0.004),
    (0.125, 0.12499999999),
    (Decimal("0.125"), 0.12499999999),
    (1e26, 10**26),
    (2.0**63, 2**63),
    (2.0**63, Decimal(2**63)),
    (123456789012345678.0, 123456789012345680.0),
    (1e15 + 0.25, 1e15 + 0.375),
    (0.1 + 0.2, 0.3),
    (0.0, -0.0),
    (-0.001, 0),
    (Decimal("1E+3"), 1000),
    (Decimal("123456789012345678901234567.50"), Decimal("123456789012345678901234567.5")),
    (".5", 0.5),
    ("+5", 5),
    ("1e3", 1000),
    ("NaN", math.nan),
    ("Infinity", math.inf),
    (math.inf, Decimal("Infinity")),
    (math.nan, Decimal("NaN")),
    (math.nan, None),
    (None, ""),
    (None, "  "),
    (True, 1),
    (False, 0),
    (True, "true"),
    (True, "t"),
    (False, "False"),
    (True, "1"),
    ("caf\u00e9", "cafe\u0301"),
    ("AB", "AB   "),
    (date(2024, 1, 1), datetime(2024, 1, 1)),
    (date(2024, 1, 1), "2024-01-01"),
    (date(2024, 1, 1), "2024-01-01 00:00:00"),
    ("2024-01-01", "2024-01-01T00:00:00"),
    (datetime(2024, 1, 1, 5), "2024-01-01T05:00:00"),
    (datetime(2024, 1, 1, 5), "2024-01-01 05:00"),
    (datetime(2024, 1, 1, 5, 0, 0, 500_000), "2024-01-01 05:00:00.5"),
    (datetime(2024, 1, 1, 5, tzinfo=UTC), "2024-01-01T05:00:00Z"),
    (datetime(2024, 1, 1, 5, tzinfo=UTC), "2024-01-01 06:00:00+01"),
    (
        datetime(2024, 1, 1, 5, tzinfo=UTC),
        datetime(2024, 1, 1, 6, tzinfo=timezone(timedelta(hours=1))),
    ),
    (time(10, 30), "10:30:00"),
    (time(10, 30), timedelta(hours=10, minutes=30)),
    (timedelta(days=2, hours=1), "2 days, 1:00:00"),
    (timedelta(days=-1, hours=1), "-1 day, 1:00:00"),
    (timedelta(hours=-2), "-02:00:00"),
    (time(10, 30, tzinfo=UTC), time(11, 30, tzinfo=timezone(timedelta(hours=1)))),
    (b"ab", memoryview(b"ab")),
    (b"ab", bytearray(b"ab")),
    (b"ab", "\\x6162"),
    (b"ab", "ab"),
    (UUID(int=10), "0000000000000000000000000000000A"),
    (UUID(int=10), "00000000-0000-0000-0000-00000000000A"),
    ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000A"),
    ({"a": 1, "b": [1, 2.0]}, OrderedDict(b=[1, 2], a=1)),
    ({"a": 1}, '{"a": 1.0}'),
    ('{"a": 1, "b": 2}', '{"b":2,"a":1}'),
    ([1, 2], (1, 2.0)),
    ([1, None], "[1, null]"),
    ([datetime(2024, 1, 1)], ["2024-01-01T00:00:00"]),
    ([0.1 + 0.2], [0.3]),
    (pa.scalar(5), 5),
    (pa.scalar(Decimal("1.50")), 1.5),
    (10**5000, 10**5000),
    ("\ud800", "\ud800"),
    (2**70, Decimal(2**70)),
]
DIFFERENT = [
    (1, 2),
    (2.66, 2.67),
    (10**26, 10**26 + 1),
    (9007199254740993, 9007199254740992),
    (1234567890123456.0, 1234567890123457.0),
    (Decimal("9007199254740993.01"), Decimal("9007199254740993.02")),
    (123456789012.34, 123456789012.35),
    (-1, 1),
    (-1, -2),
    ("01234", 1234),
    ("1E5", "100000"),
    ("1.10", "1.1"),
    ("10.001", "10.004"),
    ("5 ", "6"),
    ("1,000", 1000),
    ("\u0663", 3),
    (True, 5),
    (True, False),
    (True, "yes"),
    (True, "f"),
    ("true", 1),
    (None, 0),
    (None, False),
    (None, "null"),
    (math.nan, 0),
    (math.inf, -math.inf),
    (math.inf, 1e308),
    ("A", "a"),
    ("a b", "ab"),
    (date(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 1)),
    (date(2024, 1, 1), date(2024, 1, 2)),
    (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
    (date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
    (datetime(2024, 1, 1, 0, 0, 0, 1), datetime(2024, 1, 1)),
    ("2024-01-01T05:00:00", "2024-01-01T05:00:00Z"),
    ("2024-13-01", "2024-12-01"),
    (date(2024, 1, 1), 20240101),
    (date(2024, 1, 1), 738886),
    (time(10, 30), "10:31"),
    (timedelta(hours=1), 3600),
    (b"ab", b"abc"),
    (b"ab", "6162"),
    (UUID(int=10), UUID(int=11)),
    (UUID(int=10), 10),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"b": 1}),
    ({"a": True}, {"a": 1}),
    ({"a": None}, {}),
    ([1, 2], [2, 1]),
    ([[1], 2], [[1, 2]]),
    (["a", "b"], [["a"], "b"]),
    ([1], 1),
    ({}, []),
    ([], None),
    ([], "[]x"),
    (10**5000, 10**5000 + 1),
    (Decimal("9E+999999"), Decimal("8E+999999")),
    ("\ud800", "\ud801"),
]


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("pair", EQUAL, ids=lambda pair: ascii(type(pair[0]).__name__))
def test_equal_cells(pair, swap):
    """Cells that mean the same are equal, whichever side they stand on."""
    left, right = reversed(pair) if swap else pair
    assert compare_rows([{"x": left}], [{"x": right}]).equal
    assert compare_rows([{"x": left}], [{"y": right}], RowOptions(ordered=True)).equal


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("pair", DIFFERENT, ids=lambda pair: ascii(type(pair[0]).__name__))
def test_different_cells(pair, swap):
    """Cells that may mean something else are different, whichever side they stand on."""
    left, right = reversed(pair) if swap else pair
    assert not compare_rows([{"x": left}], [{"x": right}]).equal
    assert not compare_rows([{"x": left}], [{"y": right}], RowOptions(ordered=True)).equal
    assert not compare_rows([{"x": left}], [{"x": right}], RowOptions(tolerance={})).equal


def test_types_of_numpy_and_pandas_are_read_by_shape():
    """Scalars that offer `tolist` and `dtype`, and the missing values of pandas, are plain values."""

    class Scalar:
        dtype = "int64"

        def tolist(self):
            return 5

    missing = type("NAType", (), {})
    assert compare_rows([{"x": 5}, {"x": None}], [{"x": Scalar()}, {"x": missing()}]).equal
    assert not compare_rows([{"x": 6}], [{"x": Scalar()}]).equal


def test_a_text_column_is_read_as_numbers_only_beside_numbers():
    """The same two texts agree in a column that holds numbers and differ in one that does not."""
    texts = [{"x": "1.10"}], [{"x": "1.1"}]
    assert not compare_rows(*texts).equal
    mixed = [{"x": "1.10"}, {"x": 3}], [{"x": "1.1"}, {"x": 3}]
    assert compare_rows(*mixed).equal


def test_huge_precision_and_extreme_numbers_end_soon():
    """Precisions far beyond the digits and extreme exponents are exact and quick."""
    rows = [
        {"x": Decimal("0.1")},
        {"x": Decimal("9E+999999")},
        {"x": Decimal("1E-999999")},
        {"x": 7},
    ]
    for precision in (0, 28, 40, 1000):
        assert compare_rows(rows, rows[::-1], RowOptions(precision=precision)).equal
    tiny = [{"x": Decimal("1E-40")}], [{"x": Decimal("2E-40")}]
    assert compare_rows(*tiny, RowOptions(precision=30)).equal
    assert not compare_rows(*tiny, RowOptions(precision=40)).equal
