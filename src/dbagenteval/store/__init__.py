"""Where spans and log records are kept: a journal for safety, DuckDB for reading."""

from dbagenteval.store.store import Store, StoreStats

__all__ = ["Store", "StoreStats"]
