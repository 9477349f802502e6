"""The option that names the type of a database."""

from __future__ import annotations

from typing import Any

import click

from dbagenteval.dialects import SOME_DIALECTS

__all__ = ["DIALECT"]


class _Dialect(click.ParamType):  # type: ignore[type-arg] # generic only in newer click
    """A database type as sqlglot or a database calls it; a name that neither knows is refused.

    Rules would read the SQL without a dialect otherwise, and nobody would know.
    """

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the name as it was written."""
        from dbagenteval.rules.query.dialects import from_system_name

        if value and from_system_name(value) is None:
            self.fail(
                f"{value!r} is no database type; write one such as {SOME_DIALECTS}", param, ctx
            )
        return str(value)


DIALECT = _Dialect()
