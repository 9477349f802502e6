"""Which package makes spans of which library, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["LIBRARIES", "Finding", "Library", "findings", "recorded_drivers"]

_OI = "openinference-instrumentation-"
_OTEL = "opentelemetry-instrumentation-"
_GENAI = "opentelemetry-instrumentation-genai-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library that a program may use, and what makes spans of it.

    Args:
        names: Distributions of it; one of them is enough.
        package: What to install, if the library makes no spans itself.
        others: Packages that serve as well.
        calls_models: It calls models by itself or through another library's client.
        built_in: It makes spans itself and they are turned on.
        built_in_from: It does so from this major version on.
        note: For a person.
    """

    names: tuple[str, ...]
    package: str = ""
    others: tuple[str, ...] = ()
    calls_models: bool = False
    built_in: bool = False
    built_in_from: int | None = None
    note: str = ""


LIBRARIES: tuple[Library, ...] = (
    # Frameworks
    Library(names=("pydantic-ai", "pydantic-ai-slim"), built_in=True, calls_models=True),
    Library(names=("strands-agents",), built_in=True, calls_models=True),
    Library(
        names=("google-adk",),
        built_in=True,
        calls_models=True,
        others=(f"{_OI}google-adk",),
    ),
    Library(names=("haystack-ai",), package=f"{_OI}haystack", calls_models=True),
    Library(names=("agent-framework", "agent-framework-core"), built_in=True, calls_models=True),
    Library(names=("semantic-kernel",), built_in=True, calls_models=True),
    Library(
        names=("autogen-agentchat",),
        package=f"{_OI}autogen-agentchat",
        note="its own spans hold no model calls",
    ),
    Library(
        names=("langchain-core", "langgraph"),
        package=f"{_OI}langchain",
        others=(f"{_OTEL}langchain", f"{_GENAI}langchain"),
        calls_models=True,
    ),
    Library(
        names=("llama-index-core",),
        package=f"{_OI}llama-index",
        others=(f"{_OTEL}llamaindex", f"{_GENAI}llama-index"),
        calls_models=True,
    ),
    Library(
        names=("openai-agents",),
        package=f"{_OI}openai-agents",
        others=(f"{_GENAI}openai-agents",),
        calls_models=True,
        note="opentelemetry-instrumentation-openai-agents records no answer in some versions",
    ),
    Library(names=("smolagents",), package=f"{_OI}smolagents", calls_models=True),
    Library(names=("crewai",), package=f"{_OI}crewai", others=(f"{_OTEL}crewai",)),
    Library(names=("dspy", "dspy-ai"), package=f"{_OI}dspy", calls_models=True),
    Library(names=("agno",), package=f"{_OI}agno", others=(f"{_OTEL}agno",), calls_models=True),
    # Clients of models
    Library(
        names=("openai",),
        package=f"{_GENAI}openai",
        others=(f"{_OI}openai", f"{_OTEL}openai", f"{_OTEL}openai-v2"),
    ),
    Library(
        names=("anthropic",),
        package=f"{_OI}anthropic",
        others=(f"{_OTEL}anthropic", f"{_GENAI}anthropic"),
    ),
    Library(
        names=("google-genai",),
        package=f"{_OI}google-genai",
        others=(f"{_OTEL}google-genai", f"{_OTEL}google-generativeai"),
    ),
    Library(names=("mistralai",), package=f"{_OI}mistralai", others=(f"{_OTEL}mistralai",)),
    Library(names=("groq",), package=f"{_OI}groq", others=(f"{_OTEL}groq",)),
    Library(names=("ollama",), package=f"{_OTEL}ollama", others=(f"{_OI}ollama",)),
    Library(names=("litellm",), package=f"{_OI}litellm", others=(f"{_OTEL}litellm",)),
    Library(names=("boto3",), package=f"{_OI}bedrock", others=(f"{_OTEL}bedrock",)),
    # What joins processes
    Library(names=("mcp",), package=f"{_OI}mcp", others=(f"{_OTEL}mcp",), built_in_from=2),
    Library(names=("fastapi",), package=f"{_OTEL}fastapi"),
    Library(names=("flask",), package=f"{_OTEL}flask"),
    Library(names=("django",), package=f"{_OTEL}django"),
)

# Names of instrumentors that make spans of what is recorded with its rows anyway.
_RECORDED = ("sqlite3", "psycopg", "psycopg2", "asyncpg", "pymysql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is known of one library in a program's environment.

    Args:
        name: Its distribution.
        version: Its version.
        by: What makes spans of it, or empty.
        missing: The package to install, or empty.
        note: For a person.
    """

    name: str
    version: str
    by: str = ""
    missing: str = ""
    note: str = ""


def findings(installed: Mapping[str, str]) -> list[Finding]:
    """Look at the libraries that a program's environment has.

    Args:
        installed: Versions by distribution, in lower case with hyphens.
    """
    found = []
    for library in LIBRARIES:
        name = next((name for name in library.names if name in installed), None)
        if name is not None:
            found.append(_finding(library, name, installed))
    return found


def recorded_drivers(disabled: str) -> str:
    """Give the instrumentors to leave out: those that the user names, and what is recorded."""
    names = [name.strip() for name in disabled.split(",") if name.strip()]
    return ",".join([*names, *(name for name in _RECORDED if name not in names)])


def _finding(library: Library, name: str, installed: Mapping[str, str]) -> Finding:
    version = installed[name]
    candidates = [one for one in (library.package, *library.others) if one]
    misfit = _misfit(name, version, installed)
    fitting = [one for one in candidates if one in installed and one != misfit]
    if fitting:
        return Finding(name=name, version=version, by=fitting[0])
    since = library.built_in_from
    if library.built_in or (since is not None and _major(version) >= since):
        return Finding(name=name, version=version, by="itself")
    note = library.note
    if misfit in installed:
        note = f"{misfit} {installed[misfit]} doesn't load with {name} {version}"
    elif _is_called_by_framework(library, installed):
        return Finding(
            name=name,
            version=version,
            by="the framework that calls it",
            note=f"if the program calls it too: pip install {library.package}",
        )
    return Finding(name=name, version=version, missing=library.package, note=note)


def _misfit(name: str, version: str, installed: Mapping[str, str]) -> str:
    """Name the package that is known to skip this version of its library without a word."""
    # openai-v2 up to 2.4b0 needs httpx, which openai 3 has not, and util-genai before 1.
    util = _major(installed.get("opentelemetry-util-genai", "0"))
    is_misfit = name == "openai" and (_major(version) >= 3 or util >= 1)
    return f"{_OTEL}openai-v2" if is_misfit else ""


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 0


def _is_called_by_framework(library: Library, installed: Mapping[str, str]) -> bool:
    clients = ("openai", "anthropic", "google-genai", "mistralai", "groq", "boto3", "litellm")
    return library.names[0] in clients and any(
        other.calls_models and any(name in installed for name in other.names) for other in LIBRARIES
    )
