"""The `dbagenteval` command: its commands, and what becomes of errors."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from typing import ClassVar

import click

import dbagenteval
from dbagenteval.cli.early_exit import guard_early_exit, leave, set_exit_code
from dbagenteval.errors import DatasetError, UserError

__all__ = ["EXIT_COULD_NOT_RUN", "EXIT_INTERRUPTED", "EXIT_NOT_PASSED", "EXIT_OK", "main"]

EXIT_OK = 0
EXIT_NOT_PASSED = 1
EXIT_COULD_NOT_RUN = 2
EXIT_INTERRUPTED = 130

_LEAVE_AFTER_S = 3.0
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO)


class _CommandsOnDemand(click.Group):
    """Import a command's module only when it is called, so that every command starts fast."""

    modules: ClassVar[dict[str, str]] = {
        "run": "dbagenteval.cli.run",
        "validate": "dbagenteval.cli.validate",
        "init": "dbagenteval.cli.init",
        "eval": "dbagenteval.cli.eval",
        "test": "dbagenteval.cli.test",
        "diff": "dbagenteval.cli.diff",
        "serve": "dbagenteval.cli.serve",
        "ingest": "dbagenteval.cli.ingest",
        "traces": "dbagenteval.cli.traces",
        "store": "dbagenteval.cli.store",
        "conformance": "dbagenteval.cli.conformance",
        "score": "dbagenteval.cli.score",
        "clusters": "dbagenteval.cli.clusters",
        "coverage": "dbagenteval.cli.coverage",
        "replay": "dbagenteval.cli.replay",
        "harvest": "dbagenteval.cli.harvest",
        "slice": "dbagenteval.cli.slice",
        "demo": "dbagenteval.cli.demo",
        "instrument": "dbagenteval.cli.instrument",
        "doctor": "dbagenteval.cli.doctor",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 click's signature
        if cmd_name not in self.modules:
            return None
        command: click.Command = importlib.import_module(self.modules[cmd_name]).command
        return command


@click.group(
    cls=_CommandsOnDemand,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all passed, 1 something did not pass, 2 could not run.",
)
@click.version_option(
    dbagenteval.__version__, prog_name="dbagenteval", message="%(prog)s %(version)s"
)
def _cli() -> None:
    """Test AI agents that answer questions from a database."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code.

    Args:
        argv: Arguments without the program name; None takes those of the process.

    Returns:
        0 all passed, 1 something did not pass, 2 could not run.
    """
    if argv is not None:
        return _run(list(argv), {})
    _open_closed_streams()
    guard_early_exit()
    code, state = EXIT_COULD_NOT_RUN, {"agent_hangs": False}
    try:
        code = _run(None, state)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone, as `| head` does
        _discard_output()
        code = EXIT_NOT_PASSED
    except OSError as error:
        code = EXIT_COULD_NOT_RUN
        if error.errno in _NO_ROOM:
            _discard_output()
            click.echo(f"error: cannot write the output: {error.strerror}", err=True)
        else:
            traceback.print_exc()
    except Exception:  # noqa: BLE001 a bug must not look like a case that did not pass
        traceback.print_exc()
    set_exit_code(code)
    if state["agent_hangs"]:
        _leave_soon(code)
    return code


def _run(argv: list[str] | None, state: dict[str, bool]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # output goes on whatever the terminal can't show
    try:
        result = _cli.main(args=argv, prog_name="dbagenteval", standalone_mode=False, obj=state)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_COULD_NOT_RUN
    except DatasetError as error:
        click.echo(str(error), err=True)
        return EXIT_COULD_NOT_RUN
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        if error.hint:
            click.echo(f"hint: {error.hint}", err=True)
        return EXIT_COULD_NOT_RUN
    except click.Abort:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    return result if isinstance(result, int) else EXIT_OK


def _open_closed_streams() -> None:
    """Give what was started without stdout or stderr (`>&-`) one that leads nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 for good


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere instead of failing."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave_soon(code: int) -> None:
    """End the process in a while, whatever an agent that hangs has left behind.

    Python waits at exit for threads of other libraries; until then they may still flush.
    """

    def leave_later() -> None:
        time.sleep(_LEAVE_AFTER_S)
        leave(code)

    sys.stdout.flush()
    sys.stderr.flush()
    threading.Thread(target=leave_later, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
