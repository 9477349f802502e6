"""What a database has that cases could exercise."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dbagenteval.errors import TargetError, quoted
from dbagenteval.failures import Known

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from dbagenteval.slices.schema import Schema

__all__ = ["check_tenant", "known_of"]

_MAX_ROWS = 100_000
_MAX_TENANTS = 1_000


def known_of(url: str, tenant: str | None) -> Known:
    """Read tables, columns, foreign keys and tenants from a database, which is not changed.

    Args:
        url: A SQLAlchemy URL.
        tenant: Name of the column that tells tenants apart; its values are read from the first
            100,000 rows of each table that has it.

    Raises:
        TargetError: The database can't be opened, or none of its tables has the tenant column.
    """
    from dbagenteval.executors import read_only_engine
    from dbagenteval.slices.reflection import read_schema

    engine = read_only_engine(url)
    schema = read_schema(engine)
    if tenant is not None:
        check_tenant(schema, tenant)
    return Known(
        columns={
            table.name.lower(): tuple(column.name.lower() for column in table.columns)
            for table in schema
        },
        joins=tuple(_joins(schema)),
        tenants=() if tenant is None else tuple(_tenants(engine, schema, tenant)),
    )


def check_tenant(schema: Schema, column: str) -> None:
    """Refuse a tenant column that no table has: nothing would be found, and nobody would know.

    Raises:
        TargetError: There is no such column.
    """
    columns = {each.name for table in schema for each in table.columns}
    if column.lower() not in {name.lower() for name in columns}:
        close = get_close_matches(column, sorted(columns), n=1)
        raise TargetError(
            f"tenant column {quoted(column)}: no table of the database has it",
            hint=f"did you mean {close[0]}?" if close else None,
        )


def _joins(schema: Schema) -> Iterator[str]:
    for table in schema:
        for key in table.foreign_keys:
            for own, referred in zip(key.columns, key.referred, strict=True):
                sides = sorted([f"{table.name}.{own}".lower(), f"{key.table}.{referred}".lower()])
                yield " = ".join(sides)


def _tenants(engine: Engine, schema: Schema, tenant: str) -> list[str]:
    from sqlalchemy import column, select, table

    found: set[str] = set()
    with engine.connect() as connection:
        for each in schema:
            named = [name.name for name in each.columns if name.name.lower() == tenant.lower()]
            if not named:
                continue
            source = table(each.name, column(named[0]), schema=each.namespace)
            first = select(source.c[named[0]].label("tenant")).limit(_MAX_ROWS).subquery()
            rows = connection.execute(select(first.c.tenant).distinct().limit(_MAX_TENANTS))
            found |= {str(value) for (value,) in rows if value is not None}
    return sorted(found)[:_MAX_TENANTS]
