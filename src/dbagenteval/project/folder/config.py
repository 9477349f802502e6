"""The project's configuration: where it is, what it says, and the environment it refers to."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dbagenteval.errors import UserError, quoted
from dbagenteval.project.folder.document import Node, parse_yaml, read_yaml
from dbagenteval.project.folder.formats import CONFIG
from dbagenteval.project.folder.problems import Problems

__all__ = ["CONFIG_NAMES", "Config", "Database", "find_config", "load_config"]

CONFIG_NAMES = ("dbagenteval.yaml", "dazense_config.yaml")
_PROJECT_VARIABLES = ("DBAGENTEVAL_PROJECT", "DAZENSE_DEFAULT_PROJECT_PATH")
_REFERENCE = re.compile(
    r"\$?\{\{\s*env\(\s*(?:'{1,2}([^']*)'{1,2}|\\?\"([^\"\\]*)\\?\")\s*\)\s*\}\}"
    r"|\$\{([A-Za-z_][A-Za-z0-9_]*)\}"
)
"""The quotes of a name may be doubled or escaped, as within a quoted text of YAML."""
_DIALECTS = {
    "bigquery": ("bigquery", ""),
    "databricks": ("databricks", "default"),
    "duckdb": ("duckdb", "main"),
    "mssql": ("tsql", "dbo"),
    "mysql": ("mysql", ""),
    "postgres": ("postgres", "public"),
    "redshift": ("redshift", "public"),
    "snowflake": ("snowflake", "PUBLIC"),
    "sqlite": ("sqlite", "main"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One connection of the project.

    Args:
        name: As bundles and tests refer to it.
        type: `postgres`, `duckdb`, …
        settings: Everything the configuration says of it; may hold secrets, never shown.
        root: The project folder, which file paths are relative to.
    """

    name: str
    type: str
    settings: Mapping[str, Any] = field(repr=False)
    root: Path

    @property
    def dialect(self) -> str:
        """Name of the SQL dialect for the parser."""
        return _DIALECTS[self.type][0]

    @property
    def default_schema(self) -> str:
        """The schema that a table without one is looked up in; empty if there is none."""
        given = self.settings.get("schema_name") or self.settings.get("schema")
        return str(given or self.settings.get("dataset_id") or _DIALECTS[self.type][1])

    @property
    def catalog(self) -> str:
        """The database's own name, which a table may be prefixed with; empty if unknown."""
        if self.type == "duckdb":
            return Path(str(self.settings.get("path", ""))).stem
        if self.type == "sqlite":
            return ""
        return str(self.settings.get("database") or self.settings.get("project_id") or "")

    @property
    def url(self) -> str:
        """The SQLAlchemy URL.

        Raises:
            UserError: A type whose URL must be written out as `url:`.
        """
        given = self.settings.get("url")
        if given:
            return str(given)
        if self.type in ("duckdb", "sqlite"):
            path = str(self.settings.get("path") or ":memory:")
            if path != ":memory:":
                path = str((self.root / path).resolve())
            return f"{self.type}:///{path}"
        if self.type in ("postgres", "redshift", "mysql"):
            return self._server_url()
        raise UserError(
            f"database {self.name!r}: no URL can be made for type {self.type}",
            hint="give the SQLAlchemy URL as `url:` and install the driver it names",
        )

    def _server_url(self) -> str:
        scheme = {"mysql": "mysql", "redshift": "postgresql"}.get(self.type, "postgresql")
        user = quote(str(self.settings.get("user") or ""), safe="")
        password = self.settings.get("password")
        login = user + (f":{quote(str(password), safe='')}" if password else "")
        host = str(self.settings.get("host") or "localhost")
        port = self.settings.get("port")
        place = f"{login}@{host}" if login else host
        return f"{scheme}://{place}{f':{port}' if port else ''}/{self.settings.get('database', '')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the configuration file says.

    Args:
        file: Name of the file.
        project_name: For display.
        databases: In file order.
        agent: `url` or `function`, and how to call it.
        test: Settings of `test`: `models`, `threads`, `k`, `comparison`, `timeout`, `prices`, …
        node: The file with its lines.
    """

    file: str
    project_name: str = ""
    databases: tuple[Database, ...] = ()
    agent: Mapping[str, Any] = field(default_factory=dict, repr=False)
    test: Mapping[str, Any] = field(default_factory=dict)
    node: Node | None = field(default=None, repr=False)

    def database(self, name: str | None) -> Database | None:
        """Give the database of that name; without a name the only one, or None."""
        if name is None:
            return self.databases[0] if len(self.databases) == 1 else None
        return next((item for item in self.databases if item.name == name), None)


def find_config(project: str | Path | None = None) -> Path:
    """Find the configuration file of a project folder.

    Args:
        project: The folder or the file; None takes the folder that the environment names, else
            the current folder or the nearest one above it.

    Raises:
        UserError: There is none.
    """
    named = project
    if named is None:
        named = next(
            (os.environ[name] for name in _PROJECT_VARIABLES if os.environ.get(name)), None
        )
    start = Path.cwd() if named is None else Path(named)
    if start.is_file():
        return start
    folders = [start] if named is not None else [start, *start.parents]
    for folder in folders:
        for name in CONFIG_NAMES:
            if (folder / name).is_file():
                return folder / name
    raise UserError(
        f"{start}: no project here; expected {' or '.join(CONFIG_NAMES)}",
        hint="name the folder with --project, or make a project with `dbagenteval init`",
    )


def load_config(path: Path, problems: Problems, env: Mapping[str, str] | None = None) -> Config:
    """Read the configuration; every fault is noted, and what is sound is given.

    Args:
        path: The configuration file.
        problems: Takes the faults.
        env: The environment; None takes that of the process.
    """
    node = read_yaml_with_env(path, problems, os.environ if env is None else env)
    if node is None:
        return Config(file=path.name)
    CONFIG.check(node, "", problems)
    data = node.data() if node.entries is not None else {}
    databases = _databases(node, problems, path.parent)
    agent, test = data.get("agent"), data.get("test")
    return Config(
        file=path.name,
        project_name=str(data.get("project_name") or ""),
        databases=databases,
        agent=agent if isinstance(agent, dict) else {},
        test=test if isinstance(test, dict) else {},
        node=node,
    )


def _databases(node: Node, problems: Problems, root: Path) -> tuple[Database, ...]:
    listed = node.at("databases")
    found: dict[str, Database] = {}
    for item in (listed.items or []) if listed else []:
        data = item.data()
        if not isinstance(data, dict) or data.get("type") not in _DIALECTS:
            continue
        name = data.get("name")
        if not isinstance(name, str):
            continue
        if name in found:
            problems.error("duplicate-name", item.line, f"two databases are named {name!r}")
            continue
        found[name] = Database(name=name, type=data["type"], settings=data, root=root)
    return tuple(found.values())


def read_yaml_with_env(path: Path, problems: Problems, env: Mapping[str, str]) -> Node | None:
    """Read YAML in which `{{ env('X') }}`, `${{ env('X') }}` and `${X}` stand for variables.

    A value is put in after parsing, so that nothing in it can change the file's structure.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return read_yaml(path, problems)  # notes the fault
    names: list[str] = []

    def hold_place(match: re.Match[str]) -> str:
        names.append(next(group for group in match.groups() if group is not None))
        return f"__env_{len(names) - 1}__"

    root = parse_yaml(_REFERENCE.sub(hold_place, text), problems)
    if root is not None and names:
        for scalar in root.scalars():
            if isinstance(scalar.value, str) and "__env_" in scalar.value:
                _put_in(scalar, names, env, problems)
    return root


def _put_in(scalar: Node, names: list[str], env: Mapping[str, str], problems: Problems) -> None:
    def value_of(match: re.Match[str]) -> str:
        name = names[int(match.group(1))]
        value = env.get(name)
        if value is None:
            problems.error(
                "unset-variable", scalar.line, f"environment variable {quoted(name)} is not set"
            )
            return ""
        return value

    before = scalar.value
    scalar.value = re.sub(r"__env_(\d+)__", value_of, before)
    if scalar.is_plain and re.fullmatch(r"__env_\d+__", before) and scalar.value.isdigit():
        scalar.value = int(scalar.value)
