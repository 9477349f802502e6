"""Scale words after a number: k, million, crore, Mrd., 万."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["scales_in"]

_THOUSAND, _MILLION, _BILLION, _TRILLION = 10**3, 10**6, 10**9, 10**12
_ENGLISH = {
    "hundred": 100,
    "dozen": 12,
    "dozens": 12,
    "k": _THOUSAND,
    "thousand": _THOUSAND,
    "thousands": _THOUSAND,
    "grand": _THOUSAND,
    "m": _MILLION,
    "mn": _MILLION,
    "mio": _MILLION,
    "mln": _MILLION,
    "million": _MILLION,
    "millions": _MILLION,
    "b": _BILLION,
    "bn": _BILLION,
    "bln": _BILLION,
    "billion": _BILLION,
    "billions": _BILLION,
    "t": _TRILLION,
    "tn": _TRILLION,
    "trn": _TRILLION,
    "trillion": _TRILLION,
    "trillions": _TRILLION,
    "quadrillion": 10**15,
    "lakh": 10**5,
    "lakhs": 10**5,
    "lac": 10**5,
    "lacs": 10**5,
    "crore": 10**7,
    "crores": 10**7,
    "cr": 10**7,
}
# What CLDR's short and long compact forms leave out.
_MORE = {
    "de": {"tsd": _THOUSAND, "mill": _MILLION, "mrd": _BILLION, "dutzend": 12, "hundert": 100},
    "fr": {"md": _BILLION, "mds": _BILLION, "mrd": _BILLION, "mille": _THOUSAND, "douzaine": 12},
    "es": {"docena": 12, "docenas": 12, "mill": _MILLION, "mdd": _MILLION},
    "it": {"mila": _THOUSAND, "mld": _BILLION, "mrd": _BILLION},
    "pt": {"mi": _MILLION, "bi": _BILLION, "tri": _TRILLION, "mm": _MILLION},
    "nl": {"mld": _BILLION, "duizend": _THOUSAND},
    "ja": {"百": 100, "千": _THOUSAND, "百万": _MILLION, "千万": 10**7, "十億": _BILLION},
    "zh": {"百": 100, "千": _THOUSAND, "百万": _MILLION, "千万": 10**7, "萬": 10**4, "億": 10**8},
    "ko": {"천": _THOUSAND, "백만": _MILLION, "천만": 10**7},
    "hi": {"सौ": 100, "करोड़": 10**7, "लाख": 10**5, "हज़ार": _THOUSAND, "हजार": _THOUSAND},
    "ru": {"тыс": _THOUSAND, "млн": _MILLION, "млрд": _BILLION, "трлн": _TRILLION},
}
_ZEROS = re.compile(r"0+")


@lru_cache(maxsize=64)
def scales_in(languages: tuple[str, ...], region: str = "") -> dict[str, tuple[int, ...]]:
    """Give the scale words of some languages and of a region, English always among them.

    Returns:
        Case-folded word without its full stop to its factors: `billion` is 10**9 in English
        and 10**12 in French.

    Source: the compact decimal formats of CLDR, as in Babel.
    """
    found: dict[str, set[int]] = {word: {factor} for word, factor in _ENGLISH.items()}
    for language in (*languages, region):
        if language in ("en", ""):
            continue
        words = {**_cldr_scales(language), **_MORE.get(language, {})}
        for word, factor in words.items():
            found.setdefault(word, set()).add(factor)
    return {word: tuple(sorted(factors)) for word, factors in found.items()}


def _cldr_scales(language: str) -> dict[str, int]:
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - loaded when first needed

    try:
        locale = Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        return {}
    found: dict[str, int] = {}
    for width in ("short", "long"):
        for patterns in locale.compact_decimal_formats.get(width, {}).values():
            for size, pattern in patterns.items():
                zeros = _ZEROS.search(pattern.pattern)
                word = _ZEROS.sub("", pattern.pattern).replace("'", "").replace("\u00a0", " ")
                word = word.strip().rstrip(".").casefold()
                if zeros and word and word[0].isalpha():
                    found[word] = int(size) // 10 ** (len(zeros[0]) - 1)
    return found
