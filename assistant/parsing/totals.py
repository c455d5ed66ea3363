"""How many steps a run will have, where its log tells it.

Taken, in this order: a column of totals (LLaMA-Factory's ``total_steps``), the total behind each row's own step
(``step:13/6200``, ``(4280/4292)``), the bar of the training (``Training Progress: … | 19/27995 [``), and a sentence
(``Total training steps: 435``). A total that the run's steps exceed, or one of several that contradict each other, is
none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from assistant.model.run import Number, Run

TOTAL: Final = "total_steps"
"""Name of the side fact: the total and its line."""

PACE: Final = "seconds_per_step"
LEFT: Final = "seconds_left"
"""What a trainer itself prints to be left, at the last row of the run."""
ELAPSED: Final = "seconds_elapsed"
ELAPSED_AT: Final = "seconds_elapsed_at"
"""The time since the start that a trainer or its progress bar printed last, and the step at which it did."""
_ELAPSED: Final = re.compile(
    r"['\"]elapsed_time['\"]: ?['\"](?:(?P<days>[0-9]{1,4}) ?d(?:ays?)?,? )?"
    r"(?P<h>[0-9]{1,4}):(?P<m>[0-9]{2}):(?P<s>[0-9]{2})['\"]"
)
_LEFT: Final = re.compile(
    r"(?:['\"]remaining_time['\"]: ?['\"]|(?i:\beta): {0,3})(?:(?P<days>[0-9]{1,4}) ?d(?:ays?)?,? )?"
    r"(?:(?P<h>[0-9]{1,3}):(?P<m>[0-9]{2}):(?P<s>[0-9]{2})"
    r"|(?:(?P<hh>[0-9]{1,3})h ?)?(?:(?P<mm>[0-9]{1,2})m ?)?(?P<ss>[0-9]{1,2})s)(?=['\",\s\]]|$)"
)
"""Name of the side fact: the pace that a progress bar shows, and its line."""

_COLUMNS: Final = ("total_steps", "max_steps", "total_training_steps", "train/total_steps", "num_training_steps")
_OTHER_AXES: Final = frozenset({"index", "epoch", "episode"})
_SAMPLE: Final = 200
_MOST_ROWS: Final = 0.8
_LONGEST: Final = 20_000
_OF: Final = re.compile(r"(?<![0-9./])([0-9]{1,12}) ?/ {0,12}([0-9]{1,12})(?![0-9./])")
#: A step that a line of its own tells to be one of so many; between other numbers, two rows must agree.
_COUNTED: Final = re.compile(
    r"(?i)\b(?:iter(?:ation)?|step)s?(?:\(\w{1,20}\))?[\s:]{0,3}[\[(] {0,8}([0-9]{1,12}) ?/ {0,12}([0-9]{1,12})[\])]"
)
#: What stands before the place within an epoch: ``Epoch [3][50/1749]``, whose steps are the epoch's alone.
_IN_EPOCH: Final = re.compile(r"\[ {0,8}[0-9]{1,9}(?:/ {0,8}[0-9]{1,9})?\] {0,2}\[ {0,8}$")
_BAR: Final = re.compile(r"(?i)training progress:[^|\n]{0,20}\|[^|\n]{0,300}\| ?[0-9]{1,12}/([0-9]{1,12}) \[")
_RATE: Final = re.compile(
    r"[|%] {0,3}(?P<at>[0-9]{1,12})/(?P<total>[0-9]{1,12}) \["
    r"(?:(?:(?P<h>[0-9]{1,4}):)?(?P<m>[0-9]{2}):(?P<s>[0-9]{2})<)?"
    r"[^\]\n]{1,60}?[ ,](?P<rate>[0-9]{1,9}(?:\.[0-9]{1,6})?)(?P<unit>s/it|it/s)[,\]]"
)
_NAMED_TOTAL: Final = re.compile(r"^starting training|learning iteration [0-9]|global step: {1,12}[0-9]")
_SAID: Final = re.compile(
    r"(?i)(?<![\w-])total[ _](?:(?:training|train|optimization|optimizer)[ _])?steps?['\"]?\s?[:=]\s?"
    r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?![0-9.])"
    r"|['\"]max_steps['\"]: ([0-9]{1,12}),?$"
    r"|global_step/max_steps['\"]?: ['\"]?[0-9]{1,12}/([0-9]{1,12})(?![0-9.])"
    r"|^starting training\.{0,3}, iters: ([0-9]{1,12})$"
    r"|learning iteration [0-9]{1,12}/([0-9]{1,12})(?![0-9.])"
    r"|global step: {1,12}[0-9]{1,12}/([0-9]{1,12})(?![0-9.])"
)


def with_totals(runs: Iterable[Run], lines: Sequence[str], numbers: Sequence[int]) -> tuple[Run, ...]:
    """The runs, each with the total that its part of the text tells as ``extras["total_steps"]``.

    Args:
        runs: of one text, in order of appearance.
        lines: the text's lines, or a sample of them.
        numbers: original number of each, ascending.
    """
    runs = tuple(runs)
    said = _said(lines, numbers)
    found: list[Run] = []
    for at, run in enumerate(runs):
        if run.step_axis.lower() in _OTHER_AXES or not run.steps or TOTAL in run.extras:
            found.append(_paced(run, lines, numbers))
            continue
        begin = max(runs[at - 1].row_lines, default=0) if at else 0
        end = max(run.row_lines) if at + 1 < len(runs) else None  # what stands behind may be the next one's
        own = [(kind, total, line) for kind, total, line in said if line > begin and (end is None or line <= end)]
        total = _of_column(run) or _of_rows(run, lines, numbers) or _of_text(run, own)
        found.append(
            _paced(run if total is None else replace(run, extras={**run.extras, TOTAL: total}), lines, numbers)
        )
    return tuple(found)


def _paced(run: Run, lines: Sequence[str], numbers: Sequence[int]) -> Run:
    """The run, with the pace that the bar of its total shows as a side fact."""
    total = run.extras.get(TOTAL)
    bar = {} if total is None else _bar(lines, numbers, total[0])
    left = _timed(_LEFT, ("remaining_time", "eta:", "ETA:"), run, lines, numbers)
    spent = _timed(_ELAPSED, ("elapsed_time",), run, lines, numbers)
    more = dict(bar)
    if left is not None:
        more[LEFT] = left
    if spent is not None:
        more[ELAPSED], more[ELAPSED_AT] = spent, (max(run.steps), spent[1])
    return replace(run, extras={**run.extras, **more}) if more else run


def _timed(
    pattern: re.Pattern[str], marks: Sequence[str], run: Run, lines: Sequence[str], numbers: Sequence[int]
) -> tuple[Number, int] | None:
    """The seconds that the last row tells: ``"remaining_time": "0:23:24"``, ``'2h 57m'``, ``eta: 0:39:15``."""
    number = max(run.row_lines, default=0)
    at = bisect_left(numbers, number)
    if at == len(numbers) or numbers[at] != number:
        return None
    text = lines[at][:_LONGEST]
    found = pattern.search(text) if any(mark in text for mark in marks) else None
    return None if found is None else (_seconds(found), number)


def _seconds(found: re.Match[str]) -> int:
    part = {key: int(text) for key, text in found.groupdict().items() if text and text.isdigit()}
    hours, minutes = part.get("h", part.get("hh", 0)), part.get("m", part.get("mm", 0))
    return ((part.get("days", 0) * 24 + hours) * 60 + minutes) * 60 + part.get("s", part.get("ss", 0))


def _bar(lines: Sequence[str], numbers: Sequence[int], total: Number) -> dict[str, tuple[Number, int]]:
    """The seconds of a step, and those since the start, that the last bar of the training's own total shows."""
    for line, number in zip(reversed(lines), reversed(numbers), strict=False):
        if "s/it" not in line and "it/s" not in line:
            continue
        bars = [bar for bar in _RATE.finditer(line[-_LONGEST:]) if int(bar["total"]) == total and float(bar["rate"])]
        if not bars:
            continue
        last = bars[-1]
        value = float(last["rate"])
        told: dict[str, tuple[Number, int]] = {PACE: (value if last["unit"] == "s/it" else 1 / value, number)}
        if last["s"] is not None and int(last["at"]) > 0:
            told |= {ELAPSED: (_seconds(last), number), ELAPSED_AT: (int(last["at"]), number)}
        return told
    return {}


def _fits(total: Number, run: Run) -> bool:
    return total == int(total) and 0 < total < 1e12 and total >= max(run.steps)


def _of_column(run: Run) -> tuple[Number, int] | None:
    """The value of a column of totals, if it is one and the same."""
    for key in _COLUMNS:
        column = run.columns.get(key)
        if column is None or key == run.step_axis or len(set(column.values)) != 1:
            continue
        value, line = column.values[-1], column.lines[-1]
        if abs(value) < 1e12 and _fits(value, run):
            return int(value), line
    return None


def _of_rows(run: Run, lines: Sequence[str], numbers: Sequence[int]) -> tuple[Number, int] | None:
    """The number behind the step and a slash on the rows' own lines, if it is the same on nearly all of them."""
    stride = max(1, len(run.steps) // _SAMPLE)
    totals: Counter[int] = Counter()
    last: dict[int, int] = {}
    seen = 0
    for step, number in zip(run.steps[::stride], run.row_lines[::stride], strict=True):
        at = bisect_left(numbers, number)
        if at == len(numbers) or numbers[at] != number:
            continue
        seen += 1
        held: set[int] = set()
        while at < len(numbers) and numbers[at] == number:
            text = lines[at][:_LONGEST]
            held |= {
                int(found[2])
                for found in _OF.finditer(text)
                if int(found[1]) == step and not _IN_EPOCH.search(text, max(0, found.start() - 40), found.start())
            }
            at += 1
        for total in held:
            totals[total] += 1
            last[total] = number
    fitting = [total for total, count in totals.items() if count >= _MOST_ROWS * seen and _fits(total, run)]
    if len(fitting) != 1:
        return None
    if len(run.distinct_steps) < 2:  # one row alone: only where its counter is named
        line = lines[bisect_left(numbers, last[fitting[0]])][:_LONGEST]
        named = any(int(of) == fitting[0] and int(done) == run.steps[0] for done, of in _COUNTED.findall(line))
        return (fitting[0], last[fitting[0]]) if named else None
    return fitting[0], last[fitting[0]]


def _said(lines: Sequence[str], numbers: Sequence[int]) -> list[tuple[str, int, int]]:
    """Totals that bars and sentences tell: ``(kind, total, line)``."""
    found: list[tuple[str, int, int]] = []
    of_iterations = set[int]()
    for line, number in zip(lines, numbers, strict=False):
        lower = line[:_LONGEST].lower()
        if "training progress" in lower:
            found += [("bar", int(bar[1]), number) for bar in _BAR.finditer(line[:_LONGEST])]
        if ("steps" in lower and ("total" in lower or "max_steps" in lower)) or _NAMED_TOTAL.search(lower):
            for said in _SAID.finditer(line[:_LONGEST]):
                text = next(group for group in said.groups() if group)
                found.append(("state" if said[2] else "said", int(text.replace(",", "")), number))
                if said[5]:
                    of_iterations.add(number)
    iterations = [(kind, total, line) for kind, total, line in found if line in of_iterations]
    return iterations or found  # "Total steps: 1608" of rsl_rl counts the environments' steps so far


def _of_text(run: Run, said: Sequence[tuple[str, int, int]]) -> tuple[Number, int] | None:
    """What bars tell, or else sentences, or a trainer's state, if they agree."""
    kinds = ("bar", "said", "state") if run.format == "trainer-state" else ("bar", "said")
    for kind in kinds:
        own = [(total, line) for name, total, line in said if name == kind]
        if len({total for total, _ in own}) == 1 and _fits(own[-1][0], run):
            return own[-1]
    return None
