"""ClaimsGrounded: names, dates, superlatives and trends of the answer agree with the rows."""

from __future__ import annotations

from dbagenteval.cases import Case
from dbagenteval.checks.answer_evidence import answer_stage, rows_evidence
from dbagenteval.checks.check import Check
from dbagenteval.checks.evidence import NOT_OBSERVED
from dbagenteval.scorecard import FAIL, PASS, SKIP, CheckResult
from dbagenteval.traces import Trace

__all__ = ["ClaimsGrounded"]


class ClaimsGrounded(Check):
    """Passes when names, dates, superlatives and trends in the answer agree with the rows.

    It fails `Toys is the best category` when the rows have another best, or no Toys at all; a
    date that the rows contradict; `rose from 120 to 95`; `A has more than B`; `no orders were
    found` beside rows. Where the rows can't tell, it does not guess: it is skipped with the
    reason if nothing else in the answer can be compared.

    Args:
        stage: Name of the answer stage; None means the last stage of kind `answer`.
    """

    name = "claims_grounded"

    def __init__(self, stage: str | None = None) -> None:
        self.stage = stage

    def run(self, trace: Trace, case: Case) -> CheckResult:
        """Compare the claims of the answer with the rows; SKIP where they can't tell."""
        from dbagenteval.answers.claims import claim_findings  # noqa: PLC0415 - keeps import light
        from dbagenteval.answers.verdicts import joined  # noqa: PLC0415

        del case
        answer = answer_stage(trace, self.stage)
        stage = answer.stage
        if answer.status:
            return self.result(stage, answer.status, answer.detail, reason=answer.reason)
        seen = rows_evidence(trace)
        if seen.hidden_last or seen.hidden_earlier:
            hidden = seen.hidden_last or seen.hidden_earlier
            return self.result(stage, SKIP, hidden, reason=NOT_OBSERVED)
        found = claim_findings(answer.text, trace.question, seen.results, seen.sql)
        by_state = {
            state: [one.detail for one in found if one.state == state]
            for state in ("fails", "holds", "unclear")
        }
        evidence = {"claims": {state: details[:50] for state, details in by_state.items()}}
        if by_state["fails"]:
            detail = joined(by_state["fails"])
            return self.result(stage, FAIL, detail, reason="claim_contradicted", evidence=evidence)
        unclear = [f"can't tell: {detail}" for detail in by_state["unclear"]]
        if not by_state["holds"]:
            detail = joined(unclear) or "no claim that the rows can be compared with"
            return self.result(stage, SKIP, detail, reason="no_comparable_claim")
        return self.result(stage, PASS, joined([*by_state["holds"], *unclear]), evidence=evidence)
