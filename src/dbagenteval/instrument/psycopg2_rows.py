"""Rows of psycopg2 cursors.

psycopg2's classes are written in C and can't be changed, so `connect` gives subclasses that look
like them. What is recorded comes below the classes of the program, and so has the statement that
really runs.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

from dbagenteval.instrument.cursor_methods import CursorMethods
from dbagenteval.instrument.lookalike import lookalike
from dbagenteval.instrument.recorder import Recorder
from dbagenteval.instrument.row_settings import RowSettings

__all__ = ["instrument"]

_FACTORY_POSITION = 1


def instrument(module: ModuleType, settings: RowSettings) -> None:
    """Make `connect` give connections whose cursors are recorded."""
    import wrapt  # noqa: PLC0415 there wherever programs are instrumented

    classes = _Classes(module, CursorMethods(Recorder("postgresql", settings), knows_total=True))

    def connected(connect: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = list(args)
        if len(given) > _FACTORY_POSITION:
            given[_FACTORY_POSITION] = classes.connection(given[_FACTORY_POSITION])
        else:
            factory = classes.connection(kwargs.get("connection_factory"))
            kwargs = {**kwargs, "connection_factory": factory}
        return connect(*given, **kwargs)

    if not getattr(module.connect, "_self_is_recorded", False):
        module.connect = wrapt.FunctionWrapper(module.connect, connected)  # type: ignore[attr-defined]
        module.connect._self_is_recorded = True  # noqa: SLF001 wrapt keeps such names for us


class _Classes:
    """Recorded classes for those of psycopg2 and of the program."""

    def __init__(self, module: Any, methods: CursorMethods) -> None:
        self._plain_connection = module.extensions.connection
        self._plain_cursor = plain = module.extensions.cursor
        self._cursor_below = lookalike(
            plain, {"execute": plain.execute, "executemany": plain.executemany}
        )
        methods.replace(self._cursor_below)
        self._connection_below = lookalike(self._plain_connection, {"cursor": self._make_cursor()})
        self._recorded = lru_cache(maxsize=256)(
            lambda base, below: below if issubclass(below, base) else lookalike(base, {}, below)
        )

    def connection(self, factory: Any) -> Any:
        """Give the recorded class of a connection; a factory that is none stays as it is."""
        plain = self._plain_connection
        return self._of(factory or plain, plain, self._connection_below)

    def _of(self, factory: Any, plain: type, below: type) -> Any:
        is_class = isinstance(factory, type) and issubclass(factory, plain)
        return self._recorded(factory, below) if is_class else factory

    def _make_cursor(self) -> Any:
        make, plain = self._plain_connection.cursor, self._plain_cursor

        def cursor(
            connection: Any, name: Any = None, cursor_factory: Any = None, *args: Any, **kwargs: Any
        ) -> Any:
            factory = cursor_factory or connection.cursor_factory or plain
            recorded = self._of(factory, plain, self._cursor_below)
            return make(connection, name, recorded, *args, **kwargs)

        return cursor
