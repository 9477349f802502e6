"""Cross-origin requests of browsers: off unless origins are named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["Cors"]

_MAX_AGE_S = 3600
_DEFAULT_HEADERS = "Content-Type, Content-Encoding, Authorization, X-Api-Key"


class Cors:
    """Which pages may send to us.

    Args:
        origins: As `https://app.example.com`; `*` stands for one or more labels of a host name.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        self._patterns = [
            re.compile(re.escape(origin).replace(r"\*", r"[A-Za-z0-9.-]+")) for origin in origins
        ]

    def headers(self, request: Mapping[str, str]) -> dict[str, str]:
        """Give the headers that let the page read the answer; none for other origins."""
        origin = request.get("origin", "")
        if not origin or not any(pattern.fullmatch(origin) for pattern in self._patterns):
            return {}
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}

    def preflight(self, request: Mapping[str, str]) -> dict[str, str] | None:
        """Give the headers of the answer to a preflight request, None if it is none of ours."""
        allowed = self.headers(request)
        if not allowed or "access-control-request-method" not in request:
            return None
        return {
            **allowed,
            "Access-Control-Allow-Methods": "POST",
            "Access-Control-Allow-Headers": request.get(
                "access-control-request-headers", _DEFAULT_HEADERS
            ),
            "Access-Control-Max-Age": str(_MAX_AGE_S),
        }
