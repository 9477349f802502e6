"""What failed scorecards have in common: structure and edit of the SQL, blame, clusters."""

from dbagenteval.failures.edit import SqlEdit, sql_edit
from dbagenteval.failures.outcome import Outcome, outcome_of
from dbagenteval.failures.structure import Outline, outline, structure

__all__ = ["Outcome", "Outline", "SqlEdit", "outcome_of", "outline", "sql_edit", "structure"]
