"""Whether a sqlite3 cursor has rows left, which it knows and doesn't say."""

from __future__ import annotations

import gc
import sqlite3
from functools import lru_cache
from typing import Any

__all__ = ["is_at_end"]


def is_at_end(cursor: sqlite3.Cursor) -> bool:
    """True if it is certain that no row is left."""
    return not _sign_of_more()(cursor)


def _statement_left(cursor: sqlite3.Cursor) -> bool:
    return any(type(held).__name__ == "Statement" for held in gc.get_referents(cursor))


def _row_left(cursor: sqlite3.Cursor) -> bool:
    description = cursor.description
    return any(type(held) is tuple and held is not description for held in gc.get_referents(cursor))


def _unknown(cursor: sqlite3.Cursor) -> bool:  # noqa: ARG001 a signature
    return True


@lru_cache(maxsize=1)
def _sign_of_more() -> Any:
    """Find how a cursor shows that there are rows left, without fetching any.

    A cursor steps ahead: with the last row given, it has let go of its statement (Python 3.11 and
    later) or holds no next row (3.10). Neither is documented, so it is tried out once.
    """
    with_one = sqlite3.Connection(":memory:")
    with_two = sqlite3.Connection(":memory:")
    try:
        one = with_one.execute("SELECT 1")
        two = with_two.execute("SELECT 1 UNION ALL SELECT 2")
        before = [sign(one) for sign in (_statement_left, _row_left)]
        one.fetchone()
        two.fetchone()
        for sign, was in zip((_statement_left, _row_left), before):  # noqa: B905 of one length
            if was and not sign(one) and sign(two):
                return sign
        return _unknown
    finally:
        with_one.close()
        with_two.close()
