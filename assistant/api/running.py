"""Work off the event loop, in a bounded pool: short calls in threads, work on texts in worker processes.

``run_job(request, function, …, weight=bytes)`` chooses:

- ``weight=0`` (the database, a look-up): a thread of the server.
- ``weight>0``, the bytes of text to work on, where the function stands at the top of a module and its arguments can be
  pickled: a worker process, under limits of memory and time, killed when it is over them or when the client goes away.
  Texts from ``ASSISTANT_LARGE_KB`` on have a process of their own, which stands back behind those for small questions,
  so that nobody waits for another's large log.
- otherwise a thread.

When too many jobs wait, the next one is refused at once (429, ``Retry-After``).
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from fastapi import FastAPI, Request

from assistant.api.crew import Crew, Job, OutOfMemory, OutOfTime, WorkerDied, WorkerFault
from assistant.api.problems import ApiError
from assistant.settings import Serving, settings

T = TypeVar("T")


class Busy(ApiError):
    """Too many jobs wait."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            429, "busy",
            f"服务器繁忙：排队的请求太多，请 {retry_after} 秒后再试。",
            f"The server is busy: too many requests wait. Try again in {retry_after} s.",
            retry_after=retry_after,
        )  # fmt: skip

    def __reduce__(self) -> Any:
        return Busy, (self.extra["retry_after"],)


class ClientGone(ApiError):
    """The client went away; nobody reads this."""

    def __init__(self) -> None:
        super().__init__(499, "client_gone", "客户端已断开。", "The client has gone.")


def timed_out(seconds: float) -> ApiError:
    """The error of a job over its time."""
    return ApiError(
        504, "job_timeout",
        f"{seconds:g} 秒内没有完成。请发送日志的一部分，或调大 ASSISTANT_JOB_SECONDS。",
        f"It was not done within {seconds:g} s. Send a part of the log, or raise ASSISTANT_JOB_SECONDS.",
    )  # fmt: skip


def out_of_memory(limit: int) -> ApiError:
    """The error of a job over its memory."""
    size = limit >> 20
    return ApiError(
        413, "memory_limit",
        f"处理这份日志需要超过 {size} MB 内存。请发送日志的一部分，或调大 ASSISTANT_JOB_MEMORY_MB。",
        f"Work on this log needs over {size} MB of memory. Send a part of it, or raise ASSISTANT_JOB_MEMORY_MB.",
    )  # fmt: skip


class Runner:
    """The pool of one application.

    Args:
        serving: sizes and limits.
    """

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.threads = ThreadPoolExecutor(serving.threads, thread_name_prefix="job")
        self.small: Crew | None = None  # made by start()
        self._large: Crew | None = None
        self.waiting = 0  # in threads
        self.running = 0
        self.refused = 0
        self.mean_seconds = 0.05

    def start(self) -> None:
        """Starts the workers for small questions; until they are ready, threads answer."""
        if self.serving.workers and self.small is None:
            self.small = Crew(self.serving.workers, self.serving.job_bytes, niceness=0, renew=False)
            self.small.start()

    def close(self) -> None:
        """Ends workers and threads; what still runs in a process is killed."""
        for crew in (self.small, self._large):
            if crew is not None:
                crew.close()
        self.small = self._large = None
        self.threads.shutdown(wait=False, cancel_futures=True)

    @property
    def large(self) -> Crew:
        """The workers for large texts."""
        if self._large is None:
            self._large = Crew(self.serving.large_workers, self.serving.job_bytes, niceness=10, renew=True)
        return self._large

    @property
    def depth(self) -> int:
        """How many jobs wait."""
        crews = [crew for crew in (self.small, self._large) if crew is not None]
        return max(0, self.waiting - self.serving.threads) + sum(crew.waiting for crew in crews)

    async def run(self, function: Callable[..., T], /, *args: Any, weight: int = 0, **keywords: Any) -> T:
        """Runs a function as :func:`run_job` does, without a client to watch.

        Raises:
            Busy: too many jobs wait.
            ApiError: 504 over the time limit, 413 over the memory limit, 507 where the system ended the worker.
        """
        crew = self._crew(function, weight)
        pending, size = (self.waiting, self.serving.threads) if crew is None else (crew.pending, crew.size)
        if pending >= size + self.serving.queue:  # each kind has its own queue: large logs keep no small question out
            self.refused += 1
            raise Busy(self.retry_after())
        began = time.monotonic()
        try:
            if crew is None:
                return await self._in_thread(function, args, keywords)
            make = partial(Job, function, args, keywords)  # copies its arguments: a large table's not on the event loop
            done: T = await self._in_process(crew, await asyncio.to_thread(make) if crew is self._large else make())
            return done
        finally:
            self.mean_seconds += 0.1 * (time.monotonic() - began - self.mean_seconds)

    def retry_after(self) -> int:
        """Seconds after which there should be room: those that wait, at the recent pace."""
        workers = max(1, self.serving.workers)
        return min(60, max(1, math.ceil((self.depth + 1) * self.mean_seconds / workers)))

    def _crew(self, function: Callable[..., Any], weight: int) -> Crew | None:
        if weight <= 0 or not _portable(function):
            return None
        if weight >= self.serving.large_bytes:
            return self.large
        return self.small if self.small is not None and self.small.ready else None

    async def _in_thread(self, function: Callable[..., T], args: tuple[Any, ...], keywords: dict[str, Any]) -> T:
        self.waiting += 1
        try:
            future = asyncio.get_running_loop().run_in_executor(self.threads, partial(function, *args, **keywords))
            done, _ = await asyncio.wait({future}, timeout=self.serving.job_seconds)
            if not done:
                future.cancel()
                raise timed_out(self.serving.job_seconds)
            return future.result()
        except MemoryError:
            raise out_of_memory(self.serving.job_bytes) from None
        finally:
            self.waiting -= 1

    async def _in_process(self, crew: Crew, job: Job) -> Any:
        crew.submit(job)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.future), self.serving.job_seconds)
        except (TimeoutError, OutOfTime):
            raise timed_out(self.serving.job_seconds) from None
        except OutOfMemory:
            raise out_of_memory(self.serving.job_bytes) from None
        except WorkerDied as died:
            raise ApiError(
                507, "worker_ended",
                "处理进程被系统终止（多半是内存不足）。请稍后再试，或发送日志的一部分。",
                "The system ended the worker, most likely for want of memory. Try again later, or send a part of the "
                "log.",
            ) from died  # fmt: skip
        finally:
            job.end()


def _portable(function: Callable[..., Any]) -> bool:
    """Whether another process can find the function by its name."""
    return inspect.isfunction(function) and "<" not in function.__qualname__ and function.__module__ != "__main__"


def install(app: FastAPI, serving: Serving | None = None) -> Runner:
    """Gives an application its pool."""
    runner = Runner(serving or settings().serving)
    app.state.runner = runner
    return runner


def runner_of(request: Request) -> Runner:
    """The pool of the request's application."""
    state = request.app.state
    if not hasattr(state, "runner"):
        install(request.app)
    found: Runner = state.runner
    return found


async def run_job(request: Request, function: Callable[..., T], /, *args: Any, weight: int = 0, **keywords: Any) -> T:
    """Runs a function off the event loop for a request; ends the work when the client goes away.

    Args:
        request: whose work it is. Its body must have been read, if it is ever to be read.
        function: the work.
        args: its arguments.
        weight: bytes of text it works on; 0 for a short call (see the module).
        keywords: its arguments with names.

    Raises:
        Busy: too many jobs wait (429).
        ApiError: 504 over the time limit, 413 over the memory limit, 507 the worker was ended; 499 the client has gone.
        AssistantError: what the function raises.
    """
    work = asyncio.ensure_future(runner_of(request).run(function, *args, weight=weight, **keywords))
    if not _body_read(request):
        return await work
    return await until_gone(request, work)


async def until_gone(request: Request, work: asyncio.Future[T]) -> T:
    """The outcome of a task, which is cancelled when the client goes away.

    Raises:
        ClientGone: it did.
    """
    from assistant.api.streaming import disconnected

    gone = asyncio.create_task(disconnected(request.receive))
    try:
        both: set[asyncio.Future[Any]] = {work, gone}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise ClientGone
    finally:
        gone.cancel()
        if not work.done():
            work.cancel()
        await asyncio.gather(gone, work, return_exceptions=True)


def _body_read(request: Request) -> bool:
    """Whether nothing of the request is left to be read, so that listening for its end takes nothing away."""
    consumed = request.method in {"GET", "HEAD"} or hasattr(request, "_body")
    return consumed or bool(
        getattr(request, "_stream_consumed", False) or request.scope.get("state", {}).get("body_read")
    )


__all__ = ["Busy", "ClientGone", "Runner", "WorkerFault", "install", "run_job", "runner_of", "until_gone"]
