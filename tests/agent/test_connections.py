"""What answers under way at the same time share, and what each makes only when it is needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from assistant.agent import Event, stream
from assistant.agent.model import connections
from assistant.devmodel import DevModel
from assistant.settings import Endpoint
from tests.agent.support import inquiry, streamed

PATIENCE = 60.0


async def until(reached: Callable[[], bool]) -> bool:
    """Whether something came to be within the patience."""
    end = time.monotonic() + PATIENCE
    while not reached() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return reached()


async def listen(events: AsyncGenerator[Event]) -> None:
    async for _ in events:
        pass


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_connections_are_one_for_all_and_closed_by_the_last() -> None:
    async def use() -> tuple[bool, bool, bool]:
        async with connections() as first:
            async with connections() as second:
                same = first is second
            open_still = not first.client.is_closed
        return same, open_still, first.client.is_closed

    assert asyncio.run(use()) == (True, True, True)


def test_connections_make_a_model_once_for_each_way_of_asking() -> None:
    async def use() -> tuple[bool, bool]:
        place = Endpoint("m", "http://127.0.0.1:9/v1", "key")
        async with connections() as shared:
            model = shared.model(place, stream=True)
            again = shared.model(replace(place), stream=True)
            others = [shared.model(place, stream=False), shared.model(replace(place, api_key="b"), stream=True)]
        return model is again, any(model is other for other in others)

    assert asyncio.run(use()) == (True, False)


def test_stream_that_leaves_ends_its_own_call_and_no_other() -> None:
    async def leave(server: DevModel) -> tuple[bool, bool, bool]:
        first = asyncio.create_task(listen(stream(inquiry(server, llm_timeout=4 * PATIENCE))))
        assert await until(lambda: len(server.received) == 1)
        second = asyncio.create_task(listen(stream(inquiry(server, llm_timeout=4 * PATIENCE))))
        assert await until(lambda: len(server.received) == 2)
        await ended(first)
        gone = await until(lambda: server.received[0].cancelled)
        other = server.received[1].cancelled
        await ended(second)
        return gone, other, await until(lambda: server.received[1].cancelled)

    with DevModel("hang") as server:
        assert asyncio.run(leave(server)) == (True, False, True)


def test_audit_is_not_made_while_the_model_is_silent() -> None:
    made: list[str] = []

    def note() -> Any:
        made.append("audit")
        raise RuntimeError("no text needs it")

    with DevModel("hang") as server:
        got = streamed(replace(inquiry(server, llm_timeout=2.0), auditor=note))
    assert got.answer.engine == "offline"
    assert made == []
