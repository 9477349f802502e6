"""`dbagenteval eval`: the governance cases of a project, and its policy on captured answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.main import EXIT_COULD_NOT_RUN, EXIT_NOT_PASSED, EXIT_OK
from dbagenteval.errors import UserError

if TYPE_CHECKING:
    import datetime

    from dbagenteval.project import Project
    from dbagenteval.project.folder.databases import ProjectData
    from dbagenteval.project.governance.captured import CapturedResult
    from dbagenteval.project.governance.cases import CaseResult, Executors

__all__ = ["command"]


@click.command(
    "eval",
    epilog="Exit codes: 0 every case passed, 1 a case did not pass, 2 could not run: the project "
    "has errors, or nothing is there to evaluate.",
)
@click.option("--project", "-p", "path", metavar="PATH", help="The project folder.")
@click.option("--scorecard", is_flag=True, help="Only show what governance is in place.")
@click.option(
    "--engine", is_flag=True, help="Require a policy, and write an audit record of each decision."
)
@click.option("--store", "store_dir", metavar="DIR", help="With --engine: judge captured answers.")
@click.option("--role", "roles", multiple=True, metavar="NAME", help="Role of captured actors.")
@click.option("--allow-unknown", is_flag=True, help="Captured answers without SQL are fine.")
@click.option("--database", is_flag=True, help="Read the real schema of the project's databases.")
@click.option("--today", metavar="DATE", help="The current date, for relative times.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917 one parameter an option
    path: str | None,
    scorecard: bool,
    engine: bool,
    store_dir: str | None,
    roles: tuple[str, ...],
    allow_unknown: bool,
    database: bool,
    today: str | None,
    as_json: bool,
) -> int:
    """Check what a project decides about questions, by its files alone."""
    from dbagenteval.project import load_project
    from dbagenteval.project.folder.databases import ProjectData

    project = load_project(path)
    if store_dir and not engine:
        raise UserError("--store needs --engine: captured answers are judged by the policy engine")
    if scorecard:
        return _show_scorecard(project, as_json=as_json)
    faults = [item for item in project.errors if not item.file.startswith("tests/")]
    if faults:
        for problem in faults:
            click.echo(str(problem), err=True)
        raise UserError(
            f"{len(faults)} error(s) in the project; nothing was evaluated",
            hint="`dbagenteval validate` names all of them",
        )
    if engine and project.policy is None:
        raise UserError(
            "--engine needs a policy, and policies/policy.yml is not there",
            hint="without one nothing is enforced; `dbagenteval init` drafts one",
        )
    data = ProjectData(project, with_catalog=database)
    day = _day(today)
    if store_dir is not None:
        return _judge_store(project, data, store_dir, roles, day, allow_unknown, as_json=as_json)
    return _judge_cases(project, data, day, engine=engine, as_json=as_json)


def _judge_cases(
    project: Project,
    data: ProjectData,
    today: datetime.date | None,
    *,
    engine: bool,
    as_json: bool,
) -> int:
    from dbagenteval.project.governance.cases import evaluate_case
    from dbagenteval.project.policy.audit import AuditLog

    executors: Executors = data.executor
    log = AuditLog.of(project) if engine else None
    results: list[CaseResult] = []
    for bundle in project.bundles.values():
        for case in bundle.cases:
            result = evaluate_case(
                case, project, catalog=data.catalog(bundle), executors=executors, today=today
            )
            if log is not None and result.request is not None and result.decision is not None:
                log.append(result.request, result.decision, project, source=f"case:{case.id}")
            results.append(result)
    if not results:
        click.echo("error: no bundle has eval_test_cases; nothing was evaluated", err=True)
        return EXIT_COULD_NOT_RUN
    counts = _counts(result.verdict for result in results)
    if as_json:
        _print_json({"summary": counts, "cases": [result.to_dict() for result in results]})
    else:
        rows = [(item.verdict, item.case.id, item.case.category, item.detail) for item in results]
        _print_table(("result", "case", "category", "detail"), rows)
        click.echo(_line(counts, len(results), "case"))
    return EXIT_OK if counts.get("PASS") == len(results) else EXIT_NOT_PASSED


def _judge_store(
    project: Project,
    data: ProjectData,
    store_dir: str,
    roles: tuple[str, ...],
    today: datetime.date | None,
    allow_unknown: bool,
    *,
    as_json: bool,
) -> int:
    from dbagenteval.cli.stores import read_store
    from dbagenteval.project.governance.captured import judge_trace
    from dbagenteval.project.policy.audit import AuditLog
    from dbagenteval.traces import assemble

    log = AuditLog.of(project)
    results: list[CapturedResult] = []
    with read_store(store_dir) as store:
        for trace in assemble(store.otel_traces()):
            result = judge_trace(
                trace, project, catalog=data.catalog(None), roles=roles, today=today
            )
            for request, decision in result.decisions:
                log.append(request, decision, project, source=f"trace:{result.trace_id}")
            results.append(result)
    if not results:
        click.echo("error: the store has no answers; nothing was evaluated", err=True)
        return EXIT_COULD_NOT_RUN
    counts = _counts(result.verdict for result in results)
    if as_json:
        _print_json({"summary": counts, "answers": [result.to_dict() for result in results]})
    else:
        rows = [(item.verdict, item.trace_id, item.question, item.detail) for item in results]
        _print_table(("result", "trace", "question", "detail"), rows)
        click.echo(_line(counts, len(results), "answer"))
    bad = counts.get("BROKE", 0) + (0 if allow_unknown else counts.get("UNKNOWN", 0))
    return EXIT_NOT_PASSED if bad else EXIT_OK


def _show_scorecard(project: Project, *, as_json: bool) -> int:
    from dbagenteval.project.governance.readiness import readiness

    items = readiness(project)
    met = sum(item.is_met for item in items)
    if as_json:
        listed = [{"name": item.name, "met": item.is_met, "detail": item.detail} for item in items]
        _print_json({"score": met, "of": len(items), "items": listed})
    else:
        rows = [("yes" if item.is_met else "NO", item.name, item.detail) for item in items]
        _print_table(("met", "item", "detail"), rows)
        click.echo(f"score {met}/{len(items)}")
    return EXIT_OK if met == len(items) else EXIT_NOT_PASSED


def _day(text: str | None) -> datetime.date | None:
    import datetime

    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError(f"--today: expected a date YYYY-MM-DD, got {text!r}") from None


def _counts(verdicts: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts


def _line(counts: dict[str, int], total: int, noun: str) -> str:
    listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return f"{total} {noun}(s): {listed}"


def _print_table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print columns as wide as they need, the last one as long as it is."""
    from dbagenteval.printable import printable

    shown = [heads, *([printable(cell, 200) for cell in row] for row in rows)]
    widths = [max(len(row[index]) for row in shown) for index in range(len(heads) - 1)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


def _print_json(data: dict[str, Any]) -> None:
    import orjson

    click.echo(orjson.dumps(data, default=str, option=orjson.OPT_INDENT_2).decode())
