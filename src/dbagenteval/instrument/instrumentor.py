"""The OpenTelemetry instrumentor that records result rows.

It is an entry point of the group `opentelemetry_instrumentor`, so `opentelemetry-instrument` loads
it as any other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

import wrapt
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined] # not in its __all__
    BaseInstrumentor,
)

from dbagenteval.instrument import (
    aiosqlite_context,
    asyncpg_rows,
    duckdb_rows,
    psycopg2_rows,
    sqlite_rows,
)
from dbagenteval.instrument.driver_rows import (
    instrument_adbc,
    instrument_psycopg,
    instrument_pymysql,
)
from dbagenteval.instrument.row_settings import RowSettings

__all__ = ["RowInstrumentor"]

_log = logging.getLogger(__name__)

_DRIVERS: dict[str, Callable[[ModuleType, RowSettings], None]] = {
    "sqlite3": sqlite_rows.instrument,
    "aiosqlite": aiosqlite_context.instrument,
    "psycopg": instrument_psycopg,
    "psycopg2": psycopg2_rows.instrument,
    "asyncpg": asyncpg_rows.instrument,
    "duckdb": duckdb_rows.instrument,
    "pymysql.cursors": instrument_pymysql,
    "adbc_driver_manager.dbapi": instrument_adbc,
}


class RowInstrumentor(BaseInstrumentor):  # type: ignore[misc] # it is untyped
    """Record the rows that a program fetches, each driver from when the program imports it."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Say that no package is required."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        settings = kwargs.get("settings") or RowSettings.from_environment()
        for module, instrument in _DRIVERS.items():
            wrapt.register_post_import_hook(_hook(instrument, settings), module)

    def _uninstrument(self, **kwargs: Any) -> None:
        """Leave it as it is: cursors that are open go on, and no other span depends on it."""


def _hook(
    instrument: Callable[[ModuleType, RowSettings], None], settings: RowSettings
) -> Callable[[ModuleType], None]:
    def on_import(module: ModuleType) -> None:
        try:
            instrument(module, settings)
        except Exception:  # noqa: BLE001 an import of the program must not fail for us
            _log.warning("rows.driver_not_recorded module=%s", module.__name__, exc_info=True)

    return on_import
