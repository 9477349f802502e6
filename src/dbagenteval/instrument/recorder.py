"""What begins the records of one kind of database."""

from __future__ import annotations

from opentelemetry import context as otel_context
from opentelemetry import trace

from dbagenteval.instrument import open_records
from dbagenteval.instrument.record import Record
from dbagenteval.instrument.row_settings import RowSettings
from dbagenteval.instrument.statement import text_of_statement

__all__ = ["Recorder"]

try:
    from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY as _SUPPRESS
except ImportError:  # private, so it may go
    _SUPPRESS = "suppress_instrumentation"


class Recorder:
    """Makes a record of each execution of one kind of database.

    Args:
        system: As of `db.system.name`.
        settings: What is recorded.
    """

    __slots__ = ("settings", "system", "tracer")

    def __init__(self, system: str, settings: RowSettings) -> None:
        self.system = system
        self.settings = settings
        self.tracer = trace.get_tracer("dbagenteval.instrument.rows")

    def begin(self, sql: object, cursor: object = None) -> Record | None:
        """Begin the record of an execution; None if nobody wants it.

        Args:
            sql: The statement as the program gave it.
            cursor: What composed SQL is written for.
        """
        context = otel_context.get_current()
        if context.get(_SUPPRESS):
            return None
        record = Record(
            self, sql if isinstance(sql, str) else text_of_statement(sql, cursor), context
        )
        open_records.add(record)
        return record
