"""What `--replay-sql` needs: a database, and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.executors import Executor
    from dbagenteval.suite.replay import Replay

__all__ = ["limited_executor", "replay_of"]

# sqlglot's names of the databases that a URL may name.
_DIALECTS = {"postgres": "postgres", "sqlite": "sqlite", "duckdb": "duckdb", "mysql": "mysql"}


def limited_executor(database: str | None) -> Executor | None:
    """Make an executor for SQL that an agent wrote, or none without a URL.

    Raises:
        TargetError: The database can't be opened.
    """
    from dbagenteval.suite.replay_session import ReplayLimits, limited_executor_for

    return None if database is None else limited_executor_for(database, ReplayLimits())


def replay_of(database: str | None, dialect: str | None) -> Replay:
    """Make the replay for the URL of `--database`.

    Raises:
        UserError: There is none; a function of the user has no limits that we could set.
        TargetError: It can't be opened.
    """
    from dbagenteval.suite.replay import Replay

    executor = limited_executor(database)
    if executor is None or database is None:
        raise UserError(
            "--replay-sql needs --database URL",
            hint="the SQL of an agent is run in a session with limits, which --execute has not",
        )
    named = next((name for start, name in _DIALECTS.items() if database.startswith(start)), None)
    return Replay(executor, dialect=dialect or named)
