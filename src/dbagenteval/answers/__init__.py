"""What the text of an answer says: figures, dates, claims, and whether rows bear them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbagenteval.answers.options import OPERATIONS, SOURCES

if TYPE_CHECKING:
    from dbagenteval.answers.reader import read_figures

__all__ = ["OPERATIONS", "SOURCES", "read_figures"]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: `import dbagenteval` needs the names of options only.
    if name == "read_figures":
        from dbagenteval.answers.reader import read_figures  # noqa: PLC0415

        return read_figures
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
