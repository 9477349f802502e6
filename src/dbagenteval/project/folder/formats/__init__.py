"""The shape of each file of a project."""

from dbagenteval.project.folder.formats.answertest import ANSWER_TEST
from dbagenteval.project.folder.formats.bundle import BUNDLE
from dbagenteval.project.folder.formats.choices import LEVELS
from dbagenteval.project.folder.formats.config import CONFIG
from dbagenteval.project.folder.formats.policy import POLICY
from dbagenteval.project.folder.formats.semantics import BUSINESS_RULES, GLOSSARY, SEMANTICS

__all__ = [
    "ANSWER_TEST",
    "BUNDLE",
    "BUSINESS_RULES",
    "CONFIG",
    "GLOSSARY",
    "LEVELS",
    "POLICY",
    "SEMANTICS",
]
