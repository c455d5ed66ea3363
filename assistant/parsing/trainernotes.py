"""What a reader must know about runs that were read from a Trainer's dictionaries, in both languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from assistant.model.run import Note, Number
from assistant.parsing.progress import Dating
from assistant.parsing.trainerevents import PROGRESS, Event


def dated_note(line: int, dating: Dating | None) -> Note:
    """Says how the rows got their steps."""
    if dating is not None and dating.buffered:
        example = f"{dating.steps[0]}/{dating.total}" if dating.steps else f"…/{dating.total}"
        return Note(
            "steps_from_progress_bar",
            "日志的字典里没有步数，且输出有缓冲，多个字典一起出现；每记录一次，进度条会在该步重画一次，"
            f"各行的步数依次取自这些位置（如 {example}），并与 epoch 核对过。",
            "The dictionaries name no step and were printed in bursts (buffered output); the bar is drawn twice where "
            f"one was logged, and the rows take those steps in order (such as {example}), which agree with the epochs.",
            line,
        )
    if dating is not None:
        example = f"{dating.steps[0]}/{dating.total}" if dating.steps else f"…/{dating.total}"
        return Note(
            "steps_from_progress_bar",
            f"日志的字典里没有步数；各行的步数取自旁边的进度条（如 {example}）。",
            f"The dictionaries name no step; each row's step is the progress bar's beside it (such as {example}).",
            line,
        )
    return Note(
        "no_step",
        "日志的字典里没有步数，进度条也不能逐行对应；各行按出现顺序从 0 编号，训练进度请看 epoch。",
        "The dictionaries name no step and no progress bar dates them one by one; the rows are counted from 0 in order "
        "of appearance, and epoch tells the progress.",
        line,
    )


def copies_note(lines: Sequence[int]) -> list[Note]:
    """Says that equal dictionaries were counted once, if there are any."""
    if not lines:
        return []
    return [
        Note(
            "duplicate_lines",
            f"{len(lines)} 个字典与前面的完全相同（首次在第 {lines[0]} 行，多为多个进程各打印一次），只计一次。",
            f"{len(lines)} dictionaries repeat an earlier one exactly (first on line {lines[0]}; usually "
            "several processes print the same); each is counted once.",
            lines[0],
            tuple(lines),
        )
    ]


def epoch_notes(events: Sequence[Event]) -> list[Note]:
    """Says where the epoch of training first goes back (evaluations may be printed in a block of their own)."""
    for before, after in pairwise(event for event in events if event.kind == "train"):
        one, other = before.epoch, after.epoch
        if one is not None and other is not None and other < one:
            return [epoch_note(after.line, one, other)]
    return []


def epoch_note(line: int, before: float, to: float) -> Note:
    """Says where the epoch of training goes back."""
    return Note(
        "restart",
        f"第 {line} 行：epoch 从 {before} 退回到 {to}，训练重启过（或粘贴了另一段日志）。",
        f"Line {line}: the epoch goes back from {before} to {to}: "
        "the training was restarted (or another log was pasted).",
        line,
    )


def final_note(line: int, values: Mapping[str, Number]) -> Note:
    """Says that the averages over the run are no row."""
    shown = ", ".join(f"{key} {value}" for key, value in list(values.items())[:4])
    return Note(
        "run_average",
        f"第 {line} 行的字典是整个训练的汇总与平均（{shown} …），不是某一步，未列为一行。",
        f"The dictionary on line {line} sums up the whole training ({shown} …): averages, not a step, and not a row.",
        line,
    )


def only_final_note(line: int) -> Note:
    """Says that a row holds averages over the run, where nothing else was printed."""
    return Note(
        "run_average",
        f"第 {line} 行的字典是整个训练的汇总与平均，不是某一步；因为没有别的记录，作为一行列出。",
        f"The dictionary on line {line} sums up the whole training: averages, not a step; it is listed as a row "
        "because nothing else was logged.",
        line,
    )


def shared_names_note(events: Sequence[Event]) -> list[Note]:
    """Says that evaluations print metrics under the names that training prints, if they do."""
    train = {key for event in events if event.kind == "train" for key in event.values}
    for event in events:
        if event.kind != "eval" or "eval_loss" not in event.values:
            continue
        shared = [key for key in event.values if key in train and key not in PROGRESS]
        if shared:
            some = ", ".join(shared[:4]) + (" …" if len(shared) > 4 else "")
            return [
                Note(
                    "evaluation_names",
                    f"第 {event.line} 行是评测，其中 {some} 与训练指标同名，不带 eval_ 前缀："
                    "那一行的这些值是评测值，不能与训练值相比。",
                    f"Line {event.line} is an evaluation that prints {some} under the names of training metrics, "
                    "without eval_: there these values are the evaluation's, not to be compared with training.",
                    event.line,
                )
            ]
    return []
