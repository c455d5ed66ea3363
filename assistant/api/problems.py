"""Errors as ``application/problem+json`` (RFC 9457) with a stable code and a request id."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
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
_LONGEST_MESSAGE = 2000
_MOST_PLACES = 50


class ApiError(AssistantError):
    """A problem that a route raises.

    Args:
        status: HTTP status.
        code: the stable code.
        zh: the message in Chinese.
        en: the message in English.
        headers: of the reply.
        extra: further members of the document; ``retry_after`` (seconds) is a header too.
    """

    def __init__(
        self, status: int, code: str, zh: str, en: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(zh=zh, en=en)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.extra = extra

    def __reduce__(self) -> Any:  # its arguments are not those of Exception, and it comes out of worker processes
        return _remade, ((self.status, self.code, self.zh, self.en), self.headers, self.extra)


def _remade(told: tuple[int, str, str, str], headers: dict[str, str], extra: dict[str, Any]) -> ApiError:
    return ApiError(*told, headers=headers, **extra)


def problem(
    request: Request, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
) -> JSONResponse:
    """A problem document; ``retry_after`` among the further members is a header too."""
    request_id = request_id_of(request)
    request.scope.setdefault("state", {})["problem"] = code  # for the access log
    body = {
        "type": "about:blank", "title": code.replace("_", " "), "status": status, "code": code,
        "detail": detail[:_LONGEST_MESSAGE], "instance": request.url.path, "request_id": request_id, **extra,
    }  # fmt: skip
    sent = {"x-request-id": request_id, **(headers or {})}
    if "retry_after" in extra:
        sent["retry-after"] = str(extra["retry_after"])
    return JSONResponse(body, status, media_type="application/problem+json", headers=sent)


def told(request: Request, error: AssistantError) -> JSONResponse:
    """The problem document of one of our errors, in the caller's language."""
    message = error.message(language_of_request(request))
    if isinstance(error, ApiError):
        return problem(request, error.status, error.code, message, headers=error.headers, **error.extra)
    status = getattr(error, "status", 422 if isinstance(error, InputError) else 500)
    return problem(request, status, error.code, message, **getattr(error, "extra", {}))


def request_id_of(request: Request) -> str:
    """The id of a request, made when it has none yet."""
    found: str = request.scope.setdefault("state", {}).setdefault("request_id", new_request_id())
    return found


def new_request_id() -> str:
    """A random id of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def language_of_request(request: Request) -> Any:
    """``zh`` or ``en`` from ``Accept-Language``, else the setting."""
    accepted = request.headers.get("accept-language", "").lower()
    return "zh" if accepted.startswith("zh") else "en" if accepted.startswith("en") else settings().lang


def invalid(request: Request, errors: Any) -> JSONResponse:
    """The problem document of a body or parameters that break their schema; what was sent is not repeated."""
    places = [
        {"where": ".".join(str(part)[:100] for part in item["loc"]), "message": str(item["msg"])[:300]}
        for item in list(errors)[:_MOST_PLACES]
    ]
    detail = "; ".join(f"{place['where']}: {place['message']}" for place in places[:3])
    chinese = language_of_request(request) == "zh"
    detail = f"请求不合要求：{detail}。格式见 /docs。" if chinese else f"{detail}. See /docs for what it takes."
    return problem(request, 422, "invalid_request", detail, errors=places)


def install(app: FastAPI) -> None:
    """Registers the handlers."""

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return invalid(request, error.errors())

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        code, hint = _TITLES.get(error.status_code, ("http_error", str(error.detail)))
        detail = f"{request.method} {request.url.path}: {hint}"
        return problem(request, error.status_code, code, detail, headers=error.headers)

    @app.exception_handler(AssistantError)
    async def _ours(request: Request, error: AssistantError) -> JSONResponse:
        return told(request, error)

    @app.exception_handler(Exception)
    async def _fault(request: Request, _: Exception) -> JSONResponse:
        return fault(request)


def fault(request: Request) -> JSONResponse:
    """The problem document of a mistake of ours; nothing of it is told."""
    return problem(request, 500, "internal_error", "The server made a mistake; report it with the request id.")
