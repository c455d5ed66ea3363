"""OpenRLHF's console: ``Global step 3: {…}``, ``… global_step 3, eval_metrics: {…}``, or progress bars alone.

Newer versions log a dict a step. Older ones, and the supervised trainers, show the metrics behind a progress
bar (``Train epoch [1/1]: 50%|…| 8/16 [00:10<00:10, 1.2s/it, pg=0.1, kl=0.01]``); the bars are read only where
no dict was logged. Behind the bars of a round stands a dict of its means, without a heading: a run of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from assistant.model.run import Missing, MissingReason, Note, Run
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, dict_record, make_runs
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepdicts import find_headed
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(
    r"(?:[^\w\s{}'\"]{1,8}+ ?)?+(?:Global step (?P<n>[0-9]{1,12})(?: \[[\w.-]{1,40}\])?+: \{"
    r"|Evaluation completed in (?:[0-9]{1,6} days?, )?+[0-9:.]{1,20}+, "
    r"global_step (?P<m>[0-9]{1,12}), eval_metrics: \{)"
)
_WORDS: Final = ("lobal step ", "lobal_step ")
_MEANS: Final = re.compile(r"\{(?='(?:pg|policy_loss|actor_loss|cri|critic_loss|ptx_loss)': )")
_BAR: Final = re.compile(
    r"(?P<what>Train epoch \[(?P<round>[0-9]{1,9})/[0-9]{1,9}\]|Episode \[(?P<episode>[0-9]{1,9})/[0-9]{1,9}\]"
    r"|Train step of epoch (?P<epoch>[0-9]{1,9})): +[0-9]{1,3}%\|[^|]{0,300}+\| *(?P<count>[0-9]{1,12})/"
    r"(?P<total>[0-9]{1,12}) \[[^\],]{1,60}+, *[^\],]{1,30}+, (?P<shown>[^\]]{1,4000}+)(?P<end>\]?+)"
)
_PAIR: Final = re.compile(
    rf"(?P<key>[A-Za-z_][\w/@.-]{{0,120}}+)=(?:(?P<number>{NUMBER})(?=,|$)"
    rf"|tensor\((?P<inner>{NUMBER})(?:,[^()]{{0,80}}+)?+\)|(?P<other>[^,]{{0,200}}+))"
)
_SEPARATOR: Final = re.compile(r", (?=[A-Za-z_][\w/@.-]{0,120}+(?:=(?!['\"<])|$))")


class OpenRLHF:
    """Reads the dicts that OpenRLHF logs, or the progress bars where it logs none."""

    name: Final = "openrlhf"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        records: list[Record] = []
        taken: set[int] = set()
        bad: list[int] = []
        for headed in find_headed(document, _HEADING, _WORDS):
            evaluates = headed.heading["m"] is not None
            step = int(headed.heading["m"] or headed.heading["n"])
            record = dict_record("eval" if evaluates else "step", step, headed.tag, headed.printed, document)
            if record is None:
                bad.append(document.numbers[headed.index])
                continue
            records.append(record)
            taken.update(document.numbers[entry] for entry in headed.printed.entries)
        if records:
            runs = make_runs(
                records,
                first=0,
                name=document.name,
                format="openrlhf",
                framework="OpenRLHF",
                step_axis="global_step",
            )
            return Reading(tuple(runs), frozenset(taken), tuple(bad))
        return _read_bars(document, bad)


@dataclass(slots=True)
class _Bar:
    """A progress bar that is being followed: what it counts, where it stood first, and its last row."""

    what: str
    offset: int
    total: int
    count: int = 0
    first: int = 0
    shown: str = ""
    record: Record | None = None


def _read_bars(document: Document, bad: list[int]) -> Reading:
    """One row each time the metrics behind a bar change; bars that follow each other count on."""
    episodes = any("Episode [" in line and _is_bar(line, "episode") for line in document.lines)
    records: list[Record] = []
    taken: set[int] = set()
    bars: dict[str | None, _Bar] = {}
    restarted = False
    for line, number in zip(document.lines, document.numbers, strict=False):
        if "%|" not in line or not ("Train epoch [" in line or "Episode [" in line or "Train step of epoch " in line):
            continue
        tag, body = strip_ray(line)
        found = _BAR.match(body.lstrip())
        if found is None or (episodes and found["episode"] is None):
            continue
        count, total = int(found["count"]), int(found["total"])
        bar = bars.get(tag)
        done = bar is not None and bar.count == bar.total and found["shown"] != bar.shown
        if bar is None or done or bar.what != found["what"] or count < bar.count or total != bar.total:
            offset = 0 if bar is None else bar.offset + bar.total
            epoch = found["episode"] or found["epoch"]
            if epoch is not None:
                offset = max(0, int(epoch) - (found["episode"] is not None)) * total
            restarted = restarted or offset > 0
            bar = bars[tag] = _Bar(found["what"], offset, total)
        taken.add(number)
        if found["shown"] == bar.shown and bar.record is not None:
            bar.count = count
            bar.record.row.step = bar.offset + min(bar.first + 1, count)
            continue
        bar.count = bar.first = count
        bar.shown = found["shown"]
        bar.record = _bar_record(found, bar.offset + count, number, tag)
        if bar.record is not None:
            records.append(bar.record)
        elif number not in bad:
            bad.append(number)
    means = _read_means(document, taken) if records else []
    runs = make_runs(
        records,
        first=len(means),
        name=f"{document.name} (batches)" if means else document.name,
        format="openrlhf-bars",
        framework="OpenRLHF",
        step_axis="batch",
        notes=[_COUNTED] if restarted else [],
    )
    return Reading((*means, *runs), frozenset(taken) if runs else frozenset(), tuple(bad) if runs else ())


def _read_means(document: Document, taken: set[int]) -> list[Run]:
    """The dicts of means that follow the bars, one row a round."""
    records: list[Record] = []
    rounds: Counter[tuple[str | None, str]] = Counter()
    for headed in find_headed(document, _MEANS, ("'pg': ", "_loss': ", "'cri': ")):
        kind = next(iter(headed.printed.flat.cells), ("", 0, 0))[0]
        record = dict_record(kind, rounds[headed.tag, kind], headed.tag, headed.printed, document)
        if record is not None and not headed.printed.flat.others:
            rounds[headed.tag, kind] += 1
            records.append(record)
            taken.update(document.numbers[entry] for entry in headed.printed.entries)
    return make_runs(
        records,
        first=0,
        name=f"{document.name} (rounds)",
        format="openrlhf",
        framework="OpenRLHF",
        step_axis="index",
        notes=[_ROUNDS],
    )


def _is_bar(line: str, group: str) -> bool:
    found = _BAR.match(strip_ray(line)[1].lstrip())
    return found is not None and found[group] is not None


def _bar_record(found: re.Match[str], step: int, number: int, tag: str | None) -> Record | None:
    row = Row(step, number, last_line=number, tag=tag, cut=not found["end"])
    shown = found["shown"].rstrip()
    pairs = _SEPARATOR.split(shown)
    for index, pair in enumerate(pairs):
        cell = _PAIR.fullmatch(pair)
        last = not found["end"] and index == len(pairs) - 1
        number_text = None if cell is None else cell["number"] or cell["inner"]
        if cell is None or number_text is None:
            if last:
                key, equals, text = pair.partition("=")
                reason: MissingReason = "half_value" if equals else "half_key"
                row.half = Missing(key if equals else None, step, number, reason, (text or key)[:80])
            elif cell is not None and cell["other"] == "None":
                row.bad.append(Missing(cell["key"], step, number, "not_a_number", "None"))
            continue
        value = read_number(number_text)
        if last and cell["inner"] is None:
            row.half = Missing(cell["key"], step, number, "half_value", number_text[:80])
        elif value is not None:
            row.values[cell["key"]] = value
    return Record("bar", row) if row.values else None


_ROUNDS: Final = Note(
    "rounds",
    "每轮训练后输出的均值没有步数，按出现的顺序从 0 编号；进度条上的值是单个批次的值，在另一个 run 里。",
    "The means printed behind each round of training name no step and are numbered from 0; the values behind the "
    "progress bars are those of single batches and make another run.",
)
_COUNTED: Final = Note(
    "counted_on",
    "进度条每轮从 0 重新计数；这里把各轮的批次连续编号（前面各轮的批次总数加上本轮的计数）。",
    "Progress bars start anew each round; batches are numbered on: those of earlier rounds plus this bar's count.",
)
