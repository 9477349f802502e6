"""Our own attributes: an agent that tags its stages by hand (docs/semantic-conventions.md)."""

from __future__ import annotations

from typing import Any

from dbagenteval.semconv import (
    CASE_ID,
    ERROR,
    OUTPUT,
    QUESTION,
    ROWS,
    ROWS_REDACTED,
    ROWS_TRUNCATED,
    STAGE,
    STAGE_NAME,
)
from dbagenteval.traces.conventions.convention import Convention
from dbagenteval.traces.tree import Node

__all__ = [
    "CASE_ID",
    "ERROR",
    "OUTPUT",
    "OWN",
    "QUESTION",
    "ROWS",
    "ROWS_REDACTED",
    "ROWS_TRUNCATED",
    "STAGE",
    "STAGE_NAME",
]


def _applies(node: Node) -> bool:
    attributes = node.span.attributes
    return QUESTION in attributes or STAGE in attributes


def _question(node: Node) -> Any:
    return node.span.attributes.get(QUESTION)


OWN = Convention(
    name="dbagenteval",
    pinned="this version",
    source="docs/semantic-conventions.md",
    applies=_applies,
    question=_question,
    session=("session.id", "gen_ai.conversation.id"),
)
