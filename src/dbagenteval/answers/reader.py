"""Reads every figure of a text and tells quantities from dates, codes and list markers."""

from __future__ import annotations

import re
from dataclasses import replace

from dbagenteval.answers.bounds import bound_before
from dbagenteval.answers.dates import find_dates
from dbagenteval.answers.digits import blanked, normal_text, quantities_in_digits
from dbagenteval.answers.figure import Figure
from dbagenteval.answers.language import writing_of
from dbagenteval.answers.marks import (
    find_codes,
    find_links,
    find_markers,
    find_ordinals,
    find_times,
)
from dbagenteval.answers.number_words import quantities_in_words

__all__ = ["read_figures"]

_ANY_DIGIT = re.compile(r"\d")


def read_figures(text: str, locale: str | None = None) -> list[Figure]:
    """Read the figures of a text, in their order.

    Args:
        text: An answer, a question; Markdown is understood.
        locale: How its numbers are written, such as `de`; None leaves ambiguous figures with
            all their readings. `normal_text` of the text is what the positions refer to.

    Returns:
        Quantities and everything that looks like one. Time and memory grow with the length of
        the text, not faster.

    Raises:
        ValueError: `locale` is none that Babel knows.
    """
    text = normal_text(text)
    writing = writing_of(text, locale)
    found: list[Figure] = []
    if _ANY_DIGIT.search(text):
        left = text
        for find in (find_links, find_markers):
            marks = _apart(list(find(left)))
            found += marks
            left = blanked(left, marks)
        dates = _apart(list(find_dates(left, writing)))
        found += dates
        left = blanked(left, dates)
        for find in (find_times, find_codes, find_ordinals):
            marks = _apart(list(find(left)))
            found += marks
            left = blanked(left, marks)
        numbers = quantities_in_digits(left, writing)
        found += (_bounded(text, figure) for figure in numbers)
        left = blanked(left, numbers)
    else:
        left = text
    found += (_bounded(text, figure) for figure in quantities_in_words(left, writing))
    return sorted(found, key=lambda figure: figure.start)


def _bounded(text: str, figure: Figure) -> Figure:
    bound = bound_before(text, figure.start, figure.end)
    return replace(figure, bound=bound) if bound else figure


def _apart(figures: list[Figure]) -> list[Figure]:
    """Drop figures that overlap an earlier found one."""
    taken: set[int] = set()
    kept = []
    for figure in figures:
        places = range(figure.start, figure.end)
        if figure.kind in ("sql", "link") or taken.isdisjoint(places):
            taken.update(places if figure.kind not in ("sql", "link") else ())
            kept.append(figure)
    return kept
