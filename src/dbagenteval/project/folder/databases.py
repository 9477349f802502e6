"""The databases of a project, opened when they are first asked."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from dbagenteval.errors import UserError
from dbagenteval.executors import executor_for
from dbagenteval.project.folder.catalog import Catalog, read_catalog
from dbagenteval.project.folder.model import Bundle, Project

__all__ = ["ProjectData"]


class ProjectData:
    """Opens each database at most once.

    Args:
        project: The project.
        with_catalog: Read the real schema; else `catalog` gives None.
    """

    def __init__(self, project: Project, *, with_catalog: bool) -> None:
        self._project = project
        self._with_catalog = with_catalog
        self._executors: dict[str, Callable[[str], list[dict[str, Any]]]] = {}
        self._catalogs: dict[str, Catalog] = {}

    def executor(self, name: str) -> Callable[[str], list[dict[str, Any]]]:
        """Give the executor of the database of that name.

        Raises:
            UserError: There is none, or it can't be opened.
        """
        if name not in self._executors:
            database = self._project.config.database(name)
            if database is None:
                raise UserError(f"there is no database {name!r} in {self._project.config.file}")
            self._executors[name] = executor_for(database.url)
        return self._executors[name]

    def catalog(self, bundle: Bundle | None) -> Catalog | None:
        """Give the schema of a bundle's database; None without one or without `with_catalog`."""
        database = self._project.database_of(bundle)
        if not self._with_catalog or database is None:
            return None
        if database.name not in self._catalogs:
            self._catalogs[database.name] = read_catalog(database)
        return self._catalogs[database.name]

    def close(self) -> None:
        """Let go of the databases, so that the agent may open a DuckDB file in its own way."""
        self._executors.clear()
        gc.collect()  # an engine is part of a cycle, and keeps its connections until it is gone

    def catalogs(self) -> dict[str, Catalog]:
        """Read the schema of every database."""
        return {
            database.name: read_catalog(database) for database in self._project.config.databases
        }
