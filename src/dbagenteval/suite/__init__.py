"""Suites: cases against a live agent, or against the traces of a store."""

from dbagenteval.suite.live import arun_suite, check_question, run_suite

__all__ = ["arun_suite", "check_question", "run_suite"]
