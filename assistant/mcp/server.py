"""The protocol's server: tools, resources and prompts over whichever transport carries it.

Built on the official package's ``Server``. Its ``MCPServer`` would derive schemas from Python functions; here they are
data (``tools.json``), which is also what keeps the start fast.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assistant import __version__
from assistant.mcp.calls import Store
from assistant.mcp.catalogue import by_name, instructions, tools

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

#: Definitions, prompts and the list of tools change with a new version only; the list of resources with each call.
_HOUR, _MINUTE = 3_600_000, 60_000


class Desk:
    """What all connections of one process share.

    Args:
        kind: ``stdio`` (one client, which started this process) or ``http``.
        roots: folders from which files may be read, beside those of the settings.

    Attributes:
        store: logs that were read.
        seconds: longest time of one call; over stdio the client decides.
        queue: calls that may wait; the next ones are refused over HTTP.
        listed: told when a client has asked for the tools.
    """

    def __init__(self, kind: Literal["stdio", "http"], roots: Sequence[Path] = ()) -> None:
        from assistant.settings import settings

        serving = settings().serving
        self.kind = kind
        self.roots = (*roots, *serving.allowed_roots)
        self.seconds = serving.job_seconds if kind == "http" else float("inf")
        self.queue = serving.queue
        self.store = Store()
        self.listed: Callable[[], None] | None = None
        self._limiter: Any = None

    @property
    def limiter(self) -> Any:
        """At most so many calls at once, in the event loop that runs."""
        if self._limiter is None:
            import anyio

            from assistant.mcp.handlers import AT_ONCE

            self._limiter = anyio.CapacityLimiter(AT_ONCE)
        return self._limiter


def build(desk: Desk) -> Server[Any]:
    """The server of the official package, its handlers bound to a desk."""
    import mcp_types as types
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel.server import Server

    from assistant.mcp import handlers

    def bound(function: Callable[..., Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
        async def handler(ctx: Any, params: Any) -> Any:
            return await function(desk, ctx, params)

        return handler

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        if desk.listed is not None:
            desk.listed()
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools()])

    public = CacheHint(ttl_ms=_HOUR, scope="public")
    return Server(
        "metric-assistant",
        version=__version__,
        title="metric-assistant",
        description="Answers about RL training logs in which every number is traced.",
        instructions=instructions(),
        cache_hints={
            "tools/list": public, "prompts/list": public, "resources/templates/list": public,
            "resources/list": CacheHint(ttl_ms=0, scope="private"),
            "resources/read": CacheHint(ttl_ms=_MINUTE, scope="private"),
        },
        get_tool_input_schema=lambda name: by_name().get(name, {}).get("inputSchema"),
        on_list_tools=list_tools,
        on_call_tool=bound(handlers.call_tool),
        on_list_resources=bound(handlers.list_resources),
        on_list_resource_templates=bound(handlers.list_templates),
        on_read_resource=bound(handlers.read_resource),
        on_list_prompts=bound(handlers.list_prompts),
        on_get_prompt=bound(handlers.get_prompt),
        on_completion=bound(handlers.complete),
    )  # fmt: skip
