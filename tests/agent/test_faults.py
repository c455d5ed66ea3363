from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import httpx
import pytest

from assistant.agent.faults import fault_of, is_refusal
from assistant.agent.model import chat_model, http_client
from assistant.devmodel import DevModel, builtin
from assistant.settings import Endpoint
from tests.agent.support import script

EXPECTED = {
    "wrong_key": "key", "forbidden": "key", "unknown_model": "not_found", "bad_request": "bad_request",
    "no_tools": None, "context_overflow": "too_long", "context_overflow_once": "too_long", "too_large": "too_long",
    "rate_limited": "rate_limited", "quota": "quota", "server_error": "server", "bad_gateway": "server",
    "gateway_timeout": "server", "reset": "connection", "garbage": "malformed", "cut": "cut", "cut_at_once": "cut",
    "invalid_json": "malformed", "html": "malformed",
}  # fmt: skip


def raised(server: DevModel | str, *, stream: bool) -> BaseException | None:
    url = server if isinstance(server, str) else server.base_url

    async def ask() -> BaseException | None:
        async with http_client() as client:
            try:
                await chat_model(Endpoint("m", url), client, stream=stream).ainvoke("hello")
            except Exception as error:
                return error
            return None

    return asyncio.run(ask())


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fault_of_what_a_server_does_is_named(name: str, stream: bool) -> None:
    with DevModel(builtin(name)) as server:
        error = raised(server, stream=stream)
    assert (None if error is None else fault_of(error).reason) == EXPECTED[name]


def test_fault_of_a_closed_port_is_the_connection() -> None:
    with DevModel() as server:
        url = server.base_url
    error = raised(url, stream=True)
    assert error is not None
    assert fault_of(error).reason == "connection"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "DATE"}, 100.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    headers = {name: formatdate(time.time() + 100, usegmt=True) if v == "DATE" else v for name, v in headers.items()}
    step = {"status": 429, "headers": headers, "error": {"message": "slow", "type": "requests"}}
    with DevModel(script(step)) as server:
        error = raised(server, stream=True)
    assert error is not None
    found = fault_of(error).retry_after
    assert found == (None if seconds is None else pytest.approx(seconds, abs=2))


@pytest.mark.parametrize("error", [TimeoutError(), httpx.ReadTimeout("x")])
def test_fault_of_a_timeout(error: Exception) -> None:
    assert fault_of(error).reason == "timeout"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("抱歉，我无法回答这个问题。", True),
        ("I cannot say whether it improved: the steps differ.", False),
        ("The reward fell. Sorry to say so.", False),
        ("", False),
    ],
)
def test_is_refusal_looks_at_how_a_short_text_begins(text: str, refused: bool) -> None:
    assert is_refusal(text) is refused
