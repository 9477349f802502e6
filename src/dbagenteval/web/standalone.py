"""One HTML file that shows a run by itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from dbagenteval.web.pages import run_page
from dbagenteval.web.rendering import asset

__all__ = ["standalone_page"]


def standalone_page(run: Mapping[str, Any]) -> str:
    """Give a run as one file: style, script and every detail inside, nothing loaded.

    Its Content-Security-Policy allows just that style and that script, by their digests.
    """
    style, script = asset("pages.css"), asset("pages.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return run_page(
        run,
        "results",
        [],
        details=True,
        standalone=True,
        policy=policy,
        style=Markup(style),  # noqa: S704 our own file, not a value of a run
        script=Markup(script),  # noqa: S704 same
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
