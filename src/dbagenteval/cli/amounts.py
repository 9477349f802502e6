"""Ages and sizes on the command line."""

from __future__ import annotations

import re

from dbagenteval.errors import UserError, quoted

__all__ = ["parse_age_s", "parse_size"]

_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SIZES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZES |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def parse_age_s(text: str) -> float:
    """Parse `30d`, `12h`, `90m`; gives seconds.

    Raises:
        UserError: It is no age.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhdw])", text.strip())
    if not found:
        raise UserError(f"age {quoted(text)}: expected a number with s, m, h, d or w, such as 30d")
    return float(found[1]) * _AGES[found[2]]


def parse_size(text: str) -> int:
    """Parse `20GB`, `500MiB` or plain bytes.

    Raises:
        UserError: It is no size.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", text.strip())
    if not found or found[2].upper() not in _SIZES:
        raise UserError(f"size {quoted(text)}: expected bytes, MB, GB or MiB, such as 20GB")
    return int(float(found[1]) * _SIZES[found[2].upper()])
