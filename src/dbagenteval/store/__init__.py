"""Where spans and log records are kept: a journal for safety, DuckDB for reading."""

from dbagenteval.store.store import Store, StoreStats
from dbagenteval.store.writer import Applied

__all__ = ["Applied", "Store", "StoreStats"]
