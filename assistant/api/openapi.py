"""The OpenAPI document: bodies that routes read themselves, problem documents, keys."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from assistant.api.schemas import CheckRequest, ExplainRequest, ParseRequest, Problem, VerifyRequest, problems

#: Schemas that are only referred to by name.
_NAMED = (ExplainRequest, ParseRequest, CheckRequest, VerifyRequest, Problem)


def describe(app: FastAPI) -> None:
    """Gives an application its document, made when it is first asked for."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes,
        license_info=app.license_info,
    )  # fmt: skip
    parts = found.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for model in _NAMED:
        schemas.setdefault(model.__name__, model.model_json_schema(ref_template="#/components/schemas/{model}"))
    for name in ("HTTPValidationError", "ValidationError"):  # errors are problem documents here
        schemas.pop(name, None)
    parts["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "Where ASSISTANT_API_KEYS is set."},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    found["security"] = [{}, {"bearer": []}, {"header": []}]
    for path, operations in found["paths"].items():
        for operation in operations.values():
            _mend(operation, open_to_all=path == "/healthz")
    return found


def _mend(operation: dict[str, Any], *, open_to_all: bool) -> None:
    """Every route may refuse a caller, and FastAPI's own 422 is a problem document too."""
    if not open_to_all:
        for status, refusal in problems().items():
            operation["responses"].setdefault(str(status), refusal)
    reply = operation.get("responses", {}).get("422")
    if reply and "application/json" in reply.get("content", {}):
        problem = reply["content"].get("application/problem+json") or {
            "schema": {"$ref": "#/components/schemas/Problem"}
        }
        reply["content"] = {"application/problem+json": problem}
