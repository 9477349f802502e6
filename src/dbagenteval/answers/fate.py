"""Fate: what a figure of an answer was found to rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbagenteval.answers.figure import Figure

__all__ = ["Fate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of one figure.

    Args:
        figure: The figure.
        state: `grounded`, `derived` (computed from the rows), `ungrounded`, or `ignored` (it
            claims no quantity).
        basis: What it rests on: one of `SOURCES`, a computation such as `60 - 30`, or why it
            is ignored.
        note: A warning for a person, empty if there is none.
        missing: What is not grounded, as it is printed.
        share_missing: Which part of the figure's numbers is not grounded, from 0 to 1.
        cells: The sizes of the cells that ground it.
        result: Which result they are from; 0 is the last one.
        rows: Of a share that was computed, result and row of the cells that it is the share of.
    """

    figure: Figure
    state: str
    basis: str = ""
    note: str = ""
    missing: tuple[str, ...] = ()
    share_missing: float = 1.0
    cells: tuple[Any, ...] = ()
    result: int = 0
    rows: frozenset[tuple[int, int]] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form that reports show."""
        data: dict[str, Any] = {"text": self.figure.shown, "fate": self.state}
        if self.basis:
            data["basis"] = self.basis
        if self.note:
            data["note"] = self.note
        return data
