"""The pool: threads and worker processes, their limits, and the queue before them."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import timeit
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from assistant.api import jobs
from assistant.api.crew import WorkerFault
from assistant.api.problems import ApiError
from assistant.api.running import Busy, Runner
from assistant.api.sessions import analysed
from assistant.model import EmptyInput
from assistant.service import Service, Source, service
from assistant.settings import Serving
from tests.api.client import LOG, run, until

SERVING = Serving(workers=1, large_workers=1, threads=2, queue=2, job_seconds=60.0, job_bytes=256 << 20)
LARGE = SERVING.large_bytes


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(SERVING)
    yield made
    made.close()


def limited(**changes: object) -> Runner:
    return Runner(replace(SERVING, **changes))  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def pid_in(path: Path) -> int:
    text = path.read_text(encoding="ascii") if path.exists() else ""
    return int(text) if text else 0


#: Statements that a worker executes by way of a function of the standard library.
def noting(path: Path, then: str) -> str:
    return f"import os, time\nwith open({str(path)!r}, 'w') as f: f.write(str(os.getpid()))\n{then}"


# --- where work is done ----------------------------------------------------------------------------------


def test_run_short_call_is_done_in_a_thread(runner: Runner) -> None:
    assert run(runner.run(os.getpid)) == os.getpid()
    assert run(runner.run(threading.get_ident)) != threading.get_ident()


def test_run_large_text_is_done_in_a_process_with_the_same_outcome(runner: Runner) -> None:
    sources = [Source("a.log", LOG.encode())]
    done = run(runner.run(jobs.parse, sources, weight=LARGE))
    assert done.body == jobs.parse(sources).body
    assert run(runner.run(timeit.timeit, "import os; os.kill(os.getppid(), 0)", number=1, weight=LARGE)) > 0


def test_run_small_text_is_done_in_a_worker_once_it_is_ready(runner: Runner, tmp_path: Path) -> None:
    async def work() -> list[int]:
        runner.start()
        await until(lambda: runner.small is not None and runner.small.ready)
        found = []
        for place in range(2):
            path = tmp_path / str(place)
            await runner.run(timeit.timeit, noting(path, ""), number=1, weight=1)
            found.append(pid_in(path))
        return found

    first, second = run(work())
    assert first == second != os.getpid()


def test_analysed_large_run_of_a_session_is_done_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    material, question = service().read([Source("a.log", LOG.encode())]), "Where does the time go?"
    here = jobs.analyse(material, question, language="en")
    app = FastAPI()
    app.state.runner = limited(large_bytes=1)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("analysed in the server's own process")

    monkeypatch.setattr(Service, "explain", forbidden)
    try:
        there = run(analysed(app, material, question, language="en", state=None))
        follow_up = run(analysed(app, material, "why?", language="en", state=there.state))
    finally:
        app.state.runner.close()
    timed = {"usage": None}
    assert {**there.answer.to_json(), **timed} == {**here.answer.to_json(), **timed}
    assert there.answer.answer
    assert follow_up.answer.intent != "out_of_scope"


def test_analysed_while_too_many_jobs_wait_comes_later_and_is_not_refused() -> None:
    material = service().read([Source("a.log", LOG.encode())])
    app, refused = FastAPI(), []

    class Full(Runner):
        async def run(self, function: Any, /, *args: Any, weight: int = 0, **keywords: Any) -> Any:
            if not refused:
                refused.append(function)
                raise Busy(0)
            return await super().run(function, *args, weight=weight, **keywords)

    app.state.runner = Full(SERVING)
    try:
        found = run(analysed(app, material, "", language="zh", state=None))
    finally:
        app.state.runner.close()
    assert refused == [jobs.analyse]
    assert found.answer.language == "zh"


def test_run_closure_is_done_in_a_thread_whatever_its_weight(runner: Runner) -> None:
    here: list[int] = []
    run(runner.run(lambda: here.append(os.getpid()), weight=LARGE))
    assert here == [os.getpid()]


def test_run_worker_knows_the_settings_and_no_secret(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ["ASSISTANT_API_KEYS", "OPENAI_API_KEY", "ASSISTANT_LLM_API_KEY", "ASSISTANT_DATABASE_URL"]
    for name in secrets:
        monkeypatch.setenv(name, "sesame")
    monkeypatch.setenv("ASSISTANT_LANG", "zh")
    statement = f"import os; assert os.environ['ASSISTANT_LANG'] == 'zh'; assert not set({secrets}) & os.environ.keys()"
    assert run(runner.run(timeit.timeit, statement, number=1, weight=LARGE)) > 0


# --- errors and limits -----------------------------------------------------------------------------------


def test_run_error_of_ours_comes_back_as_it_was(runner: Runner) -> None:
    with pytest.raises(EmptyInput) as caught:
        run(runner.run(jobs.parse, [Source("a.log", b" ")], weight=LARGE))
    assert "a.log" in caught.value.zh
    assert "a.log" in caught.value.en


def test_run_mistake_in_a_worker_tells_its_place_and_not_its_message(runner: Runner) -> None:
    with pytest.raises(WorkerFault, match=r"ValueError at .*timeit\.py:\d+") as caught:
        run(runner.run(timeit.timeit, "raise ValueError('what the caller sent')", number=1, weight=LARGE))
    assert "caller sent" not in str(caught.value)


def test_run_over_the_time_limit_kills_the_worker(tmp_path: Path) -> None:
    runner, path = limited(job_seconds=5.0), tmp_path / "pid"

    async def work() -> None:
        await runner.run(timeit.timeit, "pass", number=1, weight=LARGE)  # the fork server is up now
        with pytest.raises(ApiError) as caught:
            await runner.run(timeit.timeit, noting(path, "time.sleep(600)"), number=1, weight=LARGE)
        assert (caught.value.status, caught.value.code) == (504, "job_timeout")
        await until(lambda: pid_in(path) and not alive(pid_in(path)))
        assert await runner.run(timeit.timeit, "pass", number=1, weight=LARGE) >= 0

    try:
        run(work())
    finally:
        runner.close()


def test_run_over_the_memory_limit_is_an_error_of_its_own(runner: Runner) -> None:
    with pytest.raises(ApiError) as caught:
        run(runner.run(timeit.timeit, f"bytearray({SERVING.job_bytes * 2})", number=1, weight=LARGE))
    assert (caught.value.status, caught.value.code) == (413, "memory_limit")
    assert run(runner.run(timeit.timeit, f"bytearray({SERVING.job_bytes // 2})", number=1, weight=LARGE)) > 0


def test_run_worker_that_dies_is_an_error_and_another_takes_its_place(runner: Runner) -> None:
    async def work() -> None:
        runner.start()
        await until(lambda: runner.small is not None and runner.small.ready)
        for weight in (1, LARGE):
            with pytest.raises(ApiError) as caught:
                await runner.run(timeit.timeit, "import os; os.kill(os.getpid(), 9)", number=1, weight=weight)
            assert (caught.value.status, caught.value.code) == (507, "worker_ended")
            assert await runner.run(timeit.timeit, "pass", number=1, weight=weight) >= 0

    run(work())


@pytest.mark.parametrize("weight", [1, LARGE])
def test_run_cancelled_work_is_killed(runner: Runner, tmp_path: Path, weight: int) -> None:
    path = tmp_path / "pid"

    async def work() -> None:
        runner.start()
        await until(lambda: runner.small is not None and runner.small.ready)
        job = asyncio.create_task(runner.run(timeit.timeit, noting(path, "time.sleep(600)"), number=1, weight=weight))
        await until(lambda: pid_in(path))
        job.cancel()
        await until(lambda: not alive(pid_in(path)))
        with pytest.raises(asyncio.CancelledError):
            await job
        assert await runner.run(timeit.timeit, "pass", number=1, weight=weight) >= 0

    run(work())


# --- the queue -------------------------------------------------------------------------------------------


def test_run_full_queue_refuses_at_once_and_says_when_to_come_back(runner: Runner) -> None:
    async def work() -> None:
        go = threading.Event()
        waiting = [asyncio.create_task(runner.run(go.wait, 60)) for _ in range(SERVING.threads + SERVING.queue)]
        await until(lambda: runner.depth == SERVING.queue)
        began = time.monotonic()
        with pytest.raises(Busy) as caught:
            await runner.run(os.getpid)
        assert time.monotonic() - began < 30
        assert (caught.value.status, caught.value.code) == (429, "busy")
        assert 1 <= caught.value.extra["retry_after"] <= 60
        go.set()
        assert all(await asyncio.gather(*waiting))
        assert await runner.run(os.getpid) == os.getpid()
        assert runner.refused == 1

    run(work())


def test_run_full_queue_of_large_jobs_refuses_too(runner: Runner) -> None:
    async def work() -> None:
        slow = "import time; time.sleep(600)"
        waiting = [
            asyncio.create_task(runner.run(timeit.timeit, slow, number=1, weight=LARGE))
            for _ in range(1 + SERVING.queue)
        ]
        await until(lambda: runner.large.pending == 1 + SERVING.queue and runner.depth == SERVING.queue)
        with pytest.raises(Busy):
            await runner.run(timeit.timeit, slow, number=1, weight=LARGE)
        for job in waiting:
            job.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await until(lambda: runner.large.pending == 0)

    run(work())


def test_close_with_work_under_way_ends_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pid"

    async def work() -> None:
        runner = Runner(SERVING)
        job = asyncio.create_task(runner.run(timeit.timeit, noting(path, "time.sleep(600)"), number=1, weight=LARGE))
        await until(lambda: pid_in(path))
        await asyncio.to_thread(runner.close)
        with pytest.raises(ApiError):
            await job
        await until(lambda: not alive(pid_in(path)))

    with caplog.at_level(logging.ERROR):
        run(work())
    assert caplog.records == []
