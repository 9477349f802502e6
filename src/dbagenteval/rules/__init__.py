"""Rules: checks of the agent's SQL that need no expected result."""

from dbagenteval.rules.allowed_columns import AllowedColumns
from dbagenteval.rules.allowed_tables import AllowedTables
from dbagenteval.rules.no_joins import NoJoins
from dbagenteval.rules.no_subqueries import NoSubqueries
from dbagenteval.rules.read_only import DEFAULT_FORBIDDEN_FUNCTIONS, ReadOnly
from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.rules.tenant_filter import TenantFilter

__all__ = [
    "DEFAULT_FORBIDDEN_FUNCTIONS",
    "AllowedColumns",
    "AllowedTables",
    "NoJoins",
    "NoSubqueries",
    "ReadOnly",
    "SqlRule",
    "TenantFilter",
]
