"""The names that a rule allows: a list, or what a stage of the trace gives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbagenteval.rules.sql_rule import names_of
from dbagenteval.traces import Trace

__all__ = ["AllowedNames"]


class AllowedNames:
    """Names given as a list or taken from a stage's output.

    Args:
        what: `tables` or `columns`, for messages.
        given: The list; one text is one name.
        from_stage: Name of the stage whose output holds them.

    Raises:
        ValueError: Not exactly one of the two.
    """

    def __init__(
        self, what: str, given: str | Iterable[str] | None, from_stage: str | None
    ) -> None:
        if (given is None) == (from_stage is None):
            raise ValueError(f"give exactly one of `{what}` or `from_stage`")
        self._given = None if given is None else names_of(given)
        self._from_stage = from_stage

    def names(self, trace: Trace) -> tuple[str, ...] | str:
        """Give the names, or a text that says why there are none."""
        if self._given is not None:
            return self._given
        stage = trace.stage(str(self._from_stage))
        if stage is None:
            return f"cannot check: stage {self._from_stage!r} is missing from the trace"
        return _items(stage.output)

    @property
    def from_stage(self) -> str | None:
        """The stage that the names come from, if they do."""
        return self._from_stage


def _items(output: object) -> tuple[str, ...]:
    """Read names as recall does: an item is its text, or its `name`; `a, b` is two names."""
    if output is None:
        return ()
    if isinstance(output, str) or not isinstance(output, Iterable):
        text = str(output).strip()
        parts = [part.strip() for part in text.split(",")]
        is_list = len(parts) > 1 and all(re.fullmatch(r'[\w."`\[\]$]+', part) for part in parts)
        return tuple(parts) if is_list else (text,)
    return tuple(
        str(item["name"]) if isinstance(item, dict) and "name" in item else str(item)
        for item in output
    )
