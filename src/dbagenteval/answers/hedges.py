"""What an answer claims, without its refusals and hedges: those claim nothing."""

from __future__ import annotations

import re

from dbagenteval.answers.sentences import sentences_of

__all__ = ["claimed"]

_CANT = r"(?:can(?:not|['\u2019]t| not)|could(?: not|n['\u2019]t)|unable to|not able to|failed to)"
_DONT = r"(?:do(?:es)?|did|have|has|had)(?: not|n['\u2019]t)"
# From these words on nothing is claimed: "I cannot confirm that there are 42".
_ONWARD = re.compile(
    rf"(?<!\w)(?:{_CANT} (?!(?:\w+ )?(?:find|see any|locate|identify any))"
    rf"|{_DONT} (?:\w+ )?(?:know|understand|have (?:access|permission|enough)|respond|access"
    r"|permission|enough)"
    r"|(?:won['\u2019]t|will not) (?:be able|answer|help|do)"
    r"|(?:not|n['\u2019]t) (?:\w+ )?(?:sure|certain|clear|possible|allowed|permitted|authori[sz]ed"
    r"|reachable|responding|working|accessible|supported|connected)"
    r"|no (?:idea|clue|access|permission|connection|answer|information|way (?:to|of)|rights"
    r"|such (?:table|column|field))"
    r"|(?:may|might|could) (?:be|have)|maybe|perhaps|possibly|unsure|uncertain|unclear|if there"
    r"|unknown (?:column|table|field|error|reason|function)|lack (?:of )?(?:the )?(?:access|perm)"
    r"|(?:it is|it['\u2019]s) (?:impossible|hard to|unknown (?:if|whether|how|what|which|who))"
    r"|weiß (?:\w+ )?nicht|keine ahnung|keinen? (?:zugriff|zugang)|je ne (?:sais|peux)"
    r"|aucune idée|(?:pas|aucun) accès|impossible de|no s[ée](?!\w)|ni idea|no tengo"
    r"|no puedo|no pude|no se pudo(?! encontrar)|non (?:lo )?so(?!\w)|non ho|non posso|non riesco"
    r"|não sei|não tenho|não posso|não consigo|não foi possível(?! encontrar)|geen (?:idee|toegang)"
    r"|weet (?:\w+ )?niet|nie wiem|nie mam|не знаю|не могу|нет доступа|не удалось(?! найти))"
    r"|不知道|无法|無法|没有权限|権限|わかりません|分かりません|できません|できない"
    r"|모르|할 수 없|알 수 없",
    re.IGNORECASE,
)
# These speak of all of their clause: "42 could not be confirmed", "the database is down".
_WHOLE = re.compile(
    r"(?<!\w)(?:(?:can(?:not|['\u2019]t| not)|could(?: not|n['\u2019]t)) be"
    r"(?= (?!found|located|seen)\w)"
    r"|(?:database|server|service|connection|backend|tool|api|system|query|statement|sql|request)"
    r" (?:is|was|has|seems|appears|timed|failed|failing|errored|threw|raised|returned an error"
    r"|did(?: not|n['\u2019]t)|does(?: not|n['\u2019]t)|isn['\u2019]t|wasn['\u2019]t)"
    r"(?= ?(?:\w+ ){0,2}(?:not|un\w+able|inaccessible|down|offline|locked|failed|out|run|work"
    r"|respond|execute|finish|reachable|available|accessible|broken|crashed|denied|error)\b"
    r"|(?<=failed)|(?<=errored)|(?<=threw)|(?<=raised)|(?<=an error))"
    r"|(?:permission|access) (?:was |is )?denied|unconfirmed|unverified|timed out"
    r"|syntax error|(?:an|the) error|error:"
    r"|nicht (?:erreichbar|ausgeführt|möglich|verfügbar|bestimm\w+|ermittel\w+)"
    r"|(?:konnte|kann|können|konnten) (?:\w+ ){0,4}nicht(?! gefunden| finden)"
    r"|pas (?:pu|possible|accessible|disponible)|no (?:está|esta) disponible"
    r"|non è (?:stato possibile|raggiungibile|disponibile)|niet (?:bereikbaar|mogelijk))(?!\w)",
    re.IGNORECASE,
)
_COMMA = re.compile(
    r"[,:\u2014(]|(?<!\w)(?:but|however|although|though|because|aber|mais|pero|mas|maar|но)(?!\w)",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"(?<!\w)(?:but|however|although|though|because|aber|mais|pero|mas|maar|но)(?!\w)|\u2014",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?<!\w)(?:whether|if|that|which|who|ob|dass|si|que|se|che)(?!\w)")


def claimed(text: str) -> str:
    """Blank out what an answer does not claim.

    Args:
        text: What `normal_text` gave.

    Returns:
        The text, its refusals (I don't know, the query failed) and hedges (there may be 42, I
        cannot confirm that there are) replaced by as many blanks. A hedge goes to the end of
        its clause, and through its commas if it speaks of what, who or whether.
    """
    pieces: list[str] = []
    end = 0
    for sentence in sentences_of(text):
        spans = _unclaimed(sentence.text)
        for first, last in spans:
            start, stop = max(sentence.start + first, end), sentence.start + last
            if start < stop:
                pieces += (text[end:start], " " * (stop - start))
                end = stop
    return "".join((*pieces, text[end:]))


def _unclaimed(sentence: str) -> list[tuple[int, int]]:
    found = []
    start = at = 0
    for match in _WHOLE.finditer(sentence):
        if match.start() < at:
            continue
        for cut in _COMMA.finditer(sentence, start, match.start()):
            start = cut.end()
        at = _end(_COMMA, sentence, match.end())
        found.append((start, at))
    at = 0
    for hedge in _ONWARD.finditer(sentence):
        if hedge.start() < at:
            continue
        clause = _end(_COMMA, sentence, hedge.end())
        asks = _ASKS.search(sentence, hedge.start(), clause)
        at = _end(_TURN, sentence, hedge.end()) if asks else clause
        found.append((hedge.start(), at))
    return sorted(found)


def _end(cuts: re.Pattern[str], sentence: str, start: int) -> int:
    cut = cuts.search(sentence, start)
    return cut.start() if cut else len(sentence)
