"""Putting the page's files and helper routes on an application."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

from assistant.web.routes import router

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.responses import Response
    from starlette.types import Scope

STATIC: Final = Path(__file__).parent / "static"
#: The chart library (uPlot 1.6.32, MIT, its licence beside it) lies with the report, which carries it too.
VENDOR: Final = Path(__file__).parent.parent / "write" / "page"
VENDORED: Final = ("uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE")

#: `data:` and `blob:` images and downloads are made by the page itself; nothing else than this server is spoken to.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    # Asked for again each time (a 304 costs little), so that a page is never made of two versions' modules.
    "cache-control": "no-cache",
}


class _Files(StaticFiles):
    """Static files with the page's headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or 304, under the page's headers."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def mount(app: FastAPI) -> None:
    """Adds ``/`` (the page), ``/static/…`` (its files) and ``/page/…`` (its helper routes).

    Args:
        app: the application with the REST API, which is the page's only backend.
    """
    mimetypes.add_type("text/javascript", ".js")  # a Windows registry may say otherwise, and browsers then refuse it
    app.include_router(router)

    async def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", media_type="text/html", headers=HEADERS)

    async def vendored(name: str) -> Any:
        if name not in VENDORED:
            from starlette.exceptions import HTTPException

            raise HTTPException(status_code=404)
        media = "text/javascript" if name.endswith(".js") else "text/css" if name.endswith(".css") else "text/plain"
        return FileResponse(VENDOR / name, media_type=media, headers=HEADERS)

    app.add_api_route("/", index, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/static/vendor/{name}", vendored, include_in_schema=False)
    app.mount("/static", _Files(directory=STATIC), name="static")
