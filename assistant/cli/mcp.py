"""``metric-assistant mcp``: the tools for editors and agents, over stdio or HTTP; and their installation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from assistant.model import InputError


def add_mcp_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    mcp = commands.add_parser(
        "mcp", help="the tools for Cursor, VS Code, Claude Code … / 供编辑器和智能体调用的工具（MCP）",
        description="Serves the tools over the Model Context Protocol. An editor starts it; `mcp install` tells the "
        "editor how. 通过 MCP 提供工具；由编辑器启动，用 mcp install 写入编辑器的配置。",
    )  # fmt: skip
    mcp.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    mcp.add_argument(
        "--root", action="append", default=[], metavar="DIR",
        help="a folder whose logs may be read, beside the client's workspace; may be given again / 允许读取的文件夹",
    )  # fmt: skip
    mcp.add_argument("--host", default="127.0.0.1", help="with --transport http")
    mcp.add_argument("--port", type=int, default=8000, help="with --transport http")
    mcp.set_defaults(run=mcp_command)
    actions = mcp.add_subparsers(dest="action", metavar="install")
    install = actions.add_parser("install", help="write an editor's configuration / 写入编辑器的配置")
    from assistant.cli.mcp_install import add_install_arguments

    add_install_arguments(install)


def mcp_command(arguments: argparse.Namespace) -> int:
    """``mcp``: serves until the client closes its end, or the server is stopped."""
    roots = [_folder(name) for name in arguments.root]
    if arguments.transport == "stdio":
        from assistant.mcp import serve_stdio

        if sys.stdin is not None and sys.stdin.isatty():
            print(
                "An editor talks to this over standard input (Ctrl-C ends it); `metric-assistant mcp install` tells it "
                "how. 由编辑器通过标准输入调用（Ctrl-C 结束），配置方法：metric-assistant mcp install。",
                file=sys.stderr,
            )
        serve_stdio(roots)
        return 0
    return _serve_http(arguments, roots)


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise InputError(zh=f"--root {name} 不是文件夹。", en=f"--root {name} is no folder.")
    return path.resolve()


def _serve_http(arguments: argparse.Namespace, roots: list[Path]) -> int:
    """The whole server, ``/mcp`` in it: one set of keys, limits and checks."""
    import os

    if roots:
        held = os.environ.get("ASSISTANT_ALLOWED_ROOTS", "")
        os.environ["ASSISTANT_ALLOWED_ROOTS"] = os.pathsep.join([*filter(None, [held]), *map(str, roots)])
    from assistant.cli.main import serve_command

    print(f"MCP: http://{arguments.host}:{arguments.port}/mcp", file=sys.stderr)
    return serve_command(arguments)
