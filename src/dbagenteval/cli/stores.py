"""The options of commands that read a store."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from dbagenteval.store import Store

__all__ = ["in_range", "read_store", "store_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

store_option = click.option(
    "--store", "store_dir", required=True, metavar="DIR", help="The store directory."
)


class _Since(click.ParamType):  # type: ignore[type-arg] # generic only in newer click
    """A point in time: an age such as `24h` or `7d`, or an ISO date or time (UTC if naive)."""

    name = "since"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Give Unix nanoseconds."""
        if isinstance(value, int):
            return value
        text = str(value).strip()
        try:
            if text[-1:] in _UNITS:
                age = datetime.timedelta(**{_UNITS[text[-1]]: float(text[:-1])})
                moment = datetime.datetime.now(tz=datetime.timezone.utc) - age
            else:
                moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
                if moment.tzinfo is None:
                    moment = moment.replace(tzinfo=datetime.timezone.utc)
            return int(moment.timestamp() * 1e9)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no point in time; write an age (30m, 24h, 7d) or a date "
                "(2026-01-31, 2026-01-31T12:00:00Z)",
                param,
                ctx,
            )


def in_range(function: _Command) -> _Command:
    """Add `--since` and `--service` to a command."""
    function = click.option(
        "--since",
        "since_ns",
        type=_Since(),
        metavar="TIME",
        help="Only traces that started since then: an age (24h, 7d) or a date.",
    )(function)
    return click.option("--service", metavar="NAME", help="Only traces of this service.")(function)


@contextmanager
def read_store(directory: str) -> Iterator[Store]:
    """Open a store for reading, through the process that owns it if one does.

    Raises:
        StoreError: There is none, it is locked, or made by a newer version.
    """
    from dbagenteval.rpc.client import open_store

    with open_store(directory) as store:
        yield cast("Store", store)  # one that is served reads alike
