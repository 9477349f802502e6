"""Where the SDK cut values: it leaves no mark, but all that were too long have one length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbagenteval.traces.content import MISSING, loads
from dbagenteval.traces.facts import Facts

__all__ = ["Limit"]

_MIN_LIMIT = 64
_MIN_CUT = 3


class Limit:
    """The length limit of attribute values that a turn's spans show, if any.

    It is there when the longest texts have one length, and one of them is JSON that breaks off, or
    there are three and more of them.
    """

    def __init__(self, facts: Iterable[Facts]) -> None:
        self._facts = facts
        self._length: int | None = None
        self._is_known = False
        self._seen = 0

    @property
    def length(self) -> int | None:
        """Give the limit in characters, or None."""
        if not self._is_known:
            self._length, self._is_known = _limit(self._facts), True
        return self._length

    def cuts(self, text: Any) -> bool:
        """True if a text is as long as the limit allows, so that its end may be missing."""
        if not isinstance(text, str) or len(text) < _MIN_LIMIT or self._has_longer(len(text)):
            return False
        return len(text) == self.length

    def _has_longer(self, length: int) -> bool:
        """True if a longer value was seen: what is cut is as long as the longest."""
        if length < self._seen:
            return True
        if self._is_known:
            return False
        for one in self._facts:
            for value in one.node.span.attributes.values():
                if type(value) is str and len(value) > length:
                    self._seen = len(value)
                    return True
        return False

    @property
    def why(self) -> str:
        """Say what cut the value and what to change."""
        return (
            f"cut at {self.length} characters by the attribute length limit of the SDK; raise "
            "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT (or OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT)"
        )


def _limit(facts: Iterable[Facts]) -> int | None:
    longest, texts = 0, set[str]()
    for one in facts:
        for value in one.node.span.attributes.values():
            if type(value) is str and len(value) >= longest:
                if len(value) > longest:
                    longest, texts = len(value), set()
                texts.add(value)
    if longest < _MIN_LIMIT:
        return None
    broken = any(text[0] in "[{" and loads(text) is MISSING for text in texts)
    return longest if (broken and len(texts) > 1) or len(texts) >= _MIN_CUT else None
