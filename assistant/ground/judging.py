"""Deciding one number of a sentence: what it is about, what it says of that, and whether the log bears it out."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from assistant.ground.binding import Frame, metric_of
from assistant.ground.cues import OF_ONE_SAMPLE, change_cue, cue, outside
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named, of_its_own
from assistant.ground.quantities import Quantity
from assistant.ground.rates import FACTOR_LESS, Rates
from assistant.ground.subjects import spent_on
from assistant.ground.table import agrees

_UNIT_MEANS: Final = {
    "gpus": ("n_gpus",), "samples": ("trajectories_per_step", "group_size", "clipped_trajectories"),
    "prompts": ("prompts_per_step",),
}  # fmt: skip
_PER_PROMPT_AFTER: Final = re.compile(
    r"(?i)^[`*\s]*(?:per|for each|for every|to each|/)\s*(?:of (?:the |its )?\d[\d,]*\s)?(?:prompts?|questions?|problems?|query|queries|groups?)\b"
)
_PER_PROMPT_BEFORE: Final = re.compile(
    r"(?i)\b(?:each|every|one|a) (?:prompt|question|problem|query|group) (?:gets?|got|has|had|have|holds?|contains?|receives?|received|yields?|is given|was given|comes with|consists of)\s*[`*]*$|\b(?:for|to) (?:each|every) (?:prompt|question|problem|query|group),?\s*(?:the run (?:samples|draws|generates)\s*|there are\s*)?[`*]*$|每(?:个|条|道)?\s?(?:prompt|题目?|问题)\s*(?:各|都)?(?:采样?|采|生成|有|对应|答|跑)?(?:了)?\s*[`*]*$|每[个道]\s*(?:各|都)?(?:采样?|生成|跑)?(?:了)?\s*[`*]*$"
)
_NO_STEP: Final = re.compile(
    r"(?i)\b(?:no|none of the|not a single|not one of the|not one) (?:first |last )?(?:\w+ )?(?:logged |training )?(?:steps?|iterations?)\b|没有(?:任何|哪)?一?(?:个\s?)?(?:步|step)|没有一步"
)
#: "12 values of `actor/entropy_coeff`", "12 个 `…` 的值": there are none of what is not there.
_HELD_OF: Final = re.compile(
    r"(?i)[`*\s]*(?:(?:logged |recorded )?(?:values?|entries|records?|points?|rows?|readings?|cells?)\s+)?(?:of|for|in)\s+(?:the )?[`*]*|[`*\s]*(?:个|条|次)?[`*\s]*"
)
_FACTOR_OF: Final = re.compile(r"(?i)\btimes\b|\d\s?[x×]|倍")
_GREATEST: Final = re.compile(r"(?i)\b(?:slowest|largest|highest|longest|biggest|greatest|max(?:imum)?)\b|最[慢大高长]")
_LEAST: Final = re.compile(r"(?i)\b(?:fastest|smallest|lowest|shortest|least|min(?:imum)?)\b|最[快小低短]")
_EACH: Final = re.compile(r"(?i)\s*(?:each|apiece|per)\b(?! steps?\b| iteration)")
_OF_SAMPLES: Final = re.compile(
    r"(?i)^\s*(?:out )?of (?:the |all )?\d[\d,]*\s*(?:responses|trajectories|samples|rollouts|answers|sequences|completions)"
)
_AMONG_SAMPLES: Final = re.compile(r"\d\s*条(?:轨迹|回答|回复|样本|响应)[里中]的?(?:有)?\s*$")
_OPERATOR: Final = re.compile(r"[÷×+]\s*[（(]?\s*\x00|\x00\s*[)）]?\s*[÷×+]")
_BESIDE: Final = re.compile(
    r"(?i)(?:(?P<mean>\bmean|\baverage|\bavg|平均|均值)|(?P<max>\bmax(?:imum)?|\bworst[- ]case|\blongest|\blargest|\bhighest|最长|最大|最高)|(?P<min>\bmin(?:imum)?|\bshortest|\bsmallest|\blowest|最短|最小|最低))"
    r"(?:\s*(?:is|of|was|only|为|是|约|值|只有|about))*\s*[:：=（(]?\s*$"
)
_AFTERWARDS: Final = re.compile(
    r"(?i)^[`*\s]*(?:turns|tokens|轮|次)?\s*(?:(?P<mean>on average)|(?P<max>at (?:the )?(?:most|max(?:imum)?))|(?P<min>at (?:the )?(?:least|min(?:imum)?)))"
)


#: Words of a step's time: without one, seconds beside another metric's name are no step's.
_SPENT: Final = re.compile(
    r"(?i)\bdivid|[÷/]|\bper step|\bstep(?:'s|’s)? time|\bof (?:the|a|each|every|its|step)\b|\btook\b|\btakes?\b|\blast|\bslow|\bfast|\blong|\bshort|\btotal|\bcost|\bsec|\bwall|耗时|用时|时间|总|共|除以|花|用了|每步|单步|一步|占|[快慢]"
)
_TIMES: Final = re.compile(r"(?i)(?:[×x*·÷/]|\btimes|\bmultiplied by|\bdivided by|乘以?|除以)\s*[`*]*$")
#: Two bare numbers multiplied, as a batch is told: prompts × samples of each.
_COUNT_AFTER: Final = re.compile(r"\s*[×x*]\s*\d+(?:\s*[,，=)）。.;；]|\s*(?:on|$))")
_COUNT_BEFORE: Final = re.compile(r"(?<![\d.])\d+\s*[×x*]\s*$")
_PROMPTS_TIMES: Final = re.compile(r"(?i)\d\s*(?:个\s?)?prompts?\s*[×x*]\s*$")
_TIMES_AFTER: Final = re.compile(r"(?i)^[`*\s]*(?:[×x*·÷](?=\s*[\d`A-Za-z])|times\b(?= \d)|乘以?|除以)")


#: "step 62 的梯度范数只有 step 30 的 73%": so much of what it was there.
_PERCENT_OF_STEP: Final = re.compile(
    r"(?i)(?:只有|仅有|仅为|只剩|相当于|[是为])了?\s*(?:step\s*\d{1,7}|第\s*\d{1,7}\s*步)\s*(?:时)?的\s*(?:约|大约)?\s*[`*]*$"
)


class Judge(Rates):
    """Decides the numbers of one sentence after another against a run."""

    wholes: Sequence[Any] = ()  # what the sentence judged last says as a whole

    def begin(self) -> None:
        """Forgets the sentence before."""
        self.pair, self.told, self.spans = None, {}, []

    def number(self, frame: Frame, index: int) -> Decision | None:
        """One number; ``None`` where it states nothing about the log."""
        q = frame.numbers[index]
        self.changes.last = None
        if q.bound and _NO_STEP.search(frame.text[max(0, q.start - 90) : q.start]):
            flipped = replace(q, bound="<" if q.bound == ">" else ">")
            frame.numbers[index] = q = flipped
        group = frame.group_of(index)
        name, own = metric_of(frame, index)
        name = spent_on(frame, q) or name
        frame.numbers[index] = q = self.spoken_of(frame, index, name)
        if self.counting.is_condition(frame, index):
            return None
        if (product := self._in_formula(frame, index)) is not None:
            return product
        if (levels := self._levels(frame, index, name)) is not None:
            return levels
        if (between := self._between(frame, index)) is not None:
            return between
        counted = self.counting.decide(frame, index, name)
        if counted is not None and name is not None and name.absent and _HELD_OF.fullmatch(frame.text, q.end, max(q.end, name.start)):  # fmt: skip
            return Decision("contradicted", self.say("no_metric", metric=name.text.strip("`")))
        if counted is not None:
            return Decision(*counted)
        for read in (self._rate, self._out_of, self._falls_to_each):
            if (rated := read(frame, index, name)) is not None:
                return rated
        if name is None:  # "每道采 16 个回答"
            each = q.unit in {"samples", ""} and _PER_PROMPT_BEFORE.search(frame.text[max(0, q.start - 36) : q.start])
            return (self._derived(frame, index, ("group_size",)) if each else None) or self._unbound(frame, index)
        if name.absent and q.unit in {"gpus", "samples", "prompts"} and "/" not in name.text:
            return self._by_unit(frame, index)
        if name.absent:
            return Decision("contradicted", self.say("no_metric", metric=name.text.strip("`")), None)
        if not re.search(rf"@{q.number:g}\b", frame.text) and (
            (q.unit in {"samples", "points", "", "turns"} and _PER_PROMPT_AFTER.match(frame.text[q.end : q.end + 30]))
            or (
                q.unit in {"samples", "points", ""}
                and _PER_PROMPT_BEFORE.search(frame.text[max(0, q.start - 36) : q.start])
            )
        ):
            decided = self._derived(frame, index, ("group_size",))
            if decided is not None:
                return decided
        if q.unit in _UNIT_MEANS and name.derived and not set(_UNIT_MEANS[q.unit]) & set(name.derived):
            decided = self._by_unit(frame, index)
            if decided is not None:
                return decided
        if (
            q.unit == "rate"
            and cue("across").search(self._two_clauses(frame, q))
            and not cue("per_gpu").search(frame.clause_text(q.start))
        ):
            decided = self._derived(frame, index, ("cluster_throughput",))
            if decided is not None and decided.status == "supported":
                return decided
        if (not q.unit and _EACH.match(frame.text[q.end : q.end + 18])) or (
            q.unit == "ratio"
            and re.search(r"(?i)sampled|rolled out|answered|采样|each prompt|every prompt", frame.text)
        ):
            if q.unit == "ratio":  # "each sampled 16 times"
                frame.numbers[index] = replace(q, unit="", factor=1.0, half=0.0)
            return self._derived(frame, index, ("group_size",))
        if q.unit == "samples" and (
            _EACH.match(frame.text[q.end : q.end + 18])
            or re.search(r"(?i)each prompt|per prompt|every prompt", frame.text[max(0, q.start - 24) : q.start])
        ):
            decided = self._by_unit(frame, index)
            if decided is not None:
                return decided
        if _OF_SAMPLES.match(frame.text[q.end : q.end + 34]) or (
            q.unit == "samples" and _AMONG_SAMPLES.search(frame.text[max(0, q.start - 16) : q.start])
        ):
            decided = self._derived(frame, index, ("clipped_trajectories", "aborted_trajectories"))
            if decided is not None:
                return decided
        if q.unit in {"samples", "prompts"} and name.derived:
            near = frame.text[q.end : name.start] if name.start >= q.end else frame.text[name.end : q.start]
            if len(near.strip()) > 3 or q.unit == "prompts":
                decided = self._by_unit(frame, index)
                if decided is not None:
                    return decided
        if name.derived:
            decided = self._derived(frame, index, name.derived)
            if decided is not None:
                return decided
        elif q.unit == "turns" and not any(self.table.readings(q, key) for key in name.keys):
            return self._unbound(frame, index)
        elif q.unit in {"gpus", "samples", "prompts"} and not any(self.table.readings(q, key) for key in name.keys):
            decided = self._by_unit(frame, index)
            if decided is not None:
                return decided
        if (
            q.unit == "tokens"
            and (decided := self._tokens(frame, q, self.scope(frame, index, "")[0])) is not None
            and (decided.status == "supported" or decided.final or not self._held_at(frame, index, name))
        ):
            return decided
        named, name = name, self._beside(frame, q, name)
        beside = named is not name
        keys = name.keys
        known = [key for key, _ in self.told.values() if key in keys]
        if known and len(keys) > 1 and not name.statistic and not beside:
            keys = (known[-1],)
        if not keys:
            return self._unbound(frame, index)
        keys = keys[:1] if of_its_own(name) and change_cue(frame, q) == "sure" else keys  # "max length rose by 976"
        failed: Decision | None = None
        if (apart := self._apart(frame, index)) is not None:
            return apart
        early = (
            self._of_two(frame, index, name)
            if q.unit in {"ratio", "factor", "%"}
            or (
                cue("total").search(frame.text)
                and (group is None or group.form != "chain")
                and change_cue(frame, q) != "sure"
                and not (
                    re.fullmatch(r"[`*\s]*[（(]\s*", frame.text[name.end : q.start])
                    and self._held_at(frame, index, name)
                )
            )
            else None
        )
        if early is not None:
            return early
        if (
            group is not None
            and group.form == "chain"
            and q.unit == "%"
            and (shared := self._shares(frame, group, index, keys[0]))
        ):
            return shared
        for key in keys[:8]:
            if group is not None and group.form == "chain":
                decided = self._chain(frame, group, index, key)
            elif group is not None and group.form == "range":
                decided = self._range(frame, group, index, key)
            else:
                decided = self._single(frame, index, key, name)
            if decided is not None and decided.status == "supported":
                if decided.step is not None:
                    self.told[index] = (key, decided.step)
                if (
                    self.pair is not None
                    and self.pair[0] == key
                    and ((group is not None and group.form == "chain") or self.changes.last == self.pair)
                ):
                    self.spans.append((q.start, *self.pair))
                return decided
            failed = failed or decided
        other = self._of_two(frame, index, name) or self._versus(frame, index, keys)
        if other is not None:
            return other
        if failed is not None and (dimension := self._by_dimension(frame, index, keys)) is not None:
            return dimension
        total = self.table.total_time()
        if q.unit == "s" and cue("share").search(frame.text):
            for part in frame.names:
                if part.end <= q.start and part.keys and part is not name:
                    decided = self._single(frame, index, part.keys[0], part)
                    if decided is not None and decided.status == "supported":
                        return decided
        if (
            q.unit == "s"
            and total is not None
            and cue("share").search(frame.text)
            and re.search(r"(?i)(?:out of|/|of|÷|共|总)\s*[`*]*$", frame.text[: q.start])
        ):
            steps, _ = self.scope(frame, index, total)
            if len(steps) == 1 and self.cell(q, total, steps[0]).status == "supported":
                return self.cell(q, total, steps[0])
        if (
            _OPERATOR.search(frame.text[max(0, q.start - 4) : q.start] + "\x00" + frame.text[q.end : q.end + 4])
            and not name.exact
        ) or not own:
            found = self._unbound(frame, index)
            if found is not None and found.status == "supported":
                return found
        return failed

    def _between(self, frame: Frame, index: int) -> Decision | None:
        """``the highest loss (1.72) is six times the lowest (0.28)``: a factor of two numbers that the sentence tells."""
        q = frame.numbers[index]
        told = [
            n for n in frame.numbers
            if n is not q and n.unit not in {"ratio", "factor", "steps", "points", "validations"} and not n.bound and n.number
        ]  # fmt: skip
        if q.unit not in {"ratio", "factor"} or len(told) != 2 or len(frame.places) > 2 or len(frame.names) > 2:
            return None
        if q.unit == "factor" and (q.number > 1 or any(g.form == "chain" for g in frame.groups)):
            return None  # "doubled (0.087 → 0.044)": which way it went is told too
        pair, told = (
            told,
            [n if n.unit else n.in_unit_of(o) if o.unit else n for n, o in zip(told, told[::-1], strict=True)],
        )
        x, y = sorted(abs(n.number * (n.factor if n.unit else 1.0)) for n in told)
        if not x or told[0].unit != told[1].unit or (told[0].number < 0) != (told[1].number < 0):
            return None
        slack = y / x * (told[0].half / abs(told[0].number) + told[1].half / abs(told[1].number))
        turned = self._oriented(frame, q, pair, told, slack) or self._multiple_of(frame, q, told, slack)
        if turned is not None:
            return turned
        number, half = (q.number, q.half) if q.number >= 1 else (1 / q.number, q.half / q.number**2)
        bound = q.bound if q.number >= 1 else {"<": ">", ">": "<"}.get(q.bound, "")
        if agrees(number, half + slack, y / x, bound=bound):  # past twice its half, the log's own values decide
            return Decision("supported") if agrees(number, half + min(slack, 2 * half), y / x, bound=bound) else None
        if q.unit == "ratio" and not frame.places and _GREATEST.search(frame.text) and _LEAST.search(frame.text):
            return Decision("contradicted", self.say("count", true=f"{y / x:.3g}", shown=q.text), final=True)
        return None

    def _oriented(
        self, frame: Frame, q: Quantity, told: Sequence[Quantity], scaled: Sequence[Quantity], slack: float
    ) -> Decision | None:  # fmt: skip
        """``3.5 times the average (7608 vs 2143 tokens)``: of the two behind a factor, the first over the second."""
        group = frame.group_of(frame.numbers.index(told[0]))
        if (
            q.unit != "ratio"
            or group is None
            or group.form not in {"versus", "list"}
            or frame.numbers.index(told[1]) not in group.members
            or told[0].start < q.end
            or not re.search(r"[（(:：]\s*[`*]*$", frame.text[q.end : told[0].start])
            or not _FACTOR_OF.search(frame.text)
            or FACTOR_LESS.search(frame.text)
        ):
            return None
        one, two = (abs(n.number * (n.factor if n.unit else 1.0)) for n in scaled)
        if agrees(q.number, q.half + slack * (one / two) / max(one / two, two / one), one / two, bound=q.bound):
            return None
        if not agrees(q.number, q.half + slack, two / one, bound=q.bound) and q.number >= 1:
            return None  # neither way: of something else
        return Decision("contradicted", self.say("count", true=f"{one / two:.3g}", shown=q.text), final=True)

    def _levels(self, frame: Frame, index: int, name: Named | None) -> Decision | None:
        """``(mean 0.66 up to there, 6.33 afterwards)``: two numbers as the means of two stretches of steps."""
        plain = [n for n in frame.numbers if not n.bound and n.unit not in {"ratio", "factor", "pp", "steps", "points"}]
        group = frame.group_of(index)
        if (
            name is None
            or not name.keys
            or frame.numbers[index] not in plain
            or not any(p.kind == "range" for p in frame.places)
        ):
            return None
        members = [frame.numbers[at] for at in group.members] if group and group.form in {"chain", "versus"} else plain
        if len(members) != 2 or not (group or cue("mean").search(frame.text)):
            return None
        places = [frame.numbers.index(n) for n in members]
        for key in name.keys[:3]:
            parts = self._stretches(frame, places, key)
            if parts is None:
                continue
            averaged = bool(cue("mean").search(frame.text)) and not cue("median").search(frame.text)
            backwards = group is not None and group.form == "versus"
            for order in (members, members[::-1]) if backwards else (members,):
                if (ids := self.changes.levels(order, key, parts, averaged)) is not None:
                    return Decision("supported", "", ids[order.index(frame.numbers[index])], key)
        return None

    def _by_dimension(self, frame: Frame, index: int, keys: Sequence[str]) -> Decision | None:
        """``dividing 23.5M tokens by the step time``: a number that its unit, not the name beside it, says the metric of."""
        q, columns = frame.numbers[index], self.table.run.columns
        if OF_ONE_SAMPLE.match(frame.text[q.end :]):
            return None
        if q.digits < 3 or q.bound or (any(self.table.readings(q, key) for key in keys[:3]) and q.unit != "tokens"):
            return None
        total = self.table.total_time() if _SPENT.search(frame.text) else None
        wanted = {"tokens": ["perf/total_num_tokens"] if q.number >= 1e5 else [], "s": [total] if total else []}
        for key in [k for k in wanted.get(q.unit, []) if k in columns and k not in keys[:1]]:
            steps = [s for p in frame.places for s in p.steps] or self.table.held(key)
            for step in steps[:2000]:
                decided = self.cell(q, key, step)
                if decided.status == "supported":
                    return decided
        return None

    def _in_formula(self, frame: Frame, index: int) -> Decision | None:
        """``512 prompts times 16``, ``单卡吞吐乘以 8``: a count that the log implies, told as a factor of a product."""
        q = frame.numbers[index]
        left, right = frame.text[max(0, q.start - 14) : q.start], frame.text[q.end : q.end + 14]
        if q.unit not in {"", "gpus", "samples", "prompts"} or not (_TIMES.search(left) or _TIMES_AFTER.match(right)):
            return None
        wanted: tuple[str, ...] = ("n_gpus", "group_size", "prompts_per_step", "trajectories_per_step")
        if q.unit == "prompts" or (not q.unit and _COUNT_AFTER.match(frame.text[q.end :])):
            wanted = ("prompts_per_step",)  # "512 prompts × 16 samples", "batch 512 × 16": prompts first
        elif q.unit == "gpus":
            wanted = ("n_gpus",)
        elif q.unit in {"", "samples"} and (_PROMPTS_TIMES if q.unit else _COUNT_BEFORE).search(frame.text[: q.start]):
            wanted = ("group_size",)
        for known in wanted:
            decided = self._derived(frame, index, (known,))
            if decided is not None and decided.status == "supported":
                return decided
        return None

    def _versus(self, frame: Frame, index: int, keys: Sequence[str]) -> Decision | None:
        """``99 minutes instead of 72``: the second number is the value before, at the first step or the one before."""
        group = frame.group_of(index)
        singles = [p for p in frame.places if len(p.steps) == 1]
        paired = any(len(p.steps) == 2 and p.kind != "range" for p in frame.places)
        if group is None or group.form != "versus" or group.members[-1] != index or len(singles) > 1 or paired:
            return None
        for key in keys[:3]:
            held = self.table.held(key)
            at = singles[0].steps[0] if singles else (held[-1] if held else None)
            before = None if at is None else self.table.before(key, at)
            for step in [s for s in (before, held[0] if held else None) if s is not None and s != at]:
                decided = self.cell(frame.numbers[index], key, step)
                if decided.status == "supported":
                    return decided
        return None

    @staticmethod
    def _two_clauses(frame: Frame, q: Quantity) -> str:
        """A number's clause, and the one before it where that has no number: "Over all GPUs, step 6 runs at …"."""
        start, end = frame.clause_span(q.start)
        earlier = frame.clause_span(max(0, start - 2))[0] if start else 0
        return frame.text[start if any(earlier <= n.start < start for n in frame.numbers) else earlier : end]

    def spoken_of(self, frame: Frame, index: int, name: Named | None) -> Quantity:
        """A number with the unit that it is meant in: that of the one it stands beside, or "points" of the metric."""
        q, group = frame.numbers[index], frame.group_of(index)
        if not q.unit and group is not None and group.form in {"versus", "range", "chain"}:
            other = next((n for at in group.members if (n := frame.numbers[at]).unit and at != index), None)
            if other is not None and (other.unit in {"%", "gib"} or other.factor != 1.0):
                return q.in_unit_of(other)
        if (
            q.unit == "%" and not q.sign and name is not None and name.keys and self.table.kind(name.keys[0]) != "seconds"
            and len({p.steps for p in frame.places}) == 2 and _PERCENT_OF_STEP.search(frame.text[: q.start])
        ):  # fmt: skip
            return replace(q, unit="ratio", factor=1.0, number=q.number / 100, half=q.half / 100)
        following = next((n for n in frame.numbers if n.start >= q.end), None)
        if not q.unit and following is not None and following.unit in {"s", "tokens", "gib"} and re.fullmatch(r"(?i)\s*(?:out )?of (?:(?:the|its|those|these|a total of)\s*)?", frame.text[q.end : following.start]):  # fmt: skip
            return q.in_unit_of(following)
        if (
            q.unit == "points"
            and q.text.endswith("个")
            and (counted := next((n for n in frame.numbers if n.unit == "tokens" and not n.bound), None))
        ):
            return q.in_unit_of(counted)
        if q.unit == "points" and q.text.endswith(("个", "个点")) and q.decimals and "%" in frame.text:
            return replace(q, unit="pp", factor=0.01, text=q.text)  # "净增 21.7 个百分点，…，净增 18.7 个"
        if q.unit == "points" and q.text.endswith("个") and q.decimals:
            return replace(q, unit="", factor=1.0)
        if q.unit == "samples" and q.text.endswith("条") and re.search(r"条(?:数据|记录|日志)|日志|记录", frame.text):
            return replace(q, unit="points")
        if (
            not q.unit
            and re.search(
                r"(?i)(?:multipl\w+ by|a factor of|a multiple of|扩大到原来的)\s*(?:about |roughly |约)?[`*]*$",
                frame.text[max(0, q.start - 30) : q.start],
            )
            and not frame.text[q.end :].lstrip().startswith(("=", "tok", "个"))
            and name is not None
            and name.keys
        ):
            return replace(q, unit="ratio")
        if q.unit != "points" or name is None or not name.keys or "point" not in q.text:
            return q
        changed = q.decimals or change_cue(frame, replace(q, unit="")) == "sure"
        if not changed:
            return q
        kind, values = self.table.kind(name.keys[0]), [v for _, v in self.table.finite(name.keys[0])]
        share = kind in {"fraction", "percent"} or (q.number >= 1 and bool(values) and all(0 <= v <= 1 for v in values))
        return replace(q, unit="pp" if share else "", factor=1.0)

    def _held_at(self, frame: Frame, index: int, name: Named) -> bool:
        """Whether a number is a cell of the metric named before it, at a step it may be about."""
        q = frame.numbers[index]
        return any(
            self.cell(q, key, step).status == "supported"
            for key in name.keys[:2]
            for step in self.scope(frame, index, key)[0]
        )

    def _beside(self, frame: Frame, q: Quantity, name: Named) -> Named:
        """``longest 2,311 s, mean 1,424 s``: the sibling that a word right before the number asks for."""
        match = _BESIDE.search(frame.text[max(0, q.start - 18) : q.start]) or _AFTERWARDS.match(
            frame.text[q.end : q.end + 14]
        )
        if match is None or name.exact:
            return name
        wanted = next(which for which, found in match.groupdict().items() if found)
        siblings = [f"{key.rsplit('/', 1)[0]}/{wanted}" for key in name.keys if "/" in key]
        held = tuple(dict.fromkeys(s for s in siblings if s in self.table.run.columns and s not in name.keys))
        return replace(name, keys=(*held, *name.keys)) if held else name

    def _single(self, frame: Frame, index: int, key: str, name: Named) -> Decision | None:
        q = frame.numbers[index]
        steps, how = self.scope(frame, index, key)
        clause = outside(frame, *frame.clause_span(q.start))
        if crossed := self._across(frame, q, key, steps):
            return crossed
        if cue("slope").search(clause) and not q.bound:
            sloped = self.changes.slope(q, key)
            if sloped is not None:
                return Decision("supported", "", sloped, key)
        role = change_cue(frame, q)
        group = frame.group_of(index)
        if role == "maybe" and q.sign == "+" and group is not None and group.form == "list" and any(frame.numbers[at].sign == "+" and at in self.told for at in group.members):  # fmt: skip
            role = ""  # "+4.0e-05 at step 14, +3.2e-05 at step 47": a value, as the one before
        if role == "sure" or (role == "maybe" and not self._as_value(frame, index, key, name, steps, how, quiet=True)):
            changed = self.changes.number(frame, q, key, self.pair)
            if changed is not None and (changed[0] == "supported" or role == "sure"):
                if changed[0] == "supported" and self.changes.last is not None:
                    self.pair = self.changes.last
                return Decision(*changed, key=key)
        shared = self._share(frame, q, key, steps, clause)
        if shared is not None and shared.status == "supported":
            return shared
        if cue("slope").search(clause):
            sloped = self.changes.slope(q, key)
            if sloped is not None:
                return Decision("supported", "", sloped)
        value = self._as_value(frame, index, key, name, steps, how)
        if (value is None or value.status != "supported") and shared is not None:
            return shared
        return value
