"""How much of result rows is recorded, and what is hidden in them."""

from __future__ import annotations

import importlib
import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["REDACTED", "RowSettings"]

_log = logging.getLogger(__name__)

ROWS = "DBAGENTEVAL_ROWS"
BYTES = "DBAGENTEVAL_ROWS_BYTES"
REDACT = "DBAGENTEVAL_ROWS_REDACT"
REDACT_COLUMNS = "DBAGENTEVAL_ROWS_REDACT_COLUMNS"
HOOK = "DBAGENTEVAL_ROWS_HOOK"
_LENGTH_LIMITS = (
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)

_MAX_ROWS = 500
_MAX_BYTES = 256 << 10

REDACTED = "__REDACTED__"
"""What stands in place of a hidden value, as in other instrumentations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSettings:
    """What is recorded of the rows of one execution.

    Args:
        max_rows: Rows at most; 0 records none.
        max_bytes: Length of the JSON text at most, in bytes.
        redact: Texts with a match are hidden.
        redact_columns: Columns whose name has a match are hidden.
        hook: Called as `hook(column, value)` for each cell; gives the value to record.
    """

    max_rows: int = _MAX_ROWS
    max_bytes: int = _MAX_BYTES
    redact: re.Pattern[str] | None = None
    redact_columns: re.Pattern[str] | None = None
    hook: Callable[[str, Any], Any] | None = None

    @property
    def hides(self) -> bool:
        """True if values may have to be hidden."""
        return self.redact is not None or self.redact_columns is not None or self.hook is not None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> RowSettings:
        """Read the settings; one that is wrong must hide too much, never too little.

        A value that can't be used is logged, and then no rows are recorded at all.
        """
        given = os.environ if environment is None else environment
        try:
            limits = [given[name] for name in _LENGTH_LIMITS if given.get(name, "").isdigit()]
            max_bytes = int(given.get(BYTES) or _MAX_BYTES)
            return cls(
                max_rows=int(given.get(ROWS) or _MAX_ROWS),
                # The SDK would cut the JSON text within a value.
                max_bytes=min([max_bytes, *map(int, limits[:1])]),
                redact=_pattern(given.get(REDACT)),
                redact_columns=_pattern(given.get(REDACT_COLUMNS)),
                hook=_hook(given.get(HOOK)),
            )
        except Exception as error:  # noqa: BLE001 the user's hook may raise anything on import
            _log.warning("rows.not_recorded reason=bad_setting error=%s", error)
            return cls(max_rows=0)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return re.compile(text) if text else None


def _hook(text: str | None) -> Callable[[str, Any], Any] | None:
    if not text:
        return None
    module, _, name = text.partition(":")
    if not module or not name:
        raise ValueError(f"{HOOK}: expected module:function, got {text!r}")
    hook = getattr(importlib.import_module(module), name)
    if not callable(hook):
        raise TypeError(f"{HOOK}: {text!r} is no function")
    return hook  # type: ignore[no-any-return]
