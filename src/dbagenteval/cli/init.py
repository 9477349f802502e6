"""`dbagenteval init`: make a project from a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from dbagenteval.cli.main import EXIT_OK
from dbagenteval.errors import UserError

__all__ = ["command"]

_TYPES = {
    "duckdb": "duckdb",
    "mysql": "mysql",
    "postgres": "postgres",
    "postgresql": "postgres",
    "sqlite": "sqlite",
}


@click.command("init", epilog="Exit codes: 0 the project is made, 2 it could not be.")
@click.argument("url", metavar="DATABASE_URL")
@click.option("--project", "-p", "path", default=".", metavar="PATH", help="Where to make it.")
@click.option("--name", help="Name of the project; else that of the folder.")
@click.option(
    "--url-variable",
    default="DATABASE_URL",
    show_default=True,
    help="Variable that holds the URL, where it has a password.",
)
def command(url: str, path: str, name: str | None, url_variable: str) -> int:
    """Make a project from a database: tables, semantic model, policy, cases and five tests."""
    from dbagenteval.executors import executor_for
    from dbagenteval.project.folder.catalog import read_catalog
    from dbagenteval.project.folder.config import Database
    from dbagenteval.project.starter.draft import draft_project

    scheme = re.split(r"[:+]", url, maxsplit=1)[0]
    kind = _TYPES.get(scheme)
    if kind is None:
        raise UserError(
            f"{scheme!r} is no database that a project can be made from; "
            f"expected {', '.join(sorted(set(_TYPES)))}"
        )
    root = Path(path).resolve()
    database = Database(name="main", type=kind, settings={"url": url}, root=root)
    execute = executor_for(url)
    catalog = read_catalog(database)
    if not catalog.tables:
        raise UserError("the database has no tables to make a project from")
    entry: dict[str, Any] = {"name": "main", "type": kind, "url": _url_entry(url, url_variable)}
    draft = draft_project(
        name or root.name, entry, catalog, execute, "``" if kind == "mysql" else '""'
    )
    has_gitignore = (root / ".gitignore").exists()  # of a repository that the project lies in
    files = {k: v for k, v in draft.files.items() if k != ".gitignore" or not has_gitignore}
    taken = [file for file in files if (root / file).exists()]
    if taken:
        raise UserError(
            f"{root / taken[0]} is there already; nothing was written",
            hint="name another folder with --project",
        )
    for file, text in files.items():
        target = root / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    click.echo(f"project {name or root.name} in {root}:")
    for line in draft.found:
        click.echo(f"  {line}")
    if entry["url"].startswith("${"):
        click.echo(f"  the URL has a password, so it is read from {url_variable}")
    click.echo("next: dbagenteval validate --database; dbagenteval eval; dbagenteval test")
    return EXIT_OK


def _url_entry(url: str, variable: str) -> str:
    """Give the URL for the configuration: by variable with a password, with an absolute path."""
    if re.match(r"[^:]+://[^/@]*:[^/@]*@", url):
        return f"${{{variable}}}"
    match = re.fullmatch(r"(sqlite|duckdb):///(?!/)(.+)", url)
    if match is not None and match.group(2) != ":memory:":
        return f"{match.group(1)}:///{Path(match.group(2)).resolve()}"
    return url
