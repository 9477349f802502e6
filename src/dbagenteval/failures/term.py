"""Term: one expression of SQL in canonical spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbagenteval.failures.names import COLUMN

__all__ = ["Term", "joined"]


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """One expression.

    Args:
        text: Its canonical spelling; literals are `:number`, `:text`, `:date`, parameters `:value`.
        values: The literals, in the order in which they stand in the spelling.
    """

    text: str
    values: tuple[str, ...] = ()

    @property
    def is_literal(self) -> bool:
        """Whether it is one literal or parameter and nothing else."""
        return self.text.startswith(":")

    @property
    def side(self) -> tuple[bool, bool, bool, bool, str]:
        """Where it stands in a comparison: columns before expressions before literals."""
        is_outer = self.text.startswith("^")
        has_no_column = "." not in self.text
        is_no_column = COLUMN.fullmatch(self.text) is None
        return self.is_literal, has_no_column, is_no_column, is_outer, self.text


def joined(parts: Sequence[Term], glue: str, before: str = "", after: str = "") -> Term:
    """Join terms into one; its values are those of its parts in order."""
    text = before + glue.join([part.text for part in parts]) + after
    return Term(text, tuple(value for part in parts for value in part.values))
