"""What must not be kept is replaced before anything is written.

Rules look at attribute keys (the whole value goes) and at texts (the part found goes): every text
field of a request, and every key and value of an attribute or body, however deep they nest.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from dbagenteval.errors import UserError, quoted

__all__ = ["DETECTORS", "Redactor", "replace_found"]

_Replace = Callable[[str], str]

_REQUESTS: dict[str, Any] = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
_MAX_KNOWN_KEYS = 10_000

_EMAIL = re.compile(r"\b[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+[0-9]{1,3}[ .()/-]{0,2}(?:[0-9]{1,4}[ .()/-]{0,2}){2,5}[0-9]{2,4}"
    r"|\([0-9]{2,5}\) ?[0-9]{3,4}[ -]?[0-9]{3,5})(?![\w])"
)
# The first digits of the card networks: times in milli-, micro- and nanoseconds start with 1.
_CARD = re.compile(r"(?<![0-9.+-])[2-6](?:[ -]?[0-9]){12,15}(?![0-9.])")
_SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{30,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?<=://)[^/\s:@]{1,64}:[^/\s@]{1,128}(?=@)"
    r"|(?i:(?<=bearer )[A-Za-z0-9._~+/-]{16,}=*)",
    re.DOTALL,
)


def _is_card(text: str) -> bool:
    """Check the Luhn digit, which most other long numbers fail."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _substitute(pattern: re.Pattern[str], name: str) -> _Replace:
    return lambda text: pattern.sub(f"[REDACTED:{name}]", text)


_PATTERNS = {"secret": _SECRET, "email": _EMAIL, "card": _CARD, "phone": _PHONE}


def _replace_one(text: str, name: str, replacement: Callable[[str, str], str]) -> str:
    return _PATTERNS[name].sub(
        lambda found: (
            found[0] if name == "card" and not _is_card(found[0]) else replacement(name, found[0])
        ),
        text,
    )


def replace_found(text: str, replacement: Callable[[str, str], str]) -> str:
    """Give a text with `replacement(detector, found)` in place of all that a detector finds."""
    for name in _PATTERNS:
        text = _replace_one(text, name, replacement)
    return text


def _marked(name: str, _: str) -> str:
    return f"[REDACTED:{name}]"


DETECTORS: dict[str, _Replace] = {
    name: partial(_replace_one, name=name, replacement=_marked) for name in _PATTERNS
}
"""What can be found in texts by name; they run in this order."""


class Redactor:
    """Replace what the rules name in export requests.

    Args:
        keys: Attribute keys in any case, `*` for any text: their values are replaced whole. `a.b`
            also names `b` in the map `a`.
        detect: Names of `DETECTORS`.
        patterns: Name to regular expression, replaced wherever found.

    Raises:
        UserError: An unknown detector or a wrong expression.
    """

    def __init__(
        self, keys: Sequence[str], detect: Sequence[str], patterns: Mapping[str, str]
    ) -> None:
        self._keys = [re.compile(fnmatch.translate(key), re.IGNORECASE) for key in keys]
        self._known_keys: dict[str, tuple[bool, str]] = {}
        self._replace: list[_Replace] = []
        unknown = sorted(set(detect) - set(DETECTORS))
        if unknown:
            raise UserError(
                f"redaction: unknown detector {quoted(unknown[0])}; allowed: {', '.join(DETECTORS)}"
            )
        for name, expression in patterns.items():
            try:
                self._replace.append(_substitute(re.compile(expression), name))
            except re.error as error:
                raise UserError(f"redaction: pattern {quoted(name)}: {error}") from error
        self._replace += [replace for name, replace in DETECTORS.items() if name in detect]

    def redact(self, signal: str, body: bytes) -> bytes:
        """Give the checked request `body` without what must not be kept."""
        request: Any = _REQUESTS[signal].FromString(body)
        request.DiscardUnknownFields()  # nobody can tell what stands in them
        self._message(request)
        content: bytes = request.SerializeToString()
        return content

    def _message(self, message: Any) -> None:
        """Clean every text in a message, whatever its field is called."""
        for field, value in message.ListFields():
            if isinstance(value, str):
                clean = self._text(value)
                if clean != value:
                    setattr(message, field.name, clean)
            elif isinstance(value, KeyValue):
                self._pair(value)
            elif isinstance(value, AnyValue):
                self._value(value)
            elif isinstance(value, Message):
                self._message(value)
            elif field.type == field.TYPE_STRING:
                value[:] = [self._text(text) for text in value]
            elif field.type == field.TYPE_MESSAGE:
                clean_one = (
                    self._pair if field.message_type is KeyValue.DESCRIPTOR else self._message
                )
                for item in value:
                    clean_one(item)

    def _text(self, text: str) -> str:
        for replace in self._replace:
            text = replace(text)
        return text

    def _key(self, key: str) -> tuple[bool, str]:
        """Tell whether a rule names the key, and give it without what was found in it."""
        known = self._known_keys.get(key)
        if known is None:
            known = any(pattern.match(key) for pattern in self._keys), self._text(key)
            if len(self._known_keys) < _MAX_KNOWN_KEYS:
                self._known_keys[key] = known
        return known

    def _pair(self, pair: Any, above: str = "") -> None:
        """Clean an attribute; one within a map is named by its own key and by its path."""
        path = above + pair.key
        is_named, clean = self._key(pair.key)
        if is_named or (above and self._key(path)[0]):
            pair.value.string_value = "[REDACTED]"
        else:
            self._value(pair.value, f"{path}.")
        if clean != pair.key:
            pair.key = clean

    def _value(self, value: Any, above: str = "") -> None:
        which = value.WhichOneof("value")
        if which in ("string_value", "int_value", "double_value"):
            text = _as_text(getattr(value, which))
            clean = self._text(text)
            if clean != text:
                value.string_value = clean
        elif which == "array_value":
            for item in value.array_value.values:
                self._value(item, above)
        elif which == "kvlist_value":
            for pair in value.kvlist_value.values:
                self._pair(pair, above)
        elif which == "bytes_value":
            text = value.bytes_value.decode("utf-8", "ignore")
            if self._text(text) != text:
                value.bytes_value = b"[REDACTED]"


def _as_text(value: str | float) -> str:
    """Write a number as a card number would be, whichever type it was sent as."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
