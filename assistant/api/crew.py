"""Worker processes: a queue, one thread of the server for each process, limits, and new processes for dead ones."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import sys
import threading
import types
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import connection as connections
from typing import Any

from assistant.api import worker
from assistant.model import AssistantError

_PASSED_ON = ("ASSISTANT_", "XDG_", "LC_", "OTEL_")
_PASSED_ALSO = {"LANG", "HOME", "TZ", "TMPDIR"}
_starting = threading.Lock()


class OutOfMemory(Exception):
    """A job took more memory than it may."""


class OutOfTime(Exception):
    """A job took more time than it may."""


class WorkerDied(Exception):
    """A worker ended in the middle of a job; holds its exit code."""


class WorkerFault(RuntimeError):
    """A mistake of ours in a worker; holds where."""


class Job:
    """A function and its arguments for a worker, and what becomes of it."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        self.data = pickle.dumps((function, args, dict(keywords)), protocol=5)
        self.future: Future[Any] = Future()
        self.ended = False
        self._lock = threading.Lock()
        self._process: Any = None

    def end(self) -> None:
        """Nobody wants the outcome any more: a worker that is at it is killed."""
        with self._lock:
            self.ended = True
            self.future.cancel()
            if self._process is not None and not self.future.done():
                self._process.kill()

    def begun(self, process: Any) -> bool:
        """A worker takes the job; ``False`` if nobody wants it any more."""
        with self._lock:
            if self.ended or not self.future.set_running_or_notify_cancel():
                return False
            self._process = process
            return True

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Hands over the outcome."""
        with self._lock:
            self._process = None
            if not self.future.done():
                if error is None:
                    self.future.set_result(value)
                else:
                    self.future.set_exception(error)


class Crew:
    """Some workers with one queue.

    Args:
        size: how many.
        memory: bytes that a job may take.
        niceness: how much they stand back.
        renew: every job has a new process, which gives its memory back afterwards.
    """

    def __init__(self, size: int, memory: int, *, niceness: int, renew: bool) -> None:
        self.size = size
        self.memory = memory
        self.niceness = niceness
        self.renew = renew
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.pending = 0  # jobs given and not settled
        self.ready = False
        self.closed = False
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._processes: set[Any] = set()

    @property
    def waiting(self) -> int:
        """Jobs that are more than the workers."""
        return max(0, self.pending - self.size)

    def start(self) -> None:
        """Starts the threads, which start the processes; returns at once."""
        with self._lock:
            if self._threads or self.closed:
                return
            for place in range(self.size):
                thread = threading.Thread(target=self._serve, name=f"worker-{place}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def submit(self, job: Job) -> None:
        """Queues a job."""
        self.start()
        with self._lock:
            self.pending += 1
        job.future.add_done_callback(self._settled)
        self.jobs.put(job)

    def _settled(self, _: Future[Any]) -> None:
        with self._lock:
            self.pending -= 1

    def close(self) -> None:
        """Ends threads and processes."""
        with self._lock:
            self.closed = True
            processes = list(self._processes)
        for process in processes:
            with suppress(Exception):
                process.kill()
        for _ in self._threads:
            self.jobs.put(None)
        for thread in self._threads:
            thread.join(timeout=10)
        with suppress(queue.Empty):
            while (job := self.jobs.get_nowait()) is None or job.future.cancel():
                pass

    # -- one thread ------------------------------------------------------------------------------
    def _serve(self) -> None:
        hand: _Hand | None = None
        try:
            if not self.renew:
                hand = self._engage()
                self.ready = True
            while (job := self.jobs.get()) is not None:
                if job.ended:
                    continue
                try:
                    hand = hand if hand is not None and hand.alive else self._engage(hand)
                    kept = hand.work(job)
                except Exception as error:
                    job.settle(error=error)
                    kept = False
                if self.renew or not kept:
                    self._dismiss(hand)
                    hand = None
                    if not self.renew and not self.closed:
                        hand = self._engage()
        except Exception:  # no process can be started; threads answer instead
            self.ready = False
        finally:
            self._dismiss(hand)

    def _engage(self, former: _Hand | None = None) -> _Hand:
        self._dismiss(former)
        hand = _Hand(self.memory, self.niceness)
        with self._lock:
            self._processes.add(hand.process)
            if self.closed:
                hand.process.kill()
        return hand

    def _dismiss(self, hand: _Hand | None) -> None:
        if hand is not None:
            with self._lock:
                self._processes.discard(hand.process)
            hand.close()


class _Hand:
    """One worker process and the line to it."""

    def __init__(self, memory: int, niceness: int) -> None:
        context = _context()
        ours, theirs = context.Pipe()
        process = context.Process(
            target=worker.main, args=(theirs, passed_on(), memory, niceness), daemon=True, name="metric-assistant"
        )  # fmt: skip
        try:
            with _starting, _preloading():
                process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.process, self.line = process, ours

    @property
    def alive(self) -> bool:
        return bool(self.process.is_alive())

    def work(self, job: Job) -> bool:
        """Does a job; returns whether the process may do another."""
        if not job.begun(self.process):
            return True
        try:
            self.line.send_bytes(job.data)
            connections.wait([self.line, self.process.sentinel])
            outcome, value = pickle.loads(self.line.recv_bytes()) if self.line.poll() else (None, None)
        except (EOFError, OSError):
            outcome, value = None, None
        job.data = b""
        if outcome == worker.OK:
            job.settle(value)
            return True
        if outcome == worker.OURS:
            kind, zh, en = value if isinstance(value, tuple) else (None, "", "")
            job.settle(error=value if kind is None else kind(zh=zh, en=en))
            return True
        if outcome == worker.MEMORY:
            job.settle(error=OutOfMemory())
            return False  # its heap may be in pieces
        if outcome == worker.FAULT:
            job.settle(error=WorkerFault(value))
            return True
        self.process.join(timeout=5)
        job.settle(error=WorkerDied(self.process.exitcode))
        return False

    def close(self) -> None:
        self.line.close()
        self.process.join(timeout=0.2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(timeout=5)
        with suppress(ValueError):
            self.process.close()


def passed_on() -> dict[str, str]:
    """The settings that a worker needs; nothing secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name.startswith(_PASSED_ON) or name in _PASSED_ALSO) and not worker.is_secret(name)
    }


def _context() -> Any:
    """Forked from a process that has loaded everything, where there is such a thing; else started anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["assistant.api.worker"])
    return context


@contextlib.contextmanager
def _preloading() -> Any:
    """The state under which a process starts: the fork server warms up, numpy gets no threads there, and no worker runs
    the program's main script again, which multiprocessing would have it do.
    """
    marks = {"ASSISTANT_PRELOAD": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    former = {name: os.environ.get(name) for name in marks}
    os.environ.update(marks)
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        for name, value in former.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


__all__ = ["AssistantError", "Crew", "Job", "OutOfMemory", "OutOfTime", "WorkerDied", "WorkerFault", "passed_on"]
