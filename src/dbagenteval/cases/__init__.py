"""Cases: questions with their correct results, and the files that hold them."""

from dbagenteval.cases.case import DOCUMENTED_FIELDS, Case
from dbagenteval.cases.load import CasesWarning, load_cases
from dbagenteval.cases.select import filter_cases, matching
from dbagenteval.cases.turn import Turn

__all__ = [
    "DOCUMENTED_FIELDS",
    "Case",
    "CasesWarning",
    "Turn",
    "filter_cases",
    "load_cases",
    "matching",
]
