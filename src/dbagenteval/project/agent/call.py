"""Call the agent under test, in this process or over HTTP, and read what it gives back."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import inspect
import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from dbagenteval.errors import TargetError, quoted
from dbagenteval.project.agent.reply import AgentReply, reply_of_json, reply_of_trace
from dbagenteval.traces import Trace

__all__ = ["AgentError", "Asked", "FunctionAgent", "HttpAgent", "ProjectAgent", "call_within"]

_MAX_REPLY_BYTES = 64_000_000
_PART_BYTES = 1 << 18
_PASSING_STATUSES = (429, 502, 503, 504)
"""Of a busy or starting agent: as if it could not be reached, and worth another try."""


class AgentError(Exception):
    """The agent gave no reply.

    Args:
        message: For the result.
        reason: `agent_error`, `timeout` or `unreachable`.
    """

    def __init__(self, message: str, reason: str = "agent_error") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question to the agent.

    Args:
        prompt: The question.
        model: `provider:model`, or empty for the agent's own choice.
        session_id: The same for all turns of a conversation.
        messages: Earlier turns, as `{"role", "content"}`.
        test: Name of the test, for the agent's logs and spans; never the reference.
        timeout_s: How long it may take.
        trace_id: Of the OTel trace that the agent's spans shall join.
    """

    prompt: str
    model: str = ""
    session_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    messages: Sequence[Mapping[str, str]] = ()
    test: str = ""
    timeout_s: float = 600.0
    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex)


class ProjectAgent(Protocol):
    """Answers one question."""

    def __call__(self, asked: Asked) -> AgentReply:
        """Give the reply.

        Raises:
            AgentError: There is none.
        """


class FunctionAgent:
    """An agent in this process.

    Args:
        function: Takes the question; also `model`, `session_id` and `conversation` if it has such
            parameters. Gives a Trace, a dict (of a Trace, or as `HttpAgent` reads it) or text.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        try:
            names = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            names = set()
        self._accepts = names & {"model", "session_id", "conversation"}

    def __call__(self, asked: Asked) -> AgentReply:
        """Call the function; whatever it raises becomes an AgentError."""
        offered = {
            "model": asked.model,
            "session_id": asked.session_id,
            "conversation": [dict(message) for message in asked.messages],
        }
        try:
            result = self._function(asked.prompt, **{name: offered[name] for name in self._accepts})
            if inspect.isawaitable(result):
                result = asyncio.run(_awaited(result))
            return self._read(result, asked)
        except AgentError:
            raise
        except BaseException as error:
            raise AgentError(f"agent raised {type(error).__name__}: {error}") from error

    def _read(self, result: Any, asked: Asked) -> AgentReply:
        if isinstance(result, Trace):
            return reply_of_trace(result)
        if isinstance(result, str):
            return reply_of_trace(Trace.simple(asked.prompt, answer=result))
        if isinstance(result, dict):
            return reply_of_json(result, asked.prompt)
        kind = type(result).__name__
        raise AgentError(f"the agent must return a Trace, a dict or text, got {kind}")


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


class HttpAgent:
    """An agent behind an HTTP address; one connection for each thread is kept open.

    The request is a POST of JSON with `prompt`, `question` (the same), `model`
    (`{"provider", "modelId"}`), `session_id`, `messages`; headers carry `traceparent` and
    `baggage: dbagenteval.case.id`. `reply_of_json` says what is read of the answer.

    Args:
        url: `http://…` or `https://…`.
        headers: Sent with each request, such as an `Authorization`.

    Raises:
        TargetError: Not such an address.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TargetError(f"agent: {quoted(url)} is no http:// or https:// address")
        self._parts = parts
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = dict(headers or {})
        self._local = threading.local()

    def __call__(self, asked: Asked) -> AgentReply:
        """Send the question; a connection that the agent closed meanwhile is opened anew once."""
        provider, _, model_id = asked.model.partition(":")
        body = json.dumps(
            {
                "prompt": asked.prompt,
                "question": asked.prompt,
                "model": {"provider": provider, "modelId": model_id} if asked.model else None,
                "session_id": asked.session_id,
                "messages": [dict(message) for message in asked.messages],
            }
        ).encode()
        headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "traceparent": f"00-{asked.trace_id}-{uuid.uuid4().hex[:16]}-01",
            "baggage": f"dbagenteval.case.id={_baggage(asked.test)}",
            **self._headers,
        }
        status, raw = self._send(body, headers, asked.timeout_s)
        if status >= 400:
            text = raw[:300].decode("utf-8", "replace")
            reason = "unreachable" if status in _PASSING_STATUSES else "agent_error"
            raise AgentError(f"agent answered HTTP {status}: {text}", reason)
        try:
            data = json.loads(raw)
        except ValueError as error:
            raise AgentError(f"agent's answer is no JSON: {error}") from error
        if not isinstance(data, dict):
            raise AgentError(f"agent's answer is {type(data).__name__}, expected an object")
        return reply_of_json(data, asked.prompt)

    def _send(self, body: bytes, headers: dict[str, str], timeout_s: float) -> tuple[int, bytes]:
        kept = getattr(self._local, "connection", None)
        for connection in (kept, None) if kept is not None else (None,):
            open_one = connection or self._connect(timeout_s)
            self._local.connection = None
            begun = time.monotonic()
            try:
                if open_one.sock is not None:
                    open_one.sock.settimeout(timeout_s)
                open_one.request("POST", self._path, body, headers)
                _acknowledge_at_once(open_one)
                response = open_one.getresponse()
                raw = _read_until(response, begun + timeout_s)
            except TimeoutError as error:
                open_one.close()
                raise AgentError(f"agent timed out after {timeout_s:g} s", "timeout") from error
            except (OSError, http.client.HTTPException) as error:
                open_one.close()
                stale = connection is not None and isinstance(
                    error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)
                )
                if stale:
                    continue  # it was closed before the request reached it
                where = f"{self._parts.hostname}:{self._parts.port or ''}".rstrip(":")
                raise AgentError(
                    f"agent at {where} can't be reached: {error}", "unreachable"
                ) from error
            if len(raw) > _MAX_REPLY_BYTES:
                open_one.close()
                raise AgentError(f"agent's answer is over {_MAX_REPLY_BYTES:,} bytes")
            self._local.connection = open_one
            return response.status, raw
        raise AgentError("agent closed the connection", "unreachable")

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = (
            http.client.HTTPSConnection
            if self._parts.scheme == "https"
            else http.client.HTTPConnection
        )
        return kind(str(self._parts.hostname), self._parts.port, timeout=timeout_s)


def _read_until(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read a reply; one that comes in drops, each in time, must still end in time.

    Raises:
        TimeoutError: It did not.
    """
    parts: list[bytes] = []
    size = 0
    while size <= _MAX_REPLY_BYTES and (part := response.read1(_PART_BYTES)):
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise TimeoutError("the reply did not end")
    response.read(0)  # marks a whole reply as read, so that its connection can be kept
    return b"".join(parts)


def call_within(agent: ProjectAgent, asked: Asked) -> AgentReply:
    """Call the agent, and wait no longer than its time; one that hangs is left behind.

    Raises:
        AgentError: It raised, or took too long.
    """
    replies: list[AgentReply] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            replies.append(agent(asked))
        except BaseException as error:  # noqa: BLE001 raised again below
            failures.append(error)

    if not isinstance(agent, FunctionAgent):
        return agent(asked)  # its sockets have the timeout themselves
    thread = threading.Thread(target=work, name="dbagenteval-agent", daemon=True)
    thread.start()
    thread.join(asked.timeout_s)
    if thread.is_alive():
        raise AgentError(f"agent timed out after {asked.timeout_s:g} s", "timeout")
    if failures:
        failure = failures[0]
        if isinstance(failure, AgentError):
            raise failure
        raise AgentError(f"agent raised {type(failure).__name__}: {failure}") from failure
    return replies[0]


def _acknowledge_at_once(connection: http.client.HTTPConnection) -> None:
    """Ask the system not to delay acknowledgements, where it can.

    Simple servers write head and body apart, and with Nagle's algorithm send the body only when
    the head is acknowledged: 40 ms lost for each question on a kept connection.
    """
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is not None and connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.setsockopt(socket.IPPROTO_TCP, option, 1)


def _baggage(text: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 used by this alone

    return quote(text, safe="")
