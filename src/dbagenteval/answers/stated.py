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
from dbagenteval.answers.hedges import claimed
from dbagenteval.answers.reader import read_figures

__all__ = ["says_nothing_found", "states_value"]

_NEGATED = re.compile(
    r"(?:\bnot|n['\u2019]t|\bnever|\brather than|\binstead of|\bother than|\bnicht|\bkeine?|\bne"
    r"|\bpas|\bno (?:son|es|fue)|\bnon(?: è)?|\bnão(?: é)?|\bniet|\bgeen|\bне)"
    r"\s(?:(?:exactly|genau|the|just|really|quite|a total of|at|in|by|from|because of|der|die|das"
    r"|le|la|el|o|a|il)\s){0,2}[*_\"'“„«]{0,3}$",
    re.IGNORECASE,
)
# "Bo beats Ann", "followed by Ann", "Ann is second": another one is meant.
_BEHIND = re.compile(
    r"\b(?:followed (?:closely )?by|ahead of|more than|less than|fewer than|better than|worse than"
    r"|higher than|lower than|beats?|before|after|unlike|except(?: for)?|apart from|than|vor"
    r"|gefolgt von|als|devant|suivie? (?:de|par)|seguid[oa] (?:de|da|por))\s[*_]{0,3}$",
    re.IGNORECASE,
)
_RANKED_LOWER = re.compile(
    r"[*_]{0,3},?\s(?:\w+\s){0,2}(?:is|was|comes?|came|ranks?|ranked|finished|with|as|only|ist|est|es)"
    r"\s(?:\w+\s){0,2}?(?:(?:second|third|fourth|fifth|last|next|runner|zweit\w*|dritt\w*|deuxième"
    r"|segund[oa]|2nd|3rd|4th)(?!\w)|not(?!\w)|(?:behind|below|after)(?!\w))"
    r"|[*_]{0,3}\s(?:isn|wasn|doesn|didn|hasn)['\u2019]t(?!\w)",
    re.IGNORECASE,
)
_LOWER = re.compile(
    r"\b(?:second|third|fourth|fifth|last|next|runner|2nd|3rd|4th|not|after|before|below|behind"
    r"|than|except|zweit|dritt|deuxième|segund)",
    re.IGNORECASE,
)
_NO = (
    r"no(?!\.\s?\d)|none|nothing|nobody|zero|without|never|neither|nor|kein\w*|nichts|niemand"
    r"|aucune?|rien|sans|ningun[oa]?|ningún|nada|nadie|ninguém|nenhum\w*|nessun\w*|niente|nulla"
    r"|geen|niets|niemand|brak|żadn\w*|inget|inga|ingen|ingenting|intet|yok|hiç|нет|ничего"
    r"|pas d['\u2019e]|pas trouvé\w*|existe pas|non ci sono|non c['\u2019]è|não há|não houve"
    r"|não existe\w*|no hay|no hubo|tidak ada|er zijn niet|nie ma|nie znaleziono"
)
_NOT_ANY = (
    r"(?:not|n['\u2019]t) (?:\w+ ){0,2}?(?:any\w*|a single|find|found|exist|match|contain|return\w*"
    r"|see|located?|there)"
)
_ZERO = re.compile(
    rf"\b(?:{_NO})(?!\w)|\b{_NOT_ANY}\b|n['\u2019]t (?:\w+ )?any\b|(?<!\d)0(?![\d.,]\d)"
    r"|없|ない|なし|ません|没有|無|无|नहीं|لا|ไม่",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"\b(?:empty|null|unknown|missing|unavailable|n/a|blank|undefined|leer|unbekannt|vide|inconnue?"
    r"|vac[íi][oa]s?|desconocid[oa]|vuot[oa]|sconosciut[oa]|vazi[oa]|onbekend|leeg|неизвестн\w*)\b"
    r"|(?:\bnot|n['\u2019]t) (?:\w+ ){0,2}?(?:have|available|known|set|recorded|specified|listed"
    r"|present|applicable|defined|assigned|given|provided|stored|filled|registered|yet|in the)\b"
    r"|\bnicht (?:\w+ )?(?:gefunden|vorhanden|bekannt|angegeben|existier\w*|hinterlegt|gesetzt)\b"
    r"|\bno se (?:encontr|han? encontr|conoce)|\bne (?:\w+ )?(?:trouve|figure)"
    r"|\bnon (?:\w+ )?trovat|\bniet (?:\w+ )?(?:gevonden|bekend)"
    r"|\bне (?:\w+ )?(?:найден|указан|известн)",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?:\bthere(?: is| was|['\u2019]s)|\bhas|\bhave|\bhad|\bfound|\bgot|\breturned|\bcontains"
    r"|\bexactly|\bonly|\bjust|\bprecisely|:)\s(?:only |just |exactly )?one\b"
    r"|^\W*one\s(?!of\b|can\b|could\b|should\b|must\b|may\b|more\b|thing\b)\w+",
    re.IGNORECASE,
)
_STRICT = {"over": 1, "under": -1}
_LEADING = re.compile(
    r"\W*(?:(true|yes|ja|oui|sí|sim|sì|tak|да|evet|はい)|(false|no|nein|non|não|nee|nie|нет|hayır"
    r"|いいえ))(?:\W|$)(?!\s?(?:idea|answer|access|information))",
    re.IGNORECASE,
)
_TRUE = re.compile(r"(?<!not )\b(?:true|yes|ja|oui|sí|sim|sì|tak|да|evet)\b|はい|是", re.IGNORECASE)
_FALSE = re.compile(
    r"\b(?:false|no|not|nein|non|não|nee|nie|нет|hayır)\b|n['\u2019]t\b|いいえ|不|否", re.IGNORECASE
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ENDINGS = r"(?:['\u2019]?s|es|en|n|er|i|a)?"
_ARTICLE = re.compile(r"(?:^|[.!?]\s+)(?:A|I)\s+[a-z]")


def states_value(answer: str, value: object, question: str | None = None) -> bool:
    """Say whether the answer states a cell's value.

    A number counts as the answer rounds it, and not if `not` stands before it, or if it is a
    bound (fewer than 42); a date in any spelling; a boolean as true, yes, false or no; a text as
    whole words, short ones such as IN only in their own capitals, and not if it is denied (not
    Ann but Bo). What stands in a refusal or hedge is not stated.

    Args:
        answer: The answer.
        value: The cell.
        question: The question, if the value is its only answer: then a name counts that is not
            ranked behind another one.
    """
    if value is None:
        return False
    text = claimed(normal_text(answer))
    if isinstance(value, bool):
        return _states_truth(text, value)
    if as_number(value) is not None and not isinstance(value, str):
        return _states_number(answer, text, value)
    if isinstance(value, int | float | Decimal):
        return False
    return _states_text(text, str(value).strip(), question) or _states_date(answer, text, value)


def says_nothing_found(answer: str) -> bool:
    """Say whether the answer tells that there is nothing; a refusal or failure does not."""
    text = claimed(normal_text(answer))
    return _ZERO.search(text) is not None or _NO_VALUE.search(text) is not None


def _states_truth(text: str, value: bool) -> bool:
    leading = _LEADING.match(text)
    if leading:
        return bool(leading[1]) is value
    return bool((_TRUE if value else _FALSE).search(text))


@lru_cache(maxsize=8)
def _figures(answer: str) -> tuple[Figure, ...]:
    return tuple(read_figures(answer))


def _states_number(answer: str, text: str, value: object) -> bool:
    size = as_number(value)
    exact = abs(Decimal(repr(size)) if isinstance(size, float) else Decimal(size or 0))
    grounds = Grounds(results=[[{"value": value}]], sources=("rows",))
    figures = [
        figure
        for figure in _figures(answer)
        if figure.readings
        and figure.kind in ("quantity", "year", "ordinal")
        and text[figure.start : figure.end].strip()
        and not _NEGATED.search(text[max(0, figure.start - 40) : figure.start])
        and not _excludes(figure, exact)
    ]
    if any(fate.state == "grounded" for fate in fates_of(figures, grounds)):
        return True
    if exact == 1 and _ONE.search(text):
        return True
    return any(
        reading.percent and reading.span()[0] <= EXACT.multiply(exact, 100) <= reading.span()[1]
        for figure in figures
        for numbers in figure.readings
        for reading in numbers
    ) or (exact == 0 and not figures and _ZERO.search(text) is not None)


def _excludes(figure: Figure, size: Decimal) -> bool:
    """Tell a bound that the value does not keep: 42 is not `more than 42`, nor told by it."""
    side = _STRICT.get(figure.bound, 0)
    if not side:
        return False
    printed = [abs(reading.value) for numbers in figure.readings for reading in numbers]
    factors = (1, 100) if figure.readings[0][0].percent else (1,)
    return all((size * factor - one) * side <= 0 for one in printed for factor in factors)


def _states_text(text: str, value: str, question: str | None) -> bool:
    wanted = normal_text(value)
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
    return any(
        not _is_denied(text, match.start(), match.end(), question)
        for match in re.finditer(pattern, text, 0 if is_short else re.IGNORECASE)
    )


def _is_denied(text: str, start: int, end: int, question: str | None) -> bool:
    before = text[max(0, start - 40) : start]
    if _NEGATED.search(before):
        return True
    if question is None or _LOWER.search(question):
        return False
    return bool(_BEHIND.search(before) or _RANKED_LOWER.match(text, end))


def _states_date(answer: str, text: str, value: object) -> bool:
    if isinstance(value, str) and not re.match(r"\d{4}-\d{2}-\d{2}", value):
        return False
    if not isinstance(value, str | date | datetime):
        return False
    dates = [
        figure
        for figure in _figures(answer)
        if figure.kind == "date"
        and text[figure.start : figure.end].strip()
        and not _NEGATED.search(text[max(0, figure.start - 40) : figure.start])
    ]
    grounds = Grounds(results=[[{"value": value}]], sources=("rows",))
    return any(
        fate.state == "grounded"
        for fate in fates_of(dates, grounds)
        if fate.figure.periods and fate.figure.periods[0].day is not None
    )
