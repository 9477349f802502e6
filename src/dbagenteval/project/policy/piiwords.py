"""Personal data that a question asks for in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbagenteval.project.folder.model import Project
from dbagenteval.project.policy.words import has_phrase, name_words, words_of

__all__ = ["pii_asked"]

_SYNONYMS = {
    "email": ("e mail", "mail address", "email address", "electronic mail"),
    "phone": ("telephone", "phone number", "mobile number", "cell number"),
    "last name": ("surname", "family name", "lastname"),
    "first name": ("given name", "forename", "firstname", "christian name"),
    "birth date": ("birthday", "date of birth", "birthdate"),
    "date of birth": ("birthday", "birth date", "birthdate"),
    "ssn": ("social security number",),
    "address": ("home address", "street address", "postal address"),
}

_NEGATED = re.compile(
    r"\b(without|excluding|exclude|except|not|no|never|hide|omit)\b(?:\W+\w+){0,3}\W*$"
)


def pii_asked(
    question: str,
    words: Sequence[str],
    project: Project,
    scoped: Iterable[str],
) -> Iterable[tuple[str, str, str]]:
    """Give `(table, column, words)` of each protected column that is asked for and not excluded."""
    columns = project.policy.pii_columns if project.policy else {}
    for table, names in columns.items():
        if table not in scoped:
            continue
        noun = name_words(table.split(".")[-1])
        for column in sorted(names):
            for phrase in _phrases(column):
                if phrase == ["name"] and not _named_with(words, noun):
                    continue  # "name the top products" asks for no name
                if has_phrase(words, phrase) and not _is_negated(question, phrase):
                    yield table, column, " ".join(phrase)
                    break
            else:
                if "name" in name_words(column) and _named_with(words, noun):
                    yield table, column, "name"


def _phrases(column: str) -> list[list[str]]:
    own = name_words(column)
    joined = " ".join(own)
    return [own, *(words_of(text) for text in _SYNONYMS.get(joined, ()))]


def _named_with(words: Sequence[str], noun: Sequence[str]) -> bool:
    """Say whether the names of that noun are asked for: "customer names", "name of the buyers"."""
    if has_phrase(words, [*noun, "name"]):
        return True
    return any(
        has_phrase(words, ["name", "of", *between, *noun])
        for between in (
            [],
            ["the"],
            ["all"],
            ["our"],
            ["every"],
            ["each"],
            ["all", "the"],
            ["all", "our"],
        )
    )


def _is_negated(question: str, phrase: Sequence[str]) -> bool:
    match = re.search(r"\W*".join(rf"{re.escape(word)}\w*" for word in phrase), question.casefold())
    return match is not None and _NEGATED.search(question.casefold()[: match.start()]) is not None
