"""Compressed logs: gzip, and zstd where its package is installed; expanded in parts and never beyond a limit."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from assistant.model.errors import BinaryInput, InputError

LIMIT: Final = 4 << 30
"""Most bytes that an archive may expand to, and that a text may have that must be read as a whole."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_PART: Final = 1 << 20
_ZSTD_PART: Final = 1 << 11  # a block of a few bytes may expand to 128 KiB


def kind_of(data: bytes) -> str | None:
    """``gzip`` or ``zstd`` by the first bytes; ``None`` for anything else."""
    if data.startswith(_GZIP):
        return "gzip"
    return "zstd" if data.startswith(_ZSTD) else None


def expand(chunks: Iterator[bytes], name: str, limit: int = LIMIT) -> Iterator[bytes]:
    """The bytes that an archive holds, in parts.

    Args:
        chunks: the archive.
        name: for messages.
        limit: most bytes to expand to.

    Raises:
        BinaryInput: the archive is damaged, or its kind cannot be read here.
        InputError: it expands to more than the limit.
    """
    first = next(chunks, b"")
    while len(first) < len(_ZSTD) and (more := next(chunks, b"")):
        first += more
    parts = _gunzip(first, chunks, name) if kind_of(first) == "gzip" else _unzstd(first, chunks, name)
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise InputError(
                zh=f"{name} 解压后超过 {limit / 2**30:.3g} GiB，未读取。请先解压并截取需要的部分。",
                en=f"{name} expands to more than {limit / 2**30:.3g} GiB and was not read. Unpack it and cut out the "
                "part you need.",
            )
        yield part


def limit_text(size: int, name: str, limit: int = LIMIT) -> None:
    """Refuses a text that is too large to be read as a whole.

    Raises:
        InputError: it is larger than the limit.
    """
    if size > limit:
        raise InputError(
            zh=f"{name} 超过 {limit / 2**30:.3g} GiB，且不能分段读取。请截取需要的部分。",
            en=f"{name} has more than {limit / 2**30:.3g} GiB and cannot be read in parts. Cut out the part you need.",
        )


def _damaged(name: str, kind: str) -> BinaryInput:
    return BinaryInput(
        zh=f"{name} 是损坏或不完整的 {kind} 文件：请重新下载或压缩。",
        en=f"{name} is a damaged or incomplete {kind} file: download or pack it again.",
    )


def _gunzip(first: bytes, chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """All members of a gzip file; what follows the last one is left out."""
    unpacker = zlib.decompressobj(wbits=31)
    data = first
    ended = False
    try:
        while data:
            if ended:
                data = data.lstrip(b"\x00")
                if not data.startswith(_GZIP):
                    return
                unpacker, ended = zlib.decompressobj(wbits=31), False
            part = unpacker.decompress(data, _PART)
            if part:
                yield part
            ended = unpacker.eof
            data = unpacker.unused_data if ended else unpacker.unconsumed_tail
            if not data:
                data = next(chunks, b"")
        if not ended:
            raise _damaged(name, "gzip")
    except zlib.error:
        raise _damaged(name, "gzip") from None


def _unzstd(first: bytes, chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    try:
        from zstandard import ZstdDecompressor, ZstdError
    except ImportError:
        raise BinaryInput(
            zh=f"{name} 是 zstd 压缩文件：请用 zstd -d 解压，或安装 metric-assistant[zstd]。",
            en=f"{name} is a zstd archive: unpack it with zstd -d, or install metric-assistant[zstd].",
        ) from None
    frame: Any = None
    try:
        for chunk in chain([first], chunks):
            at = 0
            while at < len(chunk):
                data = chunk[at : at + _ZSTD_PART]
                at += len(data)
                while data:
                    if frame is None:
                        frame = ZstdDecompressor(max_window_size=1 << 27).decompressobj()
                    part = frame.decompress(data)
                    if part:
                        yield part
                    data = frame.unused_data if frame.eof else b""
                    frame = None if frame.eof else frame
    except ZstdError:
        raise _damaged(name, "zstd") from None
    if frame is not None:
        raise _damaged(name, "zstd")
