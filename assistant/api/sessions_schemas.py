"""Bodies and replies of ``/sessions``, with examples, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assistant.api.schemas import LOG, Engine, Lang

_ID = "5b0c6f4e1a2d3c4b5a69"
_WHEN = "2026-01-05T08:30:00.000000Z"


class CreateSession(BaseModel):
    """A new session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "GRPO 熵塌缩", "lang": "zh"}]})

    title: str = Field(default="", max_length=200, description="Empty: the first question.")
    lang: Lang = Field(default="auto", description="In which questions are answered.")


class ChangeSession(BaseModel):
    """What to change of a session."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "GRPO, run 2"}]})

    title: str | None = Field(default=None, max_length=200)
    lang: Lang | None = None


class AttachRun(BaseModel):
    """A log to attach; files come as a form."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": LOG, "name": "train.log"}]})

    text: str = Field(default="", description="The log as pasted; a question may stand in it.")
    name: str = Field(default="", max_length=255)


class RenameRun(BaseModel):
    """A run's other name."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "baseline"}]})

    name: str = Field(min_length=1, max_length=255)


class PostMessage(BaseModel):
    """A question, with or without a log pasted before or after it; logs may also come as files of a form."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "entropy 的趋势", "lang": "auto", "engine": "auto"}]}
    )

    content: str = Field(default="", description="The question; a log in it is attached first.")
    lang: Lang = Field(default="auto", description="`auto`: the session's, else the question's.")
    engine: Engine = "auto"
    runs: list[str] = Field(default_factory=list, max_length=200, description="Ids of the runs it is about; else all.")
    replace: str | None = Field(
        default=None, max_length=64, description="A message that this one takes the place of, with all after it."
    )


class Message(BaseModel):
    """A message."""

    model_config = ConfigDict(extra="allow")

    id: str
    role: str = Field(description="`user` or `assistant`.")
    content: str = Field(description="Markdown of an answer; of a stopped one what had been shown.")
    status: str = Field(description="`done`, `pending`, `stopped` or `failed`.")
    answer: dict[str, Any] | None = Field(description="The answer object.")
    created: str = Field(description="ISO 8601, UTC.")
    reply_to: str | None = Field(description="Of an answer: its question.")


class SessionShape(BaseModel):
    """A session."""

    model_config = ConfigDict(extra="allow")

    id: str
    title: str
    lang: str
    created: str
    updated: str
    n_messages: int
    n_runs: int


class WholeSession(SessionShape):
    """A session with what is in it."""

    runs: list[dict[str, Any]] = Field(description="As `runs` of an answer.")
    messages: list[Message]


class SessionList(BaseModel):
    """A page of sessions."""

    sessions: list[SessionShape]
    next: str | None = Field(description="`before` of the next page.")


class MessageList(BaseModel):
    """Messages in their order."""

    messages: list[Message]


class RunList(BaseModel):
    """The runs of a session."""

    runs: list[dict[str, Any]]


class AttachedRuns(RunList):
    """What was attached."""

    run: dict[str, Any] = Field(description="The first of `runs`.")
    question: str = Field(description="That stood beside the log; empty if none did.")
    skipped: list[dict[str, Any]] = Field(description="Files without a metric, each with `name`, `code`, `detail`.")


class RunOverview(BaseModel):
    """What is shown of a run beside the conversation."""

    model_config = ConfigDict(extra="allow")

    run: dict[str, Any]
    facts: list[dict[str, Any]] = Field(description="What was recognised: `name`, `label`, `value`, `unit`.")
    warnings: list[str]
    findings: list[dict[str, Any]]
    metrics: list[dict[str, Any]] = Field(description="Each with its card's title and unit, and a curve `spark`.")


class RunSeries(BaseModel):
    """Whole courses of metrics."""

    steps: list[int]
    lines: list[int] = Field(description="Line of each step's row.")
    series: dict[str, list[Any]] = Field(description='`null` where missing, `"NaN"`, `"Infinity"` as strings.')


class Lines(BaseModel):
    """Lines of a log."""

    lines: list[dict[str, Any]] = Field(description="`n` (from 1) and `text`.")


_SESSION = {
    "id": _ID, "title": "GRPO 熵塌缩", "lang": "auto", "created": _WHEN, "updated": _WHEN, "n_messages": 0, "n_runs": 0,
}  # fmt: skip
_RUN = {
    "id": "r0", "name": "train.log", "format": "verl", "framework": "verl", "steps": [0, 14], "n_steps": 15,
    "n_metrics": 100, "warnings": [],
}  # fmt: skip
_MESSAGES = [
    {
        "id": "0f6d1c2b3a4958677685", "role": "user", "content": "entropy 的趋势", "status": "done", "answer": None,
        "created": _WHEN, "reply_to": None,
    },
    {
        "id": "9e8d7c6b5a4938271605", "role": "assistant", "content": "", "status": "pending", "answer": None,
        "created": _WHEN, "reply_to": "0f6d1c2b3a4958677685",
    },
]  # fmt: skip


def _reply(model: type[BaseModel], example: Any) -> dict[str, Any]:
    return {"model": model, "content": {"application/json": {"example": example}}}


CREATED = _reply(SessionShape, _SESSION)
SESSIONS = _reply(SessionList, {"sessions": [_SESSION], "next": None})
SESSION = _reply(WholeSession, {**_SESSION, "runs": [_RUN], "messages": _MESSAGES})
MESSAGES = _reply(MessageList, {"messages": _MESSAGES})
MESSAGE = _reply(Message, _MESSAGES[1])
ATTACHED = _reply(AttachedRuns, {"run": _RUN, "runs": [_RUN], "question": "", "skipped": []})
RUNS = _reply(RunList, {"runs": [_RUN]})
OVERVIEW = _reply(
    RunOverview,
    {
        "run": _RUN, "warnings": [], "findings": [],
        "facts": [{"name": "n_gpus", "label": "GPUs", "value": 8, "unit": "GPU"}],
        "metrics": [
            {
                "key": "actor/entropy", "title": "Policy entropy", "unit": "nats/token", "category": "policy",
                "card": "verl/actor/entropy", "n": 15, "first": 0.16, "last": 0.15, "min": 0.15, "max": 0.16,
                "spark": [0.16, 0.15], "severity": None,
            }
        ],
    },
)  # fmt: skip
SERIES = _reply(RunSeries, {"steps": [1, 2], "lines": [79, 80], "series": {"actor/entropy": [0.156, None]}})
LINES = _reply(Lines, {"lines": [{"n": 79, "text": LOG}]})


def json_body(model: type[BaseModel], *, files: bool = False) -> dict[str, Any]:
    """The request body of a route that reads it itself (``openapi_extra``), its schema in place."""
    schema = model.model_json_schema()
    example = schema["examples"][0]
    content: dict[str, Any] = {"application/json": {"schema": schema, "example": example}}
    if files:
        fields = {**schema["properties"], "files": {"type": "array", "items": {"type": "string", "format": "binary"}}}
        content["multipart/form-data"] = {"schema": {"type": "object", "properties": fields}}
    return {"requestBody": {"required": "required" in schema, "content": content}}
