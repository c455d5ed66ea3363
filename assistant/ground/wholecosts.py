"""Sentences read as a whole: what a step costs in hours of GPUs, how many steps an hour its time allows.

``step 3 costs 9.6 GPU-hours``, ``at 58.5 s per step that is 61.5 steps an hour``, ``step 9 花掉 1.96 卡时``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholereader import Whole, WholeReader

#: Behind a number: hours of one GPU each.
_GPU_HOURS: Final = re.compile(r"(?i)[\s`*-]*(?:(?:gpus?|cards?)?[ -]?(?:hours?|hrs?|h)\b|(?:gpu|卡)?\s?(?:小时|时))")
_OF_GPUS: Final = re.compile(r"(?i)gpu|card|卡")
#: Behind a number of steps: in an hour; before it in Chinese.
_AN_HOUR: Final = re.compile(r"(?i)[`*\s]*(?:an|per|each|every|in an|a)\s?hour\b|[`*\s]*/\s?(?:h|hr|hour)\b")
_EVERY_HOUR: Final = re.compile(
    r"(?:每(?:个)?|[一1]\s?个?)\s?小时(?:大约|约|可以|可|能|只能|也就|差不多)*(?:跑|走|训练|完成|做|推进)?(?:完|得?了)?\s*(?:约|大约)?\s*[`*]*$"
)
_ALL: Final = re.compile(
    r"(?i)\b(?:whole|entire|full|total|in total|altogether|all (?:of )?(?:the )?(?:\d+ )?steps|so far)\b|一共|总共|总计|合计|整个|全程|全部"
)


class CostReader(WholeReader):
    """Claims that turn a step's time into hours of GPUs, or into steps of an hour."""

    def gpu_hours(self) -> Iterator[Whole]:
        """``Step 3 costs 9.6 GPU-hours``: GPUs × the step's time; of the whole run × the time of all steps."""
        total = self.table.total_time()
        for q in self.frame.numbers if total is not None else ():
            match = _GPU_HOURS.match(self.text, q.end)
            if match is None or not (q.unit == "gpus" or _OF_GPUS.search(match.group())) or q.bound:
                continue
            key = str(total)
            steps = [s for p in self.frame.places if len(p.steps) == 1 for s in p.steps] or list(
                self.frame.carried.steps
            )
            gpus = next((g for s in (*steps, *self.table.steps[:40]) if (g := self.table.derived("n_gpus", s))), None)
            rows = self.table.finite(key)
            if gpus is None or len(set(steps)) > 1 or any(p.kind == "range" for p in self.frame.places) or not rows:
                continue
            seconds = self.table.value(key, steps[0]) if steps else sum(v for _, v in rows)
            if seconds is None or not (steps or _ALL.search(self.text)):
                continue
            true = float(gpus.value or 0) * seconds / 3600
            note = self.judge.say(
                "derived", name="n_gpus × time", true=plain(true), shown=q.text + match.group(), formula=f"n_gpus × {key} / 3600"
            )  # fmt: skip
            yield self.say(q.start, match.end(), agrees(q.number, q.half or 0.5, true), note, gpus.id)

    def steps_an_hour(self) -> Iterator[Whole]:
        """``At 58.5 s per step (step 43), that is 61.5 steps an hour``: 3600 over the time told, else the step's, else the mean."""
        total = self.table.total_time()
        for q in self.frame.numbers if total is not None else ():
            behind = _AN_HOUR.match(self.text, q.end)
            if q.unit not in {"steps", "points", ""} or q.bound:
                continue
            if behind is None and not _EVERY_HOUR.search(self.text[: q.start]):
                continue
            if q.unit != "steps" and behind is None:
                continue
            true = self._an_hour(q, str(total))
            if true is None:
                continue
            low, high = true
            half = q.half or 0.5
            fine = low - half <= q.number <= high + half
            note = self.judge.say("count", true=plain((low + high) / 2), shown=q.text)
            yield self.say(q.start, behind.end() if behind else q.end, fine, note)

    def _an_hour(self, q: Quantity, total: str) -> tuple[float, float] | None:
        """The least and the most steps that an hour holds."""
        steps = [s for p in self.frame.places if len(p.steps) == 1 for s in p.steps] or list(self.frame.carried.steps)
        rows = self.table.finite(total)
        told = [n for n in self.frame.numbers if n.unit == "s" and n is not q and not n.bound]
        if len(told) == 1:
            n = told[0]
            seconds, slack = n.number * n.factor, n.half * n.factor
            mean = sum(v for _, v in rows) / len(rows) if rows else 0.0
            held = any(self.judge.cell(n, total, s).status == "supported" for s in steps[:4])
            if seconds <= slack or not (held or agrees(seconds, slack, mean)):
                return None
            return 3600 / (seconds + slack), 3600 / (seconds - slack)
        if told or len(set(steps)) > 1 or not rows:
            return None
        value = self.table.value(total, steps[0]) if steps else sum(v for _, v in rows) / len(rows)
        return (3600 / value, 3600 / value) if value else None
