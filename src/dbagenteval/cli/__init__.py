"""The command line: one file a command."""

from dbagenteval.cli.main import main

__all__ = ["main"]
