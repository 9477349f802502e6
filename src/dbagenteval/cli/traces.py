"""`dbagenteval traces`: list, show and export the Traces of a store."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from dbagenteval.cli.stores import in_range, read_store, store_option
from dbagenteval.cli.trace_ids import traces_with_id
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.store import Store
    from dbagenteval.traces import Stage, Trace


@click.group("traces", epilog="Exit codes: 0 done, 2 could not run.")
def command() -> None:
    """List, show and export what agents did, one Trace a question."""


@command.command("list", epilog="Exit codes: 0 done, 2 could not run.")
@store_option
@in_range
@click.option("--limit", type=click.IntRange(min=1), help="Stop after so many traces.")
def list_(store_dir: str, since_ns: int | None, service: str | None, limit: int | None) -> int:
    """List traces by time: id, start, duration, service, stages and question."""
    with read_store(store_dir) as store:
        for number, trace in enumerate(_traces(store, since_ns=since_ns, service=service), 1):
            click.echo(_line(trace))
            if number == limit:
                break
    return 0


@command.command("show", epilog="Exit codes: 0 done, 2 could not run or no such trace.")
@store_option
@click.argument("trace_id", metavar="ID")
def show(store_dir: str, trace_id: str) -> int:
    """Show the stages of one trace as a tree with durations. ID may be cut to its first digits."""
    with read_store(store_dir) as store:
        found = traces_with_id(store, trace_id, store_dir)
    console = Console(highlight=False, soft_wrap=True)
    for trace in found:
        console.print(_tree(trace))
    return 0


@command.command("export", epilog="Exit codes: 0 done, 2 could not run.")
@store_option
@in_range
def export(store_dir: str, since_ns: int | None, service: str | None) -> int:
    """Print every trace as one line of JSON, the form that `Trace.from_dict` reads."""
    with read_store(store_dir) as store:
        for trace in _traces(store, since_ns=since_ns, service=service):
            click.echo(json.dumps(trace.to_dict(), default=str, ensure_ascii=False))
    return 0


def _traces(
    store: Store, *, since_ns: int | None = None, service: str | None = None
) -> Iterator[Trace]:
    from dbagenteval.traces import assemble

    return assemble(store.otel_traces(since_ns=since_ns, service=service))


def _line(trace: Trace) -> str:
    meta = trace.meta
    stages = " ".join(
        f"{printable(stage.name, 80)}{'!' if stage.error else ''}" for stage in trace.stages
    )
    question = printable(trace.question, 80) or "(no question)"
    service = printable(meta.get("service") or "-", 24)
    trace_id = printable(meta["trace_ids"][0])
    return (
        f"{trace_id}  {_when(meta.get('start_ns'))}  {_took(trace):>10}  {service}  "
        f"{stages or '(no stages)'}  {question}"
    )


def _tree(trace: Trace) -> Tree:
    meta = trace.meta
    title = f"{' '.join(meta['trace_ids'])}  {_when(meta.get('start_ns'))}  {_took(trace)}"
    tree = Tree(Text(printable(title), style="bold"))
    facts = {
        "question": trace.question,
        "case": meta.get("case_id"),
        "session": meta.get("session_id"),
        "service": meta.get("service"),
        "model": meta.get("model"),
    }
    for name, value in facts.items():
        if value:
            tree.add(Text(f"{name}: {printable(value, 500)}"))
    for stage in trace.stages:
        tree.add(_stage(stage))
    for missing in meta.get("not_observed") or ():
        what = f"{missing.get('stage') or 'trace'} {missing.get('what')}"
        tree.add(Text(printable(f"not observed: {what}: {missing['state']}: {missing['why']}")))
    unused = meta.get("unused") or ()
    if unused:
        branch = tree.add(Text(f"unused: {len(unused)}"))
        for item in unused:
            branch.add(Text(printable(" ".join(str(value) for value in item.values()))))
    return tree


def _stage(stage: Stage) -> Tree:
    took = "" if stage.latency_ms is None else f"  {stage.latency_ms:.1f} ms"
    label = stage.name if stage.name == stage.kind else f"{stage.name} ({stage.kind})"
    branch = Tree(Text(f"{printable(label, 200)}{took}", style="red" if stage.error else ""))
    if stage.error:
        branch.add(Text(f"error: {printable(stage.error, 500)}"))
    if stage.output is not None:
        branch.add(Text(printable(stage.output, 1000)))
    if stage.rows is not None:
        rows = branch.add(Text(f"{len(stage.rows)} row(s)"))
        for row in stage.rows[:5]:
            rows.add(Text(printable(row, 500)))
        if len(stage.rows) > 5:
            rows.add(Text("…"))
    return branch


def _when(time_ns: int | None) -> str:
    if not time_ns:
        return "-"
    try:
        moment = datetime.datetime.fromtimestamp(time_ns / 1e9, tz=datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{time_ns} ns"
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _took(trace: Trace) -> str:
    start, end = trace.meta.get("start_ns"), trace.meta.get("end_ns")
    if not start or not end:
        return "-"
    return f"{(end - start) / 1e6:.1f} ms"
