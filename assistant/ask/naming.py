"""Which keys and steps of the log a question means, and how they are told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.context import Context, is_validation, key
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

_MEMBER = re.compile(r"/(?:max|min|std|sum|median|p\d+)$")
#: Families whose largest member is meant by "the longest": lengths and counts of single trajectories.
_EXTREMES = ("response_length", "prompt_length", "num_turns", "tool_call", "timing_s/agent_loop/")


def named_keys(context: Context) -> list[str]:
    """The log's keys that a question names; a family named by its card gives all its keys in the log."""
    keys: list[str] = []
    for mention in context.query.mentions:
        if mention.key is not None:
            keys.append(mention.key)
        elif mention.card is not None and context.runs and not mention.specific:
            own = [metric for metric in context.run.metrics if context.card(metric) is mention.card]
            keys.extend(own or [metric for metric in mention.card.keys if metric in context.run.columns])
        elif mention.card is not None and context.runs and not re.search(r"[/_@]", mention.text):
            # "loss" of a log that has a training and a validation loss under one card
            keys.extend(metric for metric in mention.card.keys if metric in context.run.columns)
    return _of_extremes(context, list(dict.fromkeys(_of_each_step(context, key) for key in keys)))


#: What is asked of single steps, which a mean over all steps so far does not show.
_OF_STEPS: Final = re.compile(
    r"(?i)最[高低大小快慢]|峰值|波动|抖|稳|掉到|\b(?:max\w*|min\w*|highest|lowest|peak|fluctuat\w*|stable|steady|noisy)\b"
)
_SO_FAR: Final = re.compile(r"^Avg(?=[A-Z])")


def _of_each_step(context: Context, name: str) -> str:
    """The step's own rate for a mean so far, where the question asks of single steps and does not spell the mean."""
    own = _SO_FAR.sub("Cur", name)
    said = context.query.wording or context.query.text
    if own == name or not context.runs or own not in context.run.columns or name.lower() in said.lower():
        return name
    return own if _OF_STEPS.search(said) else name


def _of_extremes(context: Context, keys: list[str]) -> list[str]:
    """Without the mean of a family of which an extreme is named in words of its own: "轮数最多的那条有几轮"."""
    own = {m.key: m for m in context.query.mentions if m.key is not None and m.end > m.start}
    text = normalised(context.query.wording or context.query.text)
    less = []
    for name, mention in own.items():
        mean = f"{name.rpartition('/')[0]}/mean"
        beside = own.get(mean) if name.endswith(("/max", "/min")) else None
        if beside is not None and beside.start > mention.end:
            named = text[max(mention.end, beside.start - _BEFORE) : beside.end]
            less += [] if _MEANT.search(named) else [mean]
    return [name for name in keys if name not in less]


#: So far before a metric's name a word stands that says which statistic is meant.
_BEFORE = 8
_MEANT = re.compile(r"(?i)平均|均值|mean|average|avg")


def central(keys: list[str]) -> list[str]:
    """Of a family (mean, max, min …), the members that a question in plain words means: the means."""
    held = set(keys)
    kept = [
        k for k in keys if k.endswith("/mean") or f"{k.rsplit('/', 1)[0]}/mean" not in held or not _MEMBER.search(k)
    ]
    return kept or keys


_LENGTH = re.compile(r"len(?:gth)?/mean$")


def variant(context: Context, keys: list[str], op: Op | None) -> list[str]:
    """With "the largest response length" the ``/max`` key is meant; without such a word, the means."""
    suffix = {"max": "/max", "min": "/min", "argmax": "/max", "argmin": "/min"}.get(op or "", "")
    of_lengths = [k for k in keys if k.endswith("/mean") and (k.startswith(_EXTREMES) or _LENGTH.search(k))]
    sibling = [k[: -len("/mean")] + suffix for k in of_lengths if suffix]
    if re.search(r"平均|均值|mean|average", context.query.text) and any(k.endswith("/mean") for k in keys):
        return central(keys)  # "the step whose mean is longest"
    if sibling:
        return [k for k in sibling if k in context.run.columns] or central(keys)
    exact = [k for k in keys if suffix and k.endswith(suffix)]
    return exact or central(keys)


def wanted_steps(context: Context, metric: str) -> list[int]:
    """Steps at which a metric is asked for, of those that hold it (all where none is named)."""
    steps, _ = context.run.series(metric)
    slot = context.query.steps
    if slot.kind in {"single", "pair"}:
        return list(slot.values)
    if slot.kind == "range":
        return [s for s in steps if slot.values[0] <= s <= slot.values[1]]
    if slot.kind == "last_n":
        return last_steps(context, metric, steps, slot.values[0])
    if slot.kind == "last":
        return steps[-1:]
    if slot.kind == "first":
        return steps[:1]
    return steps


def last_steps(context: Context, metric: str, steps: Sequence[int], count: int) -> list[int]:
    """The last so many steps that hold a metric; of the last so many of the run where cut lines lost some of these."""
    tail = context.train_steps[-count:]
    there = set(steps)
    if any(s not in there and context.run.missing_at(metric, s) is not None for s in tail):
        return [s for s in steps if s >= tail[0]]
    if count > len(steps) and tail and (inside := [s for s in steps if s >= tail[0]]):
        return inside  # of a metric that is logged at fewer steps: "the last 1000 steps" are those of the run
    return list(steps[-count:])


def no_step(context: Context, step: int, held: str, keys: Sequence[str]) -> str:
    """That the log has no row of a step, with the rows before and after it and what the metric named is there."""
    steps = context.run.distinct_steps
    before = max((s for s in steps if s < step), default=None)
    after = min((s for s in steps if s > step), default=None)
    if before is None or after is None:
        return context.say("lookup.no_step", step=str(step), steps=held)
    text = context.say("lookup.no_step_near", step=str(step), steps=held, before=before, after=after)
    gap = "" if context.language == "zh" else " "
    for metric in keys[:1]:
        ends = [context.value(metric, s) for s in (before, after)]
        if ends[0] is not None and ends[1] is not None:
            text += gap + context.say("lookup.near_values", metric=metric, before=ends[0], after=ends[1])
    return text


MOST_CUT = 24
#: So many steps are named one by one.
MOST_NAMED = 8


def absent(context: Context, metric: str, steps: list[int]) -> str:
    """That the log holds no value of a metric, and why where it is known."""
    steps_held, _ = context.run.series(metric)
    if not steps and steps_held:  # what was asked of holds no step with a value: "after" the last one
        return context.say("lookup.none_in_part", metric=metric, steps=steps_text(context, steps_held))
    step = steps[0] if steps else context.run.distinct_steps[-1]
    gap = context.ledger.missing(metric, step)
    reason = context.run.missing_at(metric, step)
    if reason is not None:
        cut = [s for s in steps if context.run.missing_at(metric, s) is not None]
        if gap.limit and len(cut) == len(steps) > 1:
            for other in cut:
                context.ledger.missing(metric, other)
            return context.say("lookup.missing_cuts", metric=metric, gap=gap, steps=context.doc.show(cut[:MOST_CUT]))
        return context.say("lookup.missing_cut" if gap.limit else "lookup.missing_half", metric=metric, gap=gap)
    before = next((s for s in reversed(steps_held) if s < step), None)
    after = next((s for s in steps_held if s > step), None)
    near = [fact for s in (before, after) if s is not None and (fact := context.value(metric, s)) is not None]
    if len(steps_held) > MOST_NAMED and len(near) == 2:  # a validation between two others
        return context.say("lookup.not_there_between", metric=metric, gap=gap, before=near[0], after=near[1])
    return context.say("lookup.not_there", metric=metric, gap=gap, steps=steps_text(context, steps_held))


def steps_text(context: Context, steps: list[int]) -> str:
    """Steps as a list, or as a range when there are many."""
    if len(steps) <= MOST_NAMED:
        return context.doc.show(steps)
    count = context.ledger.count("steps", len(steps))
    return context.say("steps.range", first=steps[0], last=steps[-1], n=count)


def unknown(context: Context, name: str) -> Verdict:
    """The answer about a metric that nobody knows: the nearest names, no guess."""
    near = context.resolver.nearest(name, 3, context.run.metrics if context.runs else ())
    text = context.say("define.unknown", name=name, near=context.join(map(key, near)))
    context.doc.paragraph(f"**{text}**")
    return Verdict("unknown_metric", unmark(text))


def which(context: Context) -> Verdict:
    """That no metric was named, with some that could be."""
    usual = ["actor/entropy", "actor/ppo_kl", "critic/rewards/mean"]
    own = [metric for metric in context.run.metrics if not is_validation(metric)] if context.runs else []
    near = usual if not own or set(usual) <= set(own) else own[:3]
    text = context.say("define.which", near=context.join(map(key, near)))
    context.doc.paragraph(f"**{text}**")
    return Verdict("unknown_metric", unmark(text))
