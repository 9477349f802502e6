"""The aggregate that the question's words ask for."""

from __future__ import annotations

import re

from sqlglot import exp

__all__ = ["mend_aggregates", "mend_distinct"]

_ASKED: dict[type[exp.AggFunc], str] = {
    exp.Avg: r"average|avg|mean|on average|durchschnitt\w*|mittelwert|mittlere\w*|im schnitt",
    exp.Sum: r"total|sum|sums|overall|altogether|combined|gesamt\w*|summe|insgesamt|zusammen",
    exp.Count: r"how many|number of|count of|wie ?viele|anzahl",
    exp.Max: r"highest|largest|biggest|greatest|maximum|max|most expensive|latest|newest"
    r"|höchste\w*|größte\w*|maximal\w*|teuerste\w*|neu?este\w*",
    exp.Min: r"lowest|smallest|minimum|min|cheapest|earliest|oldest"
    r"|niedrigste\w*|kleinste\w*|geringste\w*|minimal\w*|billigste\w*|günstigste\w*|älteste\w*",
}
_DIFFERENT = r"different|distinct|unique|verschieden\w*|unterschiedlich\w*|eindeutig\w*"


def mend_aggregates(tree: exp.Expr, question: str) -> list[str]:
    """Replace aggregates that the question does not ask for by the one that it does.

    Nothing is done where the question asks for several that the statement lacks, or where the
    one it asks for needs a column that the statement does not name. Gives what was done in words.
    """
    asked = {kind for kind, words in _ASKED.items() if _says(question, words)}
    used = [node for node in tree.find_all(exp.AggFunc) if type(node) in _ASKED]
    lacking = asked - {type(node) for node in used}
    if len(lacking) != 1:
        return []
    (wanted,) = lacking
    if wanted in (exp.Max, exp.Min) and tree.find(exp.Order) is not None:
        return []  # the one at the top of an order is the highest already
    said = []
    for node in used:
        if type(node) in asked or (isinstance(node.this, exp.Star) and wanted is not exp.Count):
            continue
        argument = exp.Star() if wanted is exp.Count else node.this.copy()
        node.replace(wanted(this=argument))
        said.append(f"{node.key.upper()} replaced by {wanted.key.upper()}, as the question says")
    return list(dict.fromkeys(said))


def mend_distinct(tree: exp.Expr, question: str) -> list[str]:
    """Count or list different values only, where the question says so."""
    if not _says(question, _DIFFERENT) or tree.find(exp.Distinct) is not None:
        return []
    counts = [node for node in tree.find_all(exp.Count) if isinstance(node.this, exp.Column)]
    for node in counts:
        node.set("this", exp.Distinct(expressions=[node.this.copy()]))
    if not counts:
        if not isinstance(tree, exp.Select) or tree.find(exp.AggFunc) or tree.args.get("group"):
            return []
        tree.set("distinct", exp.Distinct())
    return ["DISTINCT added, as the question asks for different ones"]


def _says(question: str, words: str) -> bool:
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", question, re.IGNORECASE) is not None
