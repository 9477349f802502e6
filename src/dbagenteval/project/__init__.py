"""The project folder of a data agent: its files, its policy, its governance cases and tests."""

from dbagenteval.project.catalog import Catalog, read_catalog
from dbagenteval.project.load import load_project
from dbagenteval.project.model import Bundle, Policy, Project
from dbagenteval.project.problems import Problem
from dbagenteval.project.validate import validate_project

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
