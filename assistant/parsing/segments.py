"""The grammar of verl's console line: ``step:N - key:value - key:value …``.

verl joins ``f"{key}:{pprint.pformat(value)}"`` with `` - `` (volcengine/verl,
``verl/utils/logger/aggregate_logger.py``, ``concat_dict_to_str``); older versions print ``{value:.3f}``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import MissingReason, Number
from assistant.parsing.numbers import LONGEST, NUMBER, read_number
from assistant.parsing.repair import strip_ray
from assistant.parsing.verlfront import LONGEST_FRONT, front_tag, is_fine_front, is_name, without_codes

SEPARATOR: Final = " - "
WIDEST_TERMINAL: Final = 1000
"""Longer lines were not broken by a terminal."""

_WRAPPER: Final = r"(?:np\.|numpy\.|torch\.)?[A-Za-z_][A-Za-z_0-9]*\("
_VALUE: Final = rf"(?:{_WRAPPER}(?P<inner>{NUMBER})(?:, [^()]*(?:\([^()]*\))?[^()]*)?\)|(?P<plain>{NUMBER}))"
_CELL: Final = re.compile(rf" - ([^\s:]++):(?:np\.[a-z]++[0-9]*+\()?+({NUMBER})\)?+(?= - |$)")
_VALUE_RE: Final = re.compile(_VALUE)
_OPEN_KEY: Final = re.compile(r"[A-Za-z_(][^\s:]*+")
_OPEN_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?+(?:[eE][-+]?[0-9]*+)?+|\.[0-9]*+|na?|in?)?+")
_OPEN_VALUE: Final = re.compile(r"[^\s:]++:(?P<start>[-+.\w]*+(?:\([-+.\w]*+)?)")
_INNER: Final = re.compile(r"step:(?<![A-Za-z_/]step:)([0-9]{1,15}) - ")
_HEADER: Final = re.compile(r"step:([0-9]{1,15}) - ")
_BROKEN: Final = (("s", "tep:"), ("st", "ep:"), ("ste", "p:"), ("step", ":"))
HEAD_ENDS: Final = tuple(rest for _, rest in _BROKEN)
"""What a line begins with if the line before ends in the beginning of ``step:``."""

_LONGEST_HEAD: Final = 24
_BARE_HEAD: Final = re.compile(r"step:[0-9]{0,15} ?-?\s*$")
_FOLLOWED: Final = re.compile(
    rf"(?P<value>{_VALUE})"
    r"(?:\s*(?:Training Progress|Epoch [0-9]|\([A-Za-z_][\w./:<>@#=,\[\]-]{0,160} pid=|WARNING|INFO|wandb:|/)"
    r"|\s+[^\s0-9.,%\u2030\u00b1\u00d7^*/]|[\"'`<\\|\[]|[,;](?=\s|$)"
    r"|(?![\uff05\u4e07\u4ebf\u5343\u767e])[\u3000-\u303f\u4e00-\u9fff\uff01-\uff0f\uff1a-\uff1f])"
)
"""A whole value with text behind it: other output, a sentence, a mark that closes a quotation."""

_SPOKEN: Final = re.compile(
    rf"([A-Za-z_][\w.%@()\[\]+-]{{0,60}}(?: [A-Za-z_(\[][\w.%@()\[\]+-]{{0,60}}){{0,4}}): ?((?:{NUMBER}))"
)
"""A key of words and its number, which only the cells around it tell from a sentence."""
_NARROWEST: Final = 20
_INTRODUCED: Final = 3
_AROUND: Final = 2
"""Paths that a record has to hold beside cells whose keys are words."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What stands after the last separator of a record.

    Attributes:
        state: ``complete`` (a whole cell), ``clean`` (nothing: the text stops after a separator),
            ``not_a_number`` (whole, but ``None`` or text) or why the cell is not there.
        key: the cell's key, if all of it is there.
        value: the value of a complete cell.
        plain: whether the value has no closing wrapper, so that more digits could follow.
        text: the value's text.
        offset: where the value's text begins in the record.
        dangling: whether a separator without a cell behind it follows a complete cell.
    """

    state: Literal["complete", "clean", "not_a_number"] | MissingReason
    key: str | None = None
    value: Number | None = None
    plain: bool = False
    text: str = ""
    offset: int = 0
    dangling: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """The start of a record: its step, its process and where ``step:`` and the cells begin."""

    step: int
    tag: str | None
    line: str
    start: int


def find_header(line: str) -> Header | None:
    """The record start of a line, if a record starts here; what may precede is a launcher's prefix.

    Accepted before ``step:N - ``: a Ray prefix, what loggers and launchers print (times, levels, ranks, hosts), a
    progress bar's end, a quote sign, the ``file:line:`` of grep, and a sentence that ends in a colon, or a word for
    training, if a record of several cells is all that follows. Anything else (another sentence, a JSON string) is not.
    """
    begin = line.find("step:")
    tag: str | None = None
    if begin > 0:
        line = without_codes(line, begin)
        begin = line.find("step:")
    if begin > 0 or "[repeated " in line:
        tag, line = strip_ray(line)
        begin = line.find("step:")
    for _ in range(3):
        if begin < 0:
            return None
        if begin == 0 or (line[begin - 1] != "/" and not _is_word(line[begin - 1])):
            found = _HEADER.match(line, begin)
            if found is not None:
                if begin and not is_fine_front(line[:begin]):
                    inner = front_tag(line[:begin])
                    if inner is None and (tag is not None or not _is_introduced(line, begin)):
                        return None
                    tag = inner or tag
                return Header(int(found[1]), tag, line, begin)
        begin = line.find("step:", begin + 5)
    return None


def find_split_header(line: str, following: str) -> Header | None:
    """The record start at a line's end that a terminal broke: ``… st`` and ``ep:3 - …``, or ``step:3`` alone.

    Args:
        line: the line.
        following: the next one; what it begins with has to complete ``step:N - `` and a cell.
    """
    head = next((end for end, rest in _BROKEN if following.startswith(rest) and line.endswith(end)), None)
    if head is None and _BARE_HEAD.search(line[-_LONGEST_HEAD:]) is None:
        return None
    stripped, rest = line.rstrip(), following.lstrip()
    apart = rest.startswith("- ") or stripped.endswith("-")
    rest, glue = (rest, " ") if apart else (following, "")
    if max(len(line), len(rest)) > WIDEST_TERMINAL or "[repeated " in rest:
        return None
    whole = find_header(stripped + glue + rest)
    if whole is None:
        return None
    start = len(stripped + glue + rest) - len(whole.line) + whole.start
    first = whole.line[whole.start :].split(SEPARATOR, 2)[1].rstrip()
    if not 0 <= start < len(stripped) or not (is_whole(first) or ("/" in first and is_open(first))):
        return None
    return Header(whole.step, whole.tag, stripped, start)


def find_split_front(before: str, line: str) -> Header | None:
    """The record start of a line whose prefix began on the line before, where a terminal broke it."""
    if not _NARROWEST <= len(before) <= WIDEST_TERMINAL or "[repeated " in line:
        return None
    whole = find_header(before + line)
    if whole is None:
        return None
    start = len(line) - (len(whole.line) - whole.start)
    return Header(whole.step, whole.tag, line, start) if start > 0 else None


def split_records(body: str) -> list[tuple[int, int, str | None]]:
    """Where the records of a text begin and end, and the process named before each: several if line breaks were lost.

    Args:
        body: from ``step:`` on.
    """
    parts: list[tuple[int, int, str | None]] = []
    start, tag = 0, None
    for found in _INNER.finditer(body, len("step:")):
        end = _whole_end(body, found.start())
        if end is not None:
            parts.append((start, end[0], tag))
            start, tag = found.start(), end[1]
    return [*parts, (start, len(body), tag)]


def _whole_end(body: str, at: int) -> tuple[int, str | None] | None:
    """Where the cell before a second ``step:`` ends, and the process between them; ``None`` if it is no record."""
    begin = body.rfind(SEPARATOR, 0, at) + len(SEPARATOR)
    segment = body[begin:at]
    stripped = segment.rstrip()
    if is_whole(stripped):
        return begin + len(stripped), None
    colon = segment.find(":")
    if not 0 < colon <= LONGEST or not _is_key(segment[:colon]):
        return None
    value = _VALUE_RE.match(segment, colon + 1)
    tag = None if value is None else front_tag(segment[value.end() :])
    return None if value is None or tag is None else (begin + value.end(), tag or None)


def _is_word(char: str) -> bool:
    return char == "_" or (char.isalnum() and char.isascii())


def _is_introduced(line: str, begin: int) -> bool:
    """Whether a record of several cells, and nothing behind it, follows a sentence that ends in a colon, or "训练"."""
    front = line[:begin].rstrip()
    named = is_name(front)
    if not named and (
        not front.endswith((":", "：")) or len(front) > LONGEST_FRONT or any(mark in front for mark in "\"'`{}[]“”‘’")
    ):
        return False
    cells = read_cells(line[begin:].rstrip())
    if cells is None:
        return False
    return len(cells) >= _AROUND if named else sum("/" in key for key, _ in cells) >= _INTRODUCED


def read_cells(body: str) -> list[tuple[str, str]] | None:
    """All cells of a record whose every segment is whole, quickly.

    Args:
        body: the record from ``step:`` on, without trailing blanks.

    Returns:
        ``(key, number text)`` pairs in order, or ``None`` if some segment needs a closer look.
    """
    cells: list[tuple[str, str]] = _CELL.findall(body)
    if len(cells) != body.count(SEPARATOR) or body.count("(") != body.count(")"):
        return None
    return cells


def read_segment(segment: str) -> tuple[str, str, int] | None:
    """``(key, number text, offset of the value)`` of a whole segment, else ``None``."""
    for colon in (segment.rfind(":"), segment.find(":")):
        if colon <= 0:
            continue
        begin = colon + 1 + segment.startswith(": ", colon)
        found = _VALUE_RE.fullmatch(segment, begin)
        if found is not None and _is_key(segment[:colon]) and (begin == colon + 1 or "/" in segment[:colon]):
            number = found["inner"] or found["plain"]
            return (segment[:colon], number, begin) if len(number) <= LONGEST else None
    return None


def find_spoken(segments: Sequence[str]) -> dict[int, tuple[str, str, int]]:
    """Cells whose keys are words (``actor lr:1e-6``, ``lr: 1e-6``), by their place in a record.

    Args:
        segments: of one line, whole but for the last one's value.

    Returns:
        As :func:`read_segment` returns them; none unless all else in the record are cells, several of them paths.
    """
    found: dict[int, tuple[str, str, int]] = {}
    paths = 0
    for at, segment in enumerate(segments):
        cell = read_segment(segment)
        if cell is not None:
            paths += "/" in cell[0]
            continue
        spoken = _SPOKEN.fullmatch(segment)
        if spoken is not None and len(spoken[2]) <= LONGEST:
            found[at] = spoken[1], spoken[2], spoken.start(2)
        elif not is_whole(segment):
            return {}
    return found if paths >= _AROUND else {}


def _is_key(text: str) -> bool:
    """A key may hold blanks inside a path, or a colon, but not both."""
    if " " not in text and "\t" not in text:
        return len(text) <= 300
    return text == text.strip() and "/" in text and ":" not in text and len(text) <= 300


def read_tail(segment: str, offset: int) -> Tail:
    """What the last segment of a record is.

    Args:
        segment: text after the last separator.
        offset: where the segment begins in the record.
    """
    stripped = segment.rstrip()
    if not stripped or stripped == "-":
        return Tail("clean")
    dangling = stripped.endswith(" -")
    if dangling:
        stripped = stripped[:-2].rstrip()
    cell = read_segment(stripped)
    if cell is not None:
        key, number, begin = cell
        plain = not dangling and not stripped.endswith(")")
        return Tail("complete", key, read_number(number), plain, number, offset + begin, dangling)
    colon = stripped.find(":")
    if colon < 0:
        return Tail("half_key", text=stripped[:80])
    key, rest = stripped[:colon], stripped[colon + 1 :]
    at = offset + colon + 1
    if len(rest) > LONGEST and _VALUE_RE.fullmatch(rest):
        return Tail("not_a_number", key if _is_key(key) else None, text=rest[:80], offset=at)
    if not _is_key(key):
        return Tail("not_a_number", text=stripped[:80])
    followed = _FOLLOWED.match(rest)
    if followed is not None:
        number = followed["inner"] or followed["plain"]
        return Tail("complete", key, read_number(number), text=number, offset=at)
    if _OPEN_VALUE.fullmatch(stripped) is None or rest in {"None", "True", "False"}:
        return Tail("not_a_number", key, text=rest[:80], offset=at)
    if _OPEN_NUMBER.fullmatch(rest):
        return Tail("half_value", key, text=rest, offset=at)
    if "(" in rest or "np.float64(".startswith(rest) or rest.startswith("np") or "tensor(".startswith(rest):
        return Tail("half_wrapper", key, text=rest, offset=at)
    return Tail("not_a_number", key, text=rest[:80], offset=at)


def is_whole(segment: str) -> bool:
    """Whether a segment is ``key:value`` from beginning to end."""
    if segment.endswith(("None", "True", "False")):
        key, colon, rest = segment.rpartition(":")
        return bool(colon) and _is_key(key) and " " not in key and rest in {"None", "True", "False"}
    cell = read_segment(segment)
    return cell is not None and " " not in cell[0] and segment[cell[2] - 1] == ":"


def is_open(segment: str) -> bool:
    """Whether a segment could be the beginning of ``key:value``."""
    stripped = segment.rstrip()
    if not stripped or stripped == "-":
        return True
    if stripped.endswith(" -"):
        return is_whole(stripped[:-2].rstrip())
    return _OPEN_KEY.fullmatch(stripped) is not None or _OPEN_VALUE.fullmatch(stripped) is not None
