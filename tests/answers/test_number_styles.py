"""The reader agrees with a writer of numbers in fourteen locales and many styles."""

from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import (
    format_compact_decimal,
    format_currency,
    format_decimal,
    format_percent,
    format_scientific,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbagenteval.answers import read_figures

SENTENCES = {
    "en_US": "There were {} in the table.",
    "en_IN": "There were {} in the table.",
    "de_DE": "Es waren {} in der Tabelle.",
    "de_CH": "Es waren {} in der Tabelle.",
    "fr_FR": "Il y a {} dans le tableau.",
    "es_ES": "Hay {} en la tabla.",
    "it_IT": "Ci sono {} nella tabella.",
    "pt_BR": "Há {} na tabela.",
    "nl_NL": "Er zijn {} in de tabel.",
    "pl_PL": "W tabeli jest {} i nic.",
    "sv_SE": "Det är {} och inget.",
    "tr_TR": "Toplam {} ve bu.",
    "ru_RU": "В таблице {} строк.",
    "ja_JP": "表には{}あります。",
}
LOCALES = sorted(SENTENCES)
INTEGERS = st.integers(min_value=0, max_value=10**13)
DECIMALS = st.decimals(min_value=0, max_value=10**9, places=2, allow_nan=False)
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def values_of(text, locale=None):
    """Give the single values that the first figure may stand for, and how many figures there are."""
    figures = [figure for figure in read_figures(text, locale) if figure.readings]
    assert len(figures) == 1, (text, figures)
    return [numbers[0] for numbers in figures[0].readings if len(numbers) == 1]


@SLOW
@given(st.sampled_from(LOCALES), INTEGERS | DECIMALS)
def test_a_number_is_read_as_it_was_written(locale, value):
    """With the locale the reading is the one value; without it the value is among the readings."""
    number = format_decimal(value, locale=locale, format=None)
    text = SENTENCES[locale].format(number)
    exact = Decimal(str(value)).quantize(Decimal("0.001")) if isinstance(value, Decimal) else value
    assert values_of(text, locale)[0].value == exact
    if 1900 <= value < 2100 and value == int(value):
        return  # a bare 2024 may be a year
    assert exact in [reading.value for reading in values_of(text)]


@SLOW
@given(st.sampled_from(LOCALES), DECIMALS, st.sampled_from(["EUR", "USD", "JPY", "INR", "CHF"]))
def test_an_amount_of_money_is_read(locale, value, currency):
    """Currency signs and codes before or after a number don't hide it."""
    text = SENTENCES[locale].format(format_currency(value, currency, locale=locale))
    places = 0 if currency == "JPY" else 2
    wanted = value.quantize(Decimal(1).scaleb(-places))
    assert any(
        abs(reading.value - wanted) <= Decimal(1).scaleb(-places)
        for reading in values_of(text, locale)
    )


@SLOW
@given(st.sampled_from(LOCALES), st.decimals(min_value=0, max_value=5, places=3))
def test_a_percentage_is_read(locale, ratio):
    """A percent sign in the place where the locale puts it is seen."""
    number = format_percent(
        ratio, format="#,##0.0 %" if locale != "tr_TR" else "%#,##0.0", locale=locale
    )
    reading = values_of(SENTENCES[locale].format(number), locale)[0]
    assert reading.value == (ratio * 100).quantize(Decimal("0.1"))
    assert reading.percent or locale == "tr_TR"


@SLOW
@given(
    st.sampled_from(LOCALES),
    st.integers(min_value=1, max_value=999),
    st.sampled_from([10**3, 10**6, 10**9, 10**12]),
    st.sampled_from(["short", "long"]),
)
def test_a_compact_number_is_read(locale, digits, scale, width):
    """Mio., lakh, 万 and the like scale the number before them, in CLDR's own spelling."""
    value = digits * scale
    number = format_compact_decimal(value, format_type=width, locale=locale, fraction_digits=3)
    text = SENTENCES[locale].format(number)
    reading = values_of(text, locale)
    assert any(abs(one.value - value) <= one.half for one in reading), text


@SLOW
@given(st.integers(min_value=1, max_value=9999), st.integers(min_value=-6, max_value=12))
def test_scientific_notation_is_read(digits, exponent):
    """1.5E6, 1.5e+06 and 1.5 × 10^6 are one number."""
    value = Decimal(digits).scaleb(exponent)
    mantissa, _, power = format_scientific(value, locale="en_US", format="0.0###E0").partition("E")
    for text in (f"{mantissa}e{power}", f"{mantissa}E{int(power):+03}", f"{mantissa} × 10^{power}"):
        assert values_of(f"There were {text} cells.")[0].value == value


@SLOW
@given(
    INTEGERS,
    st.sampled_from(
        ["**{}**", "`{}`", "({})", "[{}]", "≈{}", "| {} |", "- total: {}", "{}!", "_{}_"]
    ),
    st.sampled_from([",", " ", "\u00a0", "\u202f", "'", "_", ""]),
)
def test_markup_and_grouping_hide_nothing(value, markup, group):
    """Markdown around a number and any sign between its groups leave it readable."""
    number = f"{value:,}".replace(",", group)
    if 1900 <= value < 2100 and group == "":
        return
    assert values_of(f"There is {markup.format(number)}\n")[0].value == value


@SLOW
@given(st.integers(min_value=1, max_value=10**7), st.sampled_from("-−"))
def test_a_sign_is_read(value, sign):
    """A minus makes the value negative; a hyphen between two numbers does not."""
    figure = read_figures(f"The change is {sign}{value:,} units.")[0]
    assert (figure.sign, figure.readings[0][0].value) == ("-", -value)
    both = read_figures(f"Between {value:,}{sign}{value + 1:,} units.")
    assert [one.readings[0][0].value for one in both] == [value, value + 1]


def test_every_locale_has_a_sentence_of_its_own_language():
    """The sample covers twelve languages at least."""
    assert len({Locale.parse(locale).language for locale in LOCALES}) >= 12


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("There are twelve orders.", 12),
        ("There are one hundred and five orders.", 105),
        ("There are two thousand three hundred orders.", 2300),
        ("There are three point four million orders.", 3_400_000),
        ("There are two dozen orders.", 24),
        ("There are forty-two orders.", 42),
        ("Es sind dreiundzwanzig Kunden und nicht mehr.", 23),
        ("Es gibt zwei Millionen Kunden in der Liste.", 2_000_000),
        ("Il y a quatre-vingt-douze clients dans la liste.", 92),
        ("Hay treinta y dos clientes en la lista.", 32),
        ("Ci sono ventitré clienti nella lista.", 23),
        ("Há vinte e dois clientes na lista.", 22),
        ("Er zijn drieëntwintig klanten in de lijst.", 23),
        ("売上は3億5000万円です。", 350_000_000),
        ("There are 2 crore 35 lakh users.", 23_500_000),
        ("There are ١٢٣ users.", 123),
        ("There are １，２３４ users.", 1234),
        ("There are 2½ tons.", Decimal("2.5")),
        ("There are 1&nbsp;234 users.", 1234),
    ],
)
def test_other_spellings_are_read(text, value):
    """Words, scales, scripts and entities come to the same value."""
    assert values_of(text)[0].value == value
