"""The official client against the server: in this process, over stdio, over HTTP; both revisions of the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI

from assistant.mcp import mount
from assistant.mcp.calls import Call, Stopped
from assistant.mcp.catalogue import instructions, tools
from assistant.mcp.handlers import AT_ONCE
from assistant.mcp.resources import PAGE
from assistant.mcp.server import Desk, build
from assistant.mcp.tools import TOOLS
from tests.mcp.support import (
    EXAMPLE,
    EXAMPLES,
    LOG,
    MODES,
    PATIENCE,
    conforms,
    http_client,
    roots_of,
    run,
    served,
    stdio,
)
from tests.mcp.test_tools import GOOD, WITH_LOG

both = pytest.mark.parametrize("mode", MODES)


def connected(mode: str, *roots: Path, kind: Any = "stdio", **options: Any) -> Any:
    """The official client joined to a server in this process."""
    from mcp import Client

    return Client(build(Desk(kind, roots or (EXAMPLES,))), mode=mode, **options)  # type: ignore[arg-type]


# --- in this process -------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_client_lists_the_tools_as_the_catalogue_has_them(mode: str) -> None:
    async def check() -> None:
        async with connected(mode) as client:
            listed = (await client.list_tools()).tools
            dumped = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in listed]
            assert dumped == list(tools())
            assert client.server_info is not None
            assert client.server_info.name == "metric-assistant"
            assert client.instructions == instructions()

    run(check)


@both
def test_client_every_tool_mirrors_its_structure_as_text(mode: str) -> None:
    async def check() -> None:
        async with connected(mode) as client:
            for name, arguments in GOOD.items():
                source = {"path": EXAMPLE} if name in WITH_LOG else {}
                result = await client.call_tool(name, {**source, **arguments})  # the client checks the output schema
                assert not result.is_error, result.content
                assert json.loads(result.content[0].text) == result.structured_content
                conforms(name, result.structured_content, most=1000)

    run(check)


@both
def test_client_bad_arguments_are_tool_errors_and_unknown_tools_are_not(mode: str) -> None:
    from mcp import MCPError

    async def check() -> None:
        async with connected(mode) as client:
            for arguments in ({}, {"path": "/etc/passwd"}, {"pth": "x"}, {"text": LOG, "question": ["a"]}):
                result = await client.call_tool("explain", arguments)
                assert result.is_error
                assert result.structured_content is None
                assert "(bad_input)" in result.content[0].text
            told = await client.call_tool("compute_trend", {"text": LOG, "metric": "温度"})
            assert "日志里没有指标" in told.content[0].text
            with pytest.raises(MCPError, match="Tools: explain"):
                await client.call_tool("explode", {})

    run(check)


@both
def test_client_failure_inside_is_a_short_tool_error_without_detail(
    mode: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(arguments: Any, on: Any) -> dict[str, Any]:
        raise RuntimeError("secret detail")

    monkeypatch.setitem(TOOLS, "diagnose", broken)

    async def check() -> None:
        async with connected(mode) as client:
            result = await client.call_tool("diagnose", {"text": LOG})
            assert result.is_error
            assert "secret" not in result.content[0].text
            assert "(internal)" in result.content[0].text

    run(check)
    assert "secret detail" in caplog.text


@both
def test_client_is_told_the_progress_and_it_only_grows(mode: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def tell(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def check() -> None:
        async with connected(mode) as client:
            result = await client.call_tool("explain", {"path": EXAMPLE}, progress_callback=tell)
            assert not result.is_error, result.content

    run(check)
    done = [one for one, _, _ in told]
    assert done == sorted(set(done))
    assert told[0] == (0, (EXAMPLES / EXAMPLE).stat().st_size, f"reading {EXAMPLE}")


@both
def test_client_that_cancels_gets_rid_of_the_work(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setitem(TOOLS, "diagnose", endless(begun, ended))

    async def check() -> None:
        async with connected(mode) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "diagnose", {"text": LOG})
                while not begun.is_set():
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
            while not ended.is_set():
                await anyio.sleep(0.01)
            result = await client.call_tool("explain_metric", {"name": "actor/ppo_kl"})  # the server goes on
            assert not result.is_error

    run(check)


# --- folders ---------------------------------------------------------------------------------------------
@both
def test_roots_of_the_client_may_be_read_and_nothing_beside_them(mode: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "run.log").write_text(LOG, encoding="utf-8")
    (tmp_path / "other.log").write_text(LOG, encoding="utf-8")

    async def check() -> None:
        from mcp import Client

        server = build(Desk("stdio"))
        async with Client(server, mode=mode, list_roots_callback=roots_of(tmp_path / "work")) as client:
            for path in ("run.log", str(tmp_path / "work" / "run.log")):
                assert not (await client.call_tool("parse_metrics", {"path": path})).is_error
            for path in ("../other.log", str(tmp_path / "other.log")):
                refused = await client.call_tool("parse_metrics", {"path": path})
                assert refused.is_error
                assert f"Folders that may be read: {tmp_path / 'work'}" in refused.content[0].text

    run(check)


@both
def test_roots_of_a_client_over_http_are_not_asked_for(mode: str, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(LOG, encoding="utf-8")

    async def check() -> None:
        from mcp import Client

        server = build(Desk("http"))
        async with Client(server, mode=mode, list_roots_callback=roots_of(tmp_path)) as client:
            refused = await client.call_tool("parse_metrics", {"path": "run.log"})
            assert refused.is_error
            assert "ASSISTANT_ALLOWED_ROOTS" in refused.content[0].text
            assert str(tmp_path) not in refused.content[0].text

    run(check)


def test_roots_without_a_client_that_tells_them_are_the_folder_it_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.log").write_text(LOG, encoding="utf-8")

    async def check(refused: bool) -> None:
        from mcp import Client

        async with Client(build(Desk("stdio")), mode="legacy") as client:
            assert (await client.call_tool("parse_metrics", {"path": "run.log"})).is_error is refused

    monkeypatch.chdir(tmp_path)
    run(lambda: check(refused=False))
    monkeypatch.setenv("HOME", str(tmp_path))  # nobody's workspace
    run(lambda: check(refused=True))


# --- resources and prompts -------------------------------------------------------------------------------
@both
def test_resources_are_listed_on_pages_and_each_kind_can_be_read(mode: str) -> None:
    async def check() -> None:
        async with connected(mode) as client:
            read = await client.call_tool("parse_metrics", {"path": EXAMPLE})
            first = await client.list_resources()
            assert len(first.resources) == PAGE
            address = f"run://{read.structured_content['log']}/r0"
            assert first.resources[0].uri == address
            uris, cursor = [one.uri for one in first.resources], first.next_cursor
            while cursor:
                page = await client.list_resources(cursor=cursor)
                uris += [one.uri for one in page.resources]
                cursor = page.next_cursor
            assert len(uris) == len(set(uris)) > 600
            assert {"metric://verl/actor/ppo_kl", "rules://diagnosis", "rules://thresholds"} <= set(uris)
            odd = [uri for uri in uris if "%" in uri]
            for uri in ["metric://verl/actor/ppo_kl", "rules://diagnosis", "rules://thresholds", address, *odd]:
                (content,) = (await client.read_resource(uri)).contents
                assert content.mime_type == "application/json"
                assert json.loads(content.text)
            overview = json.loads((await client.read_resource(address)).contents[0].text)
            assert overview["metrics"]["actor/entropy"]["n"] == 3

    run(check)


@both
@pytest.mark.parametrize("uri", ["metric://verl/actor/nothing", "run://log-0/r0", "rules://all", "file:///etc/passwd"])
def test_resources_that_are_not_there_are_errors(mode: str, uri: str) -> None:
    from mcp import MCPError

    async def check() -> None:
        async with connected(mode) as client:
            with pytest.raises(MCPError):
                await client.read_resource(uri)
            with pytest.raises(MCPError):
                await client.list_resources(cursor="!")

    run(check)


@both
def test_templates_and_completion_lead_to_cards(mode: str) -> None:
    import mcp_types as types

    async def check() -> None:
        async with connected(mode) as client:
            listed = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in listed] == ["metric://{+card}", "run://{log}/{run}"]
            ref = types.ResourceTemplateReference(type="ref/resource", uri="metric://{+card}")
            found = await client.complete(ref, {"name": "card", "value": "verl/actor/ppo"})
            assert found.completion.values[0] == "verl/actor/ppo_kl"
            other = types.PromptReference(type="ref/prompt", name="explain_log")
            assert (await client.complete(other, {"name": "log", "value": "x"})).completion.values == []

    run(check)


@both
def test_prompts_come_in_both_languages_and_are_filled(mode: str) -> None:
    from mcp import MCPError

    async def check() -> None:
        async with connected(mode) as client:
            prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
            for name in ("explain_log", "compare_two_steps", "diagnose_log"):
                for suffix, chinese in (("", False), ("_zh", True)):
                    prompt = prompts[name + suffix]
                    given = {one.name: f"<{one.name}{{x}}>" for one in prompt.arguments}
                    (message,) = (await client.get_prompt(prompt.name, given)).messages
                    assert all(value in message.content.text for value in given.values())
                    assert any("\u3400" <= char <= "\u9fff" for char in message.content.text) is chinese
                    assert any(tool["name"] in message.content.text for tool in tools())
            (message,) = (await client.get_prompt("explain_log", {"log": "a.log"})).messages
            assert "Question:" not in message.content.text
            for bad in ({}, {"log": "x", "odd": "y"}, {"log": "x" * 300_000}):
                with pytest.raises(MCPError):
                    await client.get_prompt("explain_log", bad)
            with pytest.raises(MCPError, match="Prompts: explain_log"):
                await client.get_prompt("nothing")

    run(check)


# --- over stdio ------------------------------------------------------------------------------------------
@both
def test_stdio_client_reads_a_log_of_its_workspace_and_of_a_root(mode: str, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(LOG, encoding="utf-8")
    told: list[float] = []

    async def tell(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    async def check() -> None:
        from mcp import Client

        started = stdio("--root", str(EXAMPLES))
        async with Client(started, mode=mode, list_roots_callback=roots_of(tmp_path)) as client:
            assert len((await client.list_tools()).tools) == len(tools())
            for path in (EXAMPLE, "run.log"):
                asked = {"path": path, "question": "用了多少张卡"}
                result = await client.call_tool("explain", asked, progress_callback=tell)
                assert not result.is_error, result.content
                assert "8 张" in result.structured_content["verdict"]["summary"]
                conforms("explain", result.structured_content, most=1000)
            again = await client.call_tool("diagnose", {"log": result.structured_content["log"]})
            assert not again.is_error
            assert (await client.call_tool("explain", {"path": "/etc/passwd"})).is_error
            assert len((await client.list_prompts()).prompts) == 6
            assert (await client.read_resource("metric://verl/actor/ppo_kl")).contents

    run(check)
    assert told


def test_stdio_what_tools_print_does_not_reach_the_client(tmp_path: Path) -> None:
    """A library that prints to standard output would break the stream of messages."""
    (tmp_path / "usercustomize.py").write_text("", encoding="utf-8")
    (tmp_path / "noisy.py").write_text(
        "import sys\nfrom assistant.mcp import tools\n"
        "old = tools.TOOLS['diagnose']\n"
        "def noisy(arguments, call):\n    print('noise')\n    sys.stdout.flush()\n    return old(arguments, call)\n"
        "tools.TOOLS['diagnose'] = noisy\n"
        "from assistant.mcp import serve_stdio\nserve_stdio()\n",
        encoding="utf-8",
    )

    async def check() -> None:
        from mcp import Client

        started = stdio()
        started.args = [str(tmp_path / "noisy.py")]
        async with Client(started, mode="legacy") as client:
            assert not (await client.call_tool("diagnose", {"text": LOG})).is_error

    run(check)


# --- over HTTP -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = FastAPI()

    @app.get("/")
    def index() -> dict[str, str]:
        return {}

    mount(app, [EXAMPLES])
    with served(app) as url:
        yield url


@both
def test_http_client_calls_tools_by_text_path_and_handle(mode: str, address: str) -> None:
    told: list[float] = []

    async def tell(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    async def check() -> None:
        async with http_client(f"{address}/mcp", mode) as client:
            assert len((await client.list_tools()).tools) == len(tools())
            asked = {"path": EXAMPLE, "question": "GPU 有几张"}
            result = await client.call_tool("explain", asked, progress_callback=tell)
            assert not result.is_error, result.content
            again = await client.call_tool("diagnose", {"log": result.structured_content["log"]})
            conforms("diagnose", again.structured_content, most=1000)
            by_text = await client.call_tool("parse_metrics", {"text": LOG})
            conforms("parse_metrics", by_text.structured_content, most=1000)

    run(check)
    assert told


@both
def test_http_handles_belong_to_who_made_them(mode: str, address: str) -> None:
    async def check() -> None:
        async with http_client(f"{address}/mcp", mode, authorization="Bearer one") as client:
            mine = (await client.call_tool("parse_metrics", {"text": LOG})).structured_content["log"]
            assert not (await client.call_tool("diagnose", {"log": mine})).is_error
        async with http_client(f"{address}/mcp", mode, authorization="Bearer two") as client:
            assert (await client.call_tool("diagnose", {"log": mine})).is_error
            uris = [one.uri for one in (await client.list_resources()).resources]
            assert not any(uri.startswith("run://") for uri in uris)

    run(check)


def endless(begun: threading.Event, ended: threading.Event) -> Any:
    """A tool that goes on until it is told to stop."""

    def tool(arguments: Any, on: Call) -> dict[str, Any]:
        begun.set()
        try:
            while True:
                on.report(0, None, "still at it")
                on.stopped.wait(0.01)
        except Stopped:
            ended.set()
            raise

    return tool


@both
def test_http_client_that_goes_away_ends_its_call(mode: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setitem(TOOLS, "diagnose", endless(begun, ended))

    async def check() -> None:
        async with http_client(f"{address}/mcp", mode) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "diagnose", {"text": LOG})
            while not begun.is_set():
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        while not ended.is_set():
            await anyio.sleep(0.01)

    run(check)


def test_http_call_that_takes_too_long_is_a_tool_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_JOB_SECONDS", "0.2")
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setitem(TOOLS, "diagnose", endless(begun, ended))

    async def check() -> None:
        async with connected("legacy", kind="http") as client:
            result = await client.call_tool("diagnose", {"text": LOG})
            assert result.is_error
            assert "0.2 s" in result.content[0].text

    run(check)
    assert ended.wait(PATIENCE)


def test_http_call_beyond_the_queue_is_refused_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_QUEUE", "0")
    begun, ended = threading.Event(), threading.Event()
    monkeypatch.setitem(TOOLS, "diagnose", endless(begun, ended))

    async def hold(client: Any) -> None:  # a place that a short call has for a moment is asked for again
        while (await client.call_tool("diagnose", {"text": LOG})).is_error:
            await anyio.sleep(0.01)

    async def check() -> None:
        async with connected("legacy", kind="http") as client, anyio.create_task_group() as group:
            assert not (await client.call_tool("explain_metric", {"name": "actor/ppo_kl"})).is_error
            for _ in range(AT_ONCE):
                group.start_soon(hold, client)
            while not (result := await client.call_tool("explain_metric", {"name": "actor/ppo_kl"})).is_error:
                await anyio.sleep(0.01)
            assert "try again" in result.content[0].text
            group.cancel_scope.cancel()

    run(check)
    assert ended.wait(PATIENCE)


def test_http_outside_the_lifespan_is_unavailable_and_known_by_its_route() -> None:
    import httpx

    app = FastAPI()
    mount(app)
    scopes: list[Any] = []

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await app(scope, receive, send)

    async def check() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=watched), base_url="http://127.0.0.1") as client:
            assert (await client.post("/mcp", json={})).status_code == 503

    run(check)
    assert scopes[0]["route"].path == "/mcp"


def test_http_the_whole_server_lets_in_who_has_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.api.access import new_key
    from assistant.serving import application

    (asker, entry), (reader, other) = new_key("asker", ["ask", "read"]), new_key("reader", ["read"])
    monkeypatch.setenv("ASSISTANT_API_KEYS", f"{entry},{other}")
    monkeypatch.setenv("ASSISTANT_ALLOWED_ROOTS", str(EXAMPLES))
    import httpx

    with served(application()) as url:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for headers in ({}, {"authorization": "Bearer nonsense"}, {"x-api-key": reader}):
            reply = httpx.post(f"{url}/mcp", json=message, headers=headers)
            assert reply.status_code in {401, 403}, headers
            assert reply.headers["content-type"] == "application/problem+json"

        async def check() -> None:
            async with http_client(f"{url}/mcp", "2026-07-28", authorization=f"Bearer {asker}") as client:
                result = await client.call_tool("explain", {"path": EXAMPLE, "question": "entropy 是多少"})
                assert not result.is_error, result.content

        run(check)


def test_http_a_page_of_another_site_is_refused() -> None:
    import httpx

    from assistant.serving import application

    with served(application()) as url:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert httpx.post(f"{url}/mcp", json=message, headers={"origin": "http://evil.example"}).status_code == 403
        assert httpx.post(f"{url}/mcp", json=message, headers={"host": "evil.example"}).status_code == 421
