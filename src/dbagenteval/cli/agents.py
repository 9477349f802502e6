"""The agent of `--agent`: a function of the user, or a service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dbagenteval.errors import UserError

if TYPE_CHECKING:
    from dbagenteval.cases import Case

__all__ = ["opened_agent", "service_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--agent-method", default="POST", show_default=True, help="HTTP method."),
    click.option(
        "--agent-body",
        metavar="JSON",
        help="Body, with {question}, {session_id}, {case_id} and {conversation}.  [default: "
        '{"question": "{question}"}]',
    ),
    click.option("--agent-answer", metavar="PATH", help="Where the answer is: data.0.text"),
    click.option("--agent-header", multiple=True, metavar="NAME:VALUE", help="A further header."),
    click.option(
        "--otlp-http",
        default="127.0.0.1:4318",
        show_default=True,
        metavar="HOST:PORT",
        help="Where the spans of a service are received by HTTP.",
    ),
    click.option(
        "--otlp-grpc",
        default="127.0.0.1:4317",
        show_default=True,
        metavar="HOST:PORT",
        help="The same by gRPC.",
    ),
    click.option(
        "--span-wait",
        type=click.FloatRange(0),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for the spans of a service.",
    ),
    click.option("--store", "store_dir", metavar="DIR", help="Keep the spans of the run there."),
)


def service_options(function: _Command) -> _Command:
    """Add the options for agents that are services or emit spans."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@contextmanager
def opened_agent(cases: list[Case], options: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    """Give the agent, with its spans read while the block runs.

    Raises:
        TargetError: The function can't be loaded.
        UserError: An option is malformed, or a port is in use.
    """
    from dbagenteval.cli.targets import load_agent

    named = options["agent"]
    if not named.startswith(("http://", "https://")):
        from opentelemetry import trace

        agent = load_agent(named)
        provider = trace.get_tracer_provider()
        if not hasattr(provider, "add_span_processor"):  # no SDK, so no spans
            yield agent
            return
        from dbagenteval.cli.live_spans import case_ids_of, traced_in_process

        with traced_in_process(agent, case_ids_of(cases), provider, options["store_dir"]) as one:
            yield one
        return
    from dbagenteval.cli.live_spans import case_ids_of, receiving
    from dbagenteval.suite.service_agent import ServiceAgent, ServiceRequest

    given = {"body": options["agent_body"], "answer": options["agent_answer"]}
    request = ServiceRequest(
        url=named,
        method=options["agent_method"],
        headers=dict(map(_header, options["agent_header"])),
        timeout=options["timeout"] or 600.0,
        **{name: value for name, value in given.items() if value is not None},
    )
    with receiving(
        grpc=options["otlp_grpc"],
        http=options["otlp_http"],
        directory=options["store_dir"],
        wait_s=options["span_wait"],
        is_alone=options["concurrency"] == 1,
    ) as spans:
        yield ServiceAgent(request, spans, case_ids_of(cases))
        if spans.silent:
            click.echo(
                f"{spans.silent} of {spans.asked} answers came without spans, so only the answer "
                f"could be checked: {spans.why_none()}",
                err=True,
            )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UserError(f"--agent-header: expected NAME:VALUE, got {name!r}")
    return name.strip(), value.strip()
