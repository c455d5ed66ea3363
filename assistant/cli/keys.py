"""``metric-assistant keys new NAME``: an access key for the server, shown once."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from assistant.cli.common import message_language


def add_keys_parser(commands: Any) -> None:
    """Registers ``keys``."""
    keys = commands.add_parser("keys", help="access keys of the server / 服务器的访问密钥")
    actions = keys.add_subparsers(dest="action", required=True, metavar="ACTION")
    new = actions.add_parser("new", help="a new key, shown once / 生成新密钥，只显示一次")
    new.add_argument("name", metavar="NAME", help="who uses it / 使用者")
    new.add_argument(
        "--scope", action="append", default=None, choices=["ask", "read", "write", "admin"],
        help="what it may do; may be given several times (ask, read and write by default) / 权限，可多次给出",
    )  # fmt: skip
    new.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    new.set_defaults(run=new_command)


def new_command(arguments: argparse.Namespace) -> int:
    """Prints the key on standard output, and on standard error what to configure."""
    from assistant.api.access import new_key

    key, entry = new_key(arguments.name, arguments.scope or [])
    print(key)
    if message_language("", arguments) == "zh":
        text = (
            "密钥只显示这一次，服务器只保存它的哈希。请把下面一项加入 ASSISTANT_API_KEYS（多项用逗号分隔，"
            f"或每行一项写入它指向的文件）：\n  {entry}\n客户端发送：Authorization: Bearer 密钥"
        )
    else:
        text = (
            "The key is shown this once; the server keeps its hash alone. Add this entry to ASSISTANT_API_KEYS\n"
            f"(entries are separated by commas, or stand one a line in the file it names):\n  {entry}\n"
            "Clients send: Authorization: Bearer KEY"
        )
    print(text, file=sys.stderr)
    return 0
