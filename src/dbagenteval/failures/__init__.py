"""What failed scorecards have in common: structure and edit of the SQL, blame, clusters."""

from dbagenteval.failures.edit import SqlEdit, sql_edit
from dbagenteval.failures.structure import structure

__all__ = ["SqlEdit", "sql_edit", "structure"]
