"""Tool calls that never ran: a person or a policy of the framework refused them.

Frameworks give the model a sentence in place of the result. What a database refused
(`permission denied for table orders`) ran and failed: that is an error, not a rejection.
"""

from __future__ import annotations

import re
from typing import Any

from dbagenteval.traces.content import plain, text_of
from dbagenteval.traces.toolresult import names_database_error, unwrap
from dbagenteval.traces.uses import Use

__all__ = ["is_rejected"]

_ENDED = r"(?:was |is |has been )?"
_PERSON = r"(?:the )?(?:end[- ]?)?(?:user|human|operator|reviewer|approver|administrator)"
_REFUSED = r"(?:rejected|declined|denied|refused|cancell?ed|not approved|not authori[sz]ed)"
_REJECTED = re.compile(
    rf"^\W*(?:error\W+)?{_PERSON} (?:has |have )?(?:{_REFUSED}|did(?:n't| not) (?:approve|allow)"
    r"|does(?:n't| not) want)\b"
    r"|\btool (?:call|execution|use|invocation)(?: invocation)?(?: \S+)? "
    rf"{_ENDED}(?:{_REFUSED}|not executed|skipped)\b"
    rf"|\b{_REFUSED} by {_PERSON}\b"
    rf"|\b(?:approval|confirmation|consent) {_ENDED}(?:{_REFUSED}|not (?:given|granted))\b"
    rf"|\b(?:tool|call|action|request) {_ENDED}not (?:executed|approved)\b"
    rf"|^\W*(?:the )?(?:query|statement|sql|command)? ?{_ENDED}not executed\b"
    r"|\brequires? (?:user |human |your )?(?:confirmation|approval)\b",
    re.IGNORECASE,
)
_DENIED_TYPES = ("execution-denied", "tool-denied")
_MAX_CHARS = 1000


def is_rejected(use: Use) -> bool:
    """True if a call was refused, as all that came back says, and no database span shows it."""
    told = [value for value, _ in use.results if value is not None]
    return bool(told) and not use.database and all(_says_rejected(value) for value in told)


def _says_rejected(value: Any) -> bool:
    held = plain(value)
    if isinstance(held, dict) and held.get("type") in _DENIED_TYPES:
        return True
    content, error = unwrap(value)
    text = error or (text_of(content) if isinstance(content, (str, dict)) else "")
    if len(text) > _MAX_CHARS or _REJECTED.search(text) is None:
        return False
    # `Query not executed: syntax error at …` is the report of an error.
    return not names_database_error(text)
