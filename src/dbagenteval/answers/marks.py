"""Digits that count nothing: links, quoted SQL, list markers, times, phones, versions, codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from dbagenteval.answers.digits import CURRENCY, blanked
from dbagenteval.answers.figure import Figure, Reading

__all__ = ["find_codes", "find_links", "find_markers", "find_ordinals", "find_times"]

_LINK = re.compile(
    r"(?:(?:https?|ftp|file)://|\bwww\.)[^\s<>\"')\]\x00]*[^\s<>\"')\].,:;!?\x00]"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"
    r"|(?<=\]\()[^\s)\x00]{1,2000}(?=\))"
)
_QUOTED_SQL = re.compile(
    r"```\s{0,3}sql\b.*?(?:```|\Z)|(?:```|`)\s{0,3}(?:SELECT|WITH)\b[^`]*(?:```|`|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_MARKER = re.compile(
    r"^([ \t>]{0,40})(?:[*_]{0,2})(\d{1,9})\\?[.)](?:[*_]{0,2})(?=[ \t\u00a0])", re.MULTILINE
)
_INLINE_MARKER = re.compile(r"(?<![\w(.,])\(?(\d{1,2})\)(?=\s)")
_STEP = re.compile(
    r"\b(?:step|schritt|étape|paso|passo|stap)\s(\d{1,2})(?!\w|[.,]\d)", re.IGNORECASE
)
_RANK_HEADER = re.compile(
    r"^\s*\|\s*(?:#|rank|no\.?|nr\.?|pos(?:ition)?\.?|rang|platz)\s*\|", re.IGNORECASE
)
_RANK_CELL = re.compile(r"^\s*\|\s*(?:\*\*)?#?(\d{1,9})\.?(?:\*\*)?\s*(?=\|)")
_TIME = re.compile(
    r"(?<![\w:.,])(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?![\d:])(?:\s?[ap]\.?m\b\.?)?"
    r"(?:\s?(?:UTC|GMT|CET|CEST|EST|EDT|PST|PDT|Z|Uhr)\b)?"
    r"|(?<![\w.,])\d{1,3}\s?h\s?\d{1,2}\s?m(?:in)?(?!\w)"
    r"|(?<![\w:.,])(?:1[0-2]|0?[1-9])\s?[ap]\.?m\b\.?|(?<![\w/])24/7(?![\w/])",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"(?<![\w+])(?:\+\d{1,3}[ .()-]{0,2}\d{1,5}(?:[ .()/-]{1,2}\d{2,6}){1,5}|\(\d{3}\) ?\d{3}-\d{4}"
    r"|\d{3}-\d{3}-\d{4})(?!\w)"
)
_SIGNED_GROUPS = re.compile(r"\+\d{1,3}(?: \d{3})+")  # +1 200 000 is a number
_SCIENTIFIC = re.compile(r"\d(?:\.\d+)?[eE][+-]?\d{1,3}|\d+e\d{1,3}")
_VERSION = re.compile(
    r"(?<![\w.,])(?:[vV]\d{1,6}(?:\.\d{1,9}){0,5}(?!\w)"
    r"|\d{1,6}(?:\.\d{1,6}){2,5}(?:-[\w.]{1,20})?(?![\w]))"
)
_DOT_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3})+")
# A word with letters and digits glued: S001, ORD-17-9, 205E08, 3f2a-…; the tests of its shape
# are in `_is_code`.
_GLUED = re.compile(r"(?<![\w.,'\u2019#-])#?\w+(?:[-_/]\w+)*(?![.,'\u2019]\d)", re.ASCII)
_LETTERS_FIRST = re.compile(r"[A-Za-z]")
_DIGITS_THEN_WORD = re.compile(r"(?:\d+(?:[.,]\d+)*)(?:-?[A-Za-z]{1,12})(?:/[A-Za-z]+)?")
_CURRENCY_FIRST = re.compile(rf"(?:{CURRENCY})\d", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:No|Nr|Nos|x|n|approx|ca|Rs)\.?\d", re.IGNORECASE)
_PERIOD_CODE = re.compile(r"(?:Q[1-4]|H[12]|FY|CY|W|KW)\d{0,4}(?:[-_/]\d{2,4})?", re.IGNORECASE)
_HYPHENATED = re.compile(r"\d+(?:-\d+){2,}|\d+-0\d+|0\d+-\d+")
_ORDINAL = re.compile(
    r"(?<![\w.,])\d{1,6}(?:st|nd|rd|th|er|ère|re|ème|eme|e|º|ª|-?й|-?я|-?е)(?![\w])"
    r"|(?<![\w&])#\d{1,2}(?![\w.,]\d|\w)"
    r"|第\d+",
)


def find_links(text: str) -> Iterator[Figure]:
    """Find addresses and quoted SQL."""
    quoted = [_mark(match, "sql") for match in _QUOTED_SQL.finditer(text)]
    yield from quoted
    for match in _LINK.finditer(blanked(text, quoted)):
        yield _mark(match, "link")


def find_markers(text: str) -> Iterator[Figure]:
    """Find the numbers of numbered lists, at line starts and within a line, and of ranks.

    A list counts 1, 2, … and has two items at least; a second one starts again at 1.
    """
    for pattern, group in ((_MARKER, 2), (_INLINE_MARKER, 1), (_STEP, 1)):
        run: list[re.Match[str]] = []
        for match in (*pattern.finditer(text), None):
            if match and int(match[group]) == len(run) + 1:
                run.append(match)
                continue
            if len(run) > 1:
                yield from (_mark(one, "marker", group) for one in run)
            run = [match] if match and int(match[group]) == 1 else []
    yield from _ranks(text)


def _ranks(text: str) -> Iterator[Figure]:
    at, rank = 0, -1
    for line in text.splitlines(keepends=True):
        if _RANK_HEADER.match(line):
            rank = 0
        elif rank >= 0 and (match := _RANK_CELL.match(line)):
            rank += 1
            if int(match[1]) == rank:
                start = at + match.start(1)
                yield Figure(text=match[1], start=start, end=start + len(match[1]), kind="marker")
        elif "|" not in line:
            rank = -1
        at += len(line)


def find_times(text: str) -> Iterator[Figure]:
    """Find times of day; `24/7` is one too."""
    return (_mark(match, "time") for match in _TIME.finditer(text))


def find_ordinals(text: str) -> Iterator[Figure]:
    """Find `2nd`, `1er`, `#3`: they rank, they don't count."""
    for match in _ORDINAL.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        yield Figure(
            text=match[0],
            start=match.start(),
            end=match.end(),
            kind="ordinal",
            readings=((Reading(value=Decimal(digits), half=Decimal(0)),),),
        )


def find_codes(text: str) -> Iterator[Figure]:
    """Find phone numbers, versions and identifiers."""
    taken = 0
    for match in _PHONE.finditer(text):
        digits = sum(sign.isdigit() for sign in match[0])
        if digits >= 7 and not _SIGNED_GROUPS.fullmatch(match[0]):
            yield _mark(match, "phone")
    for match in _VERSION.finditer(text):
        if not _DOT_GROUPS.fullmatch(match[0]):
            yield _mark(match, "version")
    for match in _GLUED.finditer(text):
        if match.start() >= taken and _is_code(match[0]):
            taken = match.end()
            yield _mark(match, "code")


def _is_code(word: str) -> bool:
    """Tell an identifier from a number with something glued to it.

    `USD99999`, `No.99999` and `x99999` are numbers and so are `2,400mm` and `15kg`;
    `S001`, `ORD-17-9`, `205E08` and `26-001` are not.
    """
    word = word.lstrip("#")
    if not any(sign.isdigit() for sign in word) or _VERSION.fullmatch(word):
        return False
    if _SCIENTIFIC.fullmatch(word):
        return False
    if not _LETTERS_FIRST.search(word):
        return _HYPHENATED.fullmatch(word) is not None
    if _PERIOD_CODE.fullmatch(word) or _NUMBERED.match(word) or _CURRENCY_FIRST.match(word):
        return False
    if word[0].isdigit():
        return _DIGITS_THEN_WORD.fullmatch(word) is None and not _is_number_range(word)
    head = re.match(r"[A-Za-z_]+[-_/.]?", word)
    # "orders12" is a slip of the pen for a number; codes have capitals, or digits in the middle.
    return head is None or not head[0].islower() or any(s.isalpha() for s in word[head.end() :])


def _is_number_range(word: str) -> bool:
    return (
        re.fullmatch(r"\d+(?:[.,]\d+)*[A-Za-z]{0,8}[-/]\d+(?:[.,]\d+)*[A-Za-z]{0,8}", word)
        is not None
    )


def _mark(match: re.Match[str], kind: str, group: int = 0) -> Figure:
    return Figure(text=match[group], start=match.start(group), end=match.end(group), kind=kind)
