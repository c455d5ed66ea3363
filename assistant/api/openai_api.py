"""``/v1``: the API of OpenAI as far as a chat client needs it, so that Open WebUI, Continue, Cursor or the ``openai``
package can ask about a log that stands in the conversation.

What does not apply is accepted and left alone: ``tools``, ``temperature``, ``max_tokens``, ``stop`` and the like.
Bodies of the Responses shape (``input``, ``instructions``) are understood too; the reply is a chat completion.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from assistant.api.access import needs
from assistant.api.problems import ApiError, language_of_request, problem
from assistant.api.running import run_job
from assistant.model import AssistantError, InputError
from assistant.model.jsontext import json_bytes
from assistant.service import service
from assistant.service.completions import MODELS, Conversation, offline_answer, read_chat, said, tokens
from assistant.settings import settings

_CREATED = 1767225600  # when the models came to be, as the list wants it: 2026-01-01
_EXAMPLE: dict[str, Any] = {
    "model": "metric-assistant",
    "messages": [
        {
            "role": "user",
            "content": "step:1 - actor/entropy:0.156 - critic/rewards/mean:0.0469\n\nentropy 是多少",
        }
    ],
}


class Message(BaseModel):
    """A message of a chat; further fields are accepted and left alone."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: JsonValue = Field(default=None, description="A string, or a list of text parts.")


class ChatRequest(BaseModel):
    """A chat; the log is wherever the user pasted it, the last question wins."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_EXAMPLE]})

    model: str = Field(default="metric-assistant", description="One of /v1/models; another name is taken as the first.")
    messages: list[Message] | None = Field(default=None, description="The conversation, oldest first.")
    input: JsonValue = Field(default=None, description="The conversation in the Responses shape, if `messages` is not.")
    instructions: str | None = None
    stream: bool | None = False
    stream_options: dict[str, JsonValue] | None = None
    n: int | None = Field(default=1, description="One reply is given whatever is asked; more than one is refused.")


class Model(BaseModel):
    """A model of the list."""

    id: str
    object: Literal["model"] = "model"
    created: int = _CREATED
    owned_by: str = "metric-assistant"


class ModelList(BaseModel):
    """The models: the engine that is configured, offline always, a language model always."""

    object: Literal["list"] = "list"
    data: list[Model]


router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"], dependencies=[Depends(needs("ask"))])


def install(app: FastAPI) -> None:
    """Adds the routes."""
    app.include_router(router)


@router.get("/models", summary="The engines, as models")
async def models() -> ModelList:
    """The models that a client can choose."""
    return ModelList(data=[Model(id=name) for name in MODELS])


@router.get("/models/{name}", summary="One of them")
async def model(request: Request, name: str) -> Response:
    """A model by its name."""
    if name not in MODELS:
        known = ", ".join(MODELS)
        return _error(request, 404, "model_not_found", f"The model “{name[:80]}” does not exist. There are: {known}.")
    return JSONResponse(Model(id=name).model_dump())


@router.post(
    "/chat/completions", summary="A reply to a chat about a log",
    response_model=None, responses={200: {"description": "A chat completion, or its chunks as server-sent events."}},
)  # fmt: skip
async def chat_completions(request: Request, body: Annotated[ChatRequest, Body()]) -> Response:
    """Answers the last question about the logs in the messages, as JSON or as a stream of chunks."""
    if body.n not in {None, 0, 1}:
        return _error(request, 400, "unsupported_value", "One reply is given: leave n at 1.", param="n")
    wanted = body.model_dump(exclude_unset=True)
    engine = MODELS.get(body.model, "auto")
    try:
        messages = said(wanted)
        texts = [message.text for message in messages]
        weight = sum(map(len, texts))
        asked: Conversation | dict[str, Any]
        if engine == "offline" or not settings().models:
            asked = await run_job(request, offline_answer, messages, engine, weight=weight)
        else:
            asked = await run_job(request, read_chat, messages)
    except AssistantError as error:
        message = error.message(language_of_request(request))
        if isinstance(error, ApiError):
            return _error(request, error.status, error.code, message, headers=error.headers, **error.extra)
        return _error(request, 400 if isinstance(error, InputError) else 500, error.code, message)
    head = {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.model,
    }
    if body.stream:
        usage = bool((body.stream_options or {}).get("include_usage"))
        return StreamingResponse(
            _chunks({**head, "object": "chat.completion.chunk"}, asked, engine, texts, usage=usage),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )
    answer = None
    async for kind, data in _events(asked, engine):
        if kind == "answer":
            answer = data
    assert answer is not None
    content = _content(answer)
    reply = {
        **head,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": _usage(texts, content),
        "metric_assistant": _about(answer),
    }
    return Response(json_bytes(reply), media_type="application/json")


async def _events(asked: Conversation | dict[str, Any], engine: str) -> AsyncIterator[tuple[str, Any]]:
    """``delta`` texts, then the ``answer`` as JSON; an answer that is there already is one delta."""
    if isinstance(asked, dict):
        yield "delta", asked["answer"]
        yield "answer", asked
        return
    events = service().stream(asked.material, asked.question, engine=engine, state=asked.state, own_question=False)
    try:
        async for event in events:
            if event.kind == "delta":
                yield "delta", event.data
            elif event.kind == "answer":
                yield "answer", event.data.answer.to_json()
    finally:
        await events.aclose()


async def _chunks(
    head: Mapping[str, Any], asked: Conversation | dict[str, Any], engine: str, texts: list[str], *, usage: bool
) -> AsyncIterator[bytes]:
    """The reply as chunks; what the finished answer adds to what was sent comes at its end."""

    def chunk(delta: Mapping[str, Any], finish: str | None = None, **extra: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
        counted = {"usage": None} if usage else {}
        return b"data: " + json_bytes({**head, "choices": choices, **counted, **extra}) + b"\n\n"

    yield chunk({"role": "assistant", "content": ""})
    sent = ""
    try:
        async for kind, data in _events(asked, engine):
            if kind == "delta":
                sent += data
                yield chunk({"content": data})
                continue
            rest = data["answer"].removeprefix(sent) if data["answer"].startswith(sent) else ""
            rest += _footer(data)
            if rest:
                sent += rest
                yield chunk({"content": rest})
            yield chunk({}, "stop", metric_assistant=_about(data))
    except Exception:  # the head has gone out: the client is told in the stream
        failed = {"message": "The server made a mistake.", "type": "server_error", "param": None, "code": "internal"}
        yield b"data: " + json_bytes({"error": failed}) + b"\n\n"
        raise
    if usage:
        yield b"data: " + json_bytes({**head, "choices": [], "usage": _usage(texts, sent)}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _content(answer: Mapping[str, Any]) -> str:
    return str(answer["answer"]) + _footer(answer)


def _footer(answer: Mapping[str, Any]) -> str:
    """Warnings and how many numbers are traced, below the answer."""
    text = "".join(f"\n\n> {warning}" for warning in answer["warnings"])
    supported, numbers = answer["grounding"]["supported"], answer["grounding"]["numbers"]
    if numbers:
        chinese = answer["language"] == "zh"
        told = f"{supported} / {numbers} 个数字可追溯" if chinese else f"{supported} of {numbers} numbers traced"
        text += f"\n\n*{told}*"
    return text


def _about(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What the API has no field for: verdict, intent, grounding, engine, and what a model used."""
    return {name: answer[name] for name in ("engine", "intent", "verdict", "grounding", "usage")}


def _usage(texts: list[str], reply: str) -> dict[str, int]:
    """Tokens of what was sent and replied, whatever engine answered."""
    prompt, completion = tokens(texts), tokens([reply])
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _error(
    request: Request, status: int, code: str, message: str, *, param: str | None = None, **more: Any
) -> JSONResponse:
    """A problem document that OpenAI's clients can read as well."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    told = {"message": message, "type": kind, "param": param, "code": code}
    return problem(request, status, code, message, error=told, **more)
