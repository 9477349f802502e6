"""The web application over a folder of results files."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dbagenteval.web import pages
from dbagenteval.web.rendering import asset
from dbagenteval.web.runfiles import RunFileError, list_runs, read_run

__all__ = ["results_app"]

_COOKIE = "dbagenteval_token"
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_STATIC = {"pages.css": "text/css", "pages.js": "text/javascript"}


def results_app(
    folder: Path, *, token: str | None = None, hosts: tuple[str, ...] = ()
) -> Starlette:
    """Make the application.

    Args:
        folder: Where results files are; they are only read.
        token: Needed in the address (`?token=`, kept in a cookie) or as a bearer; None needs none.
        hosts: Values of `Host` that are answered, so that no foreign name reaches a loopback
            server; empty answers all.
    """
    results = _Results(folder)
    return Starlette(
        routes=[
            Route("/", results.newest),
            Route("/run/{name}", results.run),
            Route("/run/{name}/{index:int}", results.detail),
            Route("/compare", results.compare),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _no_icon),
        ],
        middleware=[Middleware(_Guard, token=token, hosts=hosts)],
        exception_handlers={404: _not_found, RunFileError: _no_file},
    )


class _Results:
    """The handlers; files are read and pages made beside the event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=4)(self._read_version)

    def _read_version(self, name: str, _version: int) -> dict[str, Any]:
        return read_run(self._folder, name)

    def load(self, name: str) -> dict[str, Any]:
        if name not in list_runs(self._folder):
            raise RunFileError("there is no such results file")
        return self._read(name, (self._folder / name).stat().st_mtime_ns)

    async def newest(self, _request: Request) -> Response:
        names = list_runs(self._folder)
        if not names:
            return HTMLResponse(pages.error_page("There are no results yet."))
        return RedirectResponse(f"/run/{names[0]}", status_code=302)

    async def run(self, request: Request) -> Response:
        name = request.path_params["name"]

        def make() -> str:
            return pages.run_page(self.load(name), name, list_runs(self._folder), standalone=False)

        return HTMLResponse(await run_in_threadpool(make))

    async def detail(self, request: Request) -> Response:
        name, index = request.path_params["name"], request.path_params["index"]

        def make() -> str:
            run = self.load(name)
            if index >= len(run["results"]):
                raise RunFileError("there is no such result in the file")
            return pages.detail_page(run, name, index)

        return HTMLResponse(await run_in_threadpool(make))

    async def compare(self, request: Request) -> Response:
        names = list_runs(self._folder)
        after = request.query_params.get("after") or (names[0] if names else "")
        before = request.query_params.get("before") or (names[1] if len(names) > 1 else after)

        def make() -> str:
            runs = self.load(before), self.load(after)
            return pages.compare_page(*runs, (before, after), names)

        return HTMLResponse(await run_in_threadpool(make))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return HTMLResponse(pages.error_page("There is no such page."), status_code=404)
    return Response(asset(name), media_type=_STATIC[name])


async def _no_icon(_request: Request) -> Response:
    return Response(status_code=204)


async def _not_found(_request: Request, _error: Exception) -> Response:
    return HTMLResponse(pages.error_page("There is no such page."), status_code=404)


async def _no_file(_request: Request, error: Exception) -> Response:
    return HTMLResponse(pages.error_page(str(error)), status_code=404)


class _Guard(BaseHTTPMiddleware):
    """Lets in who has the token, for a host that is ours; adds the headers to every answer."""

    def __init__(self, app: Any, *, token: str | None, hosts: tuple[str, ...]) -> None:
        super().__init__(app)
        self._token = token
        self._hosts = hosts

    async def dispatch(
        self, request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Answer 421 to foreign hosts and 401 without the token."""
        response = await self._answer(request, call_next)
        response.headers.update(_HEADERS)
        return response

    async def _answer(
        self, request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        host = (request.headers.get("host") or "").rsplit(":", 1)[0].strip("[]")
        if self._hosts and host not in self._hosts:
            return Response("this server does not answer for that host", status_code=421)
        if self._token is None:
            return await call_next(request)
        given = request.query_params.get("token")
        if given is not None and hmac.compare_digest(given.encode(), self._token.encode()):
            # The token leaves the address, which is kept in the browser's history.
            response: Response = RedirectResponse(request.url.path, status_code=303)
            response.set_cookie(_COOKIE, self._token, httponly=True, samesite="strict")
            return response
        bearer = (request.headers.get("authorization") or "").removeprefix("Bearer ")
        held = request.cookies.get(_COOKIE) or bearer
        if hmac.compare_digest(held.encode(), self._token.encode()):
            return await call_next(request)
        return Response("a token is needed: open the address with ?token=…", status_code=401)
