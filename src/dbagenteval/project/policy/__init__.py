"""The policy engine: may this request run, and if not, why and what would make it right.

Use it as a library: `decide(Request(sql="…"), load_project("."))`. Where a request has SQL, the
SQL decides, read as its dialect reads it, and never the words of the question. What can't be
judged is not allowed: an invalid policy, SQL that is not understood, an unknown role.
"""

from dbagenteval.project.policy.compilation import compiler_of
from dbagenteval.project.policy.engine import decide
from dbagenteval.project.policy.request import CheckOutcome, Decision, MetricQuery, Request

__all__ = ["CheckOutcome", "Decision", "MetricQuery", "Request", "compiler_of", "decide"]
