"""Numbers spelled in words, read by text2num."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from dbagenteval.answers.figure import EXACT, Figure, Reading
from dbagenteval.answers.language import Writing

__all__ = ["quantities_in_words"]

_LANGUAGES = ("en", "fr", "es", "pt", "de", "nl", "it")
_TOKEN = re.compile(r"[^\W\d_]+|[^\w\s]|[\d_\x00]+|\n")
# Words that are numbers and everyday words too; alone they count nothing.
_EVERYDAY = {
    "en": {
        "one",
        "o",
        "oh",
        "a",
        "point",
        "hundreds",
        "thousands",
        "millions",
        "billions",
        "million",
        "billion",
        "thousand",
        "hundred",
        "trillion",
    },
    "fr": {"un", "une", "neuf", "neufs", "million", "millions", "milliard", "milliards", "mille"},
    "es": {"un", "una", "uno", "mil", "millón", "millones"},
    "pt": {"um", "uma", "mil", "milhão", "milhões"},
    "de": {
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "eins",
        "acht",
        "million",
        "millionen",
        "tausend",
        "tausende",
        "hundert",
        "hunderte",
        "milliarden",
    },
    "nl": {"een", "één", "acht", "miljoen", "duizend", "duizenden", "honderden"},
    "it": {"un", "uno", "una", "un'", "sei", "mille", "milione", "milioni"},
}
# "Total: twelve" is English, whatever language has the word too.
_ENGLISH = re.compile(
    r"(?<!\w)(?:i|we|you|found|total|only|exactly|orders?|count|number|sum|result|answer"
    r"|hundred|thousand|half|thirds?|quarters?|(?:an?|half a) (?:m|b|tr)illion|dozen)(?!\w)",
    re.IGNORECASE,
)
_COUNTED_ONE = re.compile(
    r"(?<!\w)(?:exactly|precisely|there (?:is|was) (?:only |just )?|(?:total|count|number):?)\s?$",
    re.IGNORECASE,
)
_SCALES = {10**2, 10**3, 10**6, 10**9, 10**12, 10**15}
_DOZEN = re.compile(
    r"(?<!\w)(?:(an?|one|two|three|four|five|six|half a)\s)?dozen(?!s|\w)", re.IGNORECASE
)
_DOZENS = {
    "a": 12,
    "an": 12,
    "one": 12,
    "half a": 6,
    "two": 24,
    "three": 36,
    "four": 48,
    "five": 60,
    "six": 72,
}
_FRACTION = re.compile(
    r"(?<!\w)(?:(?:a|one|two|three)[ -])?(?:half|third|thirds|quarter|quarters|fifths?"
    r"|tenths?)\s(?:of|the)(?!\w)"
    r"|(?<!\w)(?:two|three)[ -](?:thirds|quarters|fifths|tenths)(?!\w)|(?<!\w)half(?!\w)",
    re.IGNORECASE,
)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
_ONE_SCALE = re.compile(
    r"(?<!\w)(?:an?|half an?)\s(hundred|thousand|million|billion|trillion)(?!\w)", re.IGNORECASE
)
_SCALE_SIZES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_PERCENT = re.compile(
    r"\s(?:percent|per cent|prozent|pour ?cent|por ?ciento|por cento|per cento|procent)(?!\w)",
    re.IGNORECASE,
)


class _Word:
    """A token as text2num wants it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def nt_separated(self, previous: _Word) -> bool:
        del previous
        return False

    def not_a_number_part(self) -> bool:
        return False


def quantities_in_words(text: str, writing: Writing) -> list[Figure]:
    """Read the numbers that are spelled out.

    Args:
        text: What `normal_text` gave, everything that has digits blanked out.
        writing: Its languages; English, French, Spanish, Portuguese, German, Dutch and Italian
            are read.
    """
    found: list[Figure] = []
    is_english = "en" in writing.languages or _ENGLISH.search(text) is not None
    if is_english:
        found = [*_fractions(text), *_dozens(text)]
    taken = {position for figure in found for position in (figure.start, figure.end - 1)}
    for language in dict.fromkeys((*writing.languages, *(("en",) if is_english else ()))):
        if language not in _LANGUAGES:
            continue
        for figure in _spelled(text, language):
            if figure.start not in taken and figure.end - 1 not in taken:
                taken |= {figure.start, figure.end - 1}
                found.append(figure)
    if is_english:
        found = _with_single_scales(text, found)
    return sorted(found, key=lambda figure: figure.start)


def _spelled(text: str, language: str) -> list[Figure]:
    from text_to_num import find_numbers  # noqa: PLC0415 - loaded when first needed

    tokens = list(_TOKEN.finditer(text))
    # Tokens with digits or blanks become full stops: a number in words ends there.
    words = [_Word(t[0] if t[0][0].isalpha() or t[0] in "-'" else ".") for t in tokens]
    found: list[Figure] = []
    before: tuple[Any, Figure] | None = None
    for occurrence in find_numbers(words, language, 0.0):
        start, end = tokens[occurrence.start].start(), tokens[occurrence.end - 1].end()
        figure = _figure(text, start, end, occurrence)
        if before and occurrence.value in _SCALES and before[0].end == occurrence.start:
            # "three point four million" comes as 3.4 and a million.
            reading = before[1].readings[0][0].scaled(int(occurrence.value))
            figure = Figure(
                text=text[before[1].start : end],
                start=before[1].start,
                end=end,
                readings=((reading,),),
                word=True,
            )
            if found and found[-1] is before[1]:
                found.pop()
            found.append(figure)
        elif (
            occurrence.is_ordinal
            or figure.text.casefold() not in _EVERYDAY[language]
            or _is_counted_one(text, figure, language)
        ):
            if _is_compound(text, start, end):
                continue
            found.append(figure)
        before = (occurrence, figure)
    return found


def _figure(text: str, start: int, end: int, occurrence: Any) -> Figure:
    value = (
        Decimal(repr(occurrence.value)) if occurrence.value % 1 else Decimal(int(occurrence.value))
    )
    places = -int(value.as_tuple().exponent) if occurrence.value % 1 else 0
    percent = _PERCENT.match(text, end)
    reading = Reading(value, Decimal(5).scaleb(-places - 1), percent=percent is not None)
    return Figure(
        text=text[start:end],
        start=start,
        end=end,
        kind="ordinal" if occurrence.is_ordinal else "quantity",
        readings=((reading,),),
        word=True,
    )


def _is_counted_one(text: str, figure: Figure, language: str) -> bool:
    """Tell `exactly one` and `there is only one` from the everyday word."""
    if language != "en" or figure.text.casefold() != "one":
        return False
    before = text[max(0, figure.start - 24) : figure.start]
    return _COUNTED_ONE.search(before) is not None and not text.startswith(" of", figure.end)


def _is_compound(text: str, start: int, end: int) -> bool:
    """Tell `five-star` and `one-on-one` from a count."""
    return (text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha()) or (
        text[start - 1 : start] == "-" and text[start - 2 : start - 1].isalpha()
    )


def _with_single_scales(text: str, found: list[Figure]) -> list[Figure]:
    """Add `a million` and `half a million`, unless they begin a longer number in words."""
    starts = {figure.start for figure in found if figure.kind != "fraction"}
    added = []
    for match in _ONE_SCALE.finditer(text):
        if match.start(1) in starts or match.start() in starts:
            continue
        scale = Decimal(1).scaleb(_SCALE_SIZES[match[1].lower()])
        is_half = match[0].lower().startswith("half")
        value = EXACT.divide(scale, 2) if is_half else scale
        half = EXACT.divide(scale, 20 if is_half else 2)
        percent = _PERCENT.match(text, match.end()) is not None
        readings = ((Reading(value, half, percent=percent),),)
        start, end = match.span()
        added.append(Figure(text=match[0], start=start, end=end, readings=readings, word=True))
    spans = {one.start for one in added}
    return [*added, *(figure for figure in found if figure.start not in spans)]


def _dozens(text: str) -> list[Figure]:
    return [
        Figure(
            text=match[0],
            start=match.start(),
            end=match.end(),
            readings=((Reading(Decimal(_DOZENS[match[1].lower()]), Decimal("0.5")),),),
            word=True,
        )
        for match in _DOZEN.finditer(text)
        if match[1]
    ]


def _fractions(text: str) -> list[Figure]:
    found = []
    for match in _FRACTION.finditer(text):
        words = re.split(r"[ -]", match[0].lower())
        name = next(word.rstrip("s") for word in words if word.rstrip("s") in _PARTS)
        top = {"two": 2, "three": 3}.get(words[0], 1)
        share = EXACT.divide(Decimal(top), Decimal(_PARTS[name]))
        reading = Reading(share, EXACT.multiply(share, Decimal("0.05")))
        found.append(
            Figure(
                text=match[0],
                start=match.start(),
                end=match.end(),
                kind="fraction",
                readings=((reading,),),
                word=True,
            )
        )
    return found
