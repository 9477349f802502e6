"""The answer tests below `tests/`: found, read and checked, all faults at once."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dbagenteval.project.folder.document import Node, read_yaml
from dbagenteval.project.folder.formats import ANSWER_TEST
from dbagenteval.project.folder.model import Project
from dbagenteval.project.folder.plain import texts
from dbagenteval.project.folder.problems import Problem, Problems, did_you_mean

__all__ = ["TESTS_FOLDER", "AnswerTest", "at_date", "find_tests", "load_tests", "select_tests"]

TESTS_FOLDER = "tests"
_TODAY = re.compile(r"\{\{\s*today\s*\}\}")
_ASSERTION_NEEDS: dict[str, tuple[str, ...]] = {
    "tool_call": ("tool",),
    "no_tool_call": ("tool",),
    "contains": ("text",),
    "not_contains": ("text",),
    "matches": ("pattern",),
    "max_tokens": ("value",),
    "max_cost": ("value",),
    "max_seconds": ("value",),
    "max_tool_calls": ("value",),
    "max_bytes": ("value",),
    "rubric": ("text",),
    "policy": (),
    "provenance": (),
}
_ASSERTION_MAY: dict[str, tuple[str, ...]] = {
    "tool_call": ("args", "min_count"),
    "no_tool_call": ("args",),
    "policy": ("roles",),
    "provenance": ("tables", "columns", "not_tables"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTest:
    """One question with a reference.

    Args:
        name: Unique in the project.
        prompt: What is asked first.
        sqls: Reference queries, of which one must agree; empty if only assertions decide.
        database: Name of the database for the reference; None takes the only one.
        tags: Labels, and the names of the folders it lies in.
        tolerance: `relative` and `absolute`, or None for the run's.
        ordered: Whether rows must be in order; None takes it from the reference's ORDER BY.
        expect: What the agent may do: `answer`, `refuse`, `clarify`, `unavailable`.
        comparison: `exact`, `dazense`, or None for the run's.
        extra_columns: `allow` or `fail`.
        empty_for_null: `allow` or `fail` an empty text where the other side has NULL.
        assertions: As written.
        timeout_s: Seconds that the agent may take, or None for the run's.
        turns: Follow-up questions, asked in the same conversation.
        file: Path in the project, with `/`.
        sha256: Digest of the file.
    """

    name: str
    prompt: str
    sqls: tuple[str, ...] = ()
    database: str | None = None
    tags: tuple[str, ...] = ()
    tolerance: Mapping[str, float] | None = None
    ordered: bool | None = None
    expect: tuple[str, ...] = ("answer",)
    comparison: str | None = None
    extra_columns: str = "allow"
    empty_for_null: str = "allow"
    assertions: tuple[Mapping[str, Any], ...] = ()
    timeout_s: float | None = None
    turns: tuple[str, ...] = ()
    file: str = ""
    sha256: str = ""
    line: int = 0
    sql_line: int = 0
    node: Node | None = field(default=None, repr=False, compare=False)


def find_tests(folder: Path) -> list[Path]:
    """Give every `.yml` and `.yaml` file below a folder, sorted, without `outputs` folders."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.casefold() in (".yml", ".yaml")
        and path.is_file()
        and "outputs" not in path.relative_to(folder).parts[:-1]
    )


def load_tests(
    project: Project, folder: Path | None = None
) -> tuple[list[AnswerTest], list[Problem]]:
    """Read the tests of a project.

    Args:
        project: The project.
        folder: Where to look; None is the project's `tests` folder.

    Returns:
        The sound tests in file order, and every fault found.
    """
    place = folder or project.root / TESTS_FOLDER
    tests: list[AnswerTest] = []
    found: list[Problem] = []
    names: dict[str, str] = {}
    for path in find_tests(place) if place.is_dir() else []:
        file = _relative(path, project.root)
        problems = Problems(file)
        node = read_yaml(path, problems)
        if node is not None and ANSWER_TEST.check(node, "", problems):
            test = _test(node, path, file, path.relative_to(place).parts[:-1])
            _check_test(test, node, project, problems)
            if test.name in names:
                problems.error(
                    "duplicate-name",
                    node.line_of("name"),
                    f"test name {test.name!r} is also that of {names[test.name]}",
                )
            names.setdefault(test.name, file)
            if not problems.has_errors:
                tests.append(test)
        found += problems.found
    return tests, found


def at_date(tests: Sequence[AnswerTest], today: datetime.date) -> list[AnswerTest]:
    """Put one date in place of `{{ today }}` in prompts and references, the same for all."""

    def dated(text: str) -> str:
        return _TODAY.sub(today.isoformat(), text)

    return [
        replace(
            test,
            prompt=dated(test.prompt),
            sqls=tuple(map(dated, test.sqls)),
            turns=tuple(map(dated, test.turns)),
        )
        for test in tests
    ]


def select_tests(tests: Sequence[AnswerTest], selectors: Sequence[str]) -> list[AnswerTest]:
    """Give the tests that one of the selectors names: by name, file stem, folder or tag.

    Args:
        tests: All tests.
        selectors: Each may be a list with commas; none selects all.
    """
    wanted = {part.strip() for item in selectors for part in item.split(",") if part.strip()}
    if not wanted:
        return list(tests)
    return [test for test in tests if wanted & {test.name, Path(test.file).stem, *test.tags}]


def _test(node: Node, path: Path, file: str, folders: tuple[str, ...]) -> AnswerTest:
    data = node.data()
    given_name = data.get("name")
    tolerance = data.get("tolerance")
    if isinstance(tolerance, (int, float)):
        tolerance = {"absolute": float(tolerance)}
    return AnswerTest(
        name=given_name if isinstance(given_name, str) else path.stem,
        prompt=data["prompt"].strip(),
        sqls=texts(data.get("sql")),
        database=data.get("database"),
        tags=tuple(dict.fromkeys((*texts(data.get("tags")), *folders))),
        tolerance=tolerance,
        ordered=data.get("ordered"),
        expect=texts(data.get("expect", "answer")),
        comparison=data.get("comparison"),
        extra_columns=data.get("extra_columns", "allow"),
        empty_for_null=data.get("empty_for_null", "allow"),
        assertions=tuple(data.get("assertions") or ()),
        timeout_s=data.get("timeout"),
        turns=tuple(
            item if isinstance(item, str) else item["prompt"] for item in data.get("turns") or ()
        ),
        file=file,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        line=node.line,
        sql_line=node.line_of("sql"),
        node=node,
    )


def _check_test(test: AnswerTest, node: Node, project: Project, problems: Problems) -> None:
    names = [database.name for database in project.config.databases]
    if test.database is not None and test.database not in names:
        problems.error(
            "unknown-database",
            node.line_of("database"),
            f"database {test.database!r} is not in {project.config.file}"
            + did_you_mean(test.database, names),
        )
    elif test.sqls and test.database is None and len(names) > 1:
        problems.error(
            "database-needed",
            node.line_of("sql"),
            f"the project has several databases ({', '.join(names)}); say `database:`",
        )
    if "answer" in test.expect and not test.sqls and not test.assertions:
        problems.error(
            "nothing-verified",
            node.line,
            "nothing is verified; give `sql`, `assertions` or `expect`",
        )
    if "answer" not in test.expect and test.sqls:
        problems.error(
            "contradicts-itself",
            node.line_of("expect"),
            f"expects the agent to {' or '.join(test.expect)}, but has a reference `sql`",
        )
    for rule, index, message in _assertion_faults(test.assertions):
        problems.error(rule, node.line_of("assertions", index), message)


def _assertion_faults(
    assertions: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, int, str]]:
    for index, item in enumerate(assertions):
        kind = item["type"]
        needed, allowed = _ASSERTION_NEEDS[kind], _ASSERTION_MAY.get(kind, ())
        for key in needed:
            if key not in item:
                yield "missing-key", index, f"assertion {kind} needs '{key}'"
        for key in item:
            if key not in ("type", *needed, *allowed):
                yield "unknown-key", index, f"assertion {kind} takes no '{key}'"
        if item.get("args") == {}:
            yield "empty-args", index, f"assertion {kind} has empty args; leave them out"


def _relative(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()
