"""Test AI agents that answer questions from a database."""

from dbagenteval.cases import Case
from dbagenteval.checks import Check
from dbagenteval.errors import DatasetError
from dbagenteval.scorecard import CheckResult, Scorecard, SuiteResult
from dbagenteval.traces import Stage, Trace

__version__ = "0.2.0.dev0"

__all__ = [
    "Case",
    "Check",
    "CheckResult",
    "DatasetError",
    "Scorecard",
    "Stage",
    "SuiteResult",
    "Trace",
]
