"""Turn on what libraries can tell by themselves, and put the case id of the caller on spans."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

import wrapt
from opentelemetry import baggage, trace
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined] # not in its __all__
    BaseInstrumentor,
)

from dbagenteval import semconv

__all__ = ["NativeInstrumentor"]

_log = logging.getLogger(__name__)


class NativeInstrumentor(BaseInstrumentor):  # type: ignore[misc] # it is untyped
    """Switch on spans that are off by default, each library's when the program imports it."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Say that no package is required."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:  # noqa: ARG002 the signature of all instrumentors
        provider = trace.get_tracer_provider()
        if hasattr(provider, "add_span_processor"):
            provider.add_span_processor(_CaseId())
        for module, switch in {"pydantic_ai": _pydantic_ai, "aiosqlite.core": _aiosqlite}.items():
            wrapt.register_post_import_hook(_guarded(switch), module)

    def _uninstrument(self, **kwargs: Any) -> None:
        """Leave it as it is: what was switched on is the library's own."""


def _guarded(switch: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def on_import(module: ModuleType) -> None:
        try:
            switch(module)
        except Exception:  # noqa: BLE001 an import of the program must not fail for us
            _log.warning("spans.not_switched_on module=%s", module.__name__, exc_info=True)

    return on_import


def _pydantic_ai(module: ModuleType) -> None:
    settings = module.InstrumentationSettings(include_content=True)
    module.Agent.instrument_all(settings)


def _aiosqlite(module: ModuleType) -> None:
    """Let statements that run in aiosqlite's thread know the span they were sent from."""

    def execute(original: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function, *rest = args
        return original(contextvars.copy_context().run, function, *rest, **kwargs)

    wrapt.wrap_function_wrapper(module, "Connection._execute", execute)


class _CaseId:
    """A span processor that copies the case id from the baggage that came with a request."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        """Put the id on the span."""
        case_id = baggage.get_baggage(semconv.CASE_ID, parent_context)
        if case_id is not None:
            span.set_attribute(semconv.CASE_ID, str(case_id))

    def _on_ending(self, span: Any) -> None:
        """Do nothing."""

    def on_end(self, span: Any) -> None:
        """Do nothing."""

    def shutdown(self) -> None:
        """Do nothing."""

    def force_flush(self, timeout_millis: int = 0) -> bool:  # noqa: ARG002 the SDK's signature
        """Do nothing."""
        return True
