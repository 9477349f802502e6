"""What the text of an answer says: figures, dates, claims, and whether rows bear them out."""

from dbagenteval.answers.figure import Figure, Period, Reading
from dbagenteval.answers.reader import read_figures

__all__ = ["Figure", "Period", "Reading", "read_figures"]
