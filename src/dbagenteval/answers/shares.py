"""Whether a cell can be the percentage that an answer makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dbagenteval.traces import Rows

__all__ = ["ShareDoubt", "share_doubt"]

_SHARE_NAME = re.compile(
    r"%|percent|pct|perc|share|rate|ratio|proportion|portion|margin|growth|change|discount|tax"
    r"|vat|yield"
    r"|prozent|anteil|quote|taux|pourcent|porcent|porc|part_|percentuale|procent|odsetek|utilis"
    r"|occup"
    r"|割合|率|比|доля|процент",
    re.IGNORECASE,
)
_WHOLE_NAME = re.compile(
    r"total|all|count|sum|overall|gesamt|alle|anzahl|tous|todos|tutti|totaal|合計|総数|всего",
    re.IGNORECASE,
)
_LOOKED_AT = 20_000


@dataclass(frozen=True, slots=True)
class ShareDoubt:
    """A doubt that a cell is a percentage.

    Args:
        text: The doubt, empty if there is none.
        is_certain: True if the cell's own row shows that it is a count.
    """

    text: str = ""
    is_certain: bool = False


def share_doubt(rows: Rows, size: Any) -> ShareDoubt:
    """Say whether a cell of that size can be a percentage.

    A whole number in a column that isn't named as a share is doubtful. It is a count for
    certain if its row has a larger whole number in a column that is named as the whole, such as
    `total`, of which it would be another share.
    """
    doubt = ShareDoubt()
    if size != int(size):
        return doubt
    for row in rows[:_LOOKED_AT]:
        for name, cell in row.items():
            if isinstance(cell, bool | str) or cell not in (size, -size):
                continue
            larger = [
                other
                for other_name, other in row.items()
                if _WHOLE_NAME.search(other_name)
                and isinstance(other, int)
                and not isinstance(other, bool)
                and other > size
            ]
            if _SHARE_NAME.search(name):
                return ShareDoubt()
            if not larger:
                doubt = ShareDoubt(f"column {name!r} is not named as a percentage")
                continue
            if not doubt.text:
                text = f"{name} = {cell} is a count beside {larger[0]}, not a percentage"
                doubt = ShareDoubt(text, is_certain=True)
    return doubt
