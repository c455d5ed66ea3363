"""Our entry in somebody's configuration file: put in, taken out, everything else as it was.

Before a file is changed its bytes are kept beside it; undoing gives those back where nothing else was changed since,
and takes out just our entry where something was. An edit that would change anything else is not made.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assistant.mcp.install import jsonc, toml
from assistant.mcp.install.clients import Client
from assistant.model import InputError

BACKUP = ".before-metric-assistant"
#: Larger files are no settings of ours to edit (Claude Code keeps histories in its own).
MOST_BYTES = 64 << 20
Done = Literal["written", "unchanged", "restored", "removed", "deleted", "absent"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file, and where its bytes of before are kept."""

    file: Path
    done: Done
    backup: Path | None = None


def install(client: Client, file: Path, server: Mapping[str, Any]) -> Change:
    """Puts our entry into a configuration file, which is made where there is none.

    Args:
        client: whose file it is.
        file: the file; a symbolic link is followed, not replaced.
        server: the entry.

    Raises:
        InputError: the file cannot be read or written, or is not of its format; it was not changed.
    """
    file = _real(file)
    old = _read(file)
    text = old or ""
    new = _edited(client, file, text, lambda given: _with(client, given, server), server)
    if new == text:
        return Change(file, "unchanged")
    backup = _backup(file)
    if old is not None and (not backup.exists() or _entry(client, file, text) is None):
        _write(backup, old, like=file)
    _write(file, new, like=file)
    return Change(file, "written", backup if old is not None else None)


def undo(client: Client, file: Path) -> Change:
    """Takes our entry out again.

    Raises:
        InputError: as in :func:`install`.
    """
    file = _real(file)
    text, backup = _read(file), _backup(file)
    kept = _read(backup)
    if kept is not None and _is_ours(_entry(client, file, kept)):  # of an installation that was renewed
        kept = None
    if text is None or (entry := _entry(client, file, text)) is None:
        with contextlib.suppress(FileNotFoundError):
            backup.unlink()
        return Change(file, "absent")
    if _same_but_for_us(client, kept, text, entry):
        if kept is None:
            file.unlink()
        else:
            _write(file, kept, like=file)
        with contextlib.suppress(FileNotFoundError):
            backup.unlink()
        return Change(file, "deleted" if kept is None else "restored")
    before = None if kept is None else _entry(client, file, kept)
    take = (lambda given: _without(client, given)) if before is None else lambda given: _with(client, given, before)
    _write(file, _edited(client, file, text, take, before), like=file)
    with contextlib.suppress(FileNotFoundError):
        backup.unlink()
    return Change(file, "removed")


def install_text(file: Path, text: str) -> Change:
    """Writes a whole file of ours (a skill, a rule); one of another content is kept beside it.

    Raises:
        InputError: it cannot be written.
    """
    file = _real(file)
    old = _read(file)
    if old == text:
        return Change(file, "unchanged")
    backup = _backup(file)
    if old is not None and not backup.exists():
        _write(backup, old, like=file)
    _write(file, text, like=file)
    return Change(file, "written", backup if old is not None else None)


def undo_text(file: Path, text: str) -> Change:
    """Takes a file of ours away again, or gives back the one before it; one that was changed since stays."""
    file = _real(file)
    backup = _backup(file)
    kept = _read(backup)
    if _read(file) != text:
        return Change(file, "absent")
    if kept is not None:
        _write(file, kept, like=file)
        backup.unlink()
        return Change(file, "restored")
    file.unlink()
    with contextlib.suppress(OSError):
        file.parent.rmdir()
    return Change(file, "deleted")


# --- one format or the other ------------------------------------------------------------------------------
def parsed(client: Client, text: str) -> Any:
    """The values of a configuration, as the client reads them.

    Raises:
        ValueError: it is not of its format.
    """
    return toml.parse(text) if client.format == "toml" else jsonc.parse(text).value


def _with(client: Client, text: str, server: Mapping[str, Any]) -> str:
    if client.format == "toml":
        return toml.with_table(text, client.path, server)
    return jsonc.with_member(text, client.path, dict(server))


def _without(client: Client, text: str) -> str:
    return toml.without_table(text, client.path) if client.format == "toml" else jsonc.without_member(text, client.path)


def _edited(client: Client, file: Path, text: str, edit: Callable[[str], str], wanted: Mapping[str, Any] | None) -> str:
    """An edit, held against the values: our entry must be as wanted, and nothing else may differ.

    Raises:
        InputError: the text is not of its format, or the edit would change something else.
    """
    try:
        before = parsed(client, text)
        new = edit(text)
        after = parsed(client, new)
    except ValueError as error:
        raise InputError(
            zh=f"{file} 不是有效的 {client.format.upper()}（{error}），没有改动。请手工加入 --print 打印的内容。",
            en=f"{file} is not valid {client.format.upper()} ({error}); it was not changed. Add by hand what --print "
            "shows.",
        ) from None
    if _found(after, client.path) != wanted or _others(before, client.path) != _others(after, client.path):
        raise InputError(
            zh=f"无法在不影响其他内容的情况下修改 {file}，没有改动。请手工加入 --print 打印的内容。",
            en=f"{file} cannot be edited without touching something else; it was not changed. Add by hand what --print "
            "shows.",
        )
    return new


def _entry(client: Client, file: Path, text: str) -> Any:
    try:
        return _found(parsed(client, text), client.path)
    except ValueError as error:
        raise InputError(
            zh=f"{file} 不是有效的 {client.format.upper()}（{error}），没有改动。",
            en=f"{file} is not valid {client.format.upper()} ({error}); it was not changed.",
        ) from None


def _found(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _others(value: Any, path: tuple[str, ...]) -> Any:
    """The values without our entry, and without what holds nothing else."""
    if not isinstance(value, Mapping):
        return value
    rest = dict(value)
    if path[0] in rest:
        inner = {} if len(path) == 1 else _others(rest[path[0]], path[1:])
        if inner == {}:
            del rest[path[0]]
        else:
            rest[path[0]] = inner
    return rest


def _is_ours(entry: Any) -> bool:
    """Whether an entry starts this server."""
    return isinstance(entry, Mapping) and "mcp" in (entry.get("args") or ())


def _same_but_for_us(client: Client, kept: str | None, text: str, entry: Any) -> bool:
    """Whether putting the entry into what stood there before gives what stands there now."""
    try:
        return _with(client, kept or "", entry) == text
    except ValueError:
        return False


# --- files ------------------------------------------------------------------------------------------------
def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def _real(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        return file


def _read(file: Path) -> str | None:
    """A file's text with its line ends; ``None`` where there is none."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(zh=f"{file} 太大，没有改动。", en=f"{file} is too large; it was not changed.")
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(zh=f"读不了 {file}：{reason}。", en=f"Cannot read {file}: {reason}.") from None


def _write(file: Path, text: str, *, like: Path) -> None:
    """Replaces a file in one step, with the permissions of another."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = like.stat().st_mode & 0o777 if like.exists() else 0o644
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode("utf-8"))
            Path(name).chmod(mode)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise InputError(
            zh=f"写不了 {file}：{error.strerror}。", en=f"Cannot write {file}: {error.strerror}."
        ) from None


def snippet(client: Client, server: Mapping[str, Any]) -> str:
    """What a person would add by hand."""
    if client.format == "toml":
        return toml.with_table("", client.path, server)
    value: Any = dict(server)
    for key in reversed(client.path):
        value = {key: value}
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
