"""Runs of one log that tell of one training in two tables, joined where the log tells which rows belong together.

slime prints what it generated under the rollout's number and what it trained under the train step's: step = rollout ×
steps a rollout + the step within it. Joined, the rollout's values stand at the first of its train steps, so that a
question about the reward and the gradient is about one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.model.run import Column, Note, Run

APART: Final = "two_axes"
"""Code of the note on runs whose counters differ."""
_MOST_STEPS: Final = 256
"""Train steps of one rollout, at most."""

_Key = tuple[int, int]


def together(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs, two neighbours joined where they are the train steps and the rollouts of one log.

    Args:
        runs: as parsed.

    Returns:
        As many or fewer; ids are those of the first of each.
    """
    result: list[Run] = []
    at = 0
    while at < len(runs):
        pair = runs[at : at + 2]
        times = _steps_each(pair[0], pair[1]) if len(pair) == 2 and is_one_training(pair[0], pair[1]) else 0
        if times:
            result.append(_join(pair[0], pair[1], times))
            at += 2
        else:
            result.append(runs[at])
            at += 1
    return tuple(result)


def base(run: Run) -> str:
    """The name of the log, without what tells its runs apart."""
    return run.name.rpartition(" (")[0] or run.name


def is_one_training(first: Run, second: Run) -> bool:
    """Whether two runs are the train steps and the rollouts of one log."""
    noted = all(APART in [note.code for note in run.warnings] for run in (first, second))
    return noted and base(first) == base(second) and not first.columns.keys() & second.columns.keys()


def _numbered(run: Run, times: int = 1) -> list[_Key]:
    """Each row's step (for a rollout, its first), and how often it stood there before: a restart repeats steps."""
    seen: Counter[int] = Counter()
    keys = []
    for step in run.steps:
        keys.append((step * times, seen[step]))
        seen[step] += 1
    return keys


def _steps_each(steps: Run, rollouts: Run) -> int:
    """How many train steps each rollout has; 0 where the log does not tell.

    Each train step has to stand behind its rollout, and each rollout but the last to be trained on to its end. A log
    that begins within a rollout lacks that rollout's row.
    """
    trained = dict(zip(_numbered(steps), steps.row_lines, strict=True))
    likely = round((max(steps.steps) + 1) / (max(rollouts.steps) + 1))
    fitting = (n for n in (likely, likely + 1) if 1 <= n <= _MOST_STEPS and _fits(trained, rollouts, n))
    return next(fitting, 0)


def _fits(trained: dict[_Key, int], rollouts: Run, times: int) -> bool:
    rolled = dict(zip(_numbered(rollouts, times), rollouts.row_lines, strict=True))
    shared = 0
    for (step, again), line in trained.items():
        begun = rolled.get((step - step % times, again))
        if begun is None and line >= min(rolled.values()):
            return False
        shared += begun is not None
        if begun is not None and line < begun:
            return False
    last = max(rolled, key=lambda key: rolled[key])
    ended = all((key[0] + times - 1, key[1]) in trained for key in rolled if key != last)
    return shared > 0 and ended


def _note(times: int) -> Note:
    if times == 1:
        return Note(
            "one_axis",
            "每个 rollout 训练一步，rollout 编号就是训练步数，两类指标按同一个 step 放在一起。",
            "Each rollout is trained on in one step, so that both have the same number and stand at the same step.",
        )
    return Note(
        "one_axis",
        f"每个 rollout 训练 {times} 步：rollout n 的指标放在它的第一个训练步 {times}n 上。",
        f"Each rollout is trained on in {times} steps: what rollout n tells stands at its first, step {times}n.",
    )


def _join(steps: Run, rollouts: Run, times: int) -> Run:
    keys = (_numbered(steps), _numbered(rollouts, times))
    lines: dict[_Key, int] = {}
    for run, own in zip((steps, rollouts), keys, strict=True):
        for key, line in zip(own, run.row_lines, strict=True):
            lines[key] = min(line, lines.get(key, line))
    order = sorted(lines, key=lambda key: (lines[key], key))
    place = {key: row for row, key in enumerate(order)}
    columns: dict[str, Column] = {}
    for run, own in zip((rollouts, steps), reversed(keys), strict=True):
        for metric, column in run.columns.items():
            rows = [place[own[row]] for row in column.rows]
            cells = sorted(zip(rows, column.values, column.lines, strict=True), key=lambda cell: cell[0])
            columns[metric] = Column([row for row, _, _ in cells], [v for _, v, _ in cells], [at for _, _, at in cells])
    notes = [note for run in (steps, rollouts) for note in run.warnings if note.code != APART]
    moved = [replace(gap, step=gap.step * times) for gap in rollouts.missing]
    return replace(
        steps,
        name=base(steps),
        step_axis="step",
        steps=tuple(key[0] for key in order),
        row_lines=tuple(lines[key] for key in order),
        columns=columns,
        missing=(*steps.missing, *moved),
        warnings=(_note(times), *dict.fromkeys(notes)),
        extras={**rollouts.extras, **steps.extras},
        version=steps.version or rollouts.version,
    )
