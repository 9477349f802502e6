"""Whether an answer states a value of the reference, or that there is none."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache

from dbagenteval.answers.columns import as_number
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.figure import EXACT, Figure
from dbagenteval.answers.grounding import Grounds, fates_of
from dbagenteval.answers.reader import read_figures

__all__ = ["says_nothing_found", "states_value"]

_NEGATED = re.compile(
    r"(?:\bnot|n['\u2019]t|\bnicht|\bkeine?|\bne|\bpas|\bno son|\bnon|\bnão|\bniet|\bgeen"
    r"|\bне)\s(?:exactly\s|genau\s)?$",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:no|none|not|nothing|nobody|zero|empty|without|never|null|unknown|missing|unavailable"
    r"|n/a|neither|nor"
    r"|cannot|unable|kein\w*|nicht\w*|niemand|leer|aucune?|pas|rien|vide|sans|ningun[oa]?"
    r"|ningún|nada|nadie|ninguém"
    r"|nenhum\w*|não|nessun\w*|niente|nulla|non|geen|niet\w*|niemand|brak|nie|żadn\w*|inget"
    r"|inga|ingen|ingenting|intet"
    r"|yok|hiç|tidak|нет|не|ничего|ни)\b|n['\u2019]t\b|(?<!\d)0(?![\d.,]\d)|없|ない|なし|ません|没有|無|无"
    r"|नहीं|لا|ไม่",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:not|['\u2019]t| not)|unable to|won['\u2019]t|not able to)\s(?:\w+\s){0,2}"
    r"(?:help|answer|assist|do that|comply|provide|access)\b",
    re.IGNORECASE,
)
_TRUE = re.compile(r"\b(?:true|yes|ja|oui|sí|sim|sì|tak|да|evet)\b|はい|是", re.IGNORECASE)
_FALSE = re.compile(
    r"\b(?:false|no|not|nein|non|não|nee|nie|нет|hayır)\b|n['\u2019]t\b|いいえ|不|否", re.IGNORECASE
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ENDINGS = r"(?:['\u2019]?s|es|en|n|er|i|a)?"
_ARTICLE = re.compile(r"(?:^|[.!?]\s+)(?:A|I)\s+[a-z]")


def states_value(answer: str, value: object) -> bool:
    """Say whether the answer states a cell's value.

    A number counts as the answer rounds it, and not if `not` stands before it; a date in any
    spelling; a boolean as true, yes, false or no; a text as whole words, short ones such as IN
    only in their own capitals.
    """
    if value is None:
        return False
    if isinstance(value, bool):
        return bool((_TRUE if value else _FALSE).search(answer))
    if as_number(value) is not None and not isinstance(value, str):
        return _states_number(answer, value)
    if isinstance(value, int | float | Decimal):
        return False
    return _states_text(answer, str(value).strip()) or _states_date(answer, value)


def says_nothing_found(answer: str) -> bool:
    """Say whether the answer tells that there is nothing; a refusal to help does not."""
    text = normal_text(answer)
    return bool(_NOTHING.search(_REFUSAL.sub("", text)))


@lru_cache(maxsize=8)
def _figures(answer: str) -> tuple[Figure, ...]:
    return tuple(read_figures(answer))


def _states_number(answer: str, value: object) -> bool:
    text = normal_text(answer)
    grounds = Grounds(results=[[{"value": value}]], sources=("rows",))
    figures = [
        figure
        for figure in _figures(answer)
        if figure.readings
        and figure.kind in ("quantity", "year", "ordinal")
        and not _NEGATED.search(text[max(0, figure.start - 16) : figure.start])
    ]
    if any(fate.state == "grounded" for fate in fates_of(figures, grounds)):
        return True
    size = as_number(value)
    exact = abs(Decimal(repr(size)) if isinstance(size, float) else Decimal(size or 0))
    return any(
        reading.percent and reading.span()[0] <= EXACT.multiply(exact, 100) <= reading.span()[1]
        for figure in figures
        for numbers in figure.readings
        for reading in numbers
    ) or (exact == 0 and says_nothing_found(answer))


def _states_text(answer: str, value: str) -> bool:
    text, wanted = normal_text(answer), normal_text(value)
    if not wanted:
        return False
    if _UNSPACED.search(wanted):
        return wanted.casefold() in text.casefold()
    is_short = len(wanted) <= 3 and wanted.isupper()
    ending = "" if len(wanted) <= 3 else _ENDINGS
    # Next to a script without blanks a name needs no blank: Zürichに.
    edge = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    pattern = rf"(?<!{edge}){re.escape(wanted)}{ending}(?!{edge})"
    if len(wanted) == 1 and wanted in "AI":
        text = _ARTICLE.sub(" ", text)
    return re.search(pattern, text, 0 if is_short else re.IGNORECASE) is not None


def _states_date(answer: str, value: object) -> bool:
    if isinstance(value, str) and not re.match(r"\d{4}-\d{2}-\d{2}", value):
        return False
    if not isinstance(value, str | date | datetime):
        return False
    dates = [figure for figure in _figures(answer) if figure.kind == "date"]
    grounds = Grounds(results=[[{"value": value}]], sources=("rows",))
    return any(
        fate.state == "grounded"
        for fate in fates_of(dates, grounds)
        if fate.figure.periods and fate.figure.periods[0].day is not None
    )
