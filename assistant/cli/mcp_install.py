"""``metric-assistant mcp install``: an editor's configuration written, printed or undone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.model import InputError

if TYPE_CHECKING:
    from assistant.mcp.install.writing import Change

#: As in ``assistant/mcp/install/clients.json``; a test compares them. Listed here so that the grammar loads no file.
CLIENTS = ("cursor", "vscode", "claude", "claude-desktop", "windsurf", "codex", "gemini", "zed")


def add_install_arguments(install: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``mcp install``."""
    install.description = (
        "Adds this server to an editor's configuration; what is there stays, the old file is kept beside it. "
        "把本服务加入编辑器的配置：原有内容保留，旧文件留有备份。"
    )
    install.add_argument("--client", choices=CLIENTS, required=True)
    install.add_argument(
        "--scope", choices=["user", "project"], default="user",
        help="for all projects (the default), or in the current folder / 对所有项目，或只对当前文件夹",
    )  # fmt: skip
    install.add_argument(
        "--root", dest="roots", action="append", default=[], metavar="DIR",
        help="a folder whose logs may be read, beside the workspace / 工作区之外允许读取的文件夹",
    )  # fmt: skip
    install.add_argument("--skill", action="store_true", help="write the agent skill too / 同时写入智能体技能文件")
    install.add_argument("--rule", action="store_true", help="write Cursor's rule too / 同时写入 Cursor 规则")
    what = install.add_mutually_exclusive_group()
    what.add_argument("--print", dest="show", action="store_true", help="print it instead / 只打印，不写入")
    what.add_argument(
        "--link", action="store_true", help="print the one-click link (cursor, vscode) / 打印一键安装链接"
    )
    what.add_argument("--undo", action="store_true", help="take it out again / 撤销")
    install.add_argument("--command", dest="program", metavar="PROGRAM", help="start this instead of this installation")
    install.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    install.set_defaults(run=install_command)


def install_command(arguments: argparse.Namespace) -> int:
    """``mcp install``: one line for each file that was changed."""
    from assistant.mcp.install import writing
    from assistant.mcp.install.clients import clients, cursor_link, own_command, vscode_link

    client = clients()[arguments.client]
    roots = [Path(root).expanduser().resolve() for root in arguments.roots]
    for root in roots:
        if not root.is_dir():
            raise InputError(zh=f"--root：没有文件夹 {root}。", en=f"--root: there is no folder {root}.")
    command = [arguments.program] if arguments.program else own_command()
    server = client.server(command, list(map(str, roots)))
    if arguments.link:
        links = {"cursor": cursor_link, "vscode": vscode_link}
        if client.name not in links:
            raise InputError(zh=f"{client.title} 没有一键安装链接。", en=f"{client.title} has no one-click link.")
        print(links[client.name](server))
        return 0
    file = client.file(arguments.scope, Path.cwd())
    texts = _texts(arguments)
    if arguments.show:
        print(f"# {file}", file=sys.stderr)
        sys.stdout.write(writing.snippet(client, server))
        for path, text in texts:
            print(f"# {path}", file=sys.stderr)
            sys.stdout.write("\n" + text)
        return 0
    if arguments.undo:
        changes = [writing.undo(client, file), *(writing.undo_text(path, text) for path, text in texts)]
    else:
        changes = [writing.install(client, file, server), *(writing.install_text(path, text) for path, text in texts)]
    language = _language(arguments)
    for change in changes:
        print(_told(change, language))
    return 0


def _texts(arguments: argparse.Namespace) -> list[tuple[Path, str]]:
    """Files beside the configuration: the skill, the rule; to undo, where neither is named, those that are there."""
    from assistant.mcp.install.clients import clients, resolved
    from assistant.resources import data_folder

    client, found = clients()[arguments.client], []
    folder = data_folder("skills") / "metric-assistant"
    wanted: list[tuple[bool, Any, str]] = [
        (arguments.skill, client.skill, "SKILL.md"), (arguments.rule, client.rule, "metric-assistant.mdc"),
    ]  # fmt: skip
    all_of_it = arguments.undo and not (arguments.skill or arguments.rule)
    for wish, places, name in wanted:
        there = all_of_it and arguments.scope in places and resolved(places[arguments.scope], Path.cwd()).exists()
        if not (wish or there):
            continue
        if arguments.scope not in places:
            raise InputError(
                zh=f"不知道 {client.title} 在哪里读取 {name}（{arguments.scope} 级）。可自行复制 {folder / name}。",
                en=f"Where {client.title} looks for {name} with --scope {arguments.scope} is not known. Copy "
                f"{folder / name} yourself.",
            )
        found.append((resolved(places[arguments.scope], Path.cwd()), (folder / name).read_text(encoding="utf-8")))
    return found


def _language(arguments: argparse.Namespace) -> str:
    from assistant.cli.common import message_language

    return str(message_language("", arguments))


def _told(change: Change, language: str) -> str:
    zh = {
        "written": "已写入", "unchanged": "已是最新，未改动", "restored": "已恢复原样", "removed": "已移除本服务的条目",
        "deleted": "已删除（原先没有这个文件）", "absent": "没有需要撤销的内容",
    }  # fmt: skip
    en = {
        "written": "written", "unchanged": "is up to date", "restored": "is as it was before",
        "removed": "the entry was taken out", "deleted": "deleted (there was no such file before)",
        "absent": "nothing to undo",
    }  # fmt: skip
    text = f"{change.file}: {(zh if language == 'zh' else en)[change.done]}"
    if change.backup is not None:
        text += f"（备份：{change.backup}）" if language == "zh" else f" (before: {change.backup})"
    return text
