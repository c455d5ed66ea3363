"""Files that a remote caller may name: those under ``ASSISTANT_ALLOWED_ROOTS``, symbolic links resolved first."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from assistant.model import InputError
from assistant.settings import settings

LONGEST_PATH = 4096


def allowed_path(text: str, roots: Iterable[Path] | None = None) -> Path:
    """The real path of a file or folder that a caller names.

    Args:
        text: an absolute path, or one relative to a root.
        roots: folders that it may lie in; those of ``ASSISTANT_ALLOWED_ROOTS`` by default.

    Returns:
        The path with every symbolic link resolved; a regular file or a folder that lies in a root.

    Raises:
        InputError: no root is configured, it lies outside of all of them (whether it exists there is not told), it
            does not exist, or it is neither a file nor a folder (a device, a pipe, a socket).
    """
    known = [root for root in map(_real, settings().serving.allowed_roots if roots is None else roots) if root]
    if not known:
        raise InputError(
            zh="服务器没有开放任何文件夹：请设置 ASSISTANT_ALLOWED_ROOTS，或直接发送日志内容。",
            en="The server opens no folder: set ASSISTANT_ALLOWED_ROOTS, or send the log itself.",
        )
    shown = text[:200]
    if not text.strip() or "\x00" in text or len(text) > LONGEST_PATH or text.startswith("~"):
        raise _outside(shown)
    given = Path(text)
    candidates = [given] if given.is_absolute() else [root / given for root in known]
    inside = False
    for candidate in candidates:
        real = _real(candidate, strict=False)
        if real is None or not any(real.is_relative_to(root) for root in known):
            continue
        inside = True
        try:
            mode = real.stat().st_mode
        except OSError:
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(
                zh=f"{shown} 既不是普通文件也不是文件夹。", en=f"{shown} is neither a regular file nor a folder."
            )
        return real
    if not inside:
        raise _outside(shown)
    raise InputError(zh=f"允许的文件夹里没有 {shown}。", en=f"There is no {shown} in the allowed folders.")


def _real(path: Path, *, strict: bool = True) -> Path | None:
    try:
        return path.resolve(strict=strict)
    except (OSError, ValueError, RuntimeError):  # no such root, a loop of links
        return None


def _outside(shown: str) -> InputError:
    return InputError(
        zh=f"{shown} 不在允许的文件夹（ASSISTANT_ALLOWED_ROOTS）里。",
        en=f"{shown} is not in an allowed folder (ASSISTANT_ALLOWED_ROOTS).",
    )
