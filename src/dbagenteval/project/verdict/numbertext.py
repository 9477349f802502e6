"""Numbers as people write them in results: `$1,585.00`, `(1,200)`, `12%`."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["is_ambiguous_number", "number_of_text"]

_CURRENCY = "$€£¥₹"
_PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA = re.compile(r"\d+,\d{1,2}|\d{1,3}(?:\.\d{3})+(?:,\d+)?")


def number_of_text(text: str) -> Decimal | None:
    """Read a number with signs of currency, thousands, percent or accounting brackets.

    A percentage gives its fraction. A point stands before decimals, as in SQL. Codes with leading
    zeros, and commas that are no thousands (`12,5`), give None.
    """
    body = text.strip().replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")
    negative = False
    if body.startswith("(") and body.endswith(")"):
        negative, body = True, body[1:-1].strip()
    body, sign = _without_sign(body)
    money = body.strip(_CURRENCY + " ")
    had_currency = money != body
    money, second = _without_sign(money)
    negative ^= sign ^ second
    percent = money.endswith("%")
    digits = money.rstrip("% ") if percent else money
    if _GROUPED.fullmatch(digits):
        digits = digits.replace(",", "")
    elif not _PLAIN.fullmatch(digits) or (_is_code(digits) and not had_currency):
        return None
    value = Decimal(digits)
    if percent:
        value /= 100
    return -value if negative else value


def is_ambiguous_number(text: str) -> bool:
    """Say whether a text is a number that countries read differently: `1.234`, `12,5`."""
    body = text.strip().lstrip("+-").strip(_CURRENCY + " ")
    return _COMMA.fullmatch(body) is not None


def _without_sign(text: str) -> tuple[str, bool]:
    if text[:1] in ("-", "+"):
        return text[1:].strip(), text[0] == "-"
    return text, False


def _is_code(digits: str) -> bool:
    return len(digits) > 1 and digits[0] == "0" and digits[1] != "."
