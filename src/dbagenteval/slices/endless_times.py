"""Times without end in PostgreSQL, for which Python has no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = ["read_as_text"]


def read_as_text(connection: Connection) -> None:
    """Let a connection to PostgreSQL give `infinity` as text, where the driver would fail.

    Other dates and times stay what they are.
    """
    if connection.dialect.driver != "psycopg":
        return
    from psycopg import DataError  # noqa: PLC0415 the driver need not be installed
    from psycopg.types import datetime as loaders  # noqa: PLC0415

    driver: Any = connection.connection.driver_connection
    for name in ("date", "timestamp", "timestamptz"):
        base: Any = getattr(loaders, f"{name.capitalize()}Loader")

        class Loader(base):  # type: ignore[misc]
            def load(self, data: Any) -> Any:
                try:
                    return super().load(data)
                except DataError:
                    text = bytes(data).decode()
                    if text.endswith("infinity"):
                        return text
                    raise

        driver.adapters.register_loader(name, Loader)
