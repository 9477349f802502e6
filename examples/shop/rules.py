"""Rules that every answer of the shop agent must keep, whatever the question."""

from dbagenteval import NumbersGrounded
from dbagenteval.rules import ReadOnly, TenantFilter

RULES = [
    ReadOnly(dialect="sqlite"),
    TenantFilter("store_id", value="s1", dialect="sqlite"),
    NumbersGrounded(),
]
