"""Which way an answer says that something goes: rose from A to B, A is ahead of B."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dbagenteval.answers.labels import Mention
from dbagenteval.answers.measures import Measures

__all__ = ["Relation", "direction_word", "relation_in", "statistic_near"]

_RISE = re.compile(
    r"(?<!\w)(?:rose|risen|rises|increased?|increases|grew|grown|grows|climbed|went up|gained"
    r"|gestiegen|stieg\w*|zugenommen"
    r"|wuchs\w*|augment\w+|progress\w+|hausse|aument\w+|subi[óo]|creci[óo]|cresce\w*"
    r"|cresciut\w+|salit[oaie]|gestegen|steeg"
    r"|wzrosł\w*|выросл?\w*|увеличил\w*)(?!\w)|増加|上昇|増え|增长|增加|上升",
    re.IGNORECASE,
)
_FALL = re.compile(
    r"(?<!\w)(?:fell|fallen|falls|decreased?|decreases|dropped|declined?|declines|went down"
    r"|shrank|shrunk|gesunken|sank"
    r"|sanken|gefallen|fiel\w*|abgenommen|baiss\w+|diminu\w+|recul\w+|baj[óo]|cay[óo]"
    r"|disminuy\w+|diminuit\w+|calat[oaie]"
    r"|caiu|gedaald|daalde|spadł\w*|снизил\w*|упал\w*|уменьшил\w*)(?!\w)|減少|低下|下降|減り|减少",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?<!\w)(?:not|n['\u2019]t|never|nicht|pas|no|non|não|niet|не)(?!\w)", re.IGNORECASE
)
_FROM = re.compile(r"(?<!\w)(?:from|between|von|de|du|da|van|с)\s(?:\w+\s)?[*_]*$", re.IGNORECASE)
_TO = re.compile(
    r"^[*_]*\s(?:to|and|until|bis|auf|à|au|a|para|naar|do|до)\s(?:\w+\s)?[*_]*$", re.IGNORECASE
)
_MORE = re.compile(
    r"(?<!\w)(?:(?:more|higher|larger|greater|bigger|better)(?!\w).{0,40}?\bthan"
    r"|(?:mehr|höher|größer)(?!\w).{0,40}?\bals"
    r"|ahead of|above|exceed(?:s|ed)?|outsold|outperform(?:s|ed)?|beats?|leads?|vor)(?!\w)",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"(?<!\w)(?:(?:less|fewer|lower|smaller|worse)(?!\w).{0,40}?\bthan"
    r"|(?:weniger|niedriger|kleiner)(?!\w).{0,40}?\bals"
    r"|behind|below|trails?|hinter)(?!\w)",
    re.IGNORECASE,
)
_STATISTICS = re.compile(
    r"(?<!\w)(?:(?P<average>average|averages|averaging|averaged|mean|avg|durchschnitt\w*|schnitt"
    r"|mittelwert|moyenne|promedio|media|média|gemiddelde?|średni\w*)"
    r"|(?P<median>median|mediana|médiane|zentralwert)"
    r"|(?P<sum>total|sum|together|combined|altogether|insgesamt|zusammen|summe|somme|suma|somma))"
    r"(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """That one name has more (sign 1) or less (sign -1) than another, as an answer says."""

    one: Mention
    other: Mention
    sign: int
    word: str

    def pairs(self, measures: Measures) -> list[tuple[str, Decimal, Decimal]]:
        """Give the columns that both names have a number in, and the numbers."""
        return [
            (
                name,
                max(values[row] for row in self.one.rows),
                max(values[row] for row in self.other.rows),
            )
            for name, values in measures.columns.items()
            if all(row in values for row in (*self.one.rows, *self.other.rows))
        ]

    def holds(self, measures: Measures) -> bool | None:
        """Tell whether some column bears it out; None if none can tell."""
        pairs = self.pairs(measures)
        return any((one - other) * self.sign > 0 for _, one, other in pairs) if pairs else None


def direction_word(text: str) -> tuple[int, str]:
    """Give 1 and the word for a rise, -1 and the word for a fall, else 0."""
    rises, falls = _RISE.search(text), _FALL.search(text)
    if bool(rises) == bool(falls) or _NOT.search(text):
        return 0, ""
    return (1, rises[0]) if rises else (-1, falls[0] if falls else "")


def relation_in(text: str, start: int, named: Sequence[Mention]) -> Relation | None:
    """Find what a sentence says of two names: `A is ahead of B`, `fell from A to B`.

    Args:
        text: The sentence.
        start: Where it begins in the text that the mentions are of.
        named: The names in it; None is found unless they are two.
    """
    if len(named) != 2 or _NOT.search(text) or named[0].rows == named[1].rows:
        return None
    first, second = named
    before, between = text[: first.start - start], text[first.end - start : second.start - start]
    sign, word = direction_word(text)
    if sign and _FROM.search(before) and _TO.match(between):
        return Relation(second, first, sign, word)
    more, less = _MORE.search(between), _LESS.search(between)
    if bool(more) == bool(less):
        return None
    found = (more or less or [""])[0]
    return Relation(first, second, 1 if more else -1, found)


def statistic_near(before: str, after: str) -> str:
    """Name the statistic that a figure is called, by the nearest word: `median`; or empty."""
    words = [match.lastgroup or "" for match in _STATISTICS.finditer(before)]
    if words:
        return words[-1]
    match = _STATISTICS.search(after)
    return (match.lastgroup or "") if match else ""
