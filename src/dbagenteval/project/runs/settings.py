"""How a run goes about its tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbagenteval.checks import Judge
from dbagenteval.project.folder.model import Project

__all__ = ["RunSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How tests are run.

    Args:
        models: `provider:model` each; one empty name leaves the choice to the agent.
        k: Attempts for each test and model.
        threads: How many run at once.
        timeout_s: Seconds that the agent may take for a turn.
        retries: How often an agent that can't be reached is asked again.
        mode: `exact` or `dazense`.
        tolerance: For numbers, or None for the default.
        prices: USD for a million tokens, by model.
        extract: A model that reads rows out of text, or None.
        project: Whose policy the assertion `policy` means, or None.
        judge: Decides the assertion `rubric`; another model than the agent's, or None.
        provenance: Every test with a reference has the assertion `provenance`.
    """

    models: tuple[str, ...] = ("",)
    k: int = 1
    threads: int = 1
    timeout_s: float = 600.0
    retries: int = 0
    mode: str = "exact"
    tolerance: Mapping[str, float] | None = None
    prices: Mapping[str, Any] = field(default_factory=dict)
    extract: Callable[[str], str] | None = None
    project: Project | None = field(default=None, repr=False)
    judge: Judge | None = field(default=None, repr=False)
    provenance: bool = False
