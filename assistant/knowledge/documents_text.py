"""Bytes of a team's document to clean lines: decoded, without invisible characters, images and active markup.

Nothing here follows a link or runs anything: what a document says is text. Every pattern is anchored or bounded, so
that the time is linear in the length.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model import InputError

Line = tuple[int, str]
"""The number of a line in its file, and its text."""

MAX_LINE: Final = 4_000
"""Longer lines are prose: no definition is looked for in them."""

_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_PACKED: Final = (b"PK\x03\x04", b"\x1f\x8b", b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x28\xb5\x2f\xfd")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff\u3000-\u303f\uff00-\uffef\u2010-\u2027\u2190-\u21ff\u00b1\u00b7\u00d7]")
_HIGH: Final = re.compile(r"[^\x00-\x7f]")

#: Zero-width and bidirectional characters, tags and selectors that carry hidden text: a reader does not see them.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe0e\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_BREAK: Final = re.compile("\r\n|[\r\u0085\u2028\u2029]")

_TAGS: Final = (
    "a|abbr|b|big|blockquote|body|br|button|center|code|dd|details|div|dl|dt|em|embed|font|footer|form|h[1-6]|head|"
    "header|hr|html|i|iframe|img|input|ins|kbd|li|link|main|mark|meta|nav|object|ol|p|pre|s|section|script|small|source|span|style|"
    "strong|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|title|tr|u|ul|video"
)
_TAG: Final = re.compile(rf"</?(?:{_TAGS})(?:[\s/][^<>]{{0,2000}})?>", re.IGNORECASE)
_IMAGE: Final = re.compile(r"!\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,100}\])")
_LINK: Final = re.compile(r"\[([^\[\]\n]{1,300})\]\(\s{0,3}((?:[^\s()]|\([^\s()]{0,200}\)){1,1000})[^()\n]{0,200}\)")
_DROPPED: Final = (("<!--", "-->"), ("<script", "</script"), ("<style", "</style"))
_WIDE: Final = str.maketrans({chr(0xFF01 + at): chr(0x21 + at) for at in range(94)} | {"\u3000": " "})


def decode(data: bytes, name: str) -> str:
    """The text of a document's bytes: a byte-order mark, else UTF-8 (a few lost bytes allowed), else GB18030.

    Args:
        data: the bytes.
        name: of the document, for messages.

    Raises:
        InputError: the bytes are no text, or in another encoding.
    """
    if data.startswith(_PACKED):
        raise _not_text(name)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                raise _not_text(name) from None
    if b"\x00" in data:
        raise _not_text(name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = _decode_damaged(data, name)
    if len(_CONTROL.findall(text)) > 0.01 * len(text) + 8:
        raise _not_text(name)
    return text


def _decode_damaged(data: bytes, name: str) -> str:
    """GB18030 if that gives Chinese, else UTF-8 that lost a few bytes."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        text = ""
    high = len(_HIGH.findall(text))
    if high and len(_CHINESE.findall(text)) >= 0.7 * high:
        return text
    text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    if lost > 2 and lost > 0.02 * (len(_HIGH.findall(text)) - lost):
        raise _not_text(name)
    return text


def _not_text(name: str) -> InputError:
    return InputError(
        zh=f"{name} 不是文本：请给出 UTF-8（或带标记的 UTF-16、GB18030）编码的 Markdown、文本或 HTML。",
        en=f"{name} is not text: give Markdown, text or HTML in UTF-8 (or UTF-16 with a mark, or GB18030).",
    )


def clean(text: str) -> str:
    """The text without what a reader cannot see; control characters become U+FFFD, so that no key can hold one."""
    text = _BREAK.sub("\n", text)
    return _CONTROL.sub("\ufffd", _INVISIBLE.sub("", text))


def without(text: str, spans: tuple[tuple[str, str], ...] = _DROPPED, *, to_end: bool = False) -> str:
    """The text without spans such as comments and scripts; line breaks within them are kept.

    Args:
        text: Markdown or HTML.
        spans: how each begins and ends.
        to_end: one that is never closed goes on to the end, as in a browser; else it is none.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two; offsets must be those of the text
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    kept: list[str] = []
    at = 0
    starts = {opening: lower.find(opening) for opening, _ in spans}
    while True:
        for opening, start in starts.items():
            if 0 <= start < at:
                starts[opening] = lower.find(opening, at)
        found = min(((start, opening) for opening, start in starts.items() if start >= 0), default=None)
        if found is None:
            kept.append(text[at:])
            return "".join(kept)
        start, opening = found
        closing = next(close for open_, close in spans if open_ == opening)
        end = lower.find(closing, start + len(opening))
        if end < 0 and not to_end:
            starts[opening] = -1
            continue
        kept.append(text[at:start])
        if end < 0:
            return "".join(kept)
        end += len(closing)
        if closing.startswith("</"):
            bracket = lower.find(">", end)
            end = bracket + 1 if bracket >= 0 else len(text)
        kept.append("\n" * text.count("\n", start, end))
        at = end


def markdown_lines(text: str) -> list[Line]:
    """The lines of a cleaned Markdown or plain text; images leave their caption, links their address in brackets."""
    result: list[Line] = []
    for number, line in enumerate(without(text).split("\n"), 1):
        plain = line.rstrip()
        if "<" in plain:
            plain = _TAG.sub(" ", plain)
        if "](" in plain or "![" in plain:
            plain = _LINK.sub(_linked, _IMAGE.sub(r"\1", plain)).replace("](", "] (")  # no link, whatever it is
        result.append((number, plain))
    return result


def _linked(match: re.Match[str]) -> str:
    text, address = match.groups()
    shown = address.startswith(("http://", "https://")) and address != text
    return f"{text} ({address})" if shown else text


def narrow(text: str) -> str:
    """Full-width letters, digits and punctuation as half-width ones; the length stays."""
    return text.translate(_WIDE)


def is_chinese(text: str) -> bool:
    """Whether a text holds a Chinese character."""
    return any("\u3400" <= char <= "\u9fff" for char in text)
