"""Checks of stages, results and answers, built in or written by users."""

from dbagenteval.checks.check import Check
from dbagenteval.checks.claims import ClaimsGrounded
from dbagenteval.checks.judge import (
    Faithful,
    Judge,
    JudgeCheck,
    Relevant,
    ask_judge,
    check_reference_answer,
)
from dbagenteval.checks.numbers import NumbersGrounded
from dbagenteval.checks.record import plain, record_of
from dbagenteval.checks.reference import Executor, Reference, check_reference, run_references
from dbagenteval.checks.rerun import RowsFromSql
from dbagenteval.checks.result_rows import check_rows
from dbagenteval.checks.sql_use import check_sql_use
from dbagenteval.checks.stages import check_expected, check_no_error

__all__ = [
    "Check",
    "ClaimsGrounded",
    "Executor",
    "Faithful",
    "Judge",
    "JudgeCheck",
    "NumbersGrounded",
    "Reference",
    "Relevant",
    "RowsFromSql",
    "ask_judge",
    "check_expected",
    "check_no_error",
    "check_reference",
    "check_reference_answer",
    "check_rows",
    "check_sql_use",
    "plain",
    "record_of",
    "run_references",
]
