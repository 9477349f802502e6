"""What failed scorecards have in common: structure and edit of the SQL, blame, clusters."""

from dbagenteval.failures.agent_sql import last_sql
from dbagenteval.failures.blame import Blame, RunAgain, blame
from dbagenteval.failures.cluster_lines import cluster_lines, question_lines
from dbagenteval.failures.clusters import Cluster, Clusters
from dbagenteval.failures.coverage import Coverage, Known, coverage_of
from dbagenteval.failures.coverage_lines import coverage_lines, uncovered_lines
from dbagenteval.failures.edit import SqlEdit, sql_edit
from dbagenteval.failures.outcome import Outcome, outcome_of
from dbagenteval.failures.structure import Outline, outline, structure
from dbagenteval.failures.wording import edit_words

__all__ = [
    "Blame",
    "Cluster",
    "Clusters",
    "Coverage",
    "Known",
    "Outcome",
    "Outline",
    "RunAgain",
    "SqlEdit",
    "blame",
    "cluster_lines",
    "coverage_lines",
    "coverage_of",
    "edit_words",
    "last_sql",
    "outcome_of",
    "outline",
    "question_lines",
    "sql_edit",
    "structure",
    "uncovered_lines",
]
