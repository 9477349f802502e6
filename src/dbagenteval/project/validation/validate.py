"""Everything that is wrong with a project, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dbagenteval.project.folder.answertests import load_tests
from dbagenteval.project.folder.catalog import Catalog
from dbagenteval.project.folder.load import load_project
from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.problems import ERROR_LEVEL, Problem
from dbagenteval.project.governance.faults import check_cases
from dbagenteval.project.validation.answertests import check_tests
from dbagenteval.project.validation.bundles import check_bundles
from dbagenteval.project.validation.catalog import check_catalog
from dbagenteval.project.validation.models import check_models
from dbagenteval.project.validation.policy import check_policy
from dbagenteval.project.validation.rules import check_prose, check_rules
from dbagenteval.project.validation.spelling import check_spelling

__all__ = ["find_problems", "validate_project"]


def validate_project(
    path: str | Path | None = None,
    *,
    catalogs: Mapping[str, Catalog] | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Check all files of a project against their formats and against each other.

    Args:
        path: The folder or its configuration file; None searches from the current folder.
        catalogs: Database name to its real schema (see `read_catalog`), to check names and types
            against it; None looks at the files alone.
        env: The environment that the configuration refers to; None takes that of the process.

    Returns:
        Every fault, sorted by file and line.

    Raises:
        UserError: There is no configuration file.
    """
    return find_problems(load_project(path, env), catalogs)


def find_problems(project: Project, catalogs: Mapping[str, Catalog] | None = None) -> list[Problem]:
    """Check a project that was read; see `validate_project`."""
    tests, test_problems = load_tests(project)
    found = [
        *project.problems,
        *check_bundles(project),
        *check_policy(project),
        *check_spelling(project),
        *check_models(project),
        *check_rules(project),
        *check_cases(project),
        *check_prose(project),
        *test_problems,
        *check_tests(project, tests, catalogs),
    ]
    if catalogs is not None:
        found += check_catalog(project, catalogs)
    unique = dict.fromkeys(found)
    return sorted(unique, key=lambda item: (item.file, item.line, item.level != ERROR_LEVEL))
