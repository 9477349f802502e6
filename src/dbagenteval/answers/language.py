"""In which language a text is written, as far as reading its numbers needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Writing", "writing_of"]

# Words that are frequent in one language and rare in the others.
_FUNCTION_WORDS = {
    "en": "the of and is are was were there with from that this which has have had by to it in",
    "de": "der die das und ist sind war waren mit von für ein eine nicht es gibt wurden im hat",
    "fr": "le la les des et est sont était il y a avec pour dans une du au aux nous ont de en à",
    "es": "el la los las y es son fue fueron con para hay en una del por se más hubo de al",
    "it": "il gli di e è sono era erano con per ci nel una della sono stati che la nella nel",
    "pt": "o os as e é são foi foram com para há em uma do da dos das não houve de no na",
    "nl": "de het een en is zijn was waren met voor er van niet in op werden",
    "pl": "jest są było były z na do nie się oraz w i ma dla",
    "sv": "och är var det en ett med för av som finns har",
    "tr": "ve bir bu için ile var olarak toplam adet çok en",
    "cs": "je jsou bylo byly z na do se a pro celkem",
    "da": "og er var det en et med for af der har",
    "id": "yang dan ada adalah dengan untuk dari di total",
}
_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _BY_WORD.setdefault(_word, []).append(_language)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ru", re.compile(r"[\u0400-\u04ff]{2}")),
    ("ar", re.compile(r"[\u0600-\u06ff]{2}")),
    ("hi", re.compile(r"[\u0900-\u097f]{2}")),
    ("el", re.compile(r"[\u0370-\u03ff]{2}")),
    ("th", re.compile(r"[\u0e00-\u0e7f]{2}")),
)
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE_CHARS = 20_000
_NEAR_BEST = 0.6
# Languages whose numbers always use the decimal point.
_POINT = frozenset({"en", "ja", "zh", "ko", "hi", "th"})


@dataclass(frozen=True, slots=True)
class Writing:
    """How the numbers of a text are written.

    Args:
        languages: Codes, the likeliest first; English when nothing tells.
        decimal: `.` or `,` if `1,234` can be read in one way only, else empty.
        known: False if no word told the language.
        region: The locale, if one was given: `en_IN` counts in lakhs.
    """

    languages: tuple[str, ...]
    decimal: str = ""
    known: bool = True
    region: str = ""


def writing_of(text: str, locale: str | None = None) -> Writing:
    """Tell the language of a text from its function words and scripts.

    Args:
        text: The answer; its first 20,000 characters are looked at.
        locale: A locale such as `de` or `pt_BR` that settles the question.

    Raises:
        ValueError: `locale` is none that Babel knows.
    """
    if locale is not None:
        return _writing_in(locale)
    sample = text[:_SAMPLE_CHARS]
    scores: dict[str, float] = {}
    for word in _WORD.findall(sample):
        speakers = _BY_WORD.get(word.lower(), ())
        for language in speakers:
            # A word that several languages have tells less.
            scores[language] = scores.get(language, 0) + 1 / len(speakers)
    best = max(scores.values(), default=0)
    likely = [one for one in scores if scores[one] >= _NEAR_BEST * best]
    languages = sorted(likely, key=lambda one: -scores[one])
    scripts = [code for code, pattern in _SCRIPTS if pattern.search(sample)]
    # One foreign name in an English sentence doesn't change the language of the sentence.
    found = tuple(dict.fromkeys((*languages, *scripts)))
    if not found:
        return Writing(("en",), known=False)
    return Writing(found, "." if set(found) <= _POINT else "")


@lru_cache(maxsize=64)
def _writing_in(locale: str) -> Writing:
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - loaded when first needed
    from babel.numbers import get_decimal_symbol  # noqa: PLC0415

    try:
        known = Locale.parse(locale.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise ValueError(
            f"unknown locale {locale!r}; expected one such as 'de' or 'en_IN'"
        ) from error
    decimal = get_decimal_symbol(known)
    sign = decimal if decimal in (".", ",") else ""
    return Writing((known.language,), sign, region=str(known))
