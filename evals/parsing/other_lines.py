"""One line, one expression: nanoGPT and its relative, DeepSpeed-Chat and minimind, so that no real log is left out.

A line is wholly of one kind or none of it. Its last number is compared only where the text goes on behind it and
another line prints that key with as many decimals, and where it holds as many pairs as is usual: else it may be half.
A line that repeats the one before it, and a line without a step before the first one with a step, is open.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from evals.parsing.model import Cell, Event, Line, Reference
from evals.parsing.text import NUMBER, to_number

_NANOGPT: Final = re.compile(r"(?:iter|step) (\d{1,12}): ((?:train loss|loss) .*)")
_NANOGPT_PAIR: Final = re.compile(rf"(train loss|val loss|loss|time|mfu) ({NUMBER})(?: ?BPC|ms|%)?")
_MODDED: Final = re.compile(r"step:(\d{1,12})/\d+ (\w+:\S+(?: \w+:\S+)*)")
_MODDED_PAIR: Final = re.compile(rf"(\w+):({NUMBER})(?:ms)?")
_DEEPSPEED: Final = re.compile(r"epoch: \d+\|step: (\d{1,12})\|ppo_ep: \d+\|(act_loss: .*)")
_DEEPSPEED_PAIR: Final = re.compile(rf"(\w+): ({NUMBER})")
_STEP: Final = re.compile(r"epoch: \d+\|step: (\d{1,12})\|")
_REWARDS: Final = "DeepSpeed-Chat reward"
_REWARD: Final = re.compile(r"()(average reward score: .*)")
_REWARD_PAIR: Final = re.compile(rf"(average reward score): ({NUMBER})")
_TIMINGS: Final = re.compile(r"()\|(E2E latency=.*)")
_TIMINGS_PAIR: Final = re.compile(rf"([\w ]+)=({NUMBER})s?(?: \([\d.]+%\))?")
_MINIMIND: Final = re.compile(r"Epoch:\[\d+/\d+\]\((\d{1,12})/\d+\), (.*)")
_MINIMIND_PAIR: Final = re.compile(rf"([A-Za-z][\w ]*): ({NUMBER})(?:min)?")

_KINDS: Final = (
    ("nanoGPT", _NANOGPT, re.compile(", "), _NANOGPT_PAIR),
    ("modded-nanoGPT", _MODDED, re.compile(" "), _MODDED_PAIR),
    ("DeepSpeed-Chat", _DEEPSPEED, re.compile(r"\|"), _DEEPSPEED_PAIR),
    (_REWARDS, _REWARD, re.compile("\n"), _REWARD_PAIR),
    ("DeepSpeed-Chat timing", _TIMINGS, re.compile(r" ?\|"), _TIMINGS_PAIR),
    ("minimind", _MINIMIND, re.compile(", "), _MINIMIND_PAIR),
)


def read_lines(lines: list[Line], reference: Reference) -> None:
    """Adds the lines of these kinds. DeepSpeed-Chat's reward is of the step above it; its timings name none."""
    found: list[tuple[str, Line, str, list[re.Match[str] | None]]] = []
    for at, line in enumerate(lines):
        for kind, head, between, pair in _KINDS:
            held = head.fullmatch(line.text.strip())
            if held is not None:
                above = _STEP.match(lines[at - 1].text.strip()) if kind == _REWARDS and at else None
                step = held[1] if above is None else above[1]
                found.append((kind, line, step, [pair.fullmatch(part) for part in between.split(held[2])]))
    printed = Counter((pair[1], _decimals(pair[2])) for *_, pairs in found for pair in pairs if pair is not None)
    usual = {
        kind: Counter(len(pairs) for other, *_, pairs in found if other == kind).most_common(1)[0][0]
        for kind, *_ in found
    }
    dated = False
    before: tuple[str, str] | None = None
    for kind, line, step, pairs in found:
        repeats, before = before == (kind, line.text), (kind, line.text)
        dated = dated or bool(step)
        if repeats or not dated:
            reference.open.add(line.number)
            continue
        cells = [_cell(pair, line.number, int(step) if step else None) for pair in pairs if pair is not None]
        final = pairs[-1]
        rare = final is not None and (final[2].endswith(".") or printed[final[1], _decimals(final[2])] < 2)
        if final is not None and (rare or line is lines[-1] or len(pairs) < usual[kind]):
            cells.pop()
        if len(cells) < len(pairs):
            reference.open.add(line.number)
        if cells:
            reference.events.append(Event(kind, line.number, line.number, tuple(cells)))


def _decimals(number: str) -> int | None:
    """Decimals of a number, -1 where a point ends it, ``None`` if it has no point."""
    _, point, decimals = number.lower().partition("e")[0].partition(".")
    return (len(decimals) or -1) if point else None


def _cell(pair: re.Match[str], number: int, step: int | None) -> Cell:
    value = to_number(pair[2])
    if value is None:
        raise AssertionError(pair[2])
    return Cell(pair[1], value, number, number, step)
