"""Natural language around a log: where a question may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal

_MOST: Final = 5
_LONGEST: Final = 2000
SCAN: Final = 3000
"""How many lines at each end of a text are searched for prose."""

_CJK: Final = re.compile("[\u3400-\u9fff]")
_WORD: Final = re.compile(r"(?<![\w/.=:-])[A-Za-z][A-Za-z'’]*(?![\w/=:]|\.\w)")
_NOISE: Final = re.compile(
    r"\s*(?:wandb: |wandb\b|Traceback|File \"|\S+Warning|WARNING|INFO|DEBUG|ERROR|\[rank|\(\w+ pid=|"
    r"[\[(]?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]|[\[(]?[0-9]{2}:[0-9]{2}:[0-9]{2}|\S+\.py:[0-9]+|"
    r"Training Progress|Epoch [0-9]+/|epoch [0-9]+, step [0-9]+|test_gen_batch|validation generation end|"
    r"Checkpoint tracker file|Training from scratch|local_global_step_folder|len reward_extra_infos|"
    r"(?:original|filter) dataset len|dataset len:|Size of \w+ dataloader|Total training steps|"
    r"Setting global step|Load from checkpoint|Saving? (?:model|checkpoint)|Found \w+ checkpoint|"
    r"NCCL version|Using LocalLogger|Loading checkpoint shards|warnings\.warn|"
    r"Some weights of|You are using|It is strongly recommended|Flash Attention|"
    r"<\|im_start\|>|<\|im_end\|>|[$>#] \w|pip install|git clone|cd |bash |python3? |export |conda |"
    r"[IWEF][0-9]{4} |#{1,6} |(?:import|from) \w+|def \w+\(|class \w+|return\b|```|"
    r"[-=*_#~+|]{3,}\s*$|[{}\[\]()'\"]|\|)"
)
_BAR: Final = re.compile(r"[0-9]+%\|")


@dataclass(frozen=True)
class Prose:
    """A paragraph of natural language.

    Attributes:
        text: its lines, joined by line breaks (at most 2,000 characters).
        line: 1-based line on which it begins.
        position: before the first metric, after the last, or between.
    """

    text: str
    line: int
    position: Literal["before", "after", "between"]


def is_prose(line: str) -> bool:
    """Whether a line reads as Chinese or English sentences and is no program's output."""
    text = line.strip()
    if len(text) < 2 or len(text) > _LONGEST or _NOISE.match(line) or _BAR.search(text):
        return False
    if line.startswith(("    ", "\t")) and not _CJK.search(text):
        return False
    chinese = len(_CJK.findall(text))
    if chinese >= 2:
        return text.count("|") < 4
    words = _WORD.findall(text)
    letters = sum(map(len, words)) + len(words)
    if text.endswith("?"):
        return len(words) >= 1 and letters >= 0.4 * len(text)
    return len(words) >= 2 and letters >= 0.6 * len(text)


def find_prose(
    lines: Sequence[str], numbers: Sequence[int], taken: Set[int], asking: Iterable[int] = ()
) -> tuple[Prose, ...]:
    """The first five and the last five paragraphs of prose.

    Only the first and last 3,000 lines are looked at, so that a log full of rollouts costs nothing.

    Args:
        lines: the document's lines.
        numbers: their original numbers.
        taken: original numbers of the lines that were read as metrics.
        asking: original numbers of taken lines that hold a question too.
    """
    total = len(lines)
    tail = max(SCAN, total - SCAN)
    parts = [(lines[:SCAN], numbers[:SCAN]), (lines[tail:], numbers[tail:])]
    first, last = min(taken, default=None), max(taken, default=None)
    return prose_around(parts, taken - set(asking), first, last)


def prose_around(
    parts: Iterable[tuple[Sequence[str], Sequence[int]]], usable: Set[int], first: int | None, last: int | None
) -> tuple[Prose, ...]:
    """The first five and the last five paragraphs of prose in parts of a text.

    Args:
        parts: lines and their original numbers.
        usable: numbers of lines that were read as metrics and hold nothing else.
        first: number of the first line that was read as metrics.
        last: number of the last one.
    """
    found = [paragraph for lines, numbers in parts for paragraph in _paragraphs(lines, numbers, usable)]
    if len(found) > 2 * _MOST:
        found = found[:_MOST] + found[-_MOST:]
    return tuple(Prose(text, line, _position(line, first, last)) for text, line in found)


def _position(line: int, first: int | None, last: int | None) -> Literal["before", "after", "between"]:
    if first is None or last is None or line < first:
        return "before"
    return "after" if line >= last else "between"


def _paragraphs(lines: Sequence[str], numbers: Sequence[int], taken: Set[int]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    current: list[str] = []
    start = size = 0
    fenced = False
    for line, number in zip(lines, numbers, strict=False):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        use = not fenced and number not in taken and is_prose(line)
        if use and size + len(line) <= _LONGEST:
            if not current:
                start = number
            current.append(line.strip())
            size += len(line) + 1
            continue
        if current:
            found.append(("\n".join(current), start))
            current, size = [], 0
            if len(found) > 4 * _MOST:
                found = found[:_MOST] + found[-_MOST:]
        if use:
            current, size, start = [line.strip()], len(line) + 1, number
    if current:
        found.append(("\n".join(current), start))
    return found
