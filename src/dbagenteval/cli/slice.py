"""`dbagenteval slice`: the smallest data that shows a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dbagenteval.cli.main import EXIT_OK
from dbagenteval.errors import UserError
from dbagenteval.printable import printable

if TYPE_CHECKING:
    from dbagenteval.cases import Case
    from dbagenteval.slices import DataSlice
    from dbagenteval.traces import Trace

__all__ = ["command"]


@click.command("slice", epilog="Exit codes: 0 done, 2 could not run or nothing to show.")
@click.option("--database", required=True, metavar="URL", help="Where the rows come from.")
@click.option("--trace", "trace_id", metavar="ID", help="The trace that failed, in --store.")
@click.option("--store", "store_dir", metavar="DIR", help="The store directory.")
@click.option("--cases", "cases_file", metavar="FILE", help="Has the trace's case.")
@click.option("--sql", metavar="SQL", help="The SQL that is wrong, in place of a trace.")
@click.option("--reference", metavar="SQL", help="The SQL that is right, with --sql.")
@click.option("--tenant", metavar="COLUMN=VALUE", help="Who asked: rows of others must not matter.")
@click.option("--wrong-answer", is_flag=True, help="The SQL is right, the answer is not.")
@click.option("--max-rows", type=click.IntRange(min=0), default=20, show_default=True)
@click.option("--keep-values", is_flag=True, help="Replace no names, addresses or other texts.")
@click.option("-o", "--output", metavar="FILE", help="Where the script goes; stdout without it.")
def command(**options: Any) -> int:
    """Take the few rows from a database that still show what went wrong.

    The script makes tables and rows on SQLite, DuckDB and PostgreSQL. Values of people are
    replaced; the SQL that fits the new values is told on stderr.
    """
    from dbagenteval.cli.proving import tenant_of
    from dbagenteval.report import save
    from dbagenteval.slices import slice_failure

    tenant = None if options["tenant"] is None else tenant_of(options["tenant"], "--tenant")
    output = options["output"]
    _check_output(output, options)
    trace, case = _failure(options)
    found = slice_failure(
        trace,
        case,
        options["database"],
        tenant=tenant,
        stage=_stage_at_fault(options),
        keep_values=options["keep_values"],
        max_rows=options["max_rows"],
    )
    if output is None:
        click.echo(found.script, nl=False)
    else:
        save(output, found.script)
    _tell(found, output)
    return EXIT_OK


def _stage_at_fault(options: dict[str, Any]) -> str:
    if options["wrong_answer"]:
        return "answer"
    return "generate" if options["sql"] is not None else ""


def _check_output(output: str | None, options: dict[str, Any]) -> None:
    """Refuse to write over a file that is read."""
    from dbagenteval.cli.outputs import check_outputs, inputs_of

    read = inputs_of(options["cases_file"] or "", {"database": options["database"]})
    check_outputs(read, output)


def _failure(options: dict[str, Any]) -> tuple[Trace, Case | None]:
    """Give the trace and its case, from the store or from the SQL given."""
    if (options["sql"] is None) == (options["trace_id"] is None):
        raise UserError("slice needs either --trace ID or --sql SQL")
    if options["sql"] is not None:
        return _of_sql(options)
    if options["store_dir"] is None:
        raise UserError("--trace needs --store: the trace is looked up there")
    if options["reference"] is not None:
        raise UserError("--reference goes with --sql; the case of a trace is in --cases FILE")
    return _of_trace(options)


def _of_sql(options: dict[str, Any]) -> tuple[Trace, Case | None]:
    from dbagenteval.cases import Case
    from dbagenteval.traces import Trace

    for name, option in (("store_dir", "--store"), ("cases_file", "--cases")):
        if options[name] is not None:
            raise UserError(f"{option} goes with --trace")
    reference = options["reference"]
    case = None if reference is None else Case("(no question)", reference_sql=reference)
    return Trace.simple("(no question)", sql=options["sql"]), case


def _of_trace(options: dict[str, Any]) -> tuple[Trace, Case | None]:
    from dbagenteval.cli.datasets import read_cases
    from dbagenteval.cli.stores import read_store
    from dbagenteval.cli.trace_ids import traces_with_id
    from dbagenteval.suite.match import Matcher

    with read_store(options["store_dir"]) as store:
        traces = traces_with_id(store, options["trace_id"], options["store_dir"])
    asked = [trace for trace in traces if trace.last_of("generate") is not None]
    if len(asked) > 1:
        raise UserError(
            f"{printable(options['trace_id'])!r} holds {len(asked)} questions with SQL",
            hint="give the SQL of the one that is meant by --sql",
        )
    trace = asked[0] if asked else traces[0]
    if options["cases_file"] is None:
        return trace, None
    match = Matcher(read_cases(options["cases_file"])).match(trace)
    if match.case is None:
        raise UserError(f"{options['cases_file']}: {printable(match.why)}")
    return trace, match.case


def _tell(found: DataSlice, output: str | None) -> None:
    """Say on stderr what the script holds, so that stdout is the script alone."""
    counts = ", ".join(
        f"{len(rows)} of {printable(name)}" for name, rows in found.rows.items() if rows
    )
    click.echo(f"{found.row_count} row(s){f': {counts}' if counts else ''}", err=True)
    click.echo(f"shows: {found.shows}", err=True)
    for note in found.notes:
        click.echo(f"note: {printable(note)}", err=True)
    for sql in found.statements:
        click.echo(f"sql: {printable(sql, 2000)}", err=True)
    if output is not None:
        click.echo(f"written to {output}", err=True)
