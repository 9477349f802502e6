"""Cases: questions with their correct results, and the files that hold them."""

from dbagenteval.cases.case import DOCUMENTED_FIELDS, Case, Turn

__all__ = ["DOCUMENTED_FIELDS", "Case", "Turn"]
