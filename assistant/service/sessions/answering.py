"""The answers of one process under way: each goes on when nobody listens, is stored when done, and is never lost.

A job holds the lease of a pending message and renews it. It shows its events to listeners in this process from memory,
and, when it takes longer than a moment, to those at other processes through the database. When the process dies, the
lease ends and another process (or this one, started again) makes the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from assistant.model import AssistantError
from assistant.model.jsontext import json_bytes
from assistant.service.facade import Explained, Material, service
from assistant.service.sessions.attaching import Runs, listed
from assistant.service.sessions.conversing import Messages
from assistant.service.sessions.errors import DatabaseBusy, DatabaseUnavailable, RunNotFound
from assistant.service.sessions.holders import is_dead
from assistant.service.sessions.library import Library
from assistant.service.sessions.pending import LEASE
from assistant.service.sessions.records import Outcome, Work, packed
from assistant.settings import settings

if TYPE_CHECKING:
    from assistant.ask import State

log = logging.getLogger("assistant.sessions")
T = TypeVar("T")

#: Seconds between renewals of a lease, between writings of events, and between looks at other processes' events.
RENEW: Final = LEASE / 4e6
FLUSH: Final = 0.3
LOOK: Final = 0.2
#: Seconds for which an answer that cannot be stored is kept and tried again.
PATIENCE: Final = 300.0

#: Requests that may wait for the database.
MOST_CALLS: Final = 256

#: What a listener is told: number, kind, data.
Told = tuple[int, str, Any]


class Analyse(Protocol):
    """The offline engine's answer, made off the event loop: where, is for those to say who serve."""

    def __call__(
        self, material: Material, question: str, *, language: str, default_language: str, state: State | None
    ) -> Awaitable[Explained]:
        """The answer to ``question``; a question that stands in the log is none."""


async def in_thread(
    material: Material, question: str, *, language: str, default_language: str, state: State | None
) -> Explained:
    """The offline engine's answer, made in a thread of this process."""
    return await asyncio.to_thread(
        service().explain, material, question, language=language, default_language=default_language, engine="offline",
        state=state, own_question=False,
    )  # fmt: skip


@dataclass
class Job:
    """One answer under way."""

    message: str
    task: asyncio.Task[None] | None = None
    attempt: int = 1
    told: list[Told] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    stopping: bool = False
    lost: bool = False
    trouble: DatabaseUnavailable | None = None
    ended: bool = False
    taken_over: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, kind: str, data: Any) -> None:
        """Adds an event and wakes the listeners."""
        self.told.append((len(self.told) + 1, kind, data))
        if kind == "delta":
            self.shown.append(data["text"])
        self.wake()

    def wake(self) -> None:
        """Wakes the listeners."""
        self.changed.set()
        self.changed = asyncio.Event()


class Answering:
    """The jobs of this process.

    Args:
        messages: the tables.
        runs: the tables.
        library: parsed logs.
        pool: threads for the database, apart from those that compute.
        analyse: makes the offline engine's answers.
    """

    def __init__(
        self, messages: Messages, runs: Runs, library: Library, pool: ThreadPoolExecutor, analyse: Analyse = in_thread
    ) -> None:
        self.messages = messages
        self.runs = runs
        self.library = library
        self.pool = pool
        self.analyse = analyse
        self.jobs: dict[str, Job] = {}
        self.closing = False
        self.calls = 0
        self.suspects = asyncio.Semaphore(1)

    async def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Something of the database, off the event loop."""
        loop = asyncio.get_running_loop()
        self.calls += 1
        try:
            return await loop.run_in_executor(self.pool, lambda: function(*arguments, **named))
        finally:
            self.calls -= 1

    async def asked(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The same for a request, which is refused where too many wait.

        Raises:
            DatabaseBusy: too many wait.
        """
        if self.calls >= MOST_CALLS:
            raise DatabaseBusy
        return await self.call(function, *arguments, **named)

    # -- a job's life ----------------------------------------------------------------------------------------------
    def start(self, message: str, attempt: int = 1, *, taken_over: bool = False) -> Job:
        """Begins the answer of a pending message whose lease this process holds; it goes on by itself."""
        job = self.jobs.get(message)
        if job is None:
            job = self.jobs[message] = Job(message, attempt=attempt, taken_over=taken_over)
            job.task = asyncio.create_task(self._run(job), name=f"answer {message}")
            job.task.add_done_callback(partial(self._over, job))
        return job

    async def wait(self, job: Job) -> None:
        """Until the answer is stored, or known to be another's.

        Raises:
            DatabaseUnavailable: it is made and cannot be stored at the moment; storing it is tried again.
        """
        while not job.ended:
            if job.trouble is not None:
                raise job.trouble
            await job.changed.wait()

    async def stop(self, message: str) -> bool:
        """Ends a pending answer; what was shown is kept. ``False`` where it was not pending."""
        job = self.jobs.get(message)
        if job is None:
            return await self.call(self.messages.stop, message)
        done = await self.call(self.messages.stop, message, "".join(job.shown))
        job.stopping = True
        if job.task is not None:
            job.task.cancel()
            await asyncio.gather(job.task, return_exceptions=True)
        return done

    async def close(self, grace: float) -> None:
        """Lets what is under way finish within a time, and hands the rest back to other processes."""
        self.closing = True
        tasks = [job.task for job in self.jobs.values() if job.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        left = [job for job in list(self.jobs.values()) if not job.ended]
        for job in left:
            if job.task is not None:
                job.task.cancel()
        await asyncio.gather(*(job.task for job in left if job.task is not None), return_exceptions=True)
        if left:
            with contextlib.suppress(AssistantError):
                await self.call(self.messages.hand_back, [job.message for job in left])

    async def _run(self, job: Job) -> None:
        renewing = asyncio.create_task(self._renew(job))
        flushing = asyncio.create_task(self._flush(job))
        try:
            outcome = await self._made(job)
            flushing.cancel()
            if outcome is not None:
                await self._store(job, outcome)
        except asyncio.CancelledError:
            if not job.lost and not job.stopping:  # the process ends: another one answers
                raise
        finally:
            flushing.cancel()
            renewing.cancel()

    def _over(self, job: Job, task: asyncio.Task[None]) -> None:
        """Tells the listeners that nothing more comes, however it ended."""
        if not task.cancelled() and task.exception() is not None:
            log.error("an answer ended badly", exc_info=task.exception(), extra={"message_id": job.message})
        self.jobs.pop(job.message, None)
        job.ended = True
        job.wake()

    async def _made(self, job: Job) -> Outcome | None:
        """The answer, or how it failed; ``None`` where it is not this process's to make."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                work = await self._begun(job)
                job.trouble = None
                if work is None or not job.taken_over:
                    return None if work is None else await self._in_time(job, work)
                async with self.suspects:
                    # One at a time: if it takes the process down again, no other is blamed for it.
                    job.attempt = await self.call(self.messages.begin, job.message)
                    return await self._in_time(job, work) if job.attempt else None
            except DatabaseUnavailable as error:  # nothing was shown yet: it is only read from before the engine begins
                job.trouble = error
                job.wake()
                if time.monotonic() > deadline:
                    return None
                await asyncio.sleep(1)
            except TimeoutError:
                zh, en = "回答超时。可以重试，或问得更具体。", "The answer took too long. Retry, or ask more narrowly."
                return _failed(job, "time_limit", zh, en)
            except AssistantError as error:
                return _failed(job, error.code, error.zh, error.en)
            except Exception:
                log.exception("an answer failed", extra={"message_id": job.message})
                zh, en = "服务内部出错，没能回答。", "The server made a mistake and could not answer."
                return _failed(job, "internal_error", zh, en)

    async def _in_time(self, job: Job, work: Work) -> Outcome:
        async with asyncio.timeout(settings().serving.job_seconds + settings().llm_timeout):
            return await self._answer(job, work)

    async def _begun(self, job: Job) -> Work | None:
        """What to answer, once the answers before it in the session are there."""
        pause = 0.02
        while True:
            work = await self.call(self.messages.work, job.message)
            if work is None or not work.waits:
                return work
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.5)

    async def _answer(self, job: Job, work: Work) -> Outcome:
        engine = service()
        asked = work.asked
        material = await self.call(self._material, work)
        state = None
        if work.state:
            try:
                state = await asyncio.to_thread(_state, work.state)
            except AssistantError:  # of another version: the question is answered without what came before
                log.info("a state of another version was left out", extra={"message_id": job.message})
        offline = await self.analyse(
            material, asked.question, language=asked.lang, default_language=asked.else_lang, state=state
        )
        stream = engine.stream(
            material, asked.question, language=asked.lang, engine=asked.engine, state=state, own_question=False,
            explained=offline,
        )  # fmt: skip
        explained: Explained | None = None
        try:
            async for event in stream:
                if event.kind == "answer":
                    explained = event.data
                elif event.kind == "delta":
                    job.tell("delta", {"text": event.data})
                elif event.kind == "error":
                    return _failed(job, "answer_failed", str(event.data), str(event.data))
                else:
                    job.tell(event.kind, event.data)
        finally:
            await stream.aclose()
        if explained is None:
            raise RuntimeError("the engine ended without an answer")
        return await asyncio.to_thread(_done, explained)

    def _material(self, work: Work) -> Any:
        stored = self.runs.database.read(lambda connection: listed(connection, work.session))
        chosen = [run for run in stored if not work.asked.runs or run.rid in work.asked.runs]
        if work.asked.runs and not chosen:
            raise RunNotFound(work.asked.runs[0])
        return self.library.material(work.session, chosen)

    async def _store(self, job: Job, outcome: Outcome) -> None:
        """Stores the answer; where the database is away, again and again for some minutes."""
        deadline = time.monotonic() + PATIENCE
        pause = 0.2
        while True:
            try:
                await self.call(self.messages.finish, job.message, outcome)
            except DatabaseUnavailable as error:
                job.trouble = error
                job.wake()
                if time.monotonic() > deadline:
                    log.warning("an answer could not be stored", extra={"message_id": job.message})
                    return
                await asyncio.sleep(pause)
                pause = min(2 * pause, 2.0)
            else:
                job.trouble = None
                return

    async def _renew(self, job: Job) -> None:
        """Keeps the lease; an answer that is another's by now (or was stopped elsewhere) is given up."""
        while True:
            await asyncio.sleep(RENEW)
            try:
                held = await self.call(self.messages.renew, {job.message})
            except DatabaseUnavailable:
                continue
            if job.message not in held:
                job.lost = True
                if job.task is not None:
                    job.task.cancel()
                return

    async def _flush(self, job: Job) -> None:
        """Writes what was shown, for listeners elsewhere; an answer that is there at once is never written twice."""
        written = 0
        while True:
            await asyncio.sleep(FLUSH)
            batch = job.told[written:]
            if batch:
                with contextlib.suppress(DatabaseUnavailable):
                    await self.call(self.messages.show, job.message, batch)
                    written += len(batch)

    # -- listening -------------------------------------------------------------------------------------------------
    async def events(self, message: str, after: tuple[int, int] = (0, 0)) -> AsyncGenerator[tuple[str, str, Any]]:
        """Events of a pending answer (id, kind, data) until it ends, wherever it is made.

        Args:
            message: its id.
            after: attempt and number of the last event seen; another attempt begins from its first.
        """
        job = self.jobs.get(message)
        if job is None:
            async for item in self._events_elsewhere(message, after):
                yield item
            return
        number = after[1] if after[0] == job.attempt else 0
        while True:
            changed = job.changed
            for told in job.told[number:]:
                number = told[0]
                yield f"{job.attempt}.{number}", told[1], told[2]
            if job.ended:
                return
            if job.trouble is not None:
                raise job.trouble
            await changed.wait()

    async def _events_elsewhere(self, message: str, after: tuple[int, int]) -> AsyncGenerator[tuple[str, str, Any]]:
        attempt, number = after if after[0] else (0, 0)
        while True:
            status, now, found = await self.call(self.messages.shown, message, number)
            if now != attempt:  # begun anew elsewhere
                if attempt and number:
                    number = 0
                    attempt = now
                    continue
                attempt = now
            for number, kind, data in found:
                yield f"{attempt}.{number}", kind, data
            if status != "pending":
                return
            await asyncio.sleep(LOOK)

    # -- others' answers -------------------------------------------------------------------------------------------
    async def take_over(self, most: int = 16) -> int:
        """Makes the answers whose processes are gone; how many were taken."""
        taken = 0
        for message, holder, ended in await self.call(self.messages.orphans, 4 * most):
            if taken >= most or self.closing:
                break
            dead = not ended and is_dead(holder)
            if not (ended or dead) or message in self.jobs:
                continue
            if await self.call(self.messages.claim, message, holder, dead=dead):
                self.start(message, taken_over=True)
                taken += 1
        return taken


def _failed(job: Job, code: str, zh: str, en: str) -> Outcome:
    """What is stored where there is no answer: why, and what was shown of one."""
    return Outcome("failed", "".join(job.shown), error={"code": code, "zh": zh, "en": en})


def _state(text: str) -> State:
    """What the conversation carried so far."""
    from assistant.ask.carried import state_from_json

    return state_from_json(json.loads(text), service().resolver.library.get)


def _done(explained: Explained) -> Outcome:
    """What is stored of an answer."""
    from assistant.ask.carried import state_to_json

    answer = explained.answer
    return Outcome(
        "done", answer.answer, packed(json_bytes(answer.to_json())), json.dumps(state_to_json(explained.state))
    )
