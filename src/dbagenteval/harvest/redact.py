"""Personal data in a question, its SQL and its rows gives way to stand-ins, always the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlglot.dialects.dialect import Dialect

from dbagenteval.harvest.cells import texts_of
from dbagenteval.harvest.people import People
from dbagenteval.harvest.personal import (
    address_parts,
    capitalised_runs,
    name_words,
    named_people,
    phone_numbers,
    secrets,
)
from dbagenteval.harvest.sql_values import sql_values
from dbagenteval.otlp.redaction import replace_found
from dbagenteval.traces import Rows

__all__ = ["Redaction", "stand_in_of"]

_LITERAL = r"'(?:[^']|'')*(?:'|\Z)"
_ESCAPED_LITERAL = r"'(?:[^'\\]|''|\\.)*(?:'|\Z)"
_OTHER_TEXTS = r"|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?(?:\*/|\Z)|\$(\w*)\$.*?\$\1\$|\b\d{7,}\b"
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_DIGIT = re.compile(r"\d")
_NO_DIGIT = re.compile(r"\D")
_SHORTEST_VALUE = 4
_LETTERS_OF_A_LOGIN = 3
_LONGEST_NAME = 5
_STAND_INS = {
    "name": "user{}",
    "email": "email{}@example.com",
    "phone": "999000{:04}",
    "card": "9{:015}",
    "address": "Address {}",
    "secret": "secret{}",
}
"""Numbers stay numbers; none of them is a phone number or a card that exists."""

_VALUE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\b\d+\b")
_STAND_IN = re.compile(
    r"\b(?:name\d+|user\d+|email\d+@example\.com|999000\d{4,}|9\d{15}|address \d+|secret\d+)\b",
    re.IGNORECASE,
)


class Redaction:
    """Replaces personal data in all that belongs to one trace.

    It first learns from everything, then replaces: a name that the rows give away is replaced in
    the question too. Names are replaced word by word, so that `LIKE '%Schmidt%'` still finds who
    it found, and in the case in which they stand.

    Args:
        dialect: sqlglot's name of the dialect of the SQL, or None.
        people: Whose names are known beforehand.
    """

    def __init__(self, dialect: str | None = None, people: People | None = None) -> None:
        self._dialect = dialect
        self._people = people or People()
        literal = _ESCAPED_LITERAL if _has_backslashes(dialect) else _LITERAL
        self._sql_texts = re.compile(literal + _OTHER_TEXTS, re.DOTALL)
        self._words: dict[str, str] = {}
        self._values: dict[str, tuple[str, str]] = {}
        self._stand_ins: dict[tuple[str, str], str] = {}
        self._spellings: set[str] = set()
        self._identifiers: set[str] = set()
        self._running: list[str] = []
        self._cells: list[str] = []
        self._pattern: re.Pattern[str] | None = None
        self._replaced: set[str] = set()

    @property
    def replaced(self) -> list[str]:
        """The kinds of data that were replaced so far."""
        return sorted(self._replaced)

    def learn_text(self, text: str) -> None:
        """Learn the names and telephone numbers in running text."""
        for name in (*self._people.named_in(text), *named_people(text)):
            self._learn("name", name)
        for number in phone_numbers(text):
            self._learn("phone", number)
        for secret in secrets(text):
            self._learn("secret", secret)
        self._running.append(text)

    def learn_sql(self, sql: str) -> None:
        """Learn the values that a query compares with personal columns."""
        self._identifiers.update(
            word.casefold() for word in _IDENTIFIER.findall(self._sql_texts.sub(" ", sql))
        )
        for name in self._people.named_in(sql):  # in its comments too
            self._learn("name", name)
        found = sql_values(sql, self._dialect)
        for kind, value in found.compared:
            self._learn(kind, value)
        for text in found.texts:
            self._learn_cell(text)

    def learn_rows(self, rows: Rows, sql: str) -> None:
        """Learn the values of the personal columns of a result."""
        found = sql_values(sql, self._dialect)
        for row in rows:
            for cell, kind in zip(row.values(), found.kinds_of(list(row)), strict=True):
                if isinstance(cell, int) and not isinstance(cell, bool) and kind:
                    self._learn(kind, str(cell))
                for text, own_kind in texts_of(cell, kind):
                    if own_kind:
                        self._learn(own_kind, text)
                    self._learn_cell(text)

    def text(self, text: str) -> str:
        """Give running text without personal data."""
        text = replace_found(text, self._detected)
        if self._pattern is None:
            self._spread()
            self._pattern = _any_of(self._spellings)
        return self._pattern.sub(self._known, text)

    def detail(self, text: str) -> str:
        """Give the detail of a check without personal data.

        It may quote rows that nobody has learned from, so what it quotes stays only if it is a
        number or a name of the query.
        """
        return self.text(_QUOTED.sub(self._quoted, text))

    def _quoted(self, found: re.Match[str]) -> str:
        words = _IDENTIFIER.findall(found[0])
        is_known = all(word.casefold() in self._identifiers for word in words)
        return found[0] if is_known else "'…'"

    def sql(self, sql: str) -> str:
        """Give a query without personal data: in its literals and comments, not its names."""
        return self._sql_texts.sub(lambda found: self._sql_text(found[0]), sql)

    def rows(self, rows: Rows) -> Rows:
        """Give rows without personal data."""
        return [{self.text(name): self.value(cell) for name, cell in row.items()} for row in rows]

    def cell(self, text: str) -> str:
        """Give the text of one cell without personal data, of people not met before too."""
        for name in self._people.named_in(text):
            self._learn("name", name)
        self._learn_if_named(text)
        return self.text(text)

    def value(self, value: Any) -> Any:
        """Give one value without personal data, however deep it nests; others stay as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**6:
            text = self.text(str(value))
            return int(text) if text.isdigit() else value
        return value

    def _learn_cell(self, text: str) -> None:
        self.learn_text(text)
        self._cells.append(text)

    def _spread(self) -> None:
        """Learn the words that stand beside a known name: a first name, another surname."""
        for text in self._cells:
            self._learn_if_named(text)
        for text in self._running:
            for run in capitalised_runs(text):
                self._learn_if_named(run)

    def _learn_if_named(self, text: str) -> None:
        """Take a short text with a word of a known name in it for a name.

        Who shares a surname with somebody in the question is a person as well.
        """
        words = name_words(text)
        known = any(word.casefold() in self._words for word in words)
        if known and 1 < len(words) <= _LONGEST_NAME:
            # In `met Bo Lind` the name is plain, and `met` is no part of it.
            capitalised = [word for word in words if not word.islower()]
            self._learn("name", " ".join(capitalised) if len(capitalised) > 1 else text)

    def _learn(self, kind: str, value: str) -> None:
        value = value.strip()
        self._pattern = None
        if kind == "name":
            parts = value.split()
            for word in name_words(" ".join(part for part in parts if not _DIGIT.search(part))):
                self._words.setdefault(word.casefold(), f"Name{len(self._words) + 1}")
                # A pattern that ignores case takes neither ß for SS nor İ for i.
                self._spellings.update((word, word.lower(), word.upper()))
            if _DIGIT.search(value) and sum(map(str.isalpha, value)) >= _LETTERS_OF_A_LOGIN:
                self._stand_in(kind, value)
        elif len(value) >= _SHORTEST_VALUE:
            self._stand_in(kind, value)
            for part in address_parts(value) if kind == "address" else ():
                self._stand_in(kind, part)

    def _stand_in(self, kind: str, value: str) -> str:
        """Give what stands for a value; a phone number or card is the same however written."""
        key = _NO_DIGIT.sub("", value) if kind in ("phone", "card") else value.casefold()
        stand_in = self._stand_ins.get((kind, key))
        if stand_in is None:
            count = sum(of == kind for of, _ in self._stand_ins) + 1
            stand_in = self._stand_ins[kind, key] = _STAND_INS[kind].format(count)
        if value.casefold() not in self._values:
            self._values[value.casefold()] = (kind, stand_in)
        if value not in self._spellings:
            self._spellings.add(value)
            self._pattern = None
        return stand_in

    def _detected(self, kind: str, value: str) -> str:
        self._replaced.add(kind)
        return self._stand_in(kind, value)

    def _known(self, found: re.Match[str]) -> str:
        text, key = found[0], found[0].casefold()
        if key in self._values:
            kind, stand_in = self._values[key]
            self._replaced.add(kind)
            return stand_in
        if text.islower() and not self._identifiers.isdisjoint((text, f"{text}s")):
            return text  # `orders of Mr Orders`
        self._replaced.add("name")
        # The pattern takes a dotless i for an i, which casefold does not.
        word = self._words.get(key, "Name")
        if text.islower():
            return word.lower()
        return word.upper() if text.isupper() and len(text) > 1 else word

    def _sql_text(self, text: str) -> str:
        if text[0] != "'":
            return self.text(text)
        closing = "'" if len(text) > 1 and text.endswith("'") else ""
        value = text[1 : len(text) - len(closing)].replace("''", "'")
        clean = self.text(value)
        return text if clean == value else "'" + clean.replace("'", "''") + closing


def stand_in_of(sql: str) -> str | None:
    """Give the first stand-in that a query of a redacted case looks for, or None."""
    found = (_STAND_IN.search(value) for value in _VALUE.findall(sql))
    return next((each[0] for each in found if each is not None), None)


def _has_backslashes(dialect: str | None) -> bool:
    try:
        return "\\" in Dialect.get_or_raise(dialect).tokenizer_class.STRING_ESCAPES
    except ValueError:
        return False


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Make the pattern of whole words and their genitives; not all scripts have word boundaries."""
    if not texts:
        return re.compile(r"(?!)")
    longest_first = sorted(texts, key=len, reverse=True)
    apart = [re.escape(text) for text in longest_first if text.isascii() or _is_cased(text)]
    within = [
        re.escape(text) for text in longest_first if not text.isascii() and not _is_cased(text)
    ]
    parts = ([rf"(?<!\w)(?:{'|'.join(apart)})(?=s?(?!\w))"] if apart else []) + within
    return re.compile("|".join(parts), re.IGNORECASE)


def _is_cased(text: str) -> bool:
    return text.lower() != text.upper()
