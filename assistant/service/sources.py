"""Reading what a user names: a file, or standard input; with errors that say what to do."""

from __future__ import annotations

import sys
from pathlib import Path

from assistant.model import SourceIsFolder, SourceNotFound

LARGE = 32 << 20
"""Files with more bytes are read in parts."""


def read_source(source: str) -> tuple[str, bytes | Path]:
    """Name and bytes of a source; the path instead of the bytes of a large file.

    Args:
        source: a path, or ``-`` for standard input.

    Raises:
        SourceNotFound: no such file, or it cannot be read.
        SourceIsFolder: a folder; a file in it must be named.
    """
    if source == "-":
        return "stdin", sys.stdin.buffer.read()
    path = Path(source)
    if path.is_dir():
        logs = sorted(p.name for p in path.iterdir() if p.suffix in {".log", ".txt", ".out"})[:3]
        hint_zh = f"例如 {path / logs[0]}" if logs else "例如 train.log"
        hint_en = f"for example {path / logs[0]}" if logs else "for example train.log"
        raise SourceIsFolder(
            zh=f"{source} 是一个文件夹，不是日志。请直接给出日志文件，{hint_zh}。",
            en=f"{source} is a folder, not a log. Name the log file itself, {hint_en}.",
        )
    try:
        with path.open("rb") as handle:
            large = path.stat().st_size > LARGE
            return path.name, path if large else handle.read()
    except FileNotFoundError:
        raise SourceNotFound(
            zh=f"找不到文件 {source}。请检查路径；日志也可以从标准输入传入（用 - 表示）。",
            en=f"There is no file {source}. Check the path; a log can also be piped to standard input (use -).",
        ) from None
    except OSError as error:
        raise SourceNotFound(
            zh=f"读不了 {source}：{error.strerror}。请检查权限。",
            en=f"Cannot read {source}: {error.strerror}. Check its permissions.",
        ) from None
