"""Any text as an answer: no crash, no hang, time that grows with its length only."""

import random
import time
from datetime import date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbagenteval.answers import read_figures
from dbagenteval.cases import Case
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.numbers import NumbersGrounded, reference_numbers, states_value
from dbagenteval.traces import Trace

PIECES = [
    "1", "0", "12", "999", "1,234", "1.234,5", "1 200", "3,45", ".75", "1e6", "10^6", "½", "٣", "五", "万", "億",
    "million", " bn", "k", "M", "%", "percent", "-", "−", "+", "(", ")", "$", "€", "Rs.", "USD", "#", "*", "**", "_",
    "`", "```sql", "|", "\n", "\n- ", "\n1. ", "\n| a | b |\n|---|---|\n", " ", "\u00a0", ".", ",", ";", ":", "/", "'",
    "http://x.y/1", "a@b.cd", "2024", "2024-05-06", "05/06/24", "May 6", "Q3", "14:30", "+49 30 5550 1212", "v1.2.3",
    "ORD-17", "205E08", "twelve", "two hundred and", "zwei", "vingt", "one", "half", "dozen", "over ", "about ", "from ",
    " to ", "more than", "highest", "rose", "no ", "Ann", "Bo", "Zoë", "田中", " and ", "\x00", "\ud800", "\u202e", "🛒",
]  # fmt: skip
ROWS = [
    {"name": "Ann", "n": 30, "day": date(2024, 5, 6), "at": datetime(2024, 5, 6, 14, 30)},
    {"name": "Bo", "n": 20.5, "day": None, "at": None},
    {"name": "田中", "n": -7, "day": date(2023, 1, 2), "at": None},
]
CELLS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates()
    | st.datetimes() | st.decimals() | st.binary(max_size=4) | st.lists(st.integers(), max_size=2)
    | st.times() | st.uuids()
)  # fmt: skip
TABLES = st.lists(st.dictionaries(st.text(max_size=8), CELLS, max_size=4), max_size=6)
EVERYTHING = {"derived": True, "pairing": True, "signs": True, "rounding": 0.1}


def judge_all(answer, rows, question="Which 3 are highest in 2024?"):
    trace = Trace.simple(question, answer=answer, rows=rows)
    for check in (NumbersGrounded(), NumbersGrounded(**EVERYTHING), ClaimsGrounded()):
        assert check.run(trace, Case("q")).status in ("pass", "fail", "skip")
    assert reference_numbers(answer, question, rows)[0] in ("pass", "fail")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_mix_of_number_pieces_breaks_the_checks(answer):
    """Pieces that readers stumble over, in any order, give a verdict."""
    judge_all(answer, ROWS)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(st.text(max_size=200), TABLES)
def test_no_text_and_no_cells_break_the_checks(answer, rows):
    """Any text against any cells gives a verdict."""
    judge_all(answer, rows)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(st.text(max_size=30), CELLS)
def test_no_value_breaks_states_value(answer, value):
    """Any value can be asked for."""
    assert states_value(answer, value) in (True, False)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_figures_lie_apart_and_in_order(answer):
    """Each character belongs to one figure at most."""
    end = 0
    for figure in read_figures(answer):
        assert end <= figure.start < figure.end
        end = figure.end


LONG = {
    "digits": "7",
    "groups": "1,234,",
    "blanks": "100 ",
    "sentences": "Ann sold 30 in May 2024, 5 more than Bo. ",
    "one line": "Ann 30, Bo 20, ",
    "dots": "1.2.",
    "hyphens": "1-2-",
    "codes": "A1-",
    "words": "two hundred and ",
    "signs": "-−+($",
    "tables": "| Ann | 30 | 20 |\n",
    "lists": "1. Ann: 30\n",
    "scientific": "1.5e6 ",
    "links": "http://",
    "stars": "**",
    "trend": "It rose from 20 to 30. ",
    "ticks": "`select ",
    "at": "a@",
    "nothing": " ",
    "quotes": '"a ',
}


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("size", [6_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_long_answers_take_time_in_proportion(piece, size):
    """An answer of a megabyte takes seconds, whatever it repeats."""
    answer = (piece * (size // len(piece) + 1))[:size]
    start = time.process_time()
    if size > 100_000:
        trace = Trace.simple("q", answer=answer, rows=ROWS)
        NumbersGrounded().run(trace, Case("q"))
    else:
        judge_all(answer, ROWS)
    assert time.process_time() - start < 30 + size / 10_000


@pytest.mark.slow
def test_a_million_random_pieces():
    """A long run of random answers gives verdicts only."""
    chance = random.Random(5)
    for _ in range(5_000):
        judge_all("".join(chance.choices(PIECES, k=chance.randrange(80))), ROWS)
