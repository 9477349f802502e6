"""Our own attributes: an agent that tags its stages by hand (docs/semantic-conventions.md)."""

from __future__ import annotations

__all__ = [
    "CASE_ID",
    "ERROR",
    "OUTPUT",
    "QUESTION",
    "ROWS",
    "ROWS_TRUNCATED",
    "STAGE",
    "STAGE_NAME",
]

STAGE = "dbagenteval.stage"
STAGE_NAME = "dbagenteval.stage.name"
QUESTION = "dbagenteval.question"
OUTPUT = "dbagenteval.output"
ROWS = "dbagenteval.rows"
ROWS_TRUNCATED = "dbagenteval.rows.truncated"
ERROR = "dbagenteval.error"
CASE_ID = "dbagenteval.case.id"
