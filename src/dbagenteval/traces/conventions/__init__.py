"""Semantic conventions, one file each: which attributes say what, as of which version.

A new convention is one file with a `Convention`, a line in `CONVENTIONS` and a fixture. Of several
that speak of one span, the first that knows a field gives it: so vendors come before standards.
"""

from __future__ import annotations

from dbagenteval.traces.conventions.autogen import AUTOGEN
from dbagenteval.traces.conventions.convention import Convention, ToolUse
from dbagenteval.traces.conventions.crewai import CREWAI
from dbagenteval.traces.conventions.database import DATABASE
from dbagenteval.traces.conventions.genai import GENAI
from dbagenteval.traces.conventions.genai_content import GENAI_CONTENT
from dbagenteval.traces.conventions.genai_events import GENAI_EVENTS
from dbagenteval.traces.conventions.genkit import GENKIT
from dbagenteval.traces.conventions.google_adk import GOOGLE_ADK
from dbagenteval.traces.conventions.haystack import HAYSTACK
from dbagenteval.traces.conventions.http import HTTP
from dbagenteval.traces.conventions.langfuse import LANGFUSE
from dbagenteval.traces.conventions.langsmith import LANGSMITH
from dbagenteval.traces.conventions.logfire import LOGFIRE
from dbagenteval.traces.conventions.mcp import MCP
from dbagenteval.traces.conventions.mlflow import MLFLOW
from dbagenteval.traces.conventions.openinference import OPENINFERENCE
from dbagenteval.traces.conventions.openllmetry import OPENLLMETRY
from dbagenteval.traces.conventions.own import OWN
from dbagenteval.traces.conventions.pydantic_ai import PYDANTIC_AI
from dbagenteval.traces.conventions.spring_ai import SPRING_AI
from dbagenteval.traces.conventions.vercel_ai import VERCEL_AI

__all__ = ["CONVENTIONS", "Convention", "ToolUse"]

CONVENTIONS: tuple[Convention, ...] = (
    OWN,
    AUTOGEN,
    GOOGLE_ADK,
    PYDANTIC_AI,
    LOGFIRE,
    VERCEL_AI,
    LANGFUSE,
    LANGSMITH,
    MLFLOW,
    GENKIT,
    SPRING_AI,
    MCP,
    CREWAI,
    OPENINFERENCE,
    OPENLLMETRY,
    GENAI_EVENTS,
    GENAI,
    GENAI_CONTENT,
    HAYSTACK,
    DATABASE,
    HTTP,
)
