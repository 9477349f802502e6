"""Agents that are HTTP services: ask by request, and take what they did from their spans."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.errors import UserError, quoted
from dbagenteval.suite.span_source import CallContext, ServiceSpans, trace_of_call
from dbagenteval.suite.unlinked import find_turn
from dbagenteval.traces import Trace, assemble

__all__ = ["ServiceAgent", "ServiceFailed", "ServiceRequest"]

_ANSWER_KEYS = ("answer", "response", "output", "result", "text", "message", "content")
_DEFAULT_BODY = '{"question": "{question}"}'
_SHOWN_CHARS = 200
_MAX_ANSWER_BYTES = 16 << 20


class ServiceFailed(RuntimeError):
    """The service did not answer, or with something else than an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRequest:
    """How a question is put to a service.

    Args:
        url: Where; `{question}` and the like in it are replaced.
        method: `POST` and the like send `body` as JSON, `GET` sends its fields as a query.
        body: JSON with `{question}`, `{session_id}`, `{case_id}` inside its texts; a text that is
            `{conversation}` alone becomes the list of earlier messages.
        headers: Further headers.
        answer: Where the answer stands in the JSON that comes back: `data.0.text`; empty tries
            the usual names.
        timeout: For the whole request, in seconds.

    Raises:
        UserError: The body is no JSON, or no object whose fields a query could hold.
    """

    url: str
    method: str = "POST"
    body: str = _DEFAULT_BODY
    headers: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    timeout: float = 600.0

    def __post_init__(self) -> None:
        hint = f"for example {_DEFAULT_BODY}"
        try:
            body = json.loads(self.body)
        except ValueError as error:
            raise UserError(f"--agent-body is no JSON: {error}", hint=hint) from None
        if self._is_without_body and not isinstance(body, dict):
            method = self.method.upper()
            raise UserError(f"--agent-body must be a JSON object to be sent by {method}", hint=hint)

    @property
    def _is_without_body(self) -> bool:
        return self.method.upper() in ("GET", "HEAD", "DELETE")

    def build(
        self, values: Mapping[str, Any], headers: Mapping[str, str]
    ) -> urllib.request.Request:
        """Make the request for one question."""
        body = _filled(json.loads(self.body), values)
        quoted_values = {key: urllib.parse.quote(str(value)) for key, value in values.items()}
        url = _replaced(self.url, quoted_values)
        data = None
        sent = {"Accept": "application/json, text/plain", **self.headers, **headers}
        if self._is_without_body:
            query = {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in body.items()
            }
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode(query) if query else ""
        else:
            data = json.dumps(body, ensure_ascii=False).encode()
            sent.setdefault("Content-Type", "application/json")
        return urllib.request.Request(url, data, sent, method=self.method.upper())  # noqa: S310 http and https only, see the command


class ServiceAgent:
    """Ask a service, and make a Trace of its answer and of the spans that come back.

    Args:
        request: How a question is put.
        spans: Where its spans arrive.
        case_ids: Question to case id, sent along as baggage.
    """

    def __init__(
        self, request: ServiceRequest, spans: ServiceSpans, case_ids: Mapping[str, str]
    ) -> None:
        self._request = request
        self._spans = spans
        self._case_ids = case_ids

    def __call__(self, question: str, conversation: list[dict[str, str]], session_id: str) -> Trace:
        """Ask one question.

        Raises:
            ServiceFailed: There is no answer.
            AmbiguousSpans: The service did not continue the trace, and no other sign tells which
                spans are the question's.
        """
        call = CallContext.new(self._case_ids.get(question, ""), session_id, question)
        values = {
            "question": question,
            "conversation": conversation,
            "session_id": session_id,
            "case_id": call.case_id,
        }
        answer = self._answer(self._request.build(values, call.headers()))
        return trace_of_call(question, answer, self._turns_of(call), self._spans.why_none())

    def _turns_of(self, call: CallContext) -> list[Trace]:
        """Give the turns of the request's own trace, else the one that is told otherwise.

        Raises:
            AmbiguousSpans: Spans of other traces came, and none is certain to be the question's.
        """
        turns = list(assemble(self._spans.spans_of(call)))
        if any(turn.stages for turn in turns):
            return turns
        unlinked = find_turn(call, self._spans.others_of(call), is_alone=self._spans.is_alone)
        return turns if unlinked is None else [unlinked]

    def _answer(self, request: urllib.request.Request) -> str:
        try:
            with urllib.request.urlopen(request, timeout=self._request.timeout) as response:  # noqa: S310 see above
                raw = response.read(_MAX_ANSWER_BYTES)
                charset = response.headers.get_content_charset() or "utf-8"
        except urllib.error.HTTPError as error:
            said = error.read(_SHOWN_CHARS).decode(errors="replace").strip()
            raise ServiceFailed(f"HTTP {error.code} from {request.full_url}: {said}") from None
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise ServiceFailed(f"no answer from {request.full_url}: {reason}") from None
        return _read_answer(raw.decode(charset, errors="replace"), self._request.answer)


def _read_answer(text: str, path: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        if path:
            raise ServiceFailed(f"the response is no JSON: {quoted(text[:_SHOWN_CHARS])}") from None
        return text
    if path:
        return _text(_at(value, path))
    if isinstance(value, dict):
        for key in _ANSWER_KEYS:
            if isinstance(value.get(key), str):
                return str(value[key])
        raise ServiceFailed(
            f"no answer under {', '.join(_ANSWER_KEYS)} in the response, which has "
            f"{', '.join(map(str, value)) or 'nothing'}; say where it is with --agent-answer"
        )
    return _text(value)


def _at(value: Any, path: str) -> Any:
    here = value
    for step in path.removeprefix("$").lstrip(".").replace("[", ".").replace("]", "").split("."):
        try:
            here = here[int(step)] if isinstance(here, list) else here[step]
        except (KeyError, IndexError, TypeError, ValueError):
            raise ServiceFailed(
                f"the response has no {path}: {quoted(json.dumps(value)[:_SHOWN_CHARS])}"
            ) from None
    return here


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, dict):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{conversation}":
        return values["conversation"]
    return _replaced(template, {key: str(value) for key, value in values.items()})


def _replaced(text: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` once: what a question itself has in braces stays."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], text)
