"""The project folder of a data agent: its files, its policy, its governance cases and tests."""

from dbagenteval.project.folder.catalog import Catalog, read_catalog
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.folder.model import Bundle, Policy, Project
from dbagenteval.project.folder.problems import Problem
from dbagenteval.project.validation.validate import validate_project

__all__ = [
    "Bundle",
    "Catalog",
    "Policy",
    "Problem",
    "Project",
    "load_project",
    "read_catalog",
    "validate_project",
]
