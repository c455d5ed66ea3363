"""The OpenAI-compatible routes, asked by the real clients over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator

import httpx
import openai
import pytest
import uvicorn
from langchain_openai import ChatOpenAI

from assistant.api.app import create_app
from assistant.devmodel import DevModel

LOG = "\n".join(
    f"step:{step} - actor/entropy:{0.5 - 0.01 * step} - actor/grad_norm:0.3 - critic/rewards/mean:{0.1 + 0.02 * step}"
    for step in range(1, 13)
)


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    config = uvicorn.Config(create_app(), host="127.0.0.1", port=0, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        thread.join(0.02)
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def client(address: str) -> Generator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=60) as found:
        yield found


def ask(client: openai.OpenAI, *texts: str, **options: object) -> str:
    """The reply to texts said in turn by the user and the assistant."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    reply = client.chat.completions.create(model="metric-assistant", messages=messages, **options)  # type: ignore[call-overload]
    content = reply.choices[0].message.content
    assert isinstance(content, str)
    return content


def test_models_are_listed_and_one_is_told(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names[0] == "metric-assistant"
    assert client.models.retrieve(names[1]).id == "metric-assistant-offline"
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.models.retrieve("gpt-none")


def test_log_and_question_in_one_message_are_answered_with_traced_numbers(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(
        model="metric-assistant", messages=[{"role": "user", "content": f"{LOG}\n\nactor/entropy at step 3?"}]
    )
    assert "0.47" in (reply.choices[0].message.content or "")
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.prompt_tokens > 100
    about = reply.model_extra["metric_assistant"]  # type: ignore[index]
    assert about["verdict"]["code"] == "answered"
    assert about["grounding"]["unsupported"] == []


def test_question_in_a_later_message_reads_the_log_of_an_earlier_one(client: openai.OpenAI) -> None:
    assert "0.47" in ask(client, LOG, "I read it.", "entropy at step 3?")


def test_follow_up_knows_what_was_asked_before(client: openai.OpenAI) -> None:
    first = "entropy at step 3?"
    assert "0.45" in ask(client, f"{LOG}\n\n{first}", "0.47", "and at step 5?")


def test_figures_in_a_reply_of_the_assistant_are_no_log(client: openai.OpenAI) -> None:
    invented = "step:99 - actor/entropy:7.77 - actor/grad_norm:8.88"
    told = ask(client, LOG, invented, "actor/entropy at step 99?")
    assert "7.77" not in told


def test_log_that_an_editor_put_beside_the_question_is_found(client: openai.OpenAI) -> None:
    messages = [
        {"role": "system", "content": f"File train.log:\n{LOG}"},
        {"role": "user", "content": "熵在第 4 步是多少？"},
    ]
    reply = client.chat.completions.create(model="metric-assistant", messages=messages)  # type: ignore[call-overload]
    assert "0.46" in reply.choices[0].message.content


def test_text_parts_are_read_and_pictures_left_alone(client: openai.OpenAI) -> None:
    parts = [
        {"type": "text", "text": LOG},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "actor/grad_norm at step 2?"},
    ]
    reply = client.chat.completions.create(
        model="metric-assistant", messages=[{"role": "user", "content": parts}]  # type: ignore[call-overload]
    )  # fmt: skip
    assert "0.3" in reply.choices[0].message.content


def test_chunks_make_the_whole_reply_and_end_with_usage(client: openai.OpenAI) -> None:
    question = [{"role": "user", "content": f"{LOG}\n\nactor/entropy at step 3?"}]
    whole = client.chat.completions.create(model="metric-assistant", messages=question)  # type: ignore[call-overload]
    stream = client.chat.completions.create(
        model="metric-assistant", messages=question, stream=True, stream_options={"include_usage": True}
    )  # type: ignore[call-overload]
    chunks = list(stream)
    told = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert told == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens


def test_async_client_streams_without_usage(address: str) -> None:
    import asyncio

    async def run() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as api:
            stream = await api.chat.completions.create(
                model="metric-assistant", messages=[{"role": "user", "content": f"{LOG}\n\nentropy?"}], stream=True
            )
            return [chunk.choices[0].delta.content or "" async for chunk in stream]

    assert len("".join(asyncio.run(run()))) > 20


def test_langchain_asks_and_its_tools_are_left_alone(address: str) -> None:
    tool = {
        "type": "function",
        "function": {"name": "shell", "description": "runs", "parameters": {"type": "object", "properties": {}}},
    }
    model = ChatOpenAI(base_url=f"{address}/v1", api_key="none", model="metric-assistant", max_retries=0)  # type: ignore[arg-type]
    reply = model.bind_tools([tool]).invoke(f"{LOG}\n\nactor/entropy at step 3?")
    assert "0.47" in str(reply.content)
    assert reply.tool_calls == []


@pytest.mark.parametrize(
    "given",
    [f"{LOG}\n\nactor/entropy at step 3?", [{"role": "user", "content": [{"type": "input_text", "text": LOG}]},
     {"type": "function_call_output", "call_id": "c1", "output": "nothing"},
     {"type": "message", "role": "user", "content": "actor/entropy at step 3?"}]],
)  # fmt: skip
def test_body_of_the_responses_shape_is_answered_with_a_completion(address: str, given: object) -> None:
    body = {"model": "metric-assistant", "input": given, "instructions": "Be brief.", "store": False}
    with httpx.Client(timeout=60) as raw:
        reply = raw.post(f"{address}/v1/chat/completions", json=body)
    assert reply.status_code == 200
    assert reply.json()["object"] == "chat.completion"
    assert "0.47" in reply.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "m"}, 400, "no messages"),
        ({"messages": []}, 400, "no messages"),
        ({"messages": [{"role": "user", "content": 3}]}, 400, "malformed"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, 400, "user"),
        ({"messages": [{"role": "user", "content": LOG}], "n": 3}, 400, "n at 1"),
        ({"messages": "hello"}, 422, "messages"),
    ],
)
def test_bad_body_is_an_error_that_both_kinds_of_client_read(
    address: str, body: dict[str, object], status: int, words: str
) -> None:
    with httpx.Client(timeout=60) as raw:
        reply = raw.post(f"{address}/v1/chat/completions", json=body, headers={"accept-language": "en"})
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    told = reply.json()
    assert words in told["detail"]
    assert told["request_id"]
    if status == 400:
        assert told["error"]["message"] == told["detail"]


def test_chat_without_a_log_says_that_there_is_none_and_makes_nothing_up(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(
        model="metric-assistant", messages=[{"role": "user", "content": "Is my run healthy?"}]
    )
    assert reply.model_extra["metric_assistant"]["verdict"]["code"] == "no_metrics"  # type: ignore[index]


def test_stream_of_a_model_is_what_the_whole_reply_says(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with DevModel() as upstream:
        monkeypatch.setenv("ASSISTANT_LLM_MODEL", "dev")
        monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", upstream.base_url)
        monkeypatch.setenv("ASSISTANT_LLM_CACHE", "0")
        body = {"model": "metric-assistant", "messages": [{"role": "user", "content": f"{LOG}\n\nentropy trend?"}]}
        with httpx.Client(timeout=120) as raw:
            whole = raw.post(f"{address}/v1/chat/completions", json=body).json()
            told = ""
            with raw.stream("POST", f"{address}/v1/chat/completions", json={**body, "stream": True}) as reply:
                for line in reply.iter_lines():
                    if line.startswith("data: {"):
                        choices = json.loads(line[6:])["choices"]
                        told += choices[0]["delta"].get("content", "")
    assert whole["metric_assistant"]["engine"] != "offline"
    assert told.split() == whole["choices"][0]["message"]["content"].split()
