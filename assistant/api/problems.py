"""Errors as ``application/problem+json`` (RFC 9457) with a stable code and a request id."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from assistant.model import AssistantError, InputError
from assistant.settings import settings

_TITLES = {
    404: ("not_found", "no such route; see /docs"),
    405: ("method_not_allowed", "see /docs for the method"),
}


def problem(request: Request, status: int, code: str, detail: str, **extra: Any) -> JSONResponse:
    """A problem document."""
    request_id = getattr(request.state, "request_id", None) or new_request_id()
    body = {
        "type": "about:blank", "title": code.replace("_", " "), "status": status, "code": code, "detail": detail,
        "instance": request.url.path, "request_id": request_id, **extra,
    }  # fmt: skip
    return JSONResponse(body, status, media_type="application/problem+json", headers={"x-request-id": request_id})


def new_request_id() -> str:
    """A random id of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def language_of_request(request: Request) -> Any:
    """``zh`` or ``en`` from ``Accept-Language``, else the setting."""
    accepted = request.headers.get("accept-language", "").lower()
    return "zh" if accepted.startswith("zh") else "en" if accepted.startswith("en") else settings().lang


def install(app: FastAPI) -> None:
    """Registers the handlers."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        places = [{"where": ".".join(str(p) for p in item["loc"]), "message": item["msg"]} for item in error.errors()]
        detail = "; ".join(f"{p['where']}: {p['message']}" for p in places[:3])
        return problem(request, 422, "invalid_request", f"{detail}. See /docs for the body.", errors=places)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        code, hint = _TITLES.get(error.status_code, ("http_error", str(error.detail)))
        return problem(request, error.status_code, code, f"{request.method} {request.url.path}: {hint}")

    @app.exception_handler(AssistantError)
    async def _ours(request: Request, error: AssistantError) -> JSONResponse:
        status = 422 if isinstance(error, InputError) else 500
        return problem(request, status, error.code, error.message(language_of_request(request)))

    @app.exception_handler(Exception)
    async def _fault(request: Request, _: Exception) -> JSONResponse:
        return problem(request, 500, "internal_error", "The server made a mistake; report it with the request id.")
