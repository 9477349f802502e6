"""Whether a reply answers, refuses, asks back, or says that the data is not there."""

from __future__ import annotations

import re

from dbagenteval.project.agent.reply import AgentReply

__all__ = ["outcome_of"]

_REFUSES = re.compile(
    r"\b(?:i|we) (?:can(?:'|no)?t|cannot|am not able to|'m not able to|am unable to|'m unable to|"
    r"won't|will not|may not|must not|am not allowed to|'m not allowed to|am not permitted to)\b"
    r"[^.?!]{0,60}\b(?:share|show|give|list|provide|reveal|disclose|return|display|access|help|"
    r"answer|do that|expose|run|delete|change)\b"
    r"|\b(?:is|are) (?:protected|confidential|restricted|not allowed|off limits|personal data)\b"
    r"|\b(?:against|violates?) (?:the |our )?(?:policy|policies|rules)\b",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"\b(?:no such (?:data|column|table|information)|(?:data|information) is(?: not|n't) available|"
    r"(?:do not|don't|does not|doesn't) (?:have|contain|include) (?:any |the |this |that )?"
    r"(?:data|information|column|table|field)|not available in the (?:data|database))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:which|what|do you (?:mean|want)|could you (?:clarify|specify|tell)|can you (?:clarify|"
    r"specify)|please (?:clarify|specify)|did you mean|for which|over what|would you like|should i)"
    r"\b[^.!]*\?",
    re.IGNORECASE,
)


def outcome_of(reply: AgentReply) -> str:
    """Give `answer`, `refuse`, `clarify`, `unavailable`, or `none` (no text and no rows).

    What the agent says of itself counts first; then rows make an answer; then the English text.
    """
    if reply.outcome:
        return reply.outcome
    if reply.rows:
        return "answer"
    text = reply.text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()
    if not text:
        return "none" if reply.rows is None else "answer"
    if _REFUSES.search(text):
        return "refuse"
    if _UNAVAILABLE.search(text):
        return "unavailable"
    if _ASKS.search(text) and text.rstrip().endswith("?"):
        return "clarify"
    return "answer"
