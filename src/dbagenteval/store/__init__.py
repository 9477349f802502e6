"""Where spans and log records are kept: a journal for safety, DuckDB for reading."""

from dbagenteval.store.care import CheckReport
from dbagenteval.store.feed import PipeFeed
from dbagenteval.store.owner import StoreOwner
from dbagenteval.store.store import Store, StoreStats
from dbagenteval.store.writer import Applied

__all__ = ["Applied", "CheckReport", "PipeFeed", "Store", "StoreOwner", "StoreStats"]
