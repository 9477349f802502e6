"""Rules: checks of the agent's SQL that need no expected result."""

from dbagenteval.rules.allowed_columns import AllowedColumns
from dbagenteval.rules.allowed_tables import AllowedTables
from dbagenteval.rules.forbidden_columns import ForbiddenColumns
from dbagenteval.rules.max_rows import MaxRows
from dbagenteval.rules.no_cartesian_join import NoCartesianJoin
from dbagenteval.rules.no_joins import NoJoins
from dbagenteval.rules.no_select_star import NoSelectStar
from dbagenteval.rules.no_subqueries import NoSubqueries
from dbagenteval.rules.partition_filter import PartitionFilter
from dbagenteval.rules.prove_tenant import ProveTenant, TenantProof, prove_tenant
from dbagenteval.rules.read_only import DEFAULT_FORBIDDEN_FUNCTIONS, ReadOnly
from dbagenteval.rules.require_limit import RequireLimit
from dbagenteval.rules.require_time_filter import RequireTimeFilter
from dbagenteval.rules.sql_rule import SqlRule
from dbagenteval.rules.tenant_filter import TenantFilter

__all__ = [
    "DEFAULT_FORBIDDEN_FUNCTIONS",
    "AllowedColumns",
    "AllowedTables",
    "ForbiddenColumns",
    "MaxRows",
    "NoCartesianJoin",
    "NoJoins",
    "NoSelectStar",
    "NoSubqueries",
    "PartitionFilter",
    "ProveTenant",
    "ReadOnly",
    "RequireLimit",
    "RequireTimeFilter",
    "SqlRule",
    "TenantFilter",
    "TenantProof",
    "prove_tenant",
]
