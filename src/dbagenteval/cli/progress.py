"""Show how far a run is, on stderr, if a person is watching."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator

from dbagenteval.scorecard import Scorecard

__all__ = ["progress_of"]


@contextlib.contextmanager
def progress_of(total: int, *, quiet: bool) -> Iterator[Callable[[Scorecard], None] | None]:
    """Show a bar, the rate, and the cases that did not pass so far.

    Args:
        total: How many scorecards there will be.
        quiet: Show nothing.

    Yields:
        What to call with each scorecard; None if nobody is watching: stderr is no terminal, or
        `CI` is set.
    """
    if quiet or os.environ.get("CI") or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from dbagenteval.printable import printable

    failures: list[str] = []
    done, started = 0, time.monotonic()
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[failures]}", markup=False),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
        task = progress.add_task("", total=total, rate="", failures="")

        def on_card(card: Scorecard) -> None:
            if card.verdict != "PASS":
                failures.append(printable(card.case_id or card.question, 30))
            nonlocal done
            done += 1
            progress.update(
                task,
                advance=1,
                rate=f"{done / max(time.monotonic() - started, 0.001):.1f}/s",
                failures=_described(failures),
            )

        yield on_card


def _described(failures: list[str]) -> str:
    if not failures:
        return ""
    more = f" and {len(failures) - 3} more" if len(failures) > 3 else ""
    return f"{len(failures)} not passed: {', '.join(failures[-3:])}{more}"
