"""What stands before a record on its line: launchers' and loggers' prefixes, progress bars, places, quote signs."""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.logprefix import read_body
from assistant.parsing.repair import strip_ray

_TQDM_END: Final = re.compile(r"[0-9]+/[0-9]+ \[[^\[\]]{0,80}\]\s*$|[0-9]+(?:it)? \[[^\[\]]{0,80}\]\s*$")
_STAMP: Final = re.compile(r"\s*[\[(]?(?:[0-9]{2,4}[-/][0-9]{2}[-/][0-9]{2,4}[T ,]+)?[0-9]{2}:[0-9]{2}:[0-9]{2}")
_GREP: Final = re.compile(r"(?:[\w.~/-]{1,200}[:-])?[0-9]{1,9}[:-]\s*|[\w.~/-]{1,200}\.(?:log|txt|out)[:-]\s*")
_COLOUR_TEXT: Final = re.compile(r"(?:\^\[|\\x1[bB]|\\033|\\e|\\u001[bB]|\u241b)\[[0-9;]{0,12}m")
_LOST_COLOUR: Final = re.compile(r"(?:(?:\^\[|\\x1[bB]|\\033|\\e|\\u001[bB]|\u241b)?\[[0-9;]{0,12}m)++\s*$")
_LEVEL: Final = r"(?:INFO|DEBUG|WARNING|WARN|ERROR)\b"
_LAUNCHER: Final = re.compile(
    r"\s*(?:>\s?|[0-9]{1,6}:\s+|[0-9]{1,9}\t|[0-9]{1,3}\.\s|[*\u2022]\s"
    r"|\[[0-9]{1,6},[0-9]{1,6}\]<std(?:out|err)>:?|std(?:out|err) [FP]\s|\[[\w./: -]{1,80}\]:?(?=\s|\[|$)"
    r"|[\w./-]{1,80}\s{1,12}\|(?=\s)|[a-z][a-z0-9.-]{0,60}[0-9]:\s|[IWE]:\s"
    r"|\([\w.-]{1,80}(?:, rank=[0-9]{1,6})?, pid=[0-9]{1,9}(?:, ip=[\w.:-]{1,60})?\)"
    r"|[a-z0-9.-]{3,80} [a-z0-9.-]{2,60} (?=\([A-Za-z_][\w./:<>@#=,\[\]-]{0,160} pid=)"
    rf"|[A-Za-z_][\w.]{{0,60}} -(?= {_LEVEL})"
    r"|[A-Z][a-z]{2} {1,2}[0-9]{1,2} (?=[0-9]{2}:)|[\w.-]{1,64} [\w./-]{1,40}\[[0-9]{1,9}\]:\s)"
)
"""Quotes, numbered lines, ranks and streams of srun and mpirun, hosts and pods, SkyPilot, logging, the journal."""

_NAME: Final = re.compile(r"\s*(?:训练(?:日志)?|日志|[Tt]rain(?:ing)?|[Ll]og)\s*[:：]?\s*")
_LONGEST_END: Final = 64
_MOST_FRONTS: Final = 12
LONGEST_FRONT: Final = 400
SAMPLE_MARKS: Final = ("[prompt]", "[response]", "[ground_truth]")
"""What verl prints before the parts of a sample; what follows the first two is a model's text."""


def quote_of(line: str) -> str:
    """The quote signs or blanks before a line of a quoted or indented text."""
    return line[: len(line) - len(line.lstrip("> \t"))] if line[:1] in "> \t" else ""


def without_codes(line: str, begin: int) -> str:
    """A line without the colour codes before an offset whose escape character is spelled out (``^[[36m``)."""
    front = line[:begin]
    if "^[" not in front and "\\" not in front and "\u241b" not in front:
        return line
    return _COLOUR_TEXT.sub("", front) + line[begin:]


def without_colours(body: str) -> str:
    """A record without the colour codes at its end that lost their escape character."""
    if not body.endswith("m"):
        return body
    kept = max(len(body) - _LONGEST_END, 0)
    return body[:kept] + _LOST_COLOUR.sub("", body[kept:])


def is_name(front: str) -> bool:
    """Whether no more than a word for training stands before a record, as somebody's own ``print`` puts it there."""
    return _NAME.fullmatch(front) is not None


def is_fine_front(front: str) -> bool:
    """Whether nothing, a progress bar, a quote sign, a place or a time stands before a record."""
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


def strip_front(line: str, mark: str) -> tuple[str | None, str]:
    """The process that a line names, and what follows the prefixes of loggers and launchers before a mark.

    Args:
        line: a line.
        mark: prefixes are looked for in front of its first place only.
    """
    tag, rest = strip_ray(without_codes(line, max(line.find(mark), 0)))
    begin = rest.find(mark)
    front = rest[: max(begin, 0)]
    inner, left = _take_fronts(front) if len(front) <= LONGEST_FRONT else (None, front)
    return inner or tag, (left + rest[len(front) :]).lstrip()


def front_tag(front: str) -> str | None:
    """The process that a front of several launchers' prefixes names, ``""`` if none does; ``None`` if it is text."""
    if len(front) > LONGEST_FRONT or any(mark in front for mark in SAMPLE_MARKS):
        return None
    tag, rest = _take_fronts(front)
    return (tag or "") if not rest.strip() else None


def _take_fronts(front: str) -> tuple[str | None, str]:
    """The process that prefixes at the beginning of a text name, and what follows them."""
    tag, rest = None, front
    for _ in range(_MOST_FRONTS):
        found, shorter = strip_ray(rest)
        if found is None:
            launcher = _LAUNCHER.match(rest)
            shorter = rest[launcher.end() :] if launcher is not None else read_body(rest)[1]
            if len(shorter) == len(rest):
                shorter = rest.lstrip(" -|:")
        if len(shorter) == len(rest):
            break
        tag, rest = found or tag, shorter
    return tag, rest
