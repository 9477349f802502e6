"""Test AI agents that answer questions from a database."""

from dbagenteval.cases import Case, filter_cases, load_cases
from dbagenteval.checks import (
    Check,
    Executor,
    Faithful,
    Judge,
    JudgeCheck,
    NumbersGrounded,
    Relevant,
)
from dbagenteval.errors import DatasetError
from dbagenteval.evaluation import evaluate
from dbagenteval.scorecard import CheckResult, Scorecard, SuiteResult
from dbagenteval.suite import arun_suite, check_question, run_suite
from dbagenteval.traces import Stage, Trace

__version__ = "0.2.0.dev0"

__all__ = [
    "Case",
    "Check",
    "CheckResult",
    "DatasetError",
    "Executor",
    "Faithful",
    "Judge",
    "JudgeCheck",
    "NumbersGrounded",
    "Relevant",
    "Scorecard",
    "Stage",
    "SuiteResult",
    "Trace",
    "arun_suite",
    "check_question",
    "evaluate",
    "filter_cases",
    "load_cases",
    "run_suite",
]
