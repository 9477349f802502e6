"""Which columns hold personal data, and which words are people's names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import resources

__all__ = [
    "NAME_PARTS",
    "address_parts",
    "capitalised_runs",
    "name_words",
    "named_people",
    "personal_kind",
    "phone_numbers",
    "secrets",
]

_PEOPLE = frozenset(
    "account accountholder agent author borrower cardholder client consultant contact coworker "
    "customer director driver employee guest holder lead manager member owner partner passenger "
    "patient payee people person recipient rep salesperson seller sender staff student subscriber "
    "supervisor teacher user worker kunde kundin mitarbeiter mitarbeiterin "
    "ansprechpartner benutzer mitglied patientin personal verkäufer inhaber empfänger".split()
)
_NAME_COLUMNS = frozenset(
    "firstname lastname middlename fullname givenname familyname surname forename nickname "
    "username maidenname vorname nachname familienname".split()
)
NAME_PARTS = frozenset(("first", "last", "middle", "full", "given", "family", "nick", "display"))
_BY_WORD = {
    "email": ("email", "mail", "emails"),
    "phone": ("phone", "telephone", "tel", "mobile", "cell", "fax", "telefon", "handy", "mobil"),
    "card": ("iban", "card", "cardnumber", "pan", "ssn", "passport"),
    "address": ("address", "addr", "street", "adresse", "straße", "strasse"),
    "secret": ("password", "passwort", "secret", "token", "pin", "cvv", "cvc"),
}
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")

_LETTERS = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME = re.compile(_LETTERS)
_NOT_A_NAME = frozenset(
    "von van der den de del della da di du la le the of and und et y zu zum for from with by at "
    "für mit co corp inc llc ltd plc gmbh ag kg se sa srl oy ab bv".split()
)
_CUES = (
    "customer|client|user|employee|contact|patient|member|passenger|student|driver|guest|seller|"
    "owner|manager|person|named|called|mr|mrs|ms|miss|dr|prof|professor|herr|herrn|frau|kunde|"
    "kundin|kunden|mitarbeiter|mitarbeiterin|namens|señor|señora|monsieur|madame"
)
_CAPITALISED = r"(?:[A-ZÀ-ÖØ-ÞĀ-ſ](?:['’][A-Z])?[^\W\d_A-Z][^\W\d_]*(?:['’-][^\W\d_]+)*)"
_PARTICLES = r"(?:(?:von|van|der|den|de|del|della|da|di|du|la|le|zu|el|al)\s+)*"
_AFTER_A_CUE = re.compile(
    rf"(?<!\w)(?i:{_CUES})(?:\s+(?i:named|called|name|is|namens))?\.?:?\s+[\"'“„]?"
    rf"((?:{_PARTICLES}{_CAPITALISED})(?:\s+{_PARTICLES}{_CAPITALISED}){{0,3}})"
)
_CAPITALISED_WORDS = re.compile(rf"{_CAPITALISED}(?:\s+{_PARTICLES}{_CAPITALISED}){{0,3}}")
# Without a country code, which the detectors of the receiver ask for: in groups, or said to be one.
_PHONE = re.compile(
    r"(?<![\w.-])(?:0\d{1,4}[ /-]\d{2,5}(?:[ -]?\d{2,5}){0,3}|\d{3}[-. ]\d{3}[-. ]\d{4})(?![\w-])"
    r"|(?<!\w)(?i:tel|telephone|phone|mobile|telefon|handy|call|fax|anruf|nummer)[ .:]+"
    r"(?i:(?:number|no|at|is)[ .:]+)?(?P<said>\d(?:[ ./-]?\d){5,14})(?!\w)"
)
_SECRET = re.compile(
    r"(?<![^\W_])(?:password|passwort|passwd|pwd|token|secret|api[_-]?key)[\"']?\s*"
    r"(?:=|:(?=\s*\S*\d))\s*[\"']?([^\s\"'&,;]{4,})",
    re.IGNORECASE,
)


def personal_kind(column: str, tables: Collection[str] = ()) -> str | None:
    """Give the kind of personal data that a column holds, going by its name.

    Args:
        column: Its name.
        tables: The tables it may be of: a plain `name` is personal in a table of people.

    Returns:
        `name`, `email`, `phone`, `card`, `address` or `secret`; None for other columns.
    """
    words = _words(column)
    joined = "".join(words)
    if words and words[-1] in ("id", "key", "count", "type", "status", "group", "segment"):
        return None
    for kind, telling in _BY_WORD.items():
        if any(word in telling for word in words):
            return kind
    if joined in _NAME_COLUMNS or any(word in _NAME_COLUMNS for word in words):
        return "name"
    has_person = any(_is_person(word) for word in words)
    if "name" in words:
        is_named = has_person or any(word in NAME_PARTS for word in words)
        return "name" if is_named or any(map(_is_of_people, tables)) else None
    return "name" if has_person and len(words) == 1 else None


def _is_of_people(table: str) -> bool:
    words = _words(table)
    return bool(words) and _is_person(words[-1])


def _is_person(word: str) -> bool:
    return any(
        word[: len(word) - len(ending)] in _PEOPLE
        for ending in ("", "s", "n", "en", "innen")
        if word.endswith(ending)
    )


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_HUMP.sub("_", name))]


def name_words(value: str) -> list[str]:
    """Give the words of a name that tell who it is: no particles, no legal forms, no initials."""
    return [
        word
        for word in _NAME.findall(value)
        if word.casefold() not in _NOT_A_NAME and (len(word) > 1 or not word.isascii())
    ]


def named_people(text: str) -> Iterator[str]:
    """Give the names of people in running text.

    Found are capitalised words behind what a person is called by (`customer Anna Schmidt`, `Frau
    Müller`), and words that are given names, with the capitalised words behind them. A name that
    is neither can't be told from other words; `Redaction` learns it from SQL and rows.
    """
    for found in _AFTER_A_CUE.finditer(text):
        yield _bare(found[1])
    for found in _CAPITALISED_WORDS.finditer(text):
        words = found[0].split()
        start = next((i for i, word in enumerate(words) if _bare(word) in given_names()), None)
        if start is not None:
            yield _bare(" ".join(words[start:]))


def capitalised_runs(text: str) -> Iterator[str]:
    """Give the capitalised words that stand side by side, without the first word of a sentence."""
    for found in _CAPITALISED_WORDS.finditer(text):
        words = found[0].split()
        if text[: found.start()].rstrip()[-1:] in ("", ".", "?", "!", ":"):
            del words[0]
        if words:
            yield _bare(" ".join(words))


def phone_numbers(text: str) -> Iterator[str]:
    """Give the telephone numbers in running text that have no country code."""
    for found in _PHONE.finditer(text):
        yield found["said"] or found[0]


def secrets(text: str) -> Iterator[str]:
    """Give what stands behind `password=`, `token:` and the like in running text."""
    for found in _SECRET.finditer(text):
        yield found[1]


def address_parts(address: str) -> Iterator[str]:
    """Give the parts of an address that tell where somebody lives by themselves."""
    for part in re.split(r"[,;\n]", address):
        if re.search(r"\d", part) and re.search(r"[^\W\d_]", part):
            yield part.strip()


def _bare(word: str) -> str:
    return re.split(r"['’]s$", word)[0]


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Give common given names."""
    text = resources.files(__package__).joinpath("given_names.txt").read_text(encoding="utf-8")
    return frozenset(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )
