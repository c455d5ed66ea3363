"""What launchers, loggers and terminals print in front of a message; formats look at what follows it."""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.repair import strip_ray

_LEVEL: Final = r"(?:INFO|SUCCESS|DEBUG|WARNING|WARN|ERROR|CRITICAL|TRACE|METRICS?)(?![\w/])"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?+(?:[+-][0-9]{2}:?[0-9]{2}|Z)?+"
_DAY: Final = r"(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{8}|[0-9]{2}[-/][0-9]{2}(?:[-/][0-9]{2,4})?+)"
_FIRST: Final = (
    r"\[[^\[\]{}'\"\n]{1,80}+\]:?"
    rf"|[IWEF][0-9]{{4}} {{1,2}}{_CLOCK} {{1,6}}[0-9]{{1,20}} [\w./-]{{1,80}}:[0-9]{{1,7}}\]"
    r"|\([^(){}'\"\n=]{1,80}+\)"
    rf"|(?:{_DAY}[T _,-]{{1,2}})?+{_CLOCK}:?"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?+:"
    rf"|[0-9]{{1,8}}(?=[ \t]{{1,4}}\[?{_LEVEL})"
    rf"|{_LEVEL}:[\w.]{{1,60}}+:"
    rf"|{_LEVEL}:?"
    r"|[\w./-]{1,80}+(?<=\.py):[0-9]{1,7}[:\]]?"
    r"|[\w.]{1,80}+:[\w<>]{1,60}+:[0-9]{1,7}"
    r"|[A-Za-z_]\w{0,40}+(?:\.\w{1,40}+){1,6}+:[0-9]{1,7}(?=[ \t]-[ \t])"
    rf"|[A-Za-z_][\w.]{{0,60}}+(?: [a-z]\w{{0,20}}+)?+(?=[ \t]{{1,9}}(?:-[ \t]{{1,4}})?+{_LEVEL})"
    r"|\([\w./:<>@#=,\[\]-]{1,160} pid=[0-9]{1,12}(?:, ip=[\w.:-]{1,60})?\)"
    r"|`{1,3}(?!`)"
    r"|(?i:rank)[ _]?[0-9]{1,6}:"
    r"|[\w.~/-]{1,160}+(?<=\.log|\.txt|\.out):(?:[0-9]{1,9}:)?+"
    r"|>"
)
_TOKEN: Final = re.compile(rf"[ \t]{{0,40}}+(?:{_FIRST})(?=[\s|-]|$|(?<=[\]):>`]).)")
_FOLLOWING: Final = re.compile(rf"[ \t]{{0,40}}+(?:{_FIRST}|[-|:]{{1,3}}(?=\s))(?=[\s|-]|$|(?<=[\]):>`]).)")
_BEGINNING: Final = re.compile(
    rf"[ \t]{{0,40}}+(?:\[[^\[\]{{}}'\"\n]{{0,40}}?(?:{_CLOCK}|{_LEVEL}|(?i:rank) ?[0-9])"
    rf"|(?:{_DAY}[T _,-]{{1,2}})?+{_CLOCK}|{_LEVEL}[: ])"
)
_BLANK: Final = re.compile(r"[ \t]{0,400}+")
_MOST_TOKENS: Final = 12


def read_body(line: str) -> tuple[str | None, str]:
    """The process that printed a line, if the line tells, and the message without what precedes it.

    Removed: a Ray prefix, a progress bar that ends in ``it/s]``, timestamps, levels, logger names, places in
    source files, ranks, the file name that grep prints, the marks of inline code. Text of any other kind stays.
    """
    tag = None
    if "pid=" in line[:200] or "actor_id=" in line[:200] or "[repeated " in line:
        tag, line = strip_ray(line)
    if "it/s]" in line or "s/it]" in line:
        line = line[max(line.rfind("it/s]"), line.rfind("s/it]")) + 5 :]
    at = 0
    found = _TOKEN.match(line)
    for _ in range(_MOST_TOKENS):
        if found is None:
            break
        at = found.end()
        found = _FOLLOWING.match(line, at)
    blank = _BLANK.match(line, at)
    return tag, line[blank.end() if blank is not None else at :]


def has_prefix(line: str) -> bool:
    """Whether a line begins as a logger's or a launcher's message does: with a process, a time, a level, a rank.

    Stricter than :func:`read_body`, so that no piece of a broken line is taken for a message.
    """
    if "pid=" in line[:200] and strip_ray(line)[0] is not None:
        return True
    return _BEGINNING.match(line) is not None
