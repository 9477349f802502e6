"""Words that say how a number was computed: together, more than, on average, times."""

from __future__ import annotations

import re

__all__ = ["hints_in"]

_WORDS = {
    "sum": r"total|totals|totalling|totaling|together|combined|sum|altogether|in all|overall"
    r"|both|across"
    r"|zusammen|insgesamt|summe|gesamt\w*|ensemble|en tout|somme|au total|juntos|juntas|suma"
    r"|en total|totale"
    r"|insieme|somma|soma|juntos|samen|totaal|razem|łącznie|suma|toplam|всего|итого|вместе|合計"
    r"|合计|総\w*|共|总",
    "difference": r"difference|gap|more|less|fewer|higher|lower|larger|smaller|increased?"
    r"|decreased?|rose|fell"
    r"|grew|growth|dropped|drop|up|down|gain|gained|lost|change|changed|remaining|remain|left"
    r"|rest|other|behind"
    r"|ahead|lead|above|below|minus|differs?|declined?|improved|unterschied|differenz|mehr"
    r"|weniger|höher|niedriger"
    r"|gestiegen|gesunken|übrig|différence|écart|de plus|de moins|diferencia|más|menos"
    r"|differenza|più|meno"
    r"|diferença|mais|plus|rückgang|zuwachs|anstieg|wachstum|surge|drop|verschil|meer|minder"
    r"|różnica|więcej|mniej|разница|больше|меньше|差|増|減|増加|減少",
    "average": r"average|averages|averaging|mean|avg|per|each|durchschnitt\w*|schnitt|mittel"
    r"|moyenne|promedio|media"
    r"|média|gemiddelde?|średni\w*|ortalama|средн\w*|平均",
    "median": r"median|mediana|médiane|zentralwert|中央値|медиана",
    "ratio": r"times|ratio|fold|per|twice|double|doubled|triple|tripled|mal|fois|veces|vezes"
    r"|volte|keer|razy|раза?|倍",
    "count": r"different|distinct|unique|separate|verschiedene\w*|différente?s?|distint[oa]s"
    r"|diferentes|divers[ie]"
    r"|verschillende|różnych|разных|種類|个不同",
    "share": r"share|percent|percentage|proportion|of|anteil|prozent|part|pour|parte|por|per|%"
    r"|割合|占",
}
_PATTERNS = {
    name: re.compile(
        rf"(?<![^\W_])(?:{words})(?![^\W_])" if name != "none" else words, re.IGNORECASE
    )
    for name, words in _WORDS.items()
}
_CJK = re.compile(r"合計|合计|総|共|总|差|増|減|平均|中央値|倍|種類|割合|占")
_CJK_MEANING = {
    "合計": "sum", "合计": "sum", "総": "sum", "共": "sum", "总": "sum", "差": "difference",
    "増": "difference", "減": "difference", "平均": "average", "中央値": "median", "倍": "ratio",
    "種類": "count", "割合": "share", "占": "share",
}  # fmt: skip


def hints_in(text: str) -> frozenset[str]:
    """Name the operations that the words of a sentence speak of.

    Returns:
        Some of `sum`, `difference`, `average`, `median`, `ratio`, `count`, `share`.
    """
    found = {name for name, pattern in _PATTERNS.items() if pattern.search(text)}
    return frozenset(found | {_CJK_MEANING[word] for word in _CJK.findall(text)})
