"""Rates of one GPU or of all of them, and what each GPU gets of a step."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import change_cue, cue
from assistant.ground.deciding import Decision
from assistant.ground.implied import EACH_GPU, STEP_TOKENS, Implied
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain

#: Keys of a GPU's rate, and of all GPUs'.
_OF_ONE: Final = ("perf/throughput", "system/tps_gpu")
_OF_ALL: Final = ("system/tps/tps",)
_COUNTS: Final = frozenset({"n_gpus", "trajectories_per_step", "prompts_per_step", "group_size"})
#: 每秒处理 4,887 个 token: a rate, told the other way round.
_EVERY_SECOND: Final = re.compile(
    r"每秒钟?(?:能够?|可以?|会|要|大约|大概|约|差不多|共|一共|总共|合计|才|只|平均)*(?:处理|生成|跑|训练|吞吐|消化)?(?:了|掉|完)?\s*(?:约|大约|近|~|≈)?\s*[`*]*$"
)
_PER_GPU_AFTER: Final = re.compile(r"(?i)[`*\s]*(?:(?:per|each|a|every|/)\s?(?:gpu|card)\b|每卡|单卡)")
_PER_GPU_BEFORE: Final = re.compile(
    r"(?i)(?:单卡|每卡|每张卡|per[ -]gpu|per[ -]card)(?:的?吞吐)?\s*(?:约|为|是|[:：=])?\s*$"
)
_OUT_OF: Final = re.compile(r"(?i)\d[\d,]*\s*(?:out )?of (?:(?:the|all) ){0,2}[`*]*$")
_SAMPLES_AFTER: Final = re.compile(
    r"(?i)[`*\s]*(?:responses|trajectories|samples|rollouts|answers|sequences|completions)\b"
)
_FACTOR_OF: Final = re.compile(r"[÷×/]\s*[（(]?\s*\0|\0\s*[)）]?\s*[÷×]")
_PER_PROMPT: Final = re.compile(
    r"(?i)[`*\s]*(?:per|for each|for every|to each|to every|/)\s*(?:of (?:the |its )?\d[\d,]*\s)?(?:prompts?|questions?|problems?|query|queries)\b"
)
_EACH_OF_THEM: Final = re.compile(r"(?i)[`*\s]*(?:each|apiece|per (?:gpu|card)|a piece)\b")
#: "The responses of step 3 add up to": all of a step's, where the mean of one is what the log tells.
_SUMMED_TOKENS: Final = re.compile(
    r"(?i)\b(?:(?P<prompts>prompts)|responses|answers|completions|rollouts)\b[^.;]{0,40}\b(?:add(?:s|ed|ing)? up to|sum(?:s|med)? (?:up )?to|total(?:s|led)?|amount(?:s|ed)? to|(?:come|comes|came) to|together|in (?:total|all|sum))\b"
)
_RANK: Final = re.compile(r"(?i)\brank|\bworker")

#: "365,121 tokens in 66 s, which makes 5,500 a second", 折合每秒 5500 token: of all GPUs.
_CONVERTED: Final = re.compile(
    r"(?i)折合|换算|相当于|等于|也就是|即每秒|算下来|\b(?:that is|which (?:is|makes|gives)|i\.e\.|or about|or)\b"
)
FACTOR_LESS: Final = re.compile(
    r"(?i)\b(?:faster|quicker|shorter|smaller|lower|less|fewer|from|than at|since|compared|relative|fell|dropped|shrank|down)\b|[快短小低少降跌缩]|相比|从"
)
#: "1.5 times that at step 1", "1.5× its value", "1.5 times what it was": what it is a multiple of comes behind.
_TIMES_THAT: Final = re.compile(
    r"(?i)[`*\s]*(?:[×x]|times)?[`*\s]*(?:as (?:high|large|long|much|big) as )?(?:that|those|its|what|the (?:value|level|figure|one|first|initial))\b"
)


class Rates(Implied):
    """Decides tokens per second and what falls to each GPU."""

    def _rate(self, frame: Frame, index: int, name: Named | None) -> Decision | None:
        """``each GPU processed 165 tokens per second``, ``8 张卡一共每秒处理 4,887 个 token``, ``(586 per GPU × 8)``.

        ``None`` where a number is no such rate, or a name with a rate of its own stands beside it.
        """
        q = frame.numbers[index]
        if (one_or_all := self._one_or_all(frame, index)) is not None:
            return one_or_all
        each = self._behind_a_rate(frame, index)
        if q.unit == "tokens" and _EVERY_SECOND.search(frame.text[max(0, q.start - 24) : q.start]):
            frame.numbers[index] = q = replace(q, unit="rate")
        if not each and (q.unit != "rate" or (name is not None and self._has_rate(name, q))):
            return None
        start, stop = frame.clause_span(q.start)
        since = max([start, *(n.end for n in frame.numbers[:index] if n.unit != "gpus")])
        until = min([stop, *(n.start for n in frame.numbers[index + 1 :])])
        words = frame.text[since : q.start] + "\0" + frame.text[q.end : until]
        if each or cue("per_gpu").search(words) or _FACTOR_OF.search(words):
            key = next((key for key in _OF_ONE if key in self.table.run.columns), None)
        elif cue("across").search(words) or cue("total").search(words):
            whole = self._derived(frame, index, ("cluster_throughput",))
            if whole is not None and whole.status != "unsupported":
                return replace(whole, final=True)
            key = next((key for key in _OF_ALL if key in self.table.run.columns), None)
        elif _CONVERTED.search(words) and {"tokens", "s"} <= {n.unit for n in frame.numbers[:index]}:
            return self._derived(frame, index, ("cluster_throughput",))
        else:
            return None
        if key is None or change_cue(frame, q):
            return None
        steps, how = self.scope(frame, index, key)
        if each and not q.unit:
            frame.numbers[index] = replace(q, unit="rate")
        return self._value(frame, index, key, Named(0, 0, "", (key,)), steps, how)

    def _one_or_all(self, frame: Frame, index: int) -> Decision | None:
        """``8 GPUs at 677 tokens/s each, 5,419 tokens/s``: the rate of one, marked so, and that of all beside it."""
        q, rates = frame.numbers[index], [n for n in frame.numbers if n.unit == "rate"]
        each = [n for n in rates if _EACH_OF_THEM.match(frame.text, n.end)]
        if q.unit != "rate" or len(each) != 1 or len(rates) > 2 or not any(n.unit == "gpus" for n in frame.numbers):
            return None
        if q is not each[0]:
            return self._derived(frame, index, ("cluster_throughput",))
        key = next((key for key in _OF_ONE if key in self.table.run.columns), None)
        if key is None:
            return None
        return self._value(frame, index, key, Named(0, 0, "", (key,)), *self.scope(frame, index, key))

    def _multiple_of(self, frame: Frame, q: Quantity, scaled: Sequence[Quantity], slack: float) -> Decision | None:
        """``A at step 3 (0.9) is 1.5 times that at step 1 (0.6)``: of two values with a factor between, the first over the second."""
        one, two = scaled
        if (
            q.unit != "ratio"
            or not (one.end <= q.start and q.end <= two.start)
            or not _TIMES_THAT.match(frame.text, q.end)
        ):
            return None
        if FACTOR_LESS.search(frame.text[q.end : q.end + 24]):
            return None
        x, y = (abs(n.number * (n.factor if n.unit else 1.0)) for n in scaled)
        if agrees(q.number, q.half + slack * (x / y) / max(x / y, y / x), x / y, bound=q.bound):
            return Decision("supported")
        return Decision("contradicted", self.say("count", true=f"{x / y:.3g}", shown=q.text), final=True)

    @staticmethod
    def _behind_a_rate(frame: Frame, index: int) -> bool:
        """Whether a bare number is what one GPU makes of the rate told before it."""
        q = frame.numbers[index]
        if (
            q.unit
            or not index
            or frame.numbers[index - 1].unit != "rate"
            or q.start - frame.numbers[index - 1].end > 12
        ):
            return False
        return bool(
            _PER_GPU_AFTER.match(frame.text[q.end : q.end + 14])
            or _PER_GPU_BEFORE.search(frame.text[max(0, q.start - 14) : q.start])
        )

    def _has_rate(self, name: Named, q: Quantity) -> bool:
        return (
            name.absent
            or bool(set(name.derived) - _COUNTS)
            or any(self.table.readings(q, key) for key in name.keys[:3])
        )

    def _out_of(self, frame: Frame, index: int, name: Named | None) -> Decision | None:
        """``233 of 8,192 responses were truncated``: all of a step's, though "responses were truncated" is a name."""
        q = frame.numbers[index]
        right = frame.text[q.end : q.end + 40]
        if (
            q.unit not in {"", "samples"}
            or q.decimals
            or not _OUT_OF.search(frame.text[max(0, q.start - 24) : q.start])
        ):
            return None
        if not (q.unit or _SAMPLES_AFTER.match(right)) or re.search(
            r"(?i)\b(?:per|each|every) (?:prompt|question|group)", right
        ):
            return None
        return self._derived(frame, index, ("trajectories_per_step",))

    def _falls_to_each(self, frame: Frame, index: int, name: Named | None) -> Decision | None:
        """``each GPU handles 16 responses per step``: of the trajectories of a step, though "responses per step" is a name."""
        q = frame.numbers[index]
        if (
            not q.unit
            and _PER_GPU_AFTER.match(frame.text[q.end : q.end + 14])
            and any(n.unit == "samples" for n in frame.numbers)
        ):
            return self._each_gpu(frame, index, ranks=False)  # "8192 rollouts a step, or 1024 per GPU"
        if (tokens := self._tokens_of_each(frame, index, name)) is not None:
            return tokens
        if name is None and not q.unit and _PER_PROMPT.match(frame.text, q.end):
            return self._derived(frame, index, ("group_size",))  # "8,192 answers, 16 per question"
        if name is None or "trajectories_per_step" not in name.derived or q.unit not in {"", "samples"}:
            return None
        clause = frame.clause_text(q.start)
        return self._each_gpu(frame, index, ranks=bool(_RANK.search(clause))) if EACH_GPU.search(clause) else None

    def _tokens_of_each(self, frame: Frame, index: int, name: Named | None) -> Decision | None:
        """``each GPU handles 66,545 tokens in step 55``: the step's over the GPUs; ``the responses add up to 0.34M tokens``."""
        q, table = frame.numbers[index], self.table
        key = next((k for k in STEP_TOKENS if k in table.run.columns), "")
        whole = name is not None and key in name.keys
        if q.unit != "tokens" and not whole:
            return None
        clause = frame.clause_text(q.start)
        if (summed := _SUMMED_TOKENS.search(clause)) is not None:
            which = "prompt_tokens" if summed["prompts"] else "response_tokens"
            decided = self._derived(frame, index, (which,))
            return decided if decided is not None and decided.status == "supported" else None
        steps, _ = self.scope(frame, index, key)
        if not key or not EACH_GPU.search(clause) or len(steps) != 1 or (name is not None and name.keys and not whole):
            return None
        tokens, gpus = table.value(key, steps[0]), table.derived("n_gpus", steps[0])
        if tokens is None or gpus is None:
            return None
        true = tokens / float(gpus.value or 1)
        factor = q.factor if q.unit else 1.0
        if agrees(q.number * factor, q.half * factor, true, bound=q.bound):
            return Decision("supported", "", gpus.id, key, steps[0])
        note = self.say("derived", name="tokens / n_gpus", true=plain(true), shown=q.text, formula=f"{key} / n_gpus")
        return Decision("contradicted", note, gpus.id, final=True)
