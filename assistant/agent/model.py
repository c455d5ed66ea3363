"""LangChain's ``ChatOpenAI`` as it is used here: every server that speaks the protocol, its odd replies included.

Imported lazily: LangChain takes seconds to load.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from assistant.agent.faults import Fault
from assistant.settings import Endpoint

if TYPE_CHECKING:
    import httpx

#: Takes the text of a streamed reply as it comes; ``False`` ends it.
Tap = Callable[[str], bool]
TAP: ContextVar[Tap | None] = ContextVar("tap", default=None)
CONNECT = 10.0
#: Sent as the key of servers that want none.
NO_KEY = "none"


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """One context a process: making one takes some 20 ms."""
    return ssl.create_default_context()


def http_client() -> httpx.AsyncClient:
    """An HTTP client without a limit of connections: how many answers are under way is decided elsewhere."""
    import httpx

    return httpx.AsyncClient(
        verify=_tls(), timeout=httpx.Timeout(None, connect=CONNECT), follow_redirects=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
    )  # fmt: skip


class Connections:
    """What answers that are under way at the same time share: an HTTP client, and the models behind it."""

    def __init__(self) -> None:
        self.client = http_client()
        self.users = 0
        self._models: dict[tuple[Endpoint, bool, bool], Any] = {}

    def model(self, endpoint: Endpoint, *, stream: bool, plain: bool = False) -> Any:
        """A model on a server, as of :func:`chat_model`; it holds nothing of any answer."""
        key = (endpoint, stream, plain)
        if key not in self._models:
            self._models[key] = chat_model(endpoint, self.client, stream=stream, plain=plain)
        return self._models[key]


_OPEN: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()


@asynccontextmanager
async def connections() -> AsyncGenerator[Connections]:
    """The connections of this event loop; the last answer that leaves closes them."""
    loop = asyncio.get_running_loop()
    if loop not in _OPEN:
        _OPEN[loop] = Connections()
    shared = _OPEN[loop]
    shared.users += 1
    try:
        yield shared
    finally:
        shared.users -= 1
        if not shared.users:
            del _OPEN[loop]
            await shared.client.aclose()


@lru_cache(maxsize=1)
def _unused_client() -> Any:
    """What ``ChatOpenAI`` wants for calls that are not asynchronous, of which there are none."""
    import httpx

    return httpx.Client(verify=_tls())


def chat_model(endpoint: Endpoint, client: httpx.AsyncClient, *, stream: bool, plain: bool = False) -> Any:
    """A model on a server.

    Args:
        endpoint: which, and where.
        client: its connections.
        stream: whether the reply is asked for as a stream.
        plain: leave out what some servers do not know (usage in a stream).
    """
    return _class()(
        model=endpoint.model, base_url=endpoint.base_url or None, api_key=endpoint.api_key or NO_KEY,
        streaming=stream, stream_usage=stream and not plain, max_retries=0, timeout=None, stream_chunk_timeout=None,
        http_async_client=client, http_client=_unused_client(), use_responses_api=False,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _class() -> Any:
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        """Reads replies of the Responses API too, tells refusals, and taps the text."""

        def _create_chat_result(self, response: Any, generation_info: Any = None) -> Any:
            data = response if isinstance(response, dict) else None
            if data is None and hasattr(response, "model_dump"):
                data = response.model_dump(warnings=False)
            if data is None:
                raise Fault("malformed", "the body is no JSON object")
            if not data.get("choices"):
                text = _responses_text(data)
                if text is None:
                    raise Fault("malformed", "a reply without choices")
                usage = data.get("usage") or {}
                message = {"role": "assistant", "content": text}
                data = {
                    "id": data.get("id"), "model": data.get("model"),
                    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                    "usage": {
                        "prompt_tokens": usage.get("input_tokens") or 0,
                        "completion_tokens": usage.get("output_tokens") or 0,
                        "total_tokens": usage.get("total_tokens") or 0,
                    },
                }  # fmt: skip
                return super()._create_chat_result(data, generation_info)
            result = super()._create_chat_result(response, generation_info)
            refusal = (data["choices"][0].get("message") or {}).get("refusal")
            if refusal:
                result.generations[0].message.additional_kwargs["refusal"] = refusal
            return result

        def _convert_chunk_to_generation_chunk(self, chunk: Any, *rest: Any) -> Any:
            kind = str(chunk.get("type") or "")
            if kind.startswith("response."):
                delta = chunk.get("delta") if kind == "response.output_text.delta" else ""
                return ChatGenerationChunk(message=AIMessageChunk(content=delta if isinstance(delta, str) else ""))
            if chunk.get("error"):
                raise Fault("server", "an error inside the stream")
            found = super()._convert_chunk_to_generation_chunk(chunk, *rest)
            choices = chunk.get("choices") or ()
            refusal = (choices[0].get("delta") or {}).get("refusal") if choices else None
            if found is not None and refusal:
                found.message.additional_kwargs["refusal"] = refusal
            return found

        async def _astream(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
            tap = TAP.get()
            stream: AsyncGenerator[Any] = super()._astream(*arguments, **options)  # type: ignore[assignment]
            async with aclosing(stream) as chunks:
                async for chunk in chunks:
                    yield chunk
                    if tap is not None and chunk.text and not tap(chunk.text):
                        return

    return Chat


def _responses_text(data: Mapping[str, Any]) -> str | None:
    """The text of a Responses object; ``None`` if it is none."""
    output = data.get("output")
    if not isinstance(output, list):
        return None
    parts = [part for item in output if isinstance(item, Mapping) for part in item.get("content") or ()]
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
