"""Whether what an answer calls the highest, lowest or second highest is it in the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dbagenteval.answers.digits import normal_text
from dbagenteval.answers.finding import Finding
from dbagenteval.answers.labels import Labels, Mention
from dbagenteval.answers.measures import Measures
from dbagenteval.answers.sentences import sentences_of
from dbagenteval.traces import Rows

__all__ = ["superlative_findings"]

_HIGHEST = (
    r"most|highest|biggest|largest|greatest|maximum|longest|heaviest|strongest|meisten"
    r"|höchste[nrsm]?|größte[nrsm]?"
    r"|maximale?|längste[nrsm]?|plus (?:élevée?s?|grande?s?|gros(?:se)?|haut|forte?)|le plus"
    r"|la plus|les plus|mayor"
    r"|más (?:alt[oa]|grande|vendid[oa]|car[oa])|máxim[oa]|maggiore?|più (?:alt[oa]|grande"
    r"|vendut[oa])|massim[oa]"
    r"|maior|mais (?:alt[oa]|vendid[oa]|car[oa])|hoogste|grootste|meeste|najwięcej|najwyższ\w*"
    r"|największ\w*|en (?:çok|yüksek|büyük)"
    r"|наибольш\w*|максимальн\w*|самы[йе] (?:больш\w*|высок\w*)"
)
_LOWEST = (
    r"least|fewest|lowest|smallest|minimum|cheapest|shortest|weakest|wenigsten"
    r"|niedrigste[nrsm]?|kleinste[nrsm]?"
    r"|geringste[nrsm]?|günstigste[nrsm]?|plus (?:bas(?:se)?|petite?|faible)|le moins|la moins"
    r"|menor|más (?:baj[oa]|pequeñ[oa]|barat[oa])"
    r"|mínim[oa]|minore|più (?:bass[oa]|piccol[oa])|minim[oa]|mais (?:baix[oa]|barat[oa])"
    r"|laagste|kleinste|minste"
    r"|najmniej|najniższ\w*|najmniejsz\w*|en (?:az|düşük|küçük)|наименьш\w*|минимальн\w*"
    r"|самы[йе] (?:маленьк\w*|низк\w*)"
)
_EITHER = (
    r"best|top|leading|number one|worst|beste[nrsm]?|meilleure?|mejor|melhor|migliore|first place"
    r"|лучш\w*"
)
_CJK_HIGHEST = r"最大|最高|最も多い|最も高い|一番多い|一番高い|最多|가장 (?:많|높|큰)"
_CJK_LOWEST = r"最小|最低|最も少ない|最も低い|一番少ない|最少|가장 (?:적|낮|작)"
_KINDS = {
    kind: re.compile(rf"(?<!\w)(?:{words})(?!\w)|{unspaced}", re.IGNORECASE)
    for kind, words, unspaced in (
        ("lowest", _LOWEST, _CJK_LOWEST),
        ("highest", _HIGHEST, _CJK_HIGHEST),
        ("either", _EITHER, "一番"),
    )
}
# "One of the largest", "at most" and "not the highest" claim something else.
_OTHER_CLAIM = re.compile(
    r"(?<!\w)(?:one of|among|some of|at (?:the )?(?:most|least)|most of|not|n['\u2019]t"
    r"|unter den|einer der|parmi|une? des|uno de|una de"
    r"|nicht|pas)(?!\w)",
    re.IGNORECASE,
)
_RANKS = {
    "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "zweit": 2,
    "dritt": 3, "deuxième": 2, "troisième": 3, "segundo": 2, "segunda": 2, "tercer": 3,
    "secondo": 2, "seconda": 2, "terzo": 3, "tweede": 2, "derde": 3,
}  # fmt: skip
_RANK = re.compile(rf"(?<!\w)(?:{'|'.join(_RANKS)})", re.IGNORECASE)
_PLAIN_NAME = 40  # characters of a quoted name


def superlative_findings(text: str, question: str, rows: Rows) -> list[Finding]:
    """Compare each superlative of an answer with the rows.

    Args:
        text: The answer.
        question: The question; its superlative goes for an answer that names one row only.
        rows: Result rows.

    A name is called the highest rightly if its row has the largest value of some column that
    measures something. It fails if it has that of none.
    """
    if len(rows) < 2:
        return []
    text, question = normal_text(text), normal_text(question)
    labels = Labels(rows)
    mentions = labels.mentions(text) if labels.is_whole else []
    measures = Measures(rows)
    found: list[Finding] = []
    at = 0
    for sentence in sentences_of(text):
        named = []
        while at < len(mentions) and mentions[at].start < sentence.end:
            named.append(mentions[at])
            at += 1
        claim = _claim(sentence.text)
        if claim and named:
            found += _judge(claim, named, measures)
    asked = _claim(question)
    if not found and asked and not _asks_for_several(question):
        found += _judge(asked, mentions, measures)
    return found


@dataclass(frozen=True, slots=True)
class _Claim:
    word: str
    kind: str
    rank: int = 1


def _claim(sentence: str) -> _Claim | None:
    if _OTHER_CLAIM.search(sentence):
        return None
    found = [
        (match.start(), kind, match[0])
        for kind, pattern in _KINDS.items()
        if (match := pattern.search(sentence))
    ]
    # Two different ones in one sentence speak of two names.
    if not found or len({kind for _, kind, _ in found} - {"either"}) > 1:
        return None
    _, kind, word = min(found)
    rank = _RANK.search(sentence)
    return _Claim(word, kind, _RANKS[rank[0].casefold()] if rank else 1)


def _asks_for_several(question: str) -> bool:
    return (
        re.search(r"\d", question) is not None
        or re.search(
            r"\b(?:each|every|per|list|customers|products|stores|which (?:\w+s|two|three|five))\b",
            question,
            re.IGNORECASE,
        )
        is not None
    )


def _judge(claim: _Claim, named: Sequence[Mention], measures: Measures) -> list[Finding]:
    distinct = list({mention.rows: mention for mention in named}.values())
    if len(distinct) != 1:
        return []
    mention = distinct[0]
    columns = measures.columns
    if not columns:
        detail = f"{claim.word!r}: the rows hold no measure to compare"
        return [Finding("unclear", detail)]
    worst = ""
    for name, values in columns.items():
        mine = [values[row] for row in mention.rows if row in values]
        if not mine:
            continue
        ordered = measures.ordered(name)
        if _is_extreme(claim, mine, ordered):
            rank = f"number {claim.rank} of the " if claim.rank > 1 else "the "
            return [Finding("holds", f"{mention.label!r} is {rank}{claim.word} by {name}")]
        best = ordered[0] if claim.kind != "lowest" else ordered[-1]
        holder = next(row for row, value in values.items() if value == best)
        worst = worst or (
            f"{claim.word!r} names {mention.label!r} ({name} {mine[0]}), "
            f"but {_name_of(measures.rows[holder], mention.column)} has {best}"
        )
    return [Finding("fails", worst)] if worst else []


def _is_extreme(claim: _Claim, mine: list[Decimal], ordered: list[Decimal]) -> bool:
    if claim.rank > len(ordered):
        return True
    high, low = ordered[claim.rank - 1], ordered[-claim.rank]
    if claim.kind == "either":
        return high in mine or low in mine
    return (high if claim.kind == "highest" else low) in mine


def _name_of(row: dict[str, object], column: str) -> str:
    return repr(str(row.get(column))[:_PLAIN_NAME])
