"""Text from outside made safe for a terminal."""

from __future__ import annotations

import re

__all__ = ["printable"]

# C0 and C1 controls (ESC starts terminal commands), and the marks that reorder what follows.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SPACES = re.compile(r"[ \t\r\n\v\f]+")
_LINE_BREAKS = re.compile(r"[\r\n\v\f]+")


def printable(value: object, max_chars: int | None = None, *, collapse: bool = True) -> str:
    r"""Give a value as one line without control characters.

    Args:
        value: Anything; controls become `\\x1b` and the like.
        max_chars: Length at most; what is cut ends in `…`.
        collapse: Make one space of any white space, else of a line break only.
    """
    text = value if isinstance(value, str) else str(value)
    spaces = _SPACES if collapse else _LINE_BREAKS
    text = _UNSAFE.sub(_escaped, spaces.sub(" ", text).strip())
    if max_chars is not None and len(text) > max_chars:
        return text[: max_chars - 1] + "…"
    return text


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape", "surrogatepass").decode("ascii")
