"""What `validate` shows of a project."""

from __future__ import annotations

from pathlib import Path

import click

from dbagenteval.cli.main import EXIT_NOT_PASSED, EXIT_OK

__all__ = ["is_project", "validate_and_show"]


def is_project(target: str | None) -> bool:
    """Say whether an argument means a project: nothing, a folder, or its configuration file."""
    from dbagenteval.project.folder.config import CONFIG_NAMES

    return target is None or Path(target).is_dir() or Path(target).name in CONFIG_NAMES


def validate_and_show(path: str | None, *, database: bool, as_json: bool) -> int:
    """Validate a project and print every fault; 0 without errors, 1 with some."""
    import orjson

    from dbagenteval.project import load_project
    from dbagenteval.project.folder.databases import ProjectData
    from dbagenteval.project.validation.validate import find_problems

    project = load_project(path)
    # A configuration with faults can't be connected with; the faults are what to show then.
    usable = database and not any(item.file == project.config.file for item in project.errors)
    catalogs = ProjectData(project, with_catalog=True).catalogs() if usable else None
    problems = find_problems(project, catalogs)
    errors = sum(problem.level == "error" for problem in problems)
    warnings = len(problems) - errors
    if as_json:
        data = {
            "project": str(project.root),
            "errors": errors,
            "warnings": warnings,
            "problems": [problem.to_dict() for problem in problems],
        }
        click.echo(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode())
    else:
        for problem in problems:
            click.echo(str(problem))
        name = project.config.project_name or project.root.name
        click.echo(f"{name}: {errors} error(s), {warnings} warning(s)")
    return EXIT_NOT_PASSED if errors else EXIT_OK
