"""Every exception of the package.

```
DbAgentEvalError
├── UserError                what the user can mend; the command line prints it and exits 2
│   ├── DatasetError         faults of a cases file, all of them (also a ValueError)
│   ├── StoreError           the store can't be opened or read
│   │   ├── StoreLocked      another process owns it
│   │   └── StoreTooNew      made by a newer version
│   ├── SliceError           no small data that shows a failure, or its script can't be read
│   └── TargetError          `file:NAME` or a URL that can't be loaded
└── ExportRefused            an OTLP request that is answered with an error status
    ├── MalformedRequest     not such a message; never retry
    ├── UnsupportedMediaType neither protobuf nor JSON
    ├── RequestTooLarge      over the size limit
    ├── Unauthenticated      no or wrong credentials
    ├── Forbidden            the credentials don't allow this
    └── Overloaded           retry later (`retry_after_s`)
```

An agent, a judge or a reference query that fails is not an exception here: it becomes the
verdict ERROR of its case.
"""

from __future__ import annotations

__all__ = [
    "DatasetError",
    "DbAgentEvalError",
    "ExportRefused",
    "Forbidden",
    "MalformedRequest",
    "Overloaded",
    "RequestTooLarge",
    "SliceError",
    "StoreError",
    "StoreLocked",
    "StoreTooNew",
    "TargetError",
    "Unauthenticated",
    "UnsupportedMediaType",
    "UserError",
    "described",
    "first_line",
    "quoted",
]

_QUOTED_MAX_CHARS = 200


def quoted(value: object) -> str:
    """Give the repr of user input, cut to 200 characters, for use in a message."""
    text = repr(value)
    return text if len(text) <= _QUOTED_MAX_CHARS else text[: _QUOTED_MAX_CHARS - 1] + "…"


def described(error: BaseException) -> str:
    """Give type and message of an exception of foreign code, whose `__str__` may raise as well."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 whatever it raises
        text = "(its message can't be read)"
    return f"{type(error).__name__}: {text}"


def first_line(error: BaseException) -> str:
    """Give the first line of a database's error, without what SQLAlchemy writes around it.

    An error that says nothing gives its type.
    """
    original = getattr(error, "orig", None) or error
    return next(iter(str(original).strip().splitlines()), type(original).__name__)


class DbAgentEvalError(Exception):
    """Base of all exceptions that this package raises on purpose."""


class UserError(DbAgentEvalError):
    """Something that the user can mend: a file, an option, an address.

    Args:
        message: `where: what happened; what is allowed or expected`.
        hint: One line on what to do, printed after `hint: `.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class DatasetError(UserError, ValueError):
    """A cases file has faults; `problems` lists all of them, one line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class StoreError(UserError):
    """The store directory can't be opened, read or written."""


class StoreLocked(StoreError):
    """Another process owns the store."""


class StoreTooNew(StoreError):
    """The store was made by a newer version of dbagenteval."""


class SliceError(UserError):
    """No small data shows the failure, or a script of data can't be read."""


class TargetError(UserError):
    """A `file:NAME`, model or URL can't be loaded."""


class ExportRefused(DbAgentEvalError):
    """An OTLP export request that gets an error status; `otlp/status.py` maps it to codes."""


class MalformedRequest(ExportRefused):
    """The body is not such a message.

    Args:
        message: What is wrong, without values of the payload.
        field: Path of the field at fault, as far as it is known.
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class UnsupportedMediaType(ExportRefused):
    """The content type or encoding is not one that the receiver reads."""


class RequestTooLarge(ExportRefused):
    """The body is over the limit, as received or after decompression."""


class Unauthenticated(ExportRefused):
    """Credentials are missing or wrong."""


class Forbidden(ExportRefused):
    """The credentials are known and don't allow this."""


class Overloaded(ExportRefused):
    """The receiver can't take the request now; the exporter shall retry.

    Args:
        message: Why.
        retry_after_s: Seconds to wait before the next try.
    """

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
