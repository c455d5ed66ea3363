"""Text that was UTF-8 and was read as a Western or Turkish code page: found and read again.

A UTF-8 byte 0x80–0xFF shows as the character that Latin-1, cp1252 or cp1254 gives it. The three pages
give different characters only where they do not contradict each other, so that one table undoes all.
Bytes that a page does not define may be lost for good; what is left of their character becomes U+FFFD.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Note


def _table() -> dict[int, int]:
    """Character → the byte it stands for, over Latin-1, cp1252 and cp1254."""
    table: dict[int, int] = {}
    for page in ("cp1252", "cp1254"):
        for byte in range(0x80, 0x100):
            try:
                table[ord(bytes([byte]).decode(page))] = byte
            except UnicodeDecodeError:
                continue
    table[0xFFFD] = 0xFF
    return table


_BYTES: Final = _table()
_LEADS: Final = "\u00c2-\u00f4" + "".join(chr(c) for c, b in _BYTES.items() if c > 0xFF and 0xC2 <= b <= 0xF4)
_TRAILS: Final = "\u0080-\u00bf" + "".join(re.escape(chr(c)) for c, b in _BYTES.items() if c > 0xFF and b <= 0xBF)
_PAIR: Final = re.compile(f"[{_LEADS}][{_TRAILS}\ufffd]+")
_HIGH: Final = re.compile("[^\x00-\x7f]")
_HALF: Final = re.compile(rb"([\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\xff")
_MARKS: Final = ("Ã", "Â", "â", "ã", "ä", "å", "æ", "ç", "è", "é", "ï", "ğŸ", "ðŸ")
_SAMPLE: Final = 400_000
_SHARE: Final = 0.6


def repair_mojibake(text: str) -> tuple[str, tuple[Note, ...]]:
    """The text with double encoding undone, if it has any; the number of lines does not change.

    Args:
        text: any text.

    Returns:
        The text (the same object if nothing was wrong) and a note that tells how many characters
        could not be brought back.
    """
    if text.isascii() or not any(mark in text for mark in _MARKS) or not is_garbled(text[:_SAMPLE]):
        return text, ()
    lines = text.split("\n")
    lost = changed = 0
    for index, line in enumerate(lines):
        if line.isascii():
            continue
        fixed = _repair_line(line)
        if fixed is not None:
            lines[index] = fixed
            changed += 1
            lost += fixed.count("\ufffd")
    if not changed:
        return text, ()
    note = Note(
        "mojibake",
        f"文字被错误编码过（UTF-8 被当作单字节编码），已还原 {changed} 行"
        + (f"；{lost} 个字符丢失了字节，无法还原，显示为 \ufffd。" if lost else "。"),
        f"The text was double-encoded (UTF-8 read as a single-byte code page); {changed} lines were repaired"
        + (f"; {lost} characters had lost bytes and show as \ufffd." if lost else "."),
    )
    return "\n".join(lines), (note,)


def is_garbled(text: str) -> bool:
    """Whether most characters outside ASCII look like bytes of UTF-8 that were read one by one."""
    high = len(_HIGH.findall(text))
    pairs = [m.group() for m in _PAIR.finditer(text)]
    covered = sum(map(len, pairs))
    return len(pairs) >= 2 and covered >= _SHARE * high


def _repair_line(line: str) -> str | None:
    """One line read again; ``None`` if it does not look garbled or holds characters of no code page."""
    try:
        raw = line.translate(_BYTES).encode("latin-1")
    except UnicodeEncodeError:
        return None
    raw = _HALF.sub(rb"\1", raw)
    fixed = raw.decode("utf-8", errors="replace")
    lost = fixed.count("\ufffd")
    good = len(_HIGH.findall(fixed)) - lost
    if lost > good:
        covered = sum(len(m.group()) for m in _PAIR.finditer(line))
        if covered < _SHARE * len(_HIGH.findall(line)):
            return None
    return fixed
