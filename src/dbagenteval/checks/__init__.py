"""Checks of stages, results and answers, built in or written by users."""

from dbagenteval.checks.check import Check

__all__ = ["Check"]
