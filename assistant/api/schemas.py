"""Bodies of requests, and what replies look like in the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Lang = Literal["auto", "zh", "en"]
Engine = Literal["auto", "offline", "llm"]

LOG = "step:1 - actor/entropy:0.156 - critic/rewards/mean:0.0469"


class ExplainRequest(BaseModel):
    """A log and a question about it; the log may also come as files of a form."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": LOG, "question": "entropy 是多少", "lang": "auto"}]}
    )

    text: str = Field(default="", description="The log as pasted; a question may stand in it.")
    question: str = Field(
        default="", max_length=20_000, description="Empty: the question in the text, else explain what matters."
    )
    lang: Lang = Field(default="auto", description="Language of the answer; `auto`: the question's.")
    engine: Engine = Field(default="auto", description="`auto`: a model where one is configured.")
    name: str = Field(default="", max_length=255, description="What the log is called in the answer.")


class ParseRequest(BaseModel):
    """A log; it may also come as files of a form."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": LOG}]})

    text: str = Field(default="", description="The log as pasted.")
    name: str = Field(default="", max_length=255)
    lang: Lang = "auto"


class CheckRequest(BaseModel):
    """A log, and what should hold beyond the rules that are shipped."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "step:1 - actor/ppo_kl:0.12 - actor/grad_norm:0.3", "thresholds": ["actor/ppo_kl < 0.05"]}
            ]
        }
    )

    text: str = Field(default="", description="The log as pasted.")
    thresholds: list[str] = Field(
        default_factory=list, max_length=200, description="Conditions such as `actor/ppo_kl < 0.05`."
    )
    lang: Lang = "auto"
    name: str = Field(default="", max_length=255)


class VerifyRequest(BaseModel):
    """A log, and a text about it; the log may also come as files of a form."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"log": "step:1 - actor/entropy:0.156 - actor/grad_norm:0.3", "text": "Entropy at step 1 is 0.151."}
            ]
        }
    )

    log: str = Field(default="", description="The log as pasted.")
    text: str = Field(
        min_length=1, max_length=2_000_000, description="Anybody's text about the log: an answer, a report."
    )
    lang: Lang = "auto"
    name: str = Field(default="", max_length=255)


class Problem(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank", "title": "empty input", "status": 422, "code": "empty_input",
                    "detail": "There is no log: put it in text, or send files.", "instance": "/explain",
                    "request_id": "4f1c0a9be2d37765",
                }
            ]
        },
    )  # fmt: skip

    type: str = Field(description="Always `about:blank`.")
    title: str
    status: int
    code: str = Field(description="Stable; programs go by it.")
    detail: str = Field(description="What was wrong and what to do, in the caller's language.")
    instance: str = Field(description="The path asked for.")
    request_id: str


class Shape(BaseModel):
    """A reply that may hold further members."""

    model_config = ConfigDict(extra="allow")


class Answer(Shape):
    """The answer object `metric-assistant/answer/1`; its whole schema ships as `answer.schema.json`."""

    question: str
    language: str
    engine: str
    intent: str
    slots: dict[str, Any]
    verdict: dict[str, Any] = Field(description="`code`, `summary`, `confidence`.")
    answer: str = Field(description="Markdown.")
    findings: list[dict[str, Any]]
    facts: list[dict[str, Any]] = Field(description="Every number of the answer, with the line it stands on.")
    citations: list[dict[str, Any]]
    charts: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    grounding: dict[str, Any] = Field(description="How many numbers of the text are tied to a fact.")
    usage: dict[str, Any]
    warnings: list[str]


class Parsed(Shape):
    """The runs of a log, each an exact table; NaN and infinities are strings."""

    runs: list[dict[str, Any]]


class Checked(Shape):
    """What every rule and threshold says."""

    verdict: dict[str, Any]
    language: str
    findings: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    report: str = Field(description="Markdown.")
    warnings: list[str]


class Audited(Shape):
    """An audit, sentence by sentence."""

    sentences: list[dict[str, Any]]
    summary: dict[str, int]
    facts: list[dict[str, Any]]


class Found(Shape):
    """Definitions, best first."""

    results: list[dict[str, Any]]


class Definition(Shape):
    """One definition in both languages, or a passage of a team's own document."""


class Alive(Shape):
    """The process lives."""

    status: Literal["ok"]
    version: str


class Part(BaseModel):
    """A thing that the server depends on."""

    status: Literal["ok", "degraded", "missing"]
    reason: str = ""


class Ready(Shape):
    """Whether it can answer, and what is missing."""

    status: Literal["ready", "degraded", "not_ready", "stopping"]
    cards: int
    parts: dict[str, Part]


_WHY = {
    400: "The body is damaged, cut, or no form.",
    401: "A key is needed, or the one shown is not known.",
    403: "The key lacks a scope, or the request came from another site or machine.",
    404: "There is no such thing.",
    410: "It is not kept any more.",
    413: "The body, or the memory that work on it takes, is over its limit.",
    415: "The type or encoding of the body is not supported.",
    421: "The `Host` is not this server's.",
    422: "The input can be mended by the caller: the detail says how.",
    429: "Too many requests; `Retry-After` says when to come back.",
    503: "Something that the server needs is missing.",
    504: "It took longer than a job may.",
    507: "The system ended the worker.",
}
_CODES = {
    400: "body_cut", 401: "key_needed", 403: "scope_missing", 404: "not_found", 410: "stream_gone",
    413: "body_too_large", 415: "unsupported_media_type", 421: "host_not_allowed", 422: "empty_input", 429: "busy",
    503: "not_ready", 504: "job_timeout", 507: "worker_ended",
}  # fmt: skip


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error replies of a route, for its ``responses``."""
    replies: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 403, 421, *statuses}):
        example = {
            "type": "about:blank", "title": _CODES[status].replace("_", " "), "status": status, "code": _CODES[status],
            "detail": _WHY[status], "instance": "/explain", "request_id": "4f1c0a9be2d37765",
        }  # fmt: skip
        replies[status] = {
            "description": _WHY[status],
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
            },
        }
        if status == 429:
            replies[status]["headers"] = {
                "Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}
            }
    return replies


#: Of every route that works on a text.
WORK = (400, 413, 415, 422, 429, 504, 507)


def body_of(model: type[BaseModel], *, file_names: str = "files") -> dict[str, Any]:
    """The request body of a route that reads it itself: JSON or a form with files (``openapi_extra``)."""
    name = model.__name__
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    fields = {**schema["properties"], file_names: {"type": "array", "items": {"type": "string", "format": "binary"}}}
    example = schema["examples"][0]
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}, "example": example},
                "multipart/form-data": {
                    "schema": {
                        "type": "object", "properties": fields,
                        **({"required": schema["required"]} if "required" in schema else {}),
                    }
                },
            },
        }
    }  # fmt: skip
