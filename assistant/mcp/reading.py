"""The log that a call is about: pasted, a file below an allowed folder, or one that was read before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from assistant.mcp.calls import Call, Held
from assistant.model import EmptyInput, InputError

#: Files beyond this size are not read.
MOST_BYTES = 4 << 30


def read(arguments: Mapping[str, Any], call: Call, *, prefix: str = "") -> Held:
    """Reads what ``path``, ``text`` or ``log`` of the arguments names.

    Args:
        arguments: of the tool; names may have a prefix (``other_``).
        call: where handles, folders and progress are.
        prefix: of the names.

    Raises:
        InputError: none or several of them are given, the handle is unknown, or the file lies outside the folders.
        Stopped: the call was cancelled.
    """
    names = [f"{prefix}{name}" for name in ("path", "text", "log")]
    given = [name for name in names if arguments.get(name) is not None]
    if len(given) != 1:
        zh = "：日志文件的路径、日志原文，或先前回复里的 log。"
        en = ": a log file's path, the log itself, or `log` of an earlier reply."
        raise InputError(
            zh=f"请给出 {'、'.join(names)} 中的一个" + (f"（收到 {'、'.join(given)}）。" if given else zh),
            en=f"Give exactly one of {', '.join(names)}" + (f" (got {', '.join(given)})." if given else en),
        )
    value = arguments[given[0]]
    if given[0] == names[2]:
        held = call.store.get(call.owner, value)
        if held is None:
            raise InputError(
                zh=f"没有句柄 {value[:64]}（可能已过期）。请重新用 path 或 text 给出日志。",
                en=f"There is no log with the handle {value[:64]} (it may have expired). Give the log by path or text.",
            )
        return held
    return _file(value, call) if given[0] == names[0] else _pasted(value, call)


def _pasted(text: str, call: Call) -> Held:
    from assistant.service import Source, service
    from assistant.settings import settings

    if not text.strip():
        raise EmptyInput(zh="text 是空的：请放入日志。", en="text is empty: put the log there.")
    data = text.encode("utf-8", "surrogatepass")
    most = settings().max_body_bytes
    if len(data) > most:
        raise InputError(
            zh=f"text 超过 {most >> 20} MB。请把日志存成文件，用 path 给出。",
            en=f"text is over {most >> 20} MB. Save the log as a file and give its path.",
        )
    handle = call.store.handle(call.owner, "text", data)
    held = call.store.get(call.owner, handle)
    if held is None:
        call.report(0, len(data), "reading the log")
        held = Held(handle, "pasted text", service().read([Source("pasted text", data)]))
        call.store.put(call.owner, held)
        call.report(len(data), len(data), "read")
    return held


def _file(text: str, call: Call) -> Held:
    from assistant.service import Source, read_source, service
    from assistant.service.roots import allowed_path

    try:
        path = allowed_path(local_path(text), call.roots)
    except InputError as error:
        raise InputError(zh=f"{error.zh}{call.hint[0]}", en=f"{error.en}{call.hint[1]}") from None
    if path.is_dir():
        read_source(str(path))  # says which file in it could be meant
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(zh=f"读不了 {text[:200]}。", en=f"Cannot read {text[:200]}: {error.strerror}.") from None
    if found.st_size > MOST_BYTES:
        raise InputError(
            zh=f"{path.name} 超过 {MOST_BYTES >> 30} GB，请截取一部分。",
            en=f"{path.name} is over {MOST_BYTES >> 30} GB: give a part of it.",
        )
    handle = call.store.handle(call.owner, "file", str(path), found.st_mtime_ns, found.st_size)
    held = call.store.get(call.owner, handle)
    if held is None:
        call.report(0, found.st_size, f"reading {path.name}")
        name, content = read_source(str(path))
        material = service().read(
            [Source(name, content)],
            progress=lambda done: call.report(min(done, found.st_size), found.st_size, f"reading {path.name}"),
        )
        held = Held(handle, name, material)
        call.store.put(call.owner, held)
        call.report(found.st_size, found.st_size, f"read {path.name}")
    return held


def local_path(text: str) -> str:
    """A path as a client names it: a ``file://`` address of this machine becomes a path.

    Raises:
        InputError: an address of another kind or machine.
    """
    if "://" not in text[:32]:
        return text
    parts = urlsplit(text)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise InputError(
            zh=f"只能读取本机文件，不能读取 {text[:200]}。请给出文件路径，或用 text 发送日志。",
            en=f"Only files of this machine are read, not {text[:200]}. Give a file's path, or send the log as text.",
        )
    path = unquote(parts.path)
    return path[1:] if os.name == "nt" and path[:1] == "/" else path


def folders(roots: list[str]) -> list[Path]:
    """Folders that a client (as ``file://`` addresses) or the command line names; unusable ones are left out."""
    found = []
    for root in roots:
        try:
            path = Path(local_path(root)).expanduser()
        except (InputError, RuntimeError):
            continue
        if path.is_dir():
            found.append(path)
    return found
