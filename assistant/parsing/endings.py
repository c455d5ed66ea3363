"""How a log ends: what its last lines say of a run that was killed or failed.

Only lines after the run's last row are looked at, and only signs that name a cause; what they say is never quoted. The
side fact ``ended/<cause>`` holds the signal's number where the cause is a signal (1 otherwise), and the line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from assistant.model.run import Number, Run

ENDED: Final = "ended/"
"""What the name of the side fact begins with; the cause follows."""

_LONGEST: Final = 4_000
_MOST_LINES: Final = 2_000
#: What a line with a sign holds at least, so that others cost nothing.
_WORDS: Final = re.compile(
    r"SIG|rror|xception|nterrupt|memory|signal|CANCELLED|cancelled|imeout|imed|space left|exitcode|reempt|died|kill"
    r"|Kill|Xid|alltime|\^C|assert"
)
_PREFIX: Final = re.compile(r"^(?:\x1b\[[\d;]*m)*\([^()]{0,80}pid=\d+[^()]{0,80}\)(?:\x1b\[[\d;]*m)*\s*")
_SIGNALS: Final = {
    "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGABRT": 6, "SIGBUS": 7, "SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15,
}  # fmt: skip
_KNOWN: Final = frozenset(_SIGNALS.values())

#: Causes and their signs, the most telling first: a Python exception is often the consequence of another cause.
_CAUSES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("gpu_memory", re.compile(r"(?:CUDA|HIP|NPU|GPU) out of memory|(?:torch\.(?:cuda\.)?)OutOfMemoryError")),
    (
        "host_memory",
        re.compile(
            r"(?i)oom[- ]?kill|out of memory: killed process|ray\.exceptions\.OutOfMemoryError"
            r"|memory (?:on the node|usage).{0,200}exceed"
        ),
    ),
    ("time_limit", re.compile(r"(?i)cancelled at .{0,60}due to time limit|walltime .{0,40}exceeded")),
    ("preempted", re.compile(r"(?i)cancelled at .{0,60}due to preemption|\bpreempted\b.{0,40}(?:node|job|instance)")),
    ("disk_full", re.compile(r"No space left on device")),
    (
        "communication",
        re.compile(
            r"(?i)watchdog caught collective operation timeout|collective operation timed? ?out"
            r"|nccl(?:[ a-z]{0,20}error|.{0,60}(?:timeout|timed out))|ncclSystemError|gloo.{0,60}timed out"
        ),
    ),
    ("gpu_fault", re.compile(r"(?i)CUDA error:|device-side assert|illegal memory access|\bXid\b.{0,20}\d")),
    (
        "signal",
        re.compile(
            r"got signal: (?P<got>\d{1,2})\b|Received (?P<received>\d{1,2}) death signal"
            r"|closing signal (?P<closing>SIG[A-Z]{2,5})|Signal (?P<numbered>\d{1,2}) \(?SIG"
            r"|exitcode\s*:\s*-(?P<code>\d{1,2})\b|\b(?P<named>SIG(?:HUP|KILL|TERM|SEGV|ABRT|BUS|QUIT))\b"
        ),
    ),
    ("keyboard", re.compile(r"KeyboardInterrupt\b|^\^C\s*$")),
    ("worker_died", re.compile(r"(?:Ray)?ActorDiedError|RayActorError|WorkerCrashedError|actor died unexpectedly")),
    ("exception", re.compile(r"^(?:[A-Za-z_][\w.]{0,80}\.)?[A-Z]\w{0,60}(?:Error|Exception)\b(?::|\s*$)")),
)


def with_ending(runs: Iterable[Run], lines: Sequence[str], numbers: Sequence[int]) -> tuple[Run, ...]:
    """The runs, the last one with what the lines after its last row say of its end.

    Args:
        runs: of one text, in order of appearance.
        lines: the text's lines, or a sample of them.
        numbers: original number of each, ascending.
    """
    runs = tuple(runs)
    if not runs or not runs[-1].row_lines:
        return runs
    found = _cause(lines, numbers, max(runs[-1].row_lines))
    if found is None:
        return runs
    cause, value, line = found
    last = replace(runs[-1], extras={**runs[-1].extras, ENDED + cause: (value, line)})
    return (*runs[:-1], last)


def ending(run: Run) -> tuple[str, Number, int] | None:
    """Cause, number of the signal (or 1) and line of a run's end; ``None`` where the log tells none."""
    return next(
        ((name[len(ENDED) :], value, line) for name, (value, line) in run.extras.items() if name.startswith(ENDED)),
        None,
    )


def _cause(lines: Sequence[str], numbers: Sequence[int], after: int) -> tuple[str, Number, int] | None:
    """The most telling cause in the lines behind a line, and its first sign."""
    first = max(bisect_left(numbers, after + 1), len(lines) - _MOST_LINES)
    rank, best = len(_CAUSES), None
    for line, number in zip(lines[first:], numbers[first:], strict=False):
        text = line[-_LONGEST:]
        if _WORDS.search(text) is None:
            continue
        text = _PREFIX.sub("", line)[-_LONGEST:]
        for place, (cause, sign) in enumerate(_CAUSES[:rank]):
            match = sign.search(text)
            value = 1 if match is None or cause != "signal" else _signal(match)
            if match is not None and value is not None:
                rank, best = place, (cause, value, number)
                break
    return best


def _signal(match: re.Match[str]) -> int | None:
    told = match.lastgroup and match[match.lastgroup]
    number = _SIGNALS.get(told, 0) if told and told.startswith("SIG") else int(told or 0)
    return number if number in _KNOWN else None
