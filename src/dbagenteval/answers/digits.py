"""Quantities written in digits, with their sign, currency, scale word and percent sign."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from dbagenteval.answers.figure import EXACT, Figure, Reading
from dbagenteval.answers.language import Writing
from dbagenteval.answers.notation import DIGIT_RUN, alternatives, plain_reading
from dbagenteval.answers.scales import scales_in

__all__ = ["BLANK", "CURRENCY", "blanked", "normal_text", "quantities_in_digits"]

BLANK = "\x00"
CURRENCY = (
    r"[$€£¥₹₩₽₺₴₫₱₪₦฿]|US\$|R\$|(?:USD|EUR|GBP|JPY|CNY|INR|CHF|AUD|CAD|BRL|MXN|SEK|NOK|DKK|PLN|CZK"
    r"|HUF|TRY|RUB|KRW|SGD|HKD|NZD|ZAR|AED|Rs\.?|kr\.?)"
)
_CURRENCY_BEFORE = re.compile(rf"(?:{CURRENCY})[ \u00a0]?$")
_SCIENTIFIC = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)?)(?:[eE]([+-]?\d{1,3})(?!\w)"
    r"|\s?[×x*·]\s?10(?:\^|\*\*)?\{?([-−+]?\d{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)\}?(?!\w|\.\d))"
)
_VULGAR = {"¼": "0.25", "½": "0.5", "¾": "0.75", "⅓": "0.3333333", "⅔": "0.6666667", "⅛": "0.125"}
_LONE_FRACTION = re.compile(r"(?<!\d)[¼½¾⅓⅔⅛]")
_SCALE_WORD = re.compile(r"([ \u00a0\u202f-]?)([^\W\d_]+)(\.?)")
_PERCENT = re.compile(
    r"\s?(?:%|٪|percent(?:age points?)?(?!\w)|per cent(?!\w)|pct\.?(?!\w)|pp(?!\w)"
    r"|prozent(?:punkte)?(?!\w)"
    r"|pour ?cent(?!\w)|por ?cien(?:to)?(?!\w)|por cento(?!\w)|per cento(?!\w)|procent(?!\w)"
    r"|процент\w*|パーセント|प्रतिशत|у?процентн\w+)",
    re.IGNORECASE,
)
_PERMILLE = re.compile(r"\s?(?:‰|bps?(?!\w)|basis points?(?!\w))", re.IGNORECASE)
_SIGN = re.compile(rf"([-−–+])[ ]?(?:(?:{CURRENCY})[ \u00a0]?)?$")
_BEFORE_SIGN = BLANK + " \t\n\r(|[:=*_~>\u00a0,;/\"'`"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_ODD_SIGNS = str.maketrans(
    {
        "．": ".",
        "，": ",",
        "％": "%",
        "＋": "+",
        "－": "-",
        "٫": ".",
        "٬": ",",
        "\u00ad": "",
        "\u200b": "",
        "\u200e": "",
        "\u200f": "",
        "\u2060": "",
        "\ufeff": "",
        "\u061c": "",
    }
)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_LONGEST_EXPONENT = 300


@dataclass(frozen=True, slots=True)
class _Tail:
    """What follows a number: its scale and percent sign."""

    end: int
    factors: tuple[int, ...] = (1,)
    percent: bool = False


def normal_text(text: str) -> str:
    """Write digits of any script and width as ASCII, entities as blanks, and compose accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_ODD_SIGNS)
        text = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return text.replace("&nbsp;", "\u00a0").replace("{,}", ",").replace("\\,", "\u202f")


def blanked(text: str, figures: list[Figure]) -> str:
    """Put a control character in place of each character of the figures."""
    parts: list[str] = []
    end = 0
    for figure in sorted(figures, key=lambda figure: figure.start):
        parts += (text[end : figure.start], BLANK * (figure.end - max(end, figure.start)))
        end = max(end, figure.end)
    return "".join((*parts, text[end:]))


def quantities_in_digits(text: str, writing: Writing) -> list[Figure]:
    """Read every number that is written in digits.

    Args:
        text: What `normal_text` gave, dates and codes blanked out.
        writing: Its language, for scale words and for figures such as `1,234`.
    """
    found = [_scientific(match) for match in _SCIENTIFIC.finditer(text)]
    text = blanked(text, found)
    scales = scales_in(writing.languages, writing.region)
    found += _lone_fractions(text)
    before: Figure | None = None
    for match in DIGIT_RUN.finditer(text):
        figure = _figure(text, match, writing, scales)
        joined = before and _joined(text, before, figure)
        if joined:
            found[-1] = joined
        else:
            found.append(figure)
        before = found[-1]
    return sorted(_ranges(text, found), key=lambda figure: figure.start)


def _scientific(match: re.Match[str]) -> Figure:
    exponent = int((match[2] or match[3]).translate(_SUPERSCRIPTS))
    reading = plain_reading(match[1].replace(",", "."))
    exponent = max(-_LONGEST_EXPONENT, min(exponent, _LONGEST_EXPONENT))
    scaled = reading.scaled(Decimal(1).scaleb(exponent))
    sign = _sign_before(match.string, match.start())
    return Figure(
        text=match[0], start=match.start(), end=match.end(), readings=((scaled,),), sign=sign
    )


def _lone_fractions(text: str) -> list[Figure]:
    return [
        Figure(
            text=match[0],
            start=match.start(),
            end=match.end(),
            readings=((Reading(Decimal(_VULGAR[match[0]]), Decimal("0.005")),),),
        )
        for match in _LONE_FRACTION.finditer(text)
    ]


def _figure(
    text: str, match: re.Match[str], writing: Writing, scales: dict[str, tuple[int, ...]]
) -> Figure:
    run, end = match[0], match.end()
    readings = alternatives(run, writing.decimal)
    if text[end : end + 1] in _VULGAR:
        part = Decimal(_VULGAR[text[end]])
        readings = ((Reading(EXACT.add(readings[0][0].value, part), Decimal("0.005")),),)
        end += 1
    currency = _CURRENCY_BEFORE.search(text, max(0, match.start() - 5), match.start())
    tail = _tail(text, end, scales, has_currency=currency is not None)
    sign = _sign_before(text, match.start())
    factor = -1 if sign == "-" else 1
    scaled = tuple(
        tuple(
            _with_tail(reading.scaled(factor), scale if last else 1, percent=tail.percent and last)
            for reading, last in zip(numbers, [False] * (len(numbers) - 1) + [True], strict=True)
        )
        for numbers in readings
        for scale in tail.factors
    )
    return Figure(
        text=text[match.start() : tail.end].strip(),
        start=match.start(),
        end=tail.end,
        readings=scaled,
        sign=sign,
    )


def _with_tail(reading: Reading, factor: int, *, percent: bool) -> Reading:
    scaled = reading.scaled(factor)
    return Reading(scaled.value, scaled.half, percent=percent)


def _tail(text: str, end: int, scales: dict[str, tuple[int, ...]], *, has_currency: bool) -> _Tail:
    factors: tuple[int, ...] = (1,)
    for _ in range(2):  # "2 lakh crore", "mil millones"
        match = _SCALE_WORD.match(text, end)
        factor = match and _factor(match, scales, has_currency=has_currency)
        if not match or not factor:
            break
        factors = tuple(one * two for one in factors for two in factor[0])
        end = factor[1]
    permille = _PERMILLE.match(text, end)
    if permille and factors == (1,):
        return _Tail(permille.end(), factors)
    percent = _PERCENT.match(text, end)
    return _Tail(percent.end() if percent else end, factors, percent=percent is not None)


def _factor(
    match: re.Match[str], scales: dict[str, tuple[int, ...]], *, has_currency: bool
) -> tuple[tuple[int, ...], int] | None:
    blank, word = match[1], match[2]
    found = scales.get(word.casefold())
    end = match.end(2)
    if found is None:
        # Scripts without blanks run on into the next word: 12万件.
        if word[0] < "\u3000":
            return None
        length = next((n for n in (2, 1) if word[:n] in scales), 0)
        return (scales[word[:length]], match.start(2) + length) if length else None
    if blank == "-" and len(word) <= 2:
        return None  # form 10-K
    if len(word) == 1 and word.isascii() and not has_currency:
        # "5 m" is metres, "5 t" tonnes, "5 b" nothing known; "15 k" and "5 M" are scaled.
        if blank and word not in "kKMB":
            return None
        if word == "t":
            return None
    if match[3] and len(word) > 1 and len(word) <= 4:
        end = match.end(3) if _abbreviates(match) else end
    return found, end


def _abbreviates(match: re.Match[str]) -> bool:
    """Tell `Mio.` before more words from a word that ends its sentence."""
    rest = match.string[match.end() : match.end() + 2]
    return bool(rest) and (not rest[0].isspace() or rest[-1:].islower())


def _joined(text: str, before: Figure, figure: Figure) -> Figure | None:
    """Read `3億5000万` or `2 crore 35 lakh` as one quantity."""
    gap = text[before.end : figure.start]
    first, second = before.readings, figure.readings
    if gap not in ("", " ") or len(first[0]) != 1 or len(second[0]) != 1:
        return None
    unit = EXACT.multiply(first[0][0].half, 2)
    is_scaled = unit > 1 and EXACT.compare(abs(second[0][0].value), unit) < 0
    both_scaled = gap == "" or EXACT.multiply(second[0][0].half, 2) > 1
    if not is_scaled or not both_scaled or text[before.end - 1].isdigit():
        return None
    whole = Reading(EXACT.add(first[0][0].value, second[0][0].value), second[0][0].half)
    if second[0][0].percent:
        return None
    return Figure(
        text=text[before.start : figure.end],
        start=before.start,
        end=figure.end,
        readings=((whole,), (first[0][0], second[0][0])),
        sign=before.sign,
    )


def _sign_before(text: str, start: int) -> str:
    match = _SIGN.search(text, max(0, start - 8), start)
    if match is None:
        return ""
    before = text[match.start() - 1] if match.start() else " "
    is_bullet = match[0][1:2] == " " or match[1] == "–"
    if before not in _BEFORE_SIGN or is_bullet:
        return ""
    return "+" if match[1] == "+" else "-"


_RANGE_SIGN = re.compile(r"\s?(?:[-–—~]|to|bis|à|a)\s?(?:[$€£¥₹])?")


def _ranges(text: str, found: list[Figure]) -> list[Figure]:
    """Let the scale and percent sign of `1.2-1.5M` or `5–10%` count for both ends."""
    found = sorted(found, key=lambda figure: figure.start)
    result = list(found)
    for index in range(len(found) - 1):
        first, second = found[index], found[index + 1]
        gap = text[first.end : second.start]
        if len(gap) > 6 or not _RANGE_SIGN.fullmatch(gap):
            continue
        tail = second.text.lstrip("0123456789.,")
        if not tail or tail == second.text or not first.text[-1:].isdecimal():
            continue
        factor = _factor_of(second)
        percent = second.readings[0][0].percent
        more = tuple(
            tuple(_with_tail(reading, factor, percent=percent) for reading in numbers)
            for numbers in first.readings
        )
        result[index] = Figure(
            text=first.text,
            start=first.start,
            end=first.end,
            readings=(*more, *first.readings),
            sign=first.sign,
        )
    return result


def _factor_of(figure: Figure) -> int:
    printed = alternatives(DIGIT_RUN.match(figure.text)[0])[0][0]  # type: ignore[index]
    if not printed.half:
        return 1
    return int(EXACT.divide(figure.readings[0][0].half, printed.half))
