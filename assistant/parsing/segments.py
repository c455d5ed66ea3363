"""The grammar of verl's console line: ``step:N - key:value - key:value …``.

verl joins ``f"{key}:{pprint.pformat(value)}"`` with `` - `` (volcengine/verl,
``verl/utils/logger/aggregate_logger.py``, ``concat_dict_to_str``); older versions print ``{value:.3f}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import MissingReason, Number
from assistant.parsing.numbers import LONGEST, NUMBER, read_number
from assistant.parsing.repair import strip_ray

SEPARATOR: Final = " - "

_WRAPPER: Final = r"(?:np\.|numpy\.|torch\.)?[A-Za-z_][A-Za-z_0-9]*\("
_VALUE: Final = rf"(?:{_WRAPPER}(?P<inner>{NUMBER})(?:, [^()]*(?:\([^()]*\))?[^()]*)?\)|(?P<plain>{NUMBER}))"
_CELL: Final = re.compile(rf" - ([^\s:]++):(?:np\.[a-z]++[0-9]*+\()?+({NUMBER})\)?+(?= - |$)")
_VALUE_RE: Final = re.compile(_VALUE)
_OPEN_KEY: Final = re.compile(r"[A-Za-z_(][^\s:]*+")
_OPEN_VALUE: Final = re.compile(r"[^\s:]++:(?P<start>[-+.\w]*+(?:\([-+.\w]*+)?)")
_HEADER: Final = re.compile(r"step:([0-9]{1,15}) - ")
_TQDM_END: Final = re.compile(r"[0-9]+/[0-9]+ \[[^\[\]]{0,80}\]\s*$|[0-9]+(?:it)? \[[^\[\]]{0,80}\]\s*$")
_STAMP: Final = re.compile(r"\s*[\[(]?(?:[0-9]{2,4}[-/][0-9]{2}[-/][0-9]{2,4}[T ,]+)?[0-9]{2}:[0-9]{2}:[0-9]{2}")
_GREP: Final = re.compile(r"(?:[\w.~/-]{1,200}[:-])?[0-9]{1,9}[:-]\s*|[\w.~/-]{1,200}\.(?:log|txt|out)[:-]\s*")
_INTERLEAVED: Final = re.compile(
    rf"(?P<value>{_VALUE})\s*(?:Training Progress|Epoch [0-9]|\([A-Za-z_]\w* pid=|WARNING|INFO|wandb:|/)"
)


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

    Accepted before ``step:N - ``: a Ray prefix, a timestamp, a progress bar's end, a quote sign, the
    ``file:line:`` of grep. Anything else (a sentence, a JSON string) is not.
    """
    begin = line.find("step:")
    tag: str | None = None
    if begin > 0 or "[repeated " in line:
        tag, line = strip_ray(line)
        begin = line.find("step:")
    for _ in range(3):
        if begin < 0:
            return None
        if begin == 0 or (line[begin - 1] != "/" and not _is_word(line[begin - 1])):
            found = _HEADER.match(line, begin)
            if found is not None:
                if begin and not _front_is_fine(line[:begin]):
                    return None
                return Header(int(found[1]), tag, line, begin)
        begin = line.find("step:", begin + 5)
    return None


def _is_word(char: str) -> bool:
    return char == "_" or (char.isalnum() and char.isascii())


def _front_is_fine(front: str) -> bool:
    if not front.strip():
        return True
    if front[-1] in "]s " and _TQDM_END.search(front[-120:]):
        return True
    return len(front) <= 160 and _plain_front(front)


def _plain_front(front: str) -> bool:
    """A quote sign, the place that grep prints, or a timestamp with a logger's name."""
    if front.strip() in {">", "`", "```", ">>", "|"}:
        return True
    if _GREP.fullmatch(front):
        return True
    return _STAMP.match(front) is not None and front.rstrip()[-1] in "])0123456789:|>-FO" and len(front.split()) <= 9


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
        found = _VALUE_RE.fullmatch(segment, colon + 1)
        if found is not None and _is_key(segment[:colon]):
            number = found["inner"] or found["plain"]
            return (segment[:colon], number, colon + 1) if len(number) <= LONGEST else None
    return None


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
    glued = _INTERLEAVED.match(rest)
    if glued is not None:
        number = glued["inner"] or glued["plain"]
        return Tail("complete", key, read_number(number), text=number, offset=offset + colon + 1)
    if not _is_key(key):
        return Tail("not_a_number", text=stripped[:80])
    found = _OPEN_VALUE.fullmatch(stripped)
    if found is None or rest in {"None", "True", "False"}:
        return Tail("not_a_number", key, text=rest[:80], offset=offset + colon + 1)
    digits = rest.lstrip("+-")
    if not digits or digits[0] in "0123456789." or digits in {"n", "na", "i", "in"}:
        return Tail("half_value", key, text=rest, offset=offset + colon + 1)
    if "(" in rest or "np.float64(".startswith(rest) or rest.startswith("np") or "tensor(".startswith(rest):
        return Tail("half_wrapper", key, text=rest, offset=offset + colon + 1)
    return Tail("not_a_number", key, text=rest[:80], offset=offset + colon + 1)


def is_whole(segment: str) -> bool:
    """Whether a segment is ``key:value`` from beginning to end."""
    if segment.endswith(("None", "True", "False")):
        key, colon, rest = segment.rpartition(":")
        return bool(colon) and _is_key(key) and " " not in key and rest in {"None", "True", "False"}
    cell = read_segment(segment)
    return cell is not None and " " not in cell[0]


def is_open(segment: str) -> bool:
    """Whether a segment could be the beginning of ``key:value``."""
    stripped = segment.rstrip()
    if not stripped or stripped == "-":
        return True
    if stripped.endswith(" -"):
        return is_whole(stripped[:-2].rstrip())
    return _OPEN_KEY.fullmatch(stripped) is not None or _OPEN_VALUE.fullmatch(stripped) is not None
