"""The codes of an edit in words."""

from __future__ import annotations

from collections.abc import Iterable

from dbagenteval.printable import printable

__all__ = ["edit_words"]

_SHOWN_KINDS = 4

_INSTEAD = "{now} instead of {was}"
_WORDS = {
    "same": "does what the reference does",
    "rewritten": "written in another way than the reference",
    "unreadable": "SQL that cannot be analysed",
    "missing_filter": "missing filter on {was}",
    "extra_filter": "extra filter on {was}",
    "other_filter": "other condition on {was}",
    "wrong_literal": "other value for {was}",
    "other_column": _INSTEAD,
    "other_table": _INSTEAD,
    "missing_join": "missing join of {was}",
    "extra_join": "extra join of {was}",
    "join_kind": _INSTEAD,
    "missing_link": "missing join condition {was}",
    "extra_link": "extra join condition {was}",
    "other_link": "joined by {now} instead of {was}",
    "aggregate": _INSTEAD,
    "other_argument": _INSTEAD,
    "missing_aggregate": "missing {was}",
    "extra_aggregate": "extra {was}",
    "missing_group": "missing GROUP BY {was}",
    "extra_group": "extra GROUP BY {was}",
    "having": "other HAVING",
    "missing_column": "missing column {was}",
    "extra_column": "extra column {was}",
    "column_order": "columns in another order",
    "rounding": "other rounding",
    "set_operation": "other combination of queries",
    "distinct": "DISTINCT on one side only",
    "order": "other ORDER BY",
    "limit": "other LIMIT",
}


def edit_words(kinds: Iterable[str]) -> str:
    """Say the codes of an edit in one line for a person; four of them at most, the rest counted."""
    kinds = list(kinds)
    words = []
    for code in kinds[:_SHOWN_KINDS]:
        kind, _, subject = code.partition(":")
        was, _, now = subject.partition("->")
        words.append(_WORDS.get(kind, kind).format(was=was, now=now))
    if len(kinds) > _SHOWN_KINDS:
        words.append(f"{len(kinds) - _SHOWN_KINDS} more")
    return printable("; ".join(words))
