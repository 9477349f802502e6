"""The configuration is found, and its references to the environment are put in safely."""

from __future__ import annotations

from dbagenteval.project.folder.config import find_config
from dbagenteval.project.folder.load import load_project

CONFIG = "dbagenteval.yaml"


def _postgres(folder, password: str) -> None:
    folder.write(
        CONFIG,
        "project_name: x\ndatabases:\n"
        "  - name: bakery\n    type: postgres\n    host: db\n    port: {{ env('PORT') }}\n"
        f"    user: ana\n    password: {password}\n    database: shop\n"
        "# {{ env('NOT_USED') }}\n",
    )


def test_references_of_each_form_are_put_in(folder) -> None:
    """`{{ env('X') }}`, `${{ env("X") }}` and `${X}` all stand for the variable."""
    for form in (
        "{{ env('PW') }}",
        '${{ env("PW") }}',
        "${PW}",
        "\"{{ env('PW') }}\"",
        "'{{ env(''PW'') }}'",
        '"{{ env(\\"PW\\") }}"',
    ):
        _postgres(folder, form)
        project = load_project(folder.root, env={"PW": "s3:c/r@t", "PORT": "6000"})
        assert project.config.databases[0].url == "postgresql://ana:s3%3Ac%2Fr%40t@db:6000/shop"


def test_a_value_cannot_change_the_structure(folder) -> None:
    """A secret with YAML in it stays one value."""
    _postgres(folder, "{{ env('PW') }}")
    value = "x\"\n  - name: evil\n    type: duckdb # {{ env('PORT') }} __env_0__"
    project = load_project(folder.root, env={"PW": value, "PORT": "1"})
    assert [database.name for database in project.config.databases] == ["bakery"]
    assert project.config.databases[0].settings["password"] == value


def test_an_unset_variable_is_an_error_at_its_line_and_a_comment_is_none(folder) -> None:
    """Only references that are used must be set."""
    _postgres(folder, "{{ env('PW') }}")
    problems = [
        item
        for item in load_project(folder.root, env={"PORT": "1"}).problems
        if item.rule == "unset-variable"
    ]
    assert [(item.line, "'PW'" in item.message) for item in problems] == [(8, True)]


def test_secrets_do_not_show_in_a_repr(folder) -> None:
    """A database's settings are left out of its repr."""
    _postgres(folder, "{{ env('PW') }}")
    assert "hunter2" not in repr(
        load_project(folder.root, env={"PW": "hunter2", "PORT": "1"}).config
    )


def test_the_folder_comes_from_the_environment_or_from_above(folder, monkeypatch, tmp_path) -> None:
    """Without a path the environment decides, then the nearest folder above."""
    monkeypatch.delenv("DBAGENTEVAL_PROJECT", raising=False)
    monkeypatch.delenv("DAZENSE_DEFAULT_PROJECT_PATH", raising=False)
    monkeypatch.chdir(folder.root / "tests" / "money")
    assert find_config() == folder.root / CONFIG
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DAZENSE_DEFAULT_PROJECT_PATH", str(folder.root))
    assert find_config() == folder.root / CONFIG
