"""Numbers that no metric of the log holds but that follow from it: GPUs, batch, group size, rates."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame, places_of
from assistant.ground.cues import cue
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.relations import Relations
from assistant.ground.table import COUNTED, agrees, readings
from assistant.ground.verdicts import as_shown, plain

_OPERATOR: Final = re.compile(r"[÷×+]\s*[（(]?\s*\x00|\x00\s*[)）]?\s*[÷×+]")

STEP_TOKENS: Final = ("perf/total_num_tokens", "num_tokens_step")
_WHOLE_SAMPLE: Final = re.compile(
    r"(?i)\b(?:prompt included|including (?:the |its )?prompt|prompt and all)\b|prompt\s*(?:加上?|\+|plus|and|与|和|连同|带上?)\s*(?:the )?(?:回复|回答|响应|response)"
    r"|[每一单]条(?:完整)?(?:样本|序列|轨迹|数据)|\b(?:whole|entire) (?:sample|sequence|trajectory)\b|\btokens? (?:per|a|each) (?:sample|trajectory|sequence)\b"
)
#: Behind a number of tokens: of one sample, prompt and response.
_OF_A_SAMPLE: Final = re.compile(
    r"(?i)[`*\s]*(?:(?:in |for )?(?:per|each|every|a)|/)\s?(?:whole |full |entire )?(?:sample|sequence|trajectory)\b"
)
_FASTER: Final = re.compile(r"(?i)\b(?:faster|slower|quicker|longer|shorter)\b|[快慢]了?")
_SLOWEST: Final = re.compile(
    r"(?i)\b(?:the )?(?:slowest|fastest|longest|shortest|peak)(?: step)? (?:was|is)\b|最[慢快长短]的(?:是|一步)"
)
_WHOLE_STEP: Final = re.compile(
    r"(?i)per step|each step|every step|a step|每步|每一步|每个 ?step|单步|took|\btotal\b|合计|总计|总耗时"
)


EACH_GPU: Final = re.compile(
    r"(?i)\b(?:per|each|a|every|one)[ -](?:gpu|card|worker|device|rank|dp rank)\b|/\s?(?:gpu|card|rank)|每(?:张|块|个)?\s?(?:卡|gpu|rank)|单卡"
)
_SAMPLED: Final = re.compile(
    r"(?i)\b(?:each|every|a|per) (?:prompt|question|problem|query)\b[^.;]{0,40}\b(?:sampled|rolled out|answered|generated|drawn)\b|\b(?:sampled|rolled out)\b[^.;]{0,24}\b(?:each|per) (?:prompt|question|problem)"
)
_EACH_RANK: Final = re.compile(r"(?i)\brank|\bworker")
_CUT_OFF: Final = re.compile(
    r"(?i)截断|掐断|截掉|触顶|上限|写满|超长|\bclip|\btruncat|\bcut\b|\bcapped\b|\b(?:length )?(?:limit|cap|ceiling)\b|\bmax(?:imum)? length"
)
_GIVEN_UP: Final = re.compile(r"(?i)\babort|中止|放弃")


#: "For every prompt, 16 responses are sampled": of each.
_LED_BY_PROMPT: Final = re.compile(r"(?i)\b(?:for|to) (?:each|every) (?:prompt|question|problem|query),?$")


class Implied(Relations):
    """Decides derived quantities, and numbers whose metric is not named."""

    def _by_unit(self, frame: Frame, index: int) -> Decision | None:
        """``8 GPUs``, ``1024 samples``: the unit itself says which derived quantity is meant."""
        q = frame.numbers[index]
        clause, stop = frame.clause_span(q.start)
        around = frame.text[max(clause, q.start - 30) : min(stop, q.end + 40)]
        if q.unit == "samples" and re.search(
            r"(?i)per (?:problem|question|task|item)|each (?:problem|question)|每(?:个|道)?\s?(?:题|问题)", around
        ):
            counted = {int(m) for key in self.table.run.columns for m in re.findall(r"@(\d+)", key)}
            if counted:
                fine = q.number in counted
                return Decision(
                    "supported" if fine else "contradicted",
                    "" if fine else self.say("count", true=max(counted), shown=q.text),
                )
        if (
            q.unit == "samples"
            and re.search(
                r"(?i)per prompt|(?:each|every|one) prompt|every (?:question|problem|query)|\beach\b|for each|apiece|\bgroups? (?:consists? of|holds?|has|have|contains?|comprises?|of|is|=)|每(?:个|条|道)?\s?(?:prompt|题|问题)|每组|每个|各",
                frame.text[
                    max(
                        max(0, clause - 24) if _LED_BY_PROMPT.search(frame.text[:clause]) else clause, q.start - 24
                    ) : min(stop, q.end + 22)
                ],
            )
            and not re.search(
                r"(?i)each (?:training )?step|每一?(?:个\s?)?(?:训练\s?)?(?:步|step)",
                frame.text[max(clause, q.start - 24) : min(stop, q.end + 22)],
            )
            and not EACH_GPU.search(frame.text[max(clause, q.start - 24) : min(stop, q.end + 22)])
        ):
            return self._derived(frame, index, ("group_size",))
        if q.unit == "samples":
            return self._samples(frame, index)
        return self._derived(frame, index, ("n_gpus",) if q.unit == "gpus" else ("prompts_per_step",))

    def _samples(self, frame: Frame, index: int) -> Decision | None:
        """``207 responses``: of a step, of one GPU, or those that were cut off or given up, as the words say."""
        q = frame.numbers[index]
        several = sum(n.unit == "samples" for n in frame.numbers) > 1
        clause, stop = frame.clause_span(q.start)
        start = max([clause, *(n.end for n in frame.numbers if n.end <= q.start)])
        stop = min([stop, *(n.start for n in frame.numbers if n.start >= q.end)])
        words = frame.text[start:stop] if several else frame.text
        if EACH_GPU.search(words if several or len(frame.numbers) == 1 else frame.text[start:stop]):
            return self._each_gpu(frame, index, ranks=bool(_EACH_RANK.search(words)))
        names = [name for name, word in (("clipped_trajectories", _CUT_OFF), ("aborted_trajectories", _GIVEN_UP)) if word.search(words)]  # fmt: skip
        return self._derived(frame, index, (*names, *(() if names and several else ("trajectories_per_step",))))

    def _each_gpu(self, frame: Frame, index: int, *, ranks: bool) -> Decision | None:
        """``32 rollouts per GPU``: the step's trajectories over the GPUs, or over the parallel ranks where these are told."""
        if ranks:
            return self._derived(frame, index, ("trajectories_per_rank",))
        q = frame.numbers[index]
        for step in self.table.steps:
            trajectories, gpus = (self.table.derived(name, step) for name in ("trajectories_per_step", "n_gpus"))
            if trajectories is None or gpus is None:
                continue
            true = float(trajectories.value or 0) / float(gpus.value or 1)
            if agrees(q.number, q.half if q.approx else 0.0, true, bound=q.bound):
                return Decision("supported", "", gpus.id)
            note = self.say("derived", name="trajectories / n_gpus", true=plain(true), shown=q.text, formula="trajectories_per_step / n_gpus")  # fmt: skip
            return Decision("contradicted", note, gpus.id)
        return self._derived(frame, index, ("trajectories_per_rank",))

    def _derived(self, frame: Frame, index: int, names: Sequence[str]) -> Decision | None:
        """A number as a quantity that follows from the log."""
        q, table = frame.numbers[index], self.table
        around = frame.text[max(0, q.start - 5) : q.end + 5]
        if not q.unit and set(names) >= {"trajectories_per_step", "prompts_per_step"} and re.search(r"[×x*]", around):
            names = (
                ("prompts_per_step", "group_size", "trajectories_per_step")
                if not re.search(r"=\s*[`*]*$", frame.text[: q.start])
                else ("trajectories_per_step",)
            )
            if re.match(r"\s*[×x*]", frame.text[q.end :]):
                names = ("prompts_per_step",)
            elif re.search(r"[×x*]\s*[`*]*$", frame.text[: q.start]):
                names = ("group_size",)
        if q.unit in {"samples", "prompts"} and set(names) >= {"trajectories_per_step", "prompts_per_step"}:
            names = ("trajectories_per_step",) if q.unit == "samples" else ("prompts_per_step",)
        steps, how = self.scope(frame, index, "")
        span = (
            [s for s in table.steps if min(steps) <= s <= max(steps)]
            if how in {"span", "pair"} and steps
            else list(steps) or list(table.steps)
        )
        group = frame.group_of(index)
        first: Decision | None = None
        known = False
        for name in names:
            facts = table.derivable(name, span[:60] if len(span) > 1 else span)
            if not facts and name in COUNTED:
                facts = table.derivable(name, table.steps[:60])
            known = known or bool(facts)
            numeric = [f for f in facts if isinstance(f.value, (int, float)) and not isinstance(f.value, bool)]
            if not numeric:
                continue
            if changed := self.changes.derived(frame, q, numeric, group):
                return Decision(*changed)
            kind = (
                "rate"
                if name == "cluster_throughput"
                else {"fraction": "fraction", "tokens": "tokens", "tokens/s": "rate", "s": "seconds"}.get(
                    numeric[0].unit or "", "number"
                )
            )
            for fact in numeric:
                value = float(fact.value)  # type: ignore[arg-type]
                bare = Quantity(
                    q.start,
                    q.end,
                    q.text,
                    q.number,
                    q.half,
                    "" if q.unit in {"gpus", "samples", "prompts"} else q.unit,
                    q.factor,
                    q.sign,
                    q.approx,
                    q.bound,
                    q.digits,
                )
                for shown, half in _readings(bare, kind, value):
                    if agrees(shown, half, value, bound=q.bound):
                        note = self.say("ok_derived", name=name, true=plain(value), formula=fact.formula)
                        return Decision("supported", note, fact.id, None, fact.step)
            fact = numeric[-1]
            if name == "cluster_throughput" and first is None and "perf/throughput" in table.run.columns:
                each = [
                    s for s in table.held("perf/throughput") if self.cell(q, "perf/throughput", s).status == "supported"
                ]
                if (
                    each
                    and (whole := table.derived("cluster_throughput", each[0])) is not None
                    and (gpus := table.derived("n_gpus", each[0])) is not None
                ):
                    note = self.say("per_gpu", shown=q.text, gpus=gpus.value, true=plain(float(whole.value or 0)))
                    first = Decision("contradicted", note, whole.id)
            if first is None:
                note = self.say(
                    "derived",
                    name=name,
                    true=as_shown(float(fact.value or 0), q, kind),
                    shown=q.text,
                    formula=fact.formula,
                )
                fits = q.unit in {"gpus", "samples", "prompts", ""} or bool(readings(q, kind, float(fact.value or 0)))
                # a figure of one dimension is never against a fact of another
                first = Decision("contradicted" if fits else "unsupported", note, fact.id)
        if first is not None:
            return first
        return None if known else Decision("unsupported", self.say("derived_unknown", shown=q.text))

    def _tokens(self, frame: Frame, q: Quantity, steps: Sequence[int]) -> Decision | None:
        """``a single step chews through 0.54M tokens``, ``each sample (prompt plus response) is 945 tokens``."""
        held = self.table.run.columns
        each = _OF_A_SAMPLE.match(frame.text, q.end)  # "with 512 sequences a step, … 731 tokens per sequence"
        if not each and (
            _WHOLE_STEP.search(frame.text) or re.search(r"(?i)single step|one step|一步|单步", frame.text)
        ):
            key = next((k for k in STEP_TOKENS if k in held), None)
            if key is not None:
                place = "one" if len(steps) == 1 else "none"
                return self._value(frame, frame.numbers.index(q), key, Named(0, 0, "", (key,)), steps, place)
        if each or _WHOLE_SAMPLE.search(frame.text):
            parts = [k for k in ("prompt_length/mean", "response_length/mean") if k in held]
            for step in (steps or self.table.held(parts[0])[-1:]) if len(parts) == 2 else ():
                cells = [self.table.value(k, step) for k in parts]
                true = sum(c for c in cells if c is not None)
                fact = self.table.aggregate("prompt and response", parts[1], true, [(step, true)])
                if None not in cells and agrees(q.number, q.half, true, bound=q.bound):
                    return Decision("supported", "", fact, parts[1], step)
                both = bool(each) and _WHOLE_SAMPLE.search(frame.text) is not None
                return Decision("contradicted", self.say("sum", true=plain(true), shown=q.text), fact, final=both)
        return None

    def _unbound(self, frame: Frame, index: int) -> Decision | None:
        """A number whose metric is not named: supported only where it is telling and its unit fits."""
        q, table = frame.numbers[index], self.table
        if not q.unit and index and frame.numbers[index - 1].unit == "turns":
            q = q.in_unit_of(frame.numbers[index - 1])
        if q.unit in {"gpus", "samples", "prompts"}:
            decided = self._by_unit(frame, index)
            if decided is not None:
                return decided
        places, _ = places_of(frame, index)
        steps = places[0].steps if places else frame.carried.steps
        total = table.total_time()
        if q.unit == "s" and total is not None and cue("share").search(frame.text) and steps:
            decided = self.cell(q, total, steps[0]) if len(steps) == 1 else None
            if decided is not None and decided.status == "supported":
                return decided
        if q.unit == "s" and total is not None and _WHOLE_STEP.search(frame.text[: q.end + 12]):
            how = "one" if len(steps) == 1 else "span" if places else "none"
            decided = self._value(frame, index, total, Named(0, 0, ""), steps, how)
            if decided is not None and decided.status == "supported":
                return decided
        if (
            q.unit == "s"
            and total is not None
            and not frame.names
            and _FASTER.search(frame.text)
            and len(frame.places) >= 2
        ):
            group = frame.group_of(index)
            if group is not None and group.form == "versus" and len(group.members) == 2:
                spent = Named(0, 0, "", (total,))  # "34% faster than step 1 (122 s vs 185 s)": each step's time
                decided = self._value(frame, index, total, spent, *self.scope(frame, index, total))
                return (
                    None
                    if decided is None
                    else replace(decided, final=re.search(r"(?i)\bthan\b|比", frame.text) is not None)
                )
            changed = self.changes.number(frame, q, total, None)
            if changed is not None:
                last, slower = self.changes.last, re.search(r"(?i)slower|longer|慢|长", frame.text)
                if changed[0] == "supported" and last is not None:
                    x, y = self.table.value(total, last[1]) or 0.0, self.table.value(total, last[2]) or 0.0
                    if (y > x) != bool(slower):
                        changed = ("contradicted", self.changes.told_change(*last, x, y, q), changed[2])
                return Decision(*changed, key=total)
        if q.unit == "s" and total is not None and _SLOWEST.search(frame.text[: q.end]) and len(places) == 1:
            end = "max" if re.search(r"(?i)slowest|peak|longest|慢|长|高", frame.text) else "min"
            return self._extreme(q, total, end, None, frame.text, places[0].steps[0])
        if q.unit == "s" and total is not None and cue("total").search(frame.text) and not steps:
            rows = table.finite(total)
            whole = sum(v for _, v in rows)
            fits = any(agrees(a, b, whole, bound=q.bound) for a, b in table.readings(q, total, whole))
            if fits:
                return Decision("supported", "", table.aggregate("sum", total, whole, rows), total)
        if q.unit == "s" and total is not None and places and not any(n.keys for n in frame.names):
            decided = self._value(frame, index, total, Named(0, 0, ""), steps, "one" if len(steps) == 1 else "span")
            if decided is not None and decided.status == "supported":
                return decided
        if q.unit == "tokens" and (decided := self._tokens(frame, q, steps)) is not None:
            return decided
        if (q.unit in {"pp", "ratio", "factor"} or q.sign == "+") and self.pair is not None:
            changed = self.changes.number(frame, q, self.pair[0], self.pair)
            if changed is not None:
                return Decision(*changed)
        if q.unit == "ratio" and re.search(r"(?i)times|次", q.text) and _SAMPLED.search(frame.text):
            frame.numbers[index] = replace(q, unit="", factor=1.0, half=0.0)
            return self._derived(frame, index, ("group_size",))
        if q.unit == "ratio" and re.search(r"(?i)times", q.text) and not frame.names:
            if re.match(r"(?i)\s*as (?:much|high|large|long|many|big|great|low|small)\b", frame.text[q.end :]):
                return Decision("unsupported", self.say("unbound", shown=q.text))
            told = [n.unit for n in frame.numbers if n is not q and n.unit not in {"", "steps", "points", "ratio"}]
            return Decision("unsupported", self.say("unbound", shown=q.text)) if len(told) > len(set(told)) else None
        if q.unit == "rate":
            around = frame.clause_text(q.start)
            if cue("across").search(around) and not cue("per_gpu").search(around):
                return self._derived(frame, index, ("cluster_throughput",))
            for key in ("perf/throughput", "system/tps_gpu", "system/tps/tps"):
                if key in table.run.columns and cue("per_gpu").search(around):
                    held, how = self.scope(frame, index, key)
                    return self._value(frame, index, key, Named(0, 0, "", (key,)), held, how)
        if q.unit == "turns":
            for key in ("num_turns/mean", "num_turns/max", "num_turns/min", "val-aux/num_turns/mean"):
                if key in table.run.columns:
                    which = Named(0, 0, "", (key,))
                    word = (
                        re.split(r"[，,；;]", frame.text[max(0, q.start - 6) : q.start])[-1]
                        + "|"
                        + re.split(r"[，,；;。]", frame.text[q.end : q.end + 12])[0]
                    )
                    if (key.endswith("/max") and not re.search(r"(?i)max|most|最多|最大|最长", word)) or (
                        key.endswith("/min") and not re.search(r"(?i)min|least|最少|至少|最短", word)
                    ):
                        continue
                    if key.endswith("mean") and re.search(r"(?i)at most|最多|at least|最少|最长", word):
                        continue
                    held, how = self.scope(frame, index, key)
                    decided = self._value(frame, index, key, which, held, how)
                    if decided is not None and (decided.status == "supported" or not key.startswith("val")):
                        return decided
        if (
            re.search(r"[×x*]", frame.text[max(0, q.start - 3) : q.start] + frame.text[q.end : q.end + 3])
            and not q.unit
            and float(q.number).is_integer()
        ):
            decided = self._derived(frame, index, ("trajectories_per_step", "prompts_per_step"))
            if decided is not None:
                return decided
        operator = _OPERATOR.search(frame.text[max(0, q.start - 4) : q.start] + "\x00" + frame.text[q.end : q.end + 4])
        if operator and q.digits >= 3 and q.unit not in {"pp", "ratio", "factor", "steps"}:
            for key in table.run.columns:
                if q.unit and not table.readings(q, key):
                    continue
                for step in steps or table.held(key)[:400]:
                    if (
                        table.value(key, step) is not None
                        and not q.bound
                        and self.cell(q, key, step).status == "supported"
                    ):
                        return self.cell(q, key, step)
        return Decision("unsupported", self.say("unbound", shown=q.text))


def _readings(q: Quantity, kind: str, value: float) -> list[tuple[float, float]]:

    return readings(q, kind, value)
