"""Bytes to text: which encoding, and what to do with bytes that are no text."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.errors import BinaryInput, EmptyInput
from assistant.model.run import Note

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip", "gunzip"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"),
    (b"BZh", "bzip2", "bunzip2"),
    (b"\xfd7zXZ\x00", "xz", "unxz"),
)
MAGIC: Final = tuple(magic for magic, _, _ in _MAGIC)
_HOLE: Final = b"\x00" * 4
"""What a log begins with that was emptied (``logrotate``'s ``copytruncate``) while a program kept writing to it."""

_SAMPLE: Final = 1 << 16
_CJK: Final = re.compile(
    "[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef\u2010-\u2027\u2190-\u21ff\u2500-\u25ff\u00b1\u00b7\u00d7]"
)
_CONTROL: Final = re.compile("[\x00-\x06\x0e-\x1a]")
_HIGH: Final = re.compile("[^\x00-\x7f]")


def decode(data: bytes, name: str = "input") -> tuple[str, tuple[Note, ...]]:
    """The text of a file's bytes.

    Tried in this order: a byte-order mark (UTF-8, UTF-16, UTF-32), UTF-8, UTF-16 without mark,
    GB18030, and at last UTF-8 with the bad bytes shown as U+FFFD (a note tells so).

    Args:
        data: the bytes.
        name: file name, for messages.

    Raises:
        EmptyInput: nothing but white space.
        BinaryInput: the bytes are no text (an archive, an image, an event file …).
    """
    if not data.strip():
        raise EmptyInput(
            zh=f"{name} 是空的：请粘贴训练日志，或换一个有内容的文件。",
            en=f"{name} is empty: paste a training log, or give a file that holds one.",
        )
    if data.startswith(_HOLE):
        return decode(data.lstrip(b"\x00"), name)
    for mark, encoding in _BOMS:
        if data.startswith(mark) and (encoding == "utf-8-sig" or b"\x00" in data[len(mark) : _SAMPLE]):
            text = data.decode(encoding, errors="replace").removeprefix("\ufeff")
            if not text.strip():
                return decode(b"", name)
            return text, _lost(text)
    for magic, kind, tool in _MAGIC:
        if data.startswith(magic):
            raise BinaryInput(
                zh=f"{name} 是 {kind} 压缩文件：请先用 {tool} 解压，再给出其中的日志。",
                en=f"{name} is a {kind} archive: unpack it with {tool} and give the log inside.",
            )
    sample = data[:_SAMPLE]
    if b"\x00" in sample:
        return _decode_with_nulls(data, sample, name)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return _decode_damaged(data, name)


def _decode_with_nulls(data: bytes, sample: bytes, name: str) -> tuple[str, tuple[Note, ...]]:
    """UTF-16 without mark, a text with stray NULs, or no text."""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    for encoding, nulls, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if nulls > 0.1 * half and 20 * others < nulls:
            text = data.decode(encoding, errors="replace")
            if text.count("\ufffd") * 50 < len(text) and _CONTROL.search(text[:_SAMPLE]) is None:
                return text, _lost(text)
    strange = sum(map(sample.count, range(32))) - sum(map(sample.count, b"\t\n\r\x1b\x08"))
    if strange > 0.01 * len(sample):
        raise BinaryInput(
            zh=f"{name} 不是文本（可能是 TensorBoard 事件文件或检查点）：请给出控制台日志、CSV 或 JSON 文本。",
            en=f"{name} is not text (perhaps a TensorBoard event file or a checkpoint): "
            "give the console log, a CSV or a JSON text.",
        )
    return decode(data.replace(b"\x00", b" "), name)


def _decode_damaged(data: bytes, name: str) -> tuple[str, tuple[Note, ...]]:
    """Text that is not valid UTF-8: GB18030, or UTF-8 with lost bytes."""
    loose = data.decode("utf-8", errors="replace")
    bad = loose.count("\ufffd")
    good = len(_HIGH.findall(loose)) - bad
    if bad > 2 and bad > 0.02 * good:
        try:
            text = data.decode("gb18030")
        except UnicodeDecodeError:
            text = ""
        high = len(_HIGH.findall(text))
        if high and len(_CJK.findall(text)) >= 0.7 * high:
            note = Note("decoded_gb18030", "文件按 GB18030 编码读取。", "The file was read as GB18030.")
            return text, (note,)
    control = sum(data[:_SAMPLE].count(byte) for byte in b"\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13")
    if bad > 0.1 * len(loose) or control > 0.01 * min(len(data), _SAMPLE):
        raise BinaryInput(
            zh=f"{name} 不是文本：请给出控制台日志、CSV 或 JSON 文本（UTF-8 或 GB18030 编码）。",
            en=f"{name} is not text: give the console log, a CSV or a JSON text (UTF-8 or GB18030).",
        )
    return loose, _lost(loose)


def _lost(text: str) -> tuple[Note, ...]:
    return lost_bytes(text.count("\ufffd"))


def lost_bytes(count: int) -> tuple[Note, ...]:
    """A note that tells how many places could not be decoded, if there are any."""
    if not count:
        return ()
    return (
        Note(
            "bytes_lost",
            f"有 {count} 处字节无法解码，显示为 \ufffd。",
            f"{count} places could not be decoded and show as \ufffd.",
        ),
    )
