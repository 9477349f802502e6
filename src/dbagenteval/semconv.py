"""Our own span attributes; `docs/semantic-conventions.md` documents them.

Standard attributes win where one exists: `db.query.text` for SQL, `error.type`,
`session.id` or `gen_ai.conversation.id`.
"""

from __future__ import annotations

__all__ = [
    "CASE_ID",
    "DB_QUERY_TEXT",
    "DB_RETURNED_ROWS",
    "DB_SYSTEM_NAME",
    "ERROR",
    "OUTPUT",
    "QUESTION",
    "ROWS",
    "ROWS_REDACTED",
    "ROWS_TRUNCATED",
    "SESSION_ID",
    "STAGE",
    "STAGE_NAME",
]

STAGE = "dbagenteval.stage"
"""Kind of the stage: route, plan, retrieve, generate, execute or answer."""
STAGE_NAME = "dbagenteval.stage.name"
"""Name of the stage where a trace has several of a kind."""
QUESTION = "dbagenteval.question"
"""The user's question, on the span of the whole turn."""
OUTPUT = "dbagenteval.output"
"""What the stage gave, as text or JSON."""
ROWS = "dbagenteval.rows"
"""Result rows as JSON: a list of objects, or `{"columns": [...], "rows": [[...]]}`."""
ROWS_TRUNCATED = "dbagenteval.rows.truncated"
"""True if `dbagenteval.rows` holds only the first rows of the result."""
ROWS_REDACTED = "dbagenteval.rows.redacted"
"""True if some cells of `dbagenteval.rows` were hidden while recording."""
ERROR = "dbagenteval.error"
"""Error text of the stage."""
CASE_ID = "dbagenteval.case.id"
"""Id of the case that this turn answers; also the baggage key."""
DB_QUERY_TEXT = "db.query.text"
"""Standard (db 1.25.0 and later): https://opentelemetry.io/docs/specs/semconv/database/."""
DB_SYSTEM_NAME = "db.system.name"
"""Standard: the database product, such as `sqlite`."""
DB_RETURNED_ROWS = "db.response.returned_rows"
"""Standard: how many rows the program fetched."""
SESSION_ID = "session.id"
"""Standard: https://opentelemetry.io/docs/specs/semconv/general/session/."""
