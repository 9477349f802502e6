"""Haystack's own tracing: a span for each component of a pipeline.

Inputs and outputs are there with HAYSTACK_CONTENT_TRACING_ENABLED=true only.
"""

from __future__ import annotations

from typing import Any

from dbagenteval.traces.conventions.convention import AGENT, CHAIN, Convention
from dbagenteval.traces.tree import Node

__all__ = ["HAYSTACK"]

_COMPONENT = "haystack.component.name"


def _applies(node: Node) -> bool:
    return node.span.name.startswith("haystack.")


def _role(node: Node) -> str | None:
    return CHAIN if _COMPONENT in node.span.attributes else AGENT


def _question(node: Node) -> Any:
    attributes = node.span.attributes
    return attributes.get(
        "haystack.component.input", attributes.get("haystack.pipeline.input_data")
    )


def _answer(node: Node) -> Any:
    attributes = node.span.attributes
    key = "haystack.component.output"
    return attributes.get(key, attributes.get("haystack.pipeline.output_data"))


HAYSTACK = Convention(
    name="Haystack",
    pinned="haystack-ai 2.x",
    source="https://docs.haystack.deepset.ai/docs/tracing",
    applies=_applies,
    role=_role,
    question=_question,
    answer=_answer,
)
