"""What an actor may do by its roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbagenteval.project.folder.model import Policy
from dbagenteval.project.policy.request import CheckOutcome

__all__ = ["Rights", "rights_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """The sum of an actor's roles.

    Args:
        bundles: Bundles it may use; None is all.
        tools: Tools it may use; None is all that the policy allows.
        max_rows: Row limit of the roles, or None for the policy's.
        pii_columns: Table to the protected columns that it may read.
    """

    bundles: frozenset[str] | None = None
    tools: frozenset[str] | None = None
    max_rows: int | None = None
    pii_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def may_read(self, table: str, column: str) -> bool:
        """Say whether a role lets it read that protected column."""
        return column in self.pii_columns.get(table, frozenset())


def rights_of(policy: Policy, roles: Sequence[str], checks: list[CheckOutcome]) -> Rights | None:
    """Add up roles; None if there is none that the policy knows, noted as a failed check.

    Args:
        policy: A policy without `roles` gives every actor the same rights.
        roles: The actor's roles; one that is unknown counts for nothing, and fails.
        checks: Takes the check `role_known`.
    """
    if not policy.roles:
        checks.append(CheckOutcome(name="role_known", status="pass", detail="no roles declared"))
        return Rights()
    unknown = [role for role in roles if role not in policy.roles]
    if unknown or not roles:
        detail = f"role {unknown[0]!r} is unknown" if unknown else "the actor has no role"
        fix = f"use one of {', '.join(policy.roles)}"
        checks.append(CheckOutcome(name="role_known", status="fail", detail=detail, fix=fix))
        return None
    checks.append(CheckOutcome(name="role_known", status="pass", detail=", ".join(roles)))
    held = [policy.roles[role] for role in roles]
    columns: dict[str, frozenset[str]] = {}
    for role in held:
        for table, names in role.pii_columns.items():
            columns[table] = columns.get(table, frozenset()) | names
    limits = [role.max_rows for role in held if role.max_rows is not None]
    return Rights(
        bundles=_sum([role.bundles for role in held]),
        tools=_sum([role.tools for role in held]),
        max_rows=max(limits, default=None),
        pii_columns=columns,
    )


def _sum(lists: Sequence[Sequence[str] | None]) -> frozenset[str] | None:
    if any(item is None for item in lists):
        return None
    return frozenset(name for item in lists if item is not None for name in item)
