"""What answers each request of the protocol; the work itself is done in worker threads."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assistant.mcp.arguments import checked
from assistant.mcp.calls import Call
from assistant.mcp.catalogue import by_name
from assistant.mcp.reading import folders
from assistant.model import AssistantError, InputError

if TYPE_CHECKING:
    import mcp_types as types

    from assistant.mcp.server import Desk

logger = logging.getLogger(__name__)
T = TypeVar("T")
#: Calls that work at once; more wait.
AT_ONCE = 4
#: Seconds that a client gets to name its folders.
ROOTS_WAIT = 5.0
#: Key under which folders are asked for in the stateless revision of the protocol.
ROOTS = "roots"


# --- tools -----------------------------------------------------------------------------------------------
async def call_tool(desk: Desk, ctx: Any, params: Any) -> types.CallToolResult | types.InputRequiredResult:
    """Runs a tool; what the caller can mend is a tool error, whatever else goes wrong a short one without detail."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    name = params.name
    if name not in by_name():
        listed = ", ".join(by_name())
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {str(name)[:80]}. Tools: {listed}.")
    given: Mapping[str, Any] = params.arguments or {}
    try:
        _refuse_scope(ctx, "read" if name in {"explain_metric", "search_docs"} else "ask")
        arguments = checked(name, given)
        roots = await _roots(desk, ctx, params, arguments)
        if roots is None:
            asked: dict[str, Any] = {ROOTS: types.ListRootsRequest()}
            return types.InputRequiredResult(input_requests=asked)
        from assistant.mcp.tools import TOOLS

        reply = await worked(desk, ctx, partial(TOOLS[name], arguments), roots)
    except InputError as error:
        return _failed(f"{error.message(_language(given))} ({error.code})")
    except AssistantError as error:
        logger.exception("tool %s failed", name)
        return _failed(f"{error.message(_language(given))} ({error.code})")
    except Exception:
        logger.exception("tool %s failed", name)
        return _failed(
            "metric-assistant 内部出错，已写入它的日志。请换一种问法，或只给出日志的一部分。 (internal)"
            if _language(given) == "zh"
            else "metric-assistant failed; its own log tells why. Try another tool or a part of the log. (internal)"
        )
    from assistant.service.brevity import dumped

    content: list[Any] = [types.TextContent(type="text", text=dumped(reply))]
    return types.CallToolResult(content=content, structured_content=reply)


def _failed(text: str) -> types.CallToolResult:
    import mcp_types as types

    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _language(arguments: Mapping[str, Any]) -> Any:
    """Language of an error: the one asked for, else that of the words of the call."""
    from assistant.settings import settings

    wish = arguments.get("lang")
    if wish in {"zh", "en"}:
        return wish
    words = " ".join(str(arguments.get(key, ""))[:4000] for key in ("question", "metric", "name", "query"))
    if any("\u3400" <= char <= "\u9fff" for char in words):
        return "zh"
    return "en" if words.strip() else settings().lang


def _refuse_scope(ctx: Any, scope: str) -> None:
    """Over HTTP: refuses a key that lacks a scope. Who calls was found out before the request came here."""
    found = _caller(ctx)
    if found is not None and scope not in found.scopes:
        raise InputError(zh=f"这个密钥没有 {scope} 权限。", en=f"This key lacks the scope {scope}.")


def _caller(ctx: Any) -> Any:
    return None if ctx.request is None else ctx.request.scope.get("state", {}).get("caller")


def owner_of(ctx: Any) -> str:
    """Who calls: over HTTP the key's name, or what the request shows of one; nobody else over stdio."""
    if ctx.request is None:
        return ""
    found = _caller(ctx)
    headers = ctx.request.headers
    shown = headers.get("authorization", "") + "\n" + headers.get("x-api-key", "")
    return found.name if found is not None else hashlib.sha256(shown.encode()).hexdigest()


async def _roots(desk: Desk, ctx: Any, params: Any, arguments: Mapping[str, Any]) -> list[Path] | None:
    """Folders from which this call may read; ``None`` where the client has to be asked first, in the stateless way.

    A client over HTTP names folders of its own machine, so it is never asked.
    """
    known = list(desk.roots)
    named = [arguments[key] for key in ("path", "other_path") if key in arguments]
    if desk.kind != "stdio" or not named:
        return known
    capabilities = ctx.session.client_capabilities
    can_tell = capabilities is not None and capabilities.roots is not None
    if can_tell and not all(_covered(name, known) for name in named):
        if ctx.session.can_send_request:
            known = [*await _asked(ctx), *known]
        elif params.input_responses is None or ROOTS not in params.input_responses:
            return None
        else:
            answer = params.input_responses[ROOTS]
            known = [*folders([str(root.uri) for root in getattr(answer, "roots", [])]), *known]
    return known or _started_in()


async def _asked(ctx: Any) -> list[Path]:
    import anyio
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    with anyio.move_on_after(ROOTS_WAIT):
        try:
            answer = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, ValueError):
            return []
        return folders([str(root.uri) for root in answer.roots])
    return []


def _covered(name: str, roots: list[Path]) -> bool:
    """Whether a path is found below folders that are known already."""
    from assistant.mcp.reading import local_path
    from assistant.service.roots import allowed_path

    try:
        allowed_path(local_path(name), roots)
    except InputError:
        return False
    return True


def _started_in() -> list[Path]:
    """The folder in which the client started this process, unless that is nobody's workspace."""
    here = Path.cwd()
    return [] if here in {Path(here.anchor), Path.home()} else [here]


async def worked(desk: Desk, ctx: Any, function: Callable[[Call], T], roots: list[Path]) -> T:
    """Runs a function in a thread; sends its progress on, and tells it to stop when the request is cancelled."""
    import anyio
    import anyio.to_thread
    from anyio.streams.memory import MemoryObjectReceiveStream

    at_work = desk.limiter.statistics()
    if desk.kind == "http" and at_work.borrowed_tokens >= AT_ONCE and at_work.tasks_waiting >= desk.queue:
        raise InputError(
            zh="服务器繁忙，请稍后再试。", en="The server is busy with other calls: try again in a few seconds."
        )
    loop_call = _from_thread()
    send, receive = anyio.create_memory_object_stream[tuple[float, float | None, str]](1)

    def tell(done: float, total: float | None, message: str) -> None:
        loop_call(lambda: _offer(send, (done, total, message)))

    listed = "、".join(map(str, roots)), ", ".join(map(str, roots))
    hint = (
        (f"可读的文件夹：{listed[0] or '无'}。其他文件夹：metric-assistant mcp --root 文件夹。",
         f" Folders that may be read: {listed[1] or 'none'}. Others: metric-assistant mcp --root FOLDER.")
        if desk.kind == "stdio" else ("", "")
    )  # fmt: skip
    call = Call(desk.store, owner_of(ctx), roots, hint, tell)
    outcome: list[T] = []
    failure: list[Exception] = []

    async def pass_on(stream: MemoryObjectReceiveStream[tuple[float, float | None, str]]) -> None:
        last = -1.0
        async for done, total, message in stream:
            # The protocol wants progress to grow with each notification.
            last = max(done, last + 1e-6)
            await ctx.session.report_progress(last, total, message)

    async with send, receive, anyio.create_task_group() as group:
        group.start_soon(pass_on, receive)
        try:
            work: Callable[[], T] = partial(function, call)
            with anyio.move_on_after(desk.seconds):
                outcome.append(await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=desk.limiter))
        except Exception as error:
            failure.append(error)
        finally:
            call.stopped.set()
        group.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if not outcome:
        raise InputError(
            zh=f"超过 {desk.seconds:g} 秒仍未完成。请只给出日志的一部分，或指定 step 与指标。",
            en=f"It took more than {desk.seconds:g} s. Give a part of the log, or name steps and metrics.",
        )
    return outcome[0]


def _from_thread() -> Callable[[Callable[[], None]], None]:
    """What lets a thread have something done by the event loop, without waiting for it."""
    import asyncio

    loop = asyncio.get_running_loop()

    def later(function: Callable[[], None]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(function)

    return later


def _offer(send: Any, item: Any) -> None:
    """Hands over a remark on progress unless the one before has not been taken yet."""
    import anyio

    try:
        send.send_nowait(item)
    except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
        return


# --- resources -------------------------------------------------------------------------------------------
async def list_resources(desk: Desk, ctx: Any, params: Any) -> types.ListResourcesResult:
    """One page of the resources: logs that were read, the rules, then every card."""
    from assistant.mcp.resources import page

    cursor = params.cursor if params is not None else None
    return await _looked_up(desk, ctx, partial(page, cursor=cursor))


async def list_templates(desk: Desk, ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    """How addresses of resources are made."""
    import mcp_types as types

    from assistant.mcp.resources import templates

    return types.ListResourceTemplatesResult(resource_templates=templates())


async def read_resource(desk: Desk, ctx: Any, params: Any) -> types.ReadResourceResult:
    """A resource by its address."""
    from assistant.mcp.resources import read

    return await _looked_up(desk, ctx, partial(read, uri=str(params.uri)))


async def _looked_up(desk: Desk, ctx: Any, function: Callable[[Call], T]) -> T:
    """Runs a look-up; what is not there is an error of the protocol."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    try:
        _refuse_scope(ctx, "read")
        return await worked(desk, ctx, function, [])
    except InputError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=error.en) from None


# --- prompts ---------------------------------------------------------------------------------------------
async def list_prompts(desk: Desk, ctx: Any, params: Any) -> types.ListPromptsResult:
    """The prompts, which clients show as slash commands."""
    import mcp_types as types

    from assistant.mcp.prompts import prompts

    return types.ListPromptsResult(prompts=[prompt.listed() for prompt in prompts().values()])


async def get_prompt(desk: Desk, ctx: Any, params: Any) -> types.GetPromptResult:
    """A prompt with its arguments filled in."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    from assistant.mcp.prompts import prompts

    found = prompts().get(params.name)
    if found is None:
        listed = ", ".join(prompts())
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name[:80]}. Prompts: {listed}.")
    try:
        return found.filled(params.arguments or {})
    except InputError as error:
        raise MCPError(code=types.INVALID_PARAMS, message=error.en) from None


async def complete(desk: Desk, ctx: Any, params: Any) -> types.CompleteResult:
    """Names of metrics that begin as what was typed, for addresses of cards."""
    import mcp_types as types

    from assistant.mcp.resources import completed

    if getattr(params.ref, "uri", None) != "metric://{+card}":
        return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
    values, total = await _looked_up(desk, ctx, partial(completed, start=params.argument.value))
    return types.CompleteResult(completion=types.Completion(values=values, total=total, has_more=total > len(values)))
