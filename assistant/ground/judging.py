"""Deciding one number of a sentence: what it is about, what it says of that, and whether the log bears it out."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame, metric_of
from assistant.ground.cues import change_cue, cue, outside
from assistant.ground.deciding import Decision
from assistant.ground.implied import Implied
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity

_UNIT_MEANS: Final = {
    "gpus": ("n_gpus",), "samples": ("trajectories_per_step", "group_size", "clipped_trajectories"),
    "prompts": ("prompts_per_step",),
}  # fmt: skip
_PER_PROMPT_AFTER: Final = re.compile(r"(?i)^[`*\s]*(?:per|for each|for every|/)\s*prompt")
_PER_PROMPT_BEFORE: Final = re.compile(
    r"(?i)每(?:个|条)?\s?prompt\s*(?:各|采样?|采|生成|有|对应)?\s*[`*]*$|每个\s*[`*]*$"
)
_NO_STEP: Final = re.compile(
    r"(?i)\b(?:no|none of the|not a single) (?:logged |training )?steps?\b|没有(?:任何|哪)?一?(?:个\s?)?(?:步|step)|没有一步"
)
_EACH: Final = re.compile(r"(?i)\s*(?:each|apiece|per)\b(?! steps?\b| iteration)")
_OF_SAMPLES: Final = re.compile(
    r"(?i)^\s*(?:out )?of (?:the |all )?\d[\d,]*\s*(?:responses|trajectories|samples|rollouts|answers|sequences|completions)"
)
_OPERATOR: Final = re.compile(r"[÷×+]\s*[（(]?\s*\x00|\x00\s*[)）]?\s*[÷×+]")
_BESIDE: Final = re.compile(
    r"(?i)(?:(?P<mean>\bmean|\baverage|\bavg|平均|均值)|(?P<max>\bmax(?:imum)?|\blongest|\blargest|\bhighest|最长|最大|最高)|(?P<min>\bmin(?:imum)?|\bshortest|\bsmallest|\blowest|最短|最小|最低))"
    r"(?:\s*(?:is|of|was|only|为|是|约|值|只有|about))*\s*[:：=（(]?\s*$"
)
_AFTERWARDS: Final = re.compile(
    r"(?i)^[`*\s]*(?:turns|tokens|轮|次)?\s*(?:(?P<mean>on average)|(?P<max>at (?:the )?(?:most|max(?:imum)?))|(?P<min>at (?:the )?(?:least|min(?:imum)?)))"
)


class Judge(Implied):
    """Decides the numbers of one sentence after another against a run."""

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
        if self.counting.is_condition(frame, index):
            return None
        counted = self.counting.decide(frame, index, name)
        if counted is not None:
            return Decision(*counted)
        if name is None:
            return self._unbound(frame, index)
        if name.absent and q.unit in {"gpus", "samples", "prompts"} and "/" not in name.text:
            return self._by_unit(frame, index)
        if name.absent:
            return Decision("contradicted", self.say("no_metric", metric=name.text.strip("`")), None)
        if (
            q.unit in {"samples", "points", "", "turns"} and _PER_PROMPT_AFTER.match(frame.text[q.end : q.end + 20])
        ) or (
            q.unit in {"samples", "points", ""}
            and _PER_PROMPT_BEFORE.search(frame.text[max(0, q.start - 16) : q.start])
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
            and cue("across").search(frame.clause_text(q.start))
            and not cue("per_gpu").search(frame.clause_text(q.start))
        ):
            decided = self._derived(frame, index, ("cluster_throughput",))
            if decided is not None and decided.status == "supported":
                return decided
        if (not q.unit and _EACH.match(frame.text[q.end : q.end + 18])) or (
            q.unit == "ratio"
            and re.search(r"(?i)sampled|rolled out|answered|采样|each prompt|every prompt", frame.text)
        ):
            return self._derived(frame, index, ("group_size",))
        if q.unit == "samples" and (
            _EACH.match(frame.text[q.end : q.end + 18])
            or re.search(r"(?i)each prompt|per prompt|every prompt", frame.text[max(0, q.start - 24) : q.start])
        ):
            decided = self._by_unit(frame, index)
            if decided is not None:
                return decided
        if _OF_SAMPLES.match(frame.text[q.end : q.end + 34]):
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
            and (decided.status == "supported" or not self._held_at(frame, index, name))
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
        failed: Decision | None = None
        early = (
            self._of_two(frame, index, name)
            if q.unit in {"ratio", "factor", "%"} or cue("total").search(frame.text)
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
        other = self._of_two(frame, index, name)
        if other is not None:
            return other
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
