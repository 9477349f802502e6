"""All claims of an answer, names to trends, compared with the rows."""

from __future__ import annotations

from collections.abc import Sequence

from dbagenteval.answers.finding import Finding
from dbagenteval.answers.grounding import Grounds, fates_of
from dbagenteval.answers.names import name_findings
from dbagenteval.answers.reader import read_figures
from dbagenteval.answers.superlatives import superlative_findings
from dbagenteval.answers.trends import absence_finding, comparison_findings, trend_findings
from dbagenteval.traces import Rows

__all__ = ["claim_findings"]


def claim_findings(
    answer: str, question: str, results: Sequence[Rows], sql: Sequence[str] = ()
) -> list[Finding]:
    """Compare names, dates, superlatives, comparisons, trends and absence with the rows.

    Args:
        answer: Its text.
        question: The question.
        results: The rows of each execution, the last one first.
        sql: Texts of the statements that were run.
    """
    figures = read_figures(answer)
    fates = fates_of(figures, Grounds(results=results, question=question, sql=sql))
    found = name_findings(answer, question, results, sql)
    for fate in fates:
        if fate.figure.kind not in ("date", "time", "code", "phone", "version"):
            continue
        state = {"grounded": "holds", "ungrounded": "fails"}.get(fate.state, "unclear")
        why = fate.note or fate.basis
        found.append(Finding(state, f"{fate.figure.shown!r}: {why}" if why else fate.figure.shown))
    for rows in results:
        found += superlative_findings(answer, question, rows)
    found += comparison_findings(answer, results)
    found += trend_findings(answer, figures, results)
    states_number = any(fate.basis == "rows" for fate in fates)
    return found + absence_finding(answer, results, has_figures=states_number)
