"""A real server: starting, stopping, not opening the door, and a large log beside another's question."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.api.access import new_key
from tests.api.client import LOG, PATIENCE, ROOT, Server, run, serving

BODY = {"text": LOG, "question": "entropy?"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), {"ASSISTANT_WORKERS": "1"}) as running:
        end = time.monotonic() + PATIENCE
        while "workers" in httpx.get(f"{running.url}/readyz", timeout=60).json()["parts"]:  # still starting
            assert time.monotonic() < end
            time.sleep(0.1)
        yield running


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assistant.cli.main", *arguments], cwd=ROOT, env={**os.environ, **environment},
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.parametrize("host", ["0.0.0.0", "example.com"])
def test_serve_without_keys_listens_nowhere_but_here(host: str) -> None:
    done = command("serve", "--host", host)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ASSISTANT_API_KEYS" in done.stderr
    assert "Traceback" not in done.stderr


def test_serve_with_keys_that_cannot_be_read_says_so() -> None:
    done = command("serve", "--port", "0", ASSISTANT_API_KEYS="name:ask:nothex")
    assert done.returncode == 2
    assert "keys new" in done.stderr
    assert "nothex" not in done.stderr


def test_serve_taken_port_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = command("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_keys_new_key_is_shown_once_and_lets_in(tmp_path: Path) -> None:
    done = command("keys", "new", "ci", "--scope", "ask", ASSISTANT_LANG="en")
    assert done.returncode == 0
    key = done.stdout.strip()
    entry = next(line.strip() for line in done.stderr.splitlines() if line.strip().startswith("ci:ask:"))
    assert key not in done.stderr
    assert command("keys", "new", "ci", "--scope", "ask").stdout.strip() != key
    environment = {"ASSISTANT_API_KEYS": entry, "ASSISTANT_WORKERS": "0"}
    with serving(tmp_path, environment, "--host", "0.0.0.0") as running:
        url = running.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.post(f"{url}/explain", json=BODY, timeout=PATIENCE).status_code == 401
        good = httpx.post(f"{url}/explain", json=BODY, headers={"x-api-key": key}, timeout=PATIENCE)
        assert good.status_code == 200
        assert running.stop() == 0
        assert key not in running.log.read_text(encoding="utf-8")


def logged(server: Server, request: str) -> list[dict[str, Any]]:
    """The log's lines of a request, which are written once its answer is out."""
    end = time.monotonic() + PATIENCE
    while True:
        whole = server.log.read_text(encoding="utf-8").rpartition("\n")[0]
        lines = [json.loads(line) for line in whole.splitlines()]
        found = [line for line in lines if line.get("request_id") == request]
        if found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def test_server_answers_over_a_socket_and_logs_json(server: Server) -> None:
    reply = httpx.post(f"{server.url}/explain", json=BODY, timeout=PATIENCE)
    assert reply.status_code == 200
    assert reply.json()["engine"] == "offline"
    assert "server" not in reply.headers
    wanted = reply.headers["x-request-id"]
    (line,) = logged(server, wanted)
    assert (line["route"], line["status"]) == ("/explain", 200)


def test_server_body_cut_in_the_middle_is_no_mistake_of_ours(server: Server) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(b"POST /explain HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                     b"content-length: 1000\r\n\r\n{")  # fmt: skip
    assert httpx.get(f"{server.url}/healthz", timeout=PATIENCE).status_code == 200
    assert '"level":"error"' not in server.log.read_text(encoding="utf-8")


def test_server_client_that_leaves_ends_its_work(server: Server) -> None:
    large = {"text": LOG + "nothing to see here\n" * 900_000}

    async def work() -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.post("/explain", json=large, timeout=httpx.Timeout(PATIENCE, read=0.05))
            end = time.monotonic() + PATIENCE
            while '"code":"client_gone"' not in server.log.read_text(encoding="utf-8"):
                assert time.monotonic() < end
                await asyncio.sleep(0.05)
            assert (await client.post("/explain", json=BODY)).status_code == 200

    run(work())


def test_server_large_log_of_one_client_lets_anothers_question_through(server: Server) -> None:
    """The medians are compared loosely here: `make bench` has the figures."""
    large = {"text": LOG + "nothing to see here\n" * 1_000_000}

    async def asked(client: httpx.AsyncClient) -> float:
        began = time.perf_counter()
        assert (await client.post("/explain", json=BODY)).status_code == 200
        return time.perf_counter() - began

    async def work() -> tuple[list[float], list[float], float]:
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as client:
            alone = [await asked(client) for _ in range(15)]
            content = json.dumps(large).encode()
            began = time.perf_counter()
            headers = {"content-type": "application/json"}
            heavy = asyncio.create_task(client.post("/explain", content=content, headers=headers))
            beside = [await asked(client)]
            while not heavy.done():
                beside.append(await asked(client))
            assert (await heavy).status_code == 200
            return alone, beside, time.perf_counter() - began

    alone, beside, whole = run(work())
    assert len(beside) > 2
    assert statistics.median(beside) < max(4 * statistics.median(alone), whole / 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_server_told_to_stop_finishes_what_is_under_way(tmp_path: Path, number: int) -> None:
    large = {"text": LOG + "nothing to see here\n" * 500_000}

    async def work() -> tuple[int, int]:
        with serving(tmp_path, {"ASSISTANT_WORKERS": "1", "ASSISTANT_SHUTDOWN_SECONDS": "100"}) as running:
            async with httpx.AsyncClient(base_url=running.url, timeout=PATIENCE) as client:
                under_way = asyncio.create_task(client.post("/explain", json=large))
                metrics = ""
                while "requests_in_progress 2.0" not in metrics:
                    assert not under_way.done()
                    metrics = (await client.get("/metrics")).text
                running.process.send_signal(number)
                reply = await under_way
            return reply.status_code, await asyncio.to_thread(running.process.wait, PATIENCE)

    assert run(work())[0] == 200
    assert "Traceback" not in (tmp_path / "server.log").read_text(encoding="utf-8")


def test_server_stopped_leaves_no_process_behind(tmp_path: Path) -> None:
    with serving(tmp_path, {"ASSISTANT_WORKERS": "1"}) as running:
        assert httpx.post(f"{running.url}/parse", json={"text": LOG}, timeout=PATIENCE).status_code == 200
        children = _children(running.process.pid)
        assert running.stop() == 0
    end = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{pid}").exists() for pid in children):
        assert time.monotonic() < end
        time.sleep(0.05)


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            new = {int(word) for word in path.read_text(encoding="ascii").split()} - found
            found |= new
            waiting += new
    return found


def test_new_key_entries_do_not_repeat() -> None:
    assert len({new_key("a", ["ask"])[0] for _ in range(50)}) == 50
