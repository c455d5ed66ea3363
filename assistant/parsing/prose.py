"""Natural language around a log: where a question may stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

_MOST: Final = 5
_LONGEST: Final = 2000
_LONGEST_TITLE: Final = 160
SCAN: Final = 3000
"""How many lines at each end of a text are searched for prose."""

_CJK: Final = re.compile("[\u3400-\u9fff]")
_WORD: Final = re.compile(r"(?<![\w/.=:-])[A-Za-z][A-Za-z'’]*(?![\w/=:]|\.\w)")
_KEY: Final = re.compile(r"(?<![\w/@.-])[A-Za-z][\w@.-]{0,80}(?:[/_][\w@.-]{1,80}){1,8}")
_NOISE: Final = re.compile(
    r"\s*(?:wandb: |wandb\b|Traceback|File \"|\S+Warning|WARNING|INFO|DEBUG|ERROR|\[rank|"
    r"\([\w./:<>@#=,\[\]-]{1,160} pid=|"
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
_ASKED: Final = re.compile(r"[A-Za-z0-9)\]'\"` ]\?+(?:\s|$)")
_BAR: Final = re.compile(r"[0-9]+%\|")
_QUOTED: Final = re.compile(r"`[^`\n]{1,80}`")
_STATED: Final = re.compile(r"[=:] ?[\"'\[{(]?[-+]?\d|[{}<>]|\\$|^\s*\S+\s*$")
"""A value behind its name, code: signs of a program's line."""
_OBJECT: Final = re.compile(r"\{[\"'][^{}]{1,1900}\}")
_TITLE: Final = re.compile(
    r"(?i)\s{0,4}(?:#{1,4} (?=[^\n]{0,300}[?？\u3400-\u9fff]|(?-i:[A-Z])[a-z]{0,20} [^\n=/{}<>$\\\[\]]{10,300}$))?"
    r"(?:\[(?:question|qst|help(?: (?:request|wanted|needed))?|bug|issue|discussion|rllib|rl|grpo|ppo|dpo|sft"
    r"|troubleshoot(?:ing)?|performance|usage|training|feature(?: request)?|求助|问题|提问|咨询|讨论)\]\s{0,4}:?\s{0,4}"
    r"|\[(?!(?:info|debug|warn|warning|error|trace|rank)\b)[a-z][a-z -]{2,24}\]\s{0,4}:?\s{0,4}"
    r"(?=[a-z][^\n]{0,300}[?？]\s{0,8}$)){0,2}"
)
"""What stands before the title of somebody's question: ``# ``, ``[Question] ``."""


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


def is_title(line: str) -> bool:
    """Whether the first line of a text may be somebody's title though it names keys: "[DAPO] val/acc collapses"."""
    bare = re.sub(r"^\W{0,4}(?:\[[A-Za-z][\w /-]{1,30}\]\s{0,4}:?\s{0,4}){0,2}", "", line.strip())
    if not 4 <= len(bare) <= _LONGEST_TITLE or _NOISE.match(bare) or _STATED.search(bare) or "|" in bare:
        return False
    said = _KEY.sub("it", _QUOTED.sub("it", bare))
    return len(_WORD.findall(said)) >= 2 or len(_CJK.findall(said)) >= 4


def is_prose(line: str) -> bool:
    """Whether a line reads as Chinese or English sentences and is no program's output."""
    titled = False
    if line[:1] in {"#", "["}:
        titled = bool(end := _TITLE.match(line).end()) and line[0] == "["  # type: ignore[union-attr]
        line = line[end:]
    text = line.strip()
    if len(text) < 2 or len(text) > _LONGEST or _NOISE.match(line) or ("%|" in text and _BAR.search(text)):
        return False
    chinese = 0 if text.isascii() else len(_CJK.findall(text))
    if line.startswith(("    ", "\t")) and not chinese:
        return False
    if chinese >= 2:
        return text.count("|") < 4
    if "?" in text and _ASKED.search(text):  # a key in a question is no sign of a program: `actor/entropy at step 3?`
        text = _KEY.sub("it", text)
        words = _WORD.findall(text)
        return len(words) >= 1 and sum(map(len, words)) + len(words) >= 0.4 * len(text)
    text = _QUOTED.sub("it", text) if text.count("`") >= 2 else text
    text = _KEY.sub("it", text) if titled else text
    words = _WORD.findall(text)
    return len(words) >= 2 and sum(map(len, words)) + len(words) >= 0.6 * len(text)


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
    runs = [_Runs(lines, numbers, usable) for lines, numbers in parts]
    found = _at_both_ends(runs)
    return tuple(Prose(text, line, _position(line, first, last)) for text, line in found)


def _at_both_ends(parts: Sequence[_Runs]) -> list[tuple[str, int]]:
    """The first and the last paragraphs; lines between are not looked at where there are enough on either side."""
    first = list(islice((paragraph for part in parts[:1] for paragraph in part.forward()), _MOST))
    last = list(islice((paragraph for part in parts[:0:-1] for paragraph in part.backward()), _MOST))
    if len(first) < _MOST or len(last) < _MOST:
        found = [paragraph for part in parts for paragraph in part.forward()]
        return found[:_MOST] + found[_MOST:][-_MOST:]
    return first + last[::-1]


def _position(line: int, first: int | None, last: int | None) -> Literal["before", "after", "between"]:
    if first is None or last is None or line < first:
        return "before"
    return "after" if line >= last else "between"


class _Runs:
    """Paragraphs of prose in a part of a text, from either end."""

    def __init__(self, lines: Sequence[str], numbers: Sequence[int], taken: Set[int]) -> None:
        self.lines = lines
        self.numbers = numbers
        self.taken = taken
        self.fenced = _fenced(lines)
        self._known: dict[int, bool] = {}

    def _use(self, index: int) -> bool:
        known = self._known.get(index)
        if known is None:
            known = (
                index not in self.fenced
                and self.numbers[index] not in self.taken
                and (is_prose(_said(self.lines[index])) or (self.numbers[index] == 1 and is_title(self.lines[index])))
            )
            self._known[index] = known
        return known

    def forward(self) -> Iterator[tuple[str, int]]:
        """Paragraphs from the first on."""
        begin = size = 0
        for index, line in enumerate(self.lines):
            use = self._use(index)
            if use and (begin == index or size + len(line) <= _LONGEST):
                size += len(line) + 1
                continue
            yield from self._split(begin, index)
            begin, size = (index, len(line) + 1) if use else (index + 1, 0)
        yield from self._split(begin, len(self.lines))

    def backward(self) -> Iterator[tuple[str, int]]:
        """Paragraphs from the last on."""
        index = len(self.lines)
        while index > 0:
            end = index
            while index > 0 and self._use(index - 1):
                index -= 1
            yield from reversed(self._split(index, end))
            index -= 1

    def _split(self, begin: int, end: int) -> list[tuple[str, int]]:
        """Paragraphs of at most 2,000 characters from lines of prose that follow each other."""
        found: list[tuple[str, int]] = []
        current: list[str] = []
        start = size = 0
        for whole, number in zip(self.lines[begin:end], self.numbers[begin:end], strict=True):
            line = _said(whole)
            if current and size + len(line) > _LONGEST:
                found.append(("\n".join(current), start))
                current, size = [], 0
            if not current:
                start = number
            current.append(line.strip())
            size += len(line) + 1
        if current:
            found.append(("\n".join(current), start))
        return found


def _said(line: str) -> str:
    """A line that asks something, without the object that is pasted into it."""
    if "{" not in line or len(line) > _LONGEST or not ("?" in line or "？" in line):
        return line
    bare = _OBJECT.sub(" ", line).strip()
    return bare if "?" in bare or "？" in bare else line


def _fenced(lines: Sequence[str]) -> Set[int]:
    """Indexes of lines that begin or stand in a fenced block."""
    marks = [index for index, line in enumerate(lines) if "```" in line and line.lstrip().startswith("```")]
    inside: set[int] = set()
    for begin, end in zip(marks[::2], [*marks[1::2], len(lines)], strict=False):
        inside.update(range(begin, end))
    return inside
