"""Which columns and texts tell who somebody is or how to reach them."""

from __future__ import annotations

import re

from dbagenteval.otlp.redaction import DETECTORS
from dbagenteval.slices.schema import Column, Table

__all__ = ["is_found", "is_personal"]

_PERSONAL_COLUMN = re.compile(
    r"(full|first|last|given|family|middle|maiden|user|login|nick|display|contact|customer|client"
    r"|person|employee|patient|member|owner|author|kunden|nutzer|mitarbeiter)_?name|surname"
    r"|vorname|nachname|e?_?mail|phone|telefon|mobile|handy|\bfax|address|adresse|street|stra(ß|ss)e"
    r"|zip|postal|postcode|plz|birth|geburt|iban|\bcards?\b|card_?n|kreditkart|\bpan\b|\bcv[vc]2?\b"
    r"|\bpin\b|\btel\b|\bcell\b|\bssn|passport|password|passwort|secret|token|\bip\b",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"customer|client|user|account|person|people|employee|staff|patient|member|contact|student"
    r"|driver|author|kunde|nutzer|mitarbeiter|personal|mitglied|schüler",
    re.IGNORECASE,
)
_NAME = re.compile(r"name|title|label", re.IGNORECASE)


def is_personal(table: Table, column: Column) -> bool:
    """Say by its name whether a column tells who somebody is or how to reach them."""
    if _PERSONAL_COLUMN.search(column.name.replace("_", " ")) or _PERSONAL_COLUMN.search(
        column.name
    ):
        return True
    return bool(_PEOPLE.search(table.name) and _NAME.fullmatch(column.name))


def is_found(text: str) -> bool:
    """Say whether a detector finds an address, a number or a secret in a text."""
    return any(replace(text) != text for replace in DETECTORS.values())
