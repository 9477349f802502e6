"""Templates to HTML; every value is escaped."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2

from dbagenteval.web import shown

__all__ = ["asset", "render"]

PACKAGE = "dbagenteval.web"
_UNKNOWN = "\N{EN DASH}"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=_count,
        money=_money,
        seconds=_seconds,
        percent=_percent,
        as_json=shown.shown_json,
        cut=_cut,
    )
    return environment


def render(template: str, **values: Any) -> str:
    """Render one template of the package."""
    return _environment().get_template(template).render(**values)


@lru_cache(maxsize=8)
def asset(name: str) -> str:
    """Give the text of a style sheet or script of the package."""
    return (resources.files(PACKAGE) / "static" / name).read_text("utf-8")


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, (int, float)) else _UNKNOWN


def _money(value: Any) -> str:
    return f"${value:,.4f}" if isinstance(value, (int, float)) else "unknown"


def _seconds(value: Any) -> str:
    return f"{value / 1000:,.1f}" if isinstance(value, (int, float)) else _UNKNOWN


def _percent(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, (int, float)) else _UNKNOWN


def _cut(value: Any) -> str:
    return shown.cut("" if value is None else str(value))
