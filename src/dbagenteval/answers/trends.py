"""Whether what an answer says rose, fell, exceeds or does not exist agrees with the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from dbagenteval.answers.columns import as_number
from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.directions import Relation, direction_word, relation_in
from dbagenteval.answers.figure import Figure
from dbagenteval.answers.finding import Finding
from dbagenteval.answers.labels import Labels, Mention
from dbagenteval.answers.measures import Measures
from dbagenteval.answers.sentences import Sentence, sentences_of, stretch
from dbagenteval.answers.stated import says_nothing_found
from dbagenteval.traces import Rows

__all__ = ["absence_finding", "comparison_findings", "trend_findings"]

_FROM = re.compile(r"(?<!\w)(?:from|von|de|da|van|с|z)\s*[$€£]?$", re.IGNORECASE)
_TO = re.compile(r"^[^.!?\n]{0,40}?(?<!\w)(?:to|auf|à|a|para|naar|do|до)\s*[$€£]?$", re.IGNORECASE)
_ABSENCE = re.compile(
    r"^\W*(?:there (?:are|were|is|was) no(?!\w)|(?:i |we )?(?:could not|couldn['\u2019]t"
    r"|did not|didn['\u2019]t) find|no [\w ]{1,60}"
    r"(?:found|match|exist|available|returned)|none(?!\w)|nothing|es gibt kein|es wurden keine"
    r"|keine [\w ]{1,40} gefunden"
    r"|aucun|il n['\u2019]y a (?:pas|aucun)|no hay|no se encontr|nessun|non ci sono|nenhum"
    r"|não há|geen|er zijn geen|brak|nie znaleziono|нет |не найден)",
    re.IGNORECASE,
)


def trend_findings(text: str, figures: Sequence[Figure], results: Sequence[Rows]) -> list[Finding]:
    """Compare each rise or fall with its two figures, or with a series of the rows.

    Args:
        text: The answer.
        figures: Its figures.
        results: The rows of each execution, the last one first.
    """
    text = normal_text(text)
    course = [Measures(rows) for rows in results]
    mentions = [Labels(rows).mentions(text) for rows in results]
    found = []
    for sentence in sentences_of(text):
        sign, word = direction_word(sentence.text)
        if not sign or any(relation_in(*one) for one in _named(sentence, mentions)):
            continue
        ends = _ends(text, sentence, figures) or _series(course)
        if ends is None:
            found.append(Finding("unclear", f"{word!r}: the rows show no course of time"))
            continue
        first, last = ends
        holds = (last - first) * sign > 0
        detail = f"{word!r}: from {first} to {last}"
        found.append(Finding("holds" if holds else "fails", detail))
    return found


def _ends(
    text: str, sentence: Sentence, figures: Sequence[Figure]
) -> tuple[Decimal, Decimal] | None:
    inside = [figure for figure in stretch(figures, sentence) if figure.kind == "quantity"]
    for first, second in pairwise(inside):
        before = text[max(sentence.start, first.start - 12) : first.start]
        if _FROM.search(before) and _TO.search(text[first.end : second.start]):
            return first.readings[0][0].value, second.readings[0][0].value
    return None


def _series(course: Sequence[Measures]) -> tuple[Decimal, Decimal] | None:
    """Give the first and last value of the one measure of a result that goes through time."""
    series = next((one.series for one in course if one.series), [])
    return (series[0], series[-1]) if series else None


def comparison_findings(text: str, results: Sequence[Rows]) -> list[Finding]:
    """Compare `A has more … than B` and `rose from A to B` with the rows of A and B."""
    text = normal_text(text)
    found: list[Finding] = []
    for rows in results:
        mentions, measures = Labels(rows).mentions(text), Measures(rows)
        for sentence in sentences_of(text):
            for one in _named(sentence, [mentions]):
                relation = relation_in(*one)
                if relation:
                    found += _compared(relation, measures)
    return found


def _named(
    sentence: Sentence, mentions: Sequence[Sequence[Mention]]
) -> list[tuple[str, int, Sequence[Mention]]]:
    return [(sentence.text, sentence.start, stretch(one, sentence)) for one in mentions]


def _compared(relation: Relation, measures: Measures) -> list[Finding]:
    holds = relation.holds(measures)
    if holds is None:
        return []
    said = f"{relation.one.label!r} {relation.word} {relation.other.label!r}"
    if holds:
        return [Finding("holds", said)]
    name, one, other = relation.pairs(measures)[0]
    return [Finding("fails", f"{said}: {name} is {one} and {other}")]


def absence_finding(text: str, results: Sequence[Rows], *, has_figures: bool) -> list[Finding]:
    """Compare an answer that says there is nothing with the rows.

    Args:
        text: The answer.
        results: The rows of each execution, the last one first.
        has_figures: True if the answer states a number of the rows, so that it tells more.
    """
    if not results:
        return []
    text = normal_text(text)
    cells = [cell for rows in results for row in rows[:1000] for cell in row.values()]
    is_empty = all(cell is None or cell == "" or as_number(cell) == 0 for cell in cells)
    if not _ABSENCE.search(text):
        return []
    if is_empty:
        return [Finding("holds", "the rows hold nothing, as the answer says")]
    if has_figures or not says_nothing_found(text):
        return [Finding("unclear", "the answer says that something is absent")]
    return [
        Finding(
            "fails", f"the answer says there is nothing, and there are {len(results[0])} row(s)"
        )
    ]
