"""`--prove-tenant`: prove on the database itself that no other tenant's rows matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbagenteval.errors import UserError, quoted

if TYPE_CHECKING:
    from dbagenteval.checks import Check

__all__ = ["PROVE_TENANT_HELP", "proofs_of", "tenant_of"]

PROVE_TENANT_HELP = (
    "Run the agent's SQL in a sandbox over --database while other tenants' rows change, "
    "such as store_id=s1."
)


def proofs_of(text: str | None, database: str | None) -> list[Check]:
    """Give the rules that `--prove-tenant COLUMN=VALUE` asks for; none without it.

    Raises:
        UserError: Malformed, or there is no `--database`.
    """
    if text is None:
        return []
    column, value = tenant_of(text, "--prove-tenant")
    if database is None:
        raise UserError("--prove-tenant needs --database: the SQL runs in a sandbox over it")
    from dbagenteval.rules import ProveTenant

    return [ProveTenant(column, value, database)]


def tenant_of(text: str, option: str) -> tuple[str, str | int]:
    """Read `COLUMN=VALUE`; a whole number is one.

    Raises:
        UserError: Malformed.
    """
    column, separator, value = text.partition("=")
    if not column or not separator or not value:
        raise UserError(f"{option}: expected COLUMN=VALUE such as store_id=s1, got {quoted(text)}")
    is_number = value.isascii() and value.isdigit() and str(int(value)) == value
    return column, int(value) if is_number else value
