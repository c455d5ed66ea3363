"""Answers under way: stored whatever happens to the process, the listener, or the database."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant.agent import Event
from assistant.service import Service, Source
from assistant.service.sessions import answering as answering_module
from assistant.service.sessions.holders import drop_name, is_dead, new_name
from assistant.service.sessions.reading import read_sources
from assistant.service.sessions.records import Asked, Message, unpacked
from assistant.service.sessions.runtime import SessionService
from assistant.settings import Settings, settings
from tests.service.postgres import postgres_url, server, url

__all__ = ["postgres_url", "url"]

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_bytes()
READ = read_sources([Source("a.log", LOG)], keep_text=True).sources
#: Seconds after which a test that waits for something has failed.
PATIENCE = 60.0


def chosen(address: str) -> Settings:
    found = settings()
    return replace(found, storing=replace(found.storing, database_url=address))


class Scene:
    """One process's sessions, with a session that holds a log."""

    def __init__(self, address: str) -> None:
        self.service = SessionService(chosen(address))
        self.session = self.service.sessions.create("me").id
        self.service.runs.add("me", self.session, READ)

    def ask(self, question: str) -> str:
        posted = self.service.messages.post("me", self.session, question, Asked(question))
        return posted.reply.id

    def get(self, message: str) -> Message:
        return self.service.messages.get("me", self.session, message)

    async def answer(self, question: str) -> dict[str, Any]:
        message = self.ask(question)
        await self.service.answering.wait(self.service.answering.start(message))
        found = self.get(message)
        assert found.status == "done"
        assert found.answer is not None
        told: dict[str, Any] = json.loads(unpacked(found.answer))
        return told


def play(address: str, story: Callable[[Scene], Awaitable[None]]) -> None:
    """Plays a story in an event loop of its own, and closes what it opened."""

    async def played() -> None:
        scene = Scene(address)
        try:
            await story(scene)
        finally:
            await scene.service.close()

    asyncio.run(played())


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """An engine that shows one sentence and then waits until the event is set."""
    go_on = asyncio.Event()
    inner = Service.stream

    async def stream(self: Service, *arguments: Any, **named: Any) -> AsyncGenerator[Event]:
        yield Event("delta", "Shown so far. ")
        await go_on.wait()
        events = inner(self, *arguments, **named)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    monkeypatch.setattr(Service, "stream", stream)
    monkeypatch.setattr(answering_module, "FLUSH", 0.02)
    return go_on


# --- the usual course ------------------------------------------------------------------------------------


def test_answer_follow_up_is_understood_after_a_restart(url: str) -> None:
    async def first(scene: Scene) -> None:
        assert (await scene.answer("entropy at step 3?"))["slots"]["steps"]["values"] == [3]
        again = SessionService(chosen(url))
        posted = again.messages.post("me", scene.session, "and step 2?", Asked("and step 2?"))
        await again.answering.wait(again.answering.start(posted.reply.id))
        found = again.messages.get("me", scene.session, posted.reply.id)
        await again.close()
        assert found.answer is not None
        slots = json.loads(unpacked(found.answer))["slots"]
        assert (slots["metrics"], slots["steps"]["values"]) == (["actor/entropy"], [2])

    play(url, first)


def test_answer_follow_up_reads_no_table_again(url: str) -> None:
    async def story(scene: Scene) -> None:
        await scene.answer("entropy at step 3?")
        misses = scene.service.library.misses
        await scene.answer("and step 2?")
        assert (scene.service.library.misses, misses) == (1, 1)
        assert scene.service.library.hits >= 1

    play(url, story)


def test_answer_several_at_once_come_in_their_order(url: str) -> None:
    async def story(scene: Scene) -> None:
        replies = [scene.ask(text) for text in ("entropy at step 3?", "and step 2?", "and step 1?")]
        jobs = [scene.service.answering.start(reply) for reply in reversed(replies)]
        await asyncio.gather(*(scene.service.answering.wait(job) for job in jobs))
        told = [json.loads(unpacked(scene.get(reply).answer or b"")) for reply in replies]
        assert [one["slots"]["steps"]["values"] for one in told] == [[3], [2], [1]]
        assert {one["slots"]["metrics"][0] for one in told} == {"actor/entropy"}

    play(url, story)


def test_answer_about_one_of_two_runs_is_about_that_one(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        other = READ[0].runs[0]
        scene.service.runs.add("me", scene.session, [replace(READ[0], runs=(replace(other, name="b.log"),))])
        asked = Asked("entropy at step 3?", runs=("r1",))
        posted = scene.service.messages.post("me", scene.session, "entropy at step 3?", asked)
        await scene.service.answering.wait(scene.service.answering.start(posted.reply.id))
        told = json.loads(unpacked(scene.get(posted.reply.id).answer or b""))
        assert [run["id"] for run in told["runs"]] == ["r1"]
        assert {fact["run"] for fact in told["facts"]} == {"r1"}

    play(f"sqlite:///{tmp_path / 's.db'}", story)


def test_answer_that_cannot_be_made_fails_with_words_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(scene: Scene) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Service, "_offline", lambda *_: 1 / 0)
            message = scene.ask("entropy at step 3?")
            await scene.service.answering.wait(scene.service.answering.start(message))
            told = scene.get(message).to_json()
            assert (told["status"], told["error"]["code"]) == ("failed", "internal_error")
            assert "ZeroDivision" not in json.dumps(told, default=str)
        assert scene.service.messages.again(message)
        await scene.service.answering.wait(scene.service.answering.start(message))
        assert scene.get(message).status == "done"

    play(f"sqlite:///{tmp_path / 's.db'}", story)


# --- listeners -------------------------------------------------------------------------------------------


def test_events_at_another_process_show_what_the_first_makes(url: str, slow: asyncio.Event) -> None:
    async def story(scene: Scene) -> None:
        other = SessionService(chosen(url))
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        seen: list[tuple[str, str]] = []

        async def listen() -> None:
            async for name, kind, _ in other.answering.events(message):
                seen.append((name, kind))

        async with asyncio.timeout(PATIENCE):
            listener = asyncio.create_task(listen())
            await until(lambda: seen)
            assert seen == [("1.1", "delta")]
            slow.set()
            await listener
            await scene.service.answering.wait(job)
        await other.close()

    play(url, story)


def test_events_after_a_number_leave_out_what_was_seen(tmp_path: Path, slow: asyncio.Event) -> None:
    async def story(scene: Scene) -> None:
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        await until(lambda: job.told)
        slow.set()
        rest = [name async for name, _, _ in scene.service.answering.events(message, (1, 1))]
        assert rest
        assert "1.1" not in rest
        assert rest == [f"1.{n}" for n in range(2, len(rest) + 2)]

    play(f"sqlite:///{tmp_path / 's.db'}", story)


def test_stop_keeps_what_was_shown(url: str, slow: asyncio.Event) -> None:
    async def story(scene: Scene) -> None:
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        await until(lambda: job.shown)
        assert await scene.service.answering.stop(message)
        found = scene.get(message)
        assert (found.status, found.content) == ("stopped", "Shown so far. ")
        assert not await scene.service.answering.stop(message)
        assert not slow.is_set()

    play(url, story)


def test_stop_at_another_process_ends_the_work(
    tmp_path: Path, slow: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering_module, "RENEW", 0.05)
    address = f"sqlite:///{tmp_path / 's.db'}"

    async def story(scene: Scene) -> None:
        other = SessionService(chosen(address))
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        await until(lambda: scene.service.messages.shown(message, 0)[2])
        assert await other.answering.stop(message)
        await until(lambda: job.ended)
        assert (scene.get(message).status, scene.get(message).content) == ("stopped", "Shown so far. ")
        assert not slow.is_set()
        await other.close()

    play(address, story)


# --- death -----------------------------------------------------------------------------------------------


def test_close_hands_back_what_is_under_way_and_the_next_answers(url: str, slow: asyncio.Event) -> None:
    async def story(scene: Scene) -> None:
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        await until(lambda: job.shown)
        await scene.service.close(grace=0.01)
        slow.set()
        after = SessionService(chosen(url))
        assert await after.answering.take_over() == 1
        await after.answering.wait(after.answering.jobs[message])
        found = after.messages.get("me", scene.session, message)
        assert found.status == "done"
        assert "Shown so far" not in found.content
        await after.close()

    play(url, story)


KILLED = """
    import os, signal
    from pathlib import Path
    from assistant.service.sessions.records import Asked
    from assistant.service.sessions.runtime import SessionService
    from assistant.settings import settings
    service = SessionService(settings())
    reply = service.messages.post("me", {session!r}, "q", Asked("entropy at step 3?")).reply.id
    print(reply, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_take_over_answers_what_a_killed_process_left(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(scene: Scene) -> None:
        code = textwrap.dedent(KILLED.format(session=scene.session))
        monkeypatch.setenv("ASSISTANT_DATABASE_URL", url)
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
        )
        message = done.stdout.strip()
        assert message, done.stderr
        assert scene.get(message).status == "pending"
        assert await scene.service.answering.take_over() == 1
        await until(lambda: scene.get(message).status == "done")
        assert await scene.service.answering.take_over() == 0

    play(url, story)


def test_take_over_leaves_the_living_alone(tmp_path: Path, slow: asyncio.Event) -> None:
    address = f"sqlite:///{tmp_path / 's.db'}"

    async def story(scene: Scene) -> None:
        other = SessionService(chosen(address))
        job = scene.service.answering.start(scene.ask("entropy at step 3?"))
        await until(lambda: job.shown)
        assert await other.answering.take_over() == 0
        slow.set()
        await scene.service.answering.wait(job)
        await other.close()

    play(address, story)


def test_is_dead_only_where_it_is_certain() -> None:
    name = new_name()
    assert not is_dead(name)
    drop_name(name)
    assert is_dead(name)
    machine, _, mark = name.split("|")
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    assert is_dead(f"{machine}|{int(done.stdout)}|{mark}")
    assert not is_dead(f"another machine|{int(done.stdout)}|{mark}")
    assert not is_dead("what is this")


# --- the database goes away ------------------------------------------------------------------------------


def test_answer_made_while_postgres_is_away_is_stored_when_it_is_back(postgres_url: str, slow: asyncio.Event) -> None:
    from assistant.service.sessions.errors import DatabaseUnavailable

    async def story(scene: Scene) -> None:
        message = scene.ask("entropy at step 3?")
        job = scene.service.answering.start(message)
        await until(lambda: job.shown)
        server().stop()
        try:
            slow.set()
            with pytest.raises(DatabaseUnavailable):
                async with asyncio.timeout(PATIENCE):
                    await scene.service.answering.wait(job)
            assert scene.service.state()[0] == "missing"
            with pytest.raises(DatabaseUnavailable):
                scene.ask("another?")
        finally:
            server().start()
        await until(lambda: job.ended)
        assert scene.get(message).status == "done"
        assert scene.service.state() == ("ok", "postgresql")

    play(postgres_url, story)
