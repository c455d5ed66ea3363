from __future__ import annotations

import asyncio
import json
import socket
import time

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI

from assistant.devmodel import DevModel, ScriptError, builtin, builtin_names, load_script

TOOL = {
    "type": "function",
    "function": {
        "name": "get_values",
        "description": "values",
        "parameters": {"type": "object", "properties": {"metric": {"type": "string"}}, "required": ["metric"]},
    },
}
QUESTION = [{"role": "user", "content": "facts\n<answer>\n熵在第 2 步是 0.15，actor/entropy 下降。\n</answer>"}]
TOLD = "熵在第 2 步是 0.15，actor/entropy 下降。"


def client(server: DevModel, **options: object) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="secret-key", max_retries=0, timeout=5, **options)  # type: ignore[arg-type]


def test_chat_whole_says_the_answer_and_its_tokens() -> None:
    with DevModel() as server, client(server) as api:
        reply = api.chat.completions.create(model="dev", messages=QUESTION)  # type: ignore[call-overload]
    assert reply.choices[0].message.content == TOLD
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0
    assert server.received[0].headers["authorization"] == "***"
    assert "secret-key" not in json.dumps([dict(r.headers) for r in server.received])


@pytest.mark.parametrize("script", ["echo", "split_characters"])
def test_chat_stream_says_the_same_in_pieces(script: str) -> None:
    with DevModel(script) as server, client(server) as api:
        stream = api.chat.completions.create(
            model="dev", messages=QUESTION, stream=True, stream_options={"include_usage": True}
        )  # type: ignore[call-overload]
        chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == TOLD
    assert chunks[-1].usage is not None
    assert chunks[-2].choices[0].finish_reason == "stop"


def test_async_client_streams() -> None:
    async def ask() -> str:
        with DevModel() as server:
            async with openai.AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0) as api:
                stream = await api.chat.completions.create(model="dev", messages=QUESTION, stream=True)  # type: ignore[call-overload]
                return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])

    assert asyncio.run(ask()) == TOLD


@pytest.mark.parametrize("stream", [True, False])
def test_langchain_gets_tool_calls_with_whole_arguments(stream: bool) -> None:
    script = load_script('rules: [{then: {tool_calls: [{name: get_values, arguments: {metric: "熵 actor/entropy"}}]}}]')
    with DevModel(script) as server:
        model = ChatOpenAI(base_url=server.base_url, api_key="k", model="dev", streaming=stream, max_retries=0)  # type: ignore[arg-type]
        reply = model.bind_tools([TOOL]).invoke("entropy?")
    assert reply.tool_calls[0]["name"] == "get_values"
    assert reply.tool_calls[0]["args"] == {"metric": "熵 actor/entropy"}


def test_agent_calls_a_tool_then_says_its_values() -> None:
    messages: list[object] = [{"role": "user", "content": "what is actor/entropy?"}]
    with DevModel("agent") as server, client(server) as api:
        first = api.chat.completions.create(model="dev", messages=messages, tools=[TOOL])  # type: ignore[call-overload]
        call = first.choices[0].message.tool_calls[0]
        assert json.loads(call.function.arguments) == {"metric": "actor/entropy"}
        result = json.dumps({"facts": [{"metric": "actor/entropy", "step": 2, "value": 0.25}]})
        messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": result}]
        last = api.chat.completions.create(model="dev", messages=messages, tools=[TOOL])  # type: ignore[call-overload]
    assert last.choices[0].message.content == "`actor/entropy` at step 2 is 0.25."


def test_responses_and_embeddings_and_models_are_spoken() -> None:
    with DevModel() as server, client(server) as api:
        assert api.responses.create(model="dev", input="<answer>yes</answer>").output_text == "yes"
        events = list(api.responses.create(model="dev", input="<answer>yes</answer>", stream=True))
        vectors = api.embeddings.create(model="dev", input=["one text", "one text"]).data
        assert [model.id for model in api.models.list()] == ["dev", "dev-small"]
    assert events[-1].type == "response.completed"
    assert vectors[0].embedding == vectors[1].embedding
    assert sum(v * v for v in vectors[0].embedding) == pytest.approx(1, abs=1e-5)


REFUSED = {
    "wrong_key": openai.AuthenticationError, "forbidden": openai.PermissionDeniedError,
    "unknown_model": openai.NotFoundError, "bad_request": openai.BadRequestError,
    "context_overflow": openai.BadRequestError, "too_large": openai.APIStatusError,
    "rate_limited": openai.RateLimitError, "quota": openai.RateLimitError,
    "server_error": openai.InternalServerError, "bad_gateway": openai.InternalServerError,
    "gateway_timeout": openai.InternalServerError, "reset": openai.APIConnectionError,
    "garbage": openai.APIConnectionError,
}  # fmt: skip


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("script", sorted(REFUSED))
def test_fault_is_the_error_that_the_client_names(script: str, stream: bool) -> None:
    with DevModel(script) as server, client(server) as api, pytest.raises(REFUSED[script]):
        api.chat.completions.create(model="dev", messages=QUESTION, stream=stream)  # type: ignore[call-overload]


@pytest.mark.parametrize("script", ["cut", "cut_at_once"])
def test_stream_that_is_cut_breaks_the_connection(script: str) -> None:
    with DevModel(script) as server, httpx.Client() as raw:
        body = {"model": "dev", "messages": QUESTION, "stream": True}
        with (
            pytest.raises(httpx.RemoteProtocolError),
            raw.stream("POST", f"{server.base_url}/chat/completions", json=body) as reply,
        ):
            reply.read()


@pytest.mark.parametrize("script", ["hang", "stall", "drip"])
def test_reply_that_does_not_end_runs_into_the_timeout_and_is_seen_as_cancelled(script: str) -> None:
    with DevModel(script) as server, httpx.Client(timeout=0.3) as raw:
        body = {"model": "dev", "messages": QUESTION, "stream": True}
        with (
            pytest.raises(httpx.ReadTimeout),
            raw.stream("POST", f"{server.base_url}/chat/completions", json=body) as reply,
        ):
            reply.read()
        until = time.monotonic() + 3
        while not server.received[0].cancelled and time.monotonic() < until:
            time.sleep(0.01)
        assert server.received[0].cancelled
    assert server.received[0].seconds is not None


def test_rule_that_serves_once_gives_way_to_the_next() -> None:
    with DevModel("rate_limited_once") as server, client(server) as api:
        with pytest.raises(openai.RateLimitError) as refused:
            api.chat.completions.create(model="dev", messages=QUESTION)  # type: ignore[call-overload]
        assert refused.value.response.headers["retry-after"] == "1"
        assert api.chat.completions.create(model="dev", messages=QUESTION).choices[0].message.content == TOLD  # type: ignore[call-overload]


def test_requests_side_by_side_are_all_answered() -> None:
    async def ask_all() -> list[int]:
        with DevModel(load_script("rules: [{then: {behave: echo, delay: 0.1}}]")) as server:
            async with httpx.AsyncClient() as raw:
                body = {"model": "dev", "messages": QUESTION}
                replies = await asyncio.gather(
                    *(raw.post(f"{server.base_url}/chat/completions", json=body) for _ in range(20))
                )
            assert server.most_at_once > 1
            return [reply.status_code for reply in replies]

    assert asyncio.run(ask_all()) == [200] * 20


def test_port_is_free_again_and_a_taken_one_is_an_error() -> None:
    with DevModel() as server:
        port = server.port
        with pytest.raises(OSError, match="in use"), DevModel(port=port):
            pass
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("name", sorted(builtin_names()))
def test_shipped_script_is_sound_and_says_what_it_does(name: str) -> None:
    assert builtin(name).rules
    assert len(builtin_names()[name]) > 2


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("rules: [{then: {text: 3}}]", "rules/0/then/text"),
        ("rules: []", "rules"),
        ("rules: [{then: {}, when: {contains: '('}}]", "rules/0/when/contains"),
        ("rules: {", "not YAML"),
        ("rule: []", "top"),
    ],
)
def test_script_that_is_unsound_names_the_place(text: str, where: str) -> None:
    with pytest.raises(ScriptError, match=where):
        load_script(text)


def test_request_without_a_route_or_json_is_told_so() -> None:
    with DevModel() as server, httpx.Client() as raw:
        assert raw.get(f"{server.base_url}/nothing").status_code == 404
        assert raw.post(f"{server.base_url}/chat/completions", content=b"{").status_code == 400
        assert raw.post(f"{server.base_url}/chat/completions", json={"messages": []}).status_code == 200
