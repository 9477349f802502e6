"""Where spans and log records are kept: a journal for safety, DuckDB for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbagenteval.store.feed import PipeFeed
from dbagenteval.store.owner import StoreOwner

if TYPE_CHECKING:
    from dbagenteval.store.care import CheckReport
    from dbagenteval.store.contents import StoreStats
    from dbagenteval.store.store import Store
    from dbagenteval.store.writer import Applied

__all__ = ["Applied", "CheckReport", "PipeFeed", "Store", "StoreOwner", "StoreStats"]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: the process that owns a served store needs no database.
    if name in ("Store", "StoreStats", "Applied", "CheckReport"):
        from dbagenteval.store import care, contents, store, writer  # noqa: PLC0415

        homes = {"Applied": writer, "CheckReport": care, "StoreStats": contents}
        home = homes.get(name, store)
        return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
