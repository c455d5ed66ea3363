"""What the log implies (GPUs, batch, group size), where time goes, advice, and what is out of scope."""

from __future__ import annotations

import math
import re

from assistant.analysis import derive
from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.identities import largest_advantage
from assistant.ask import answer_durations, answer_pace, partitions, slow_step_why
from assistant.ask.answer_absent import thing_in, unlogged
from assistant.ask.context import Context, key
from assistant.ask.cut_away import lost_in_a_cut
from assistant.ask.naming import absent, which
from assistant.ask.parts import (
    as_rate,
    missing_row,
    note,
    number,
    time_part,
    timed,
    top_advantage,
    unnamed_share,
    validation_time,
)
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Delta degrees of freedom of the group standard deviation (torch.std; core_algos.py#compute_grpo_outcome_advantage).
DDOF = 1
_PROMPTS = re.compile(r"(?i)prompt|question|problem|道题|题目?|问题")
_PER_GPU = re.compile(r"(?i)(?:每|一)(?:张|块|个)?\s*(?:卡|gpu)|per (?:gpu|card|device)|each gpu")
_NODES = re.compile(r"(?i)节点|几机|多少机|几台|\bnodes?\b|\bmachines?\b|\bservers?\b|\bhosts?\b")
_IN_LOSS = re.compile(r"(?i)loss|损失")
_STAGES = re.compile(
    r"(?i)阶段|占|share|fraction|环节|拆|哪部分|花在哪|瓶颈|stage|phase|\bpart\b|break ?down|bottleneck|where"
)
#: Share of all the time from which that of validations belongs to the answer's first sentence.
NOTABLE = 0.05
#: Share of a step under no name from which it belongs to the first sentence.
UNNAMED = 0.1
#: How many further steps are tried where the first does not imply a quantity.
MOST_STEPS = 60
#: Keys of the whole throughput and of one GPU's, and how far from a whole number their ratio may be.
_RATES = (("system/tps/tps", "system/tps_gpu"), ("system/tps", "system/tps_gpu"))
WHOLE = 0.01
_NEEDS = {
    "generation": "`timing_per_token_ms/gen`, `perf/throughput`",
    "gpus": "`perf/total_num_tokens`, `perf/throughput`, `perf/time_per_step`",
    "batch": "`perf/total_num_tokens`, `prompt_length/mean`, `response_length/mean`",
    "group": "`critic/advantages/*`, `critic/returns/*`",
    "advantage": "`critic/advantages/*`, `critic/returns/*`",
    "critic": "`critic/advantages/*`, `critic/returns/*`, `critic/values/*`",
    "kl_reward": "`critic/score/*`, `critic/rewards/*`",
    "ranks": "`perf/total_num_tokens`, `global_seqlen/mean`",
    "throughput": "`perf/throughput`, `perf/total_num_tokens`, `perf/time_per_step`",
}

#: Derived quantities that a topic's answer tells, for the question whether every step gives the same.
_DERIVED = {
    "gpus": ("n_gpus",),
    "batch": ("trajectories_per_step", "prompts_per_step", "group_size"),
    "group": ("group_size",),
}

_CITED = {
    "gpus": "perf/throughput", "throughput": "perf/throughput", "batch": "perf/total_num_tokens",
    "group": "critic/advantages/max", "advantage": "critic/advantages/max", "kl_reward": "critic/rewards/mean",
    "ranks": "global_seqlen/mean",
}  # fmt: skip


# -- derive -------------------------------------------------------------------------------------
def derived(context: Context) -> Verdict:
    """The quantities that a question asks for, each with its arithmetic."""
    asked = [t for t in context.query.topics if t in _NEEDS]
    if not asked and thing_in(context.query.said) is not None:
        return unlogged(context)
    topics = asked or ["gpus", "batch", "critic", "kl_reward"]
    if "advantage" in topics and "critic" in topics and len(topics) == 2:
        topics.remove("critic")
    if "advantage" in topics and "group" not in topics and "batch" not in topics:
        topics.append("group")
    step = _step(context)
    items, lines, missing = [], list[str](), list[str]()
    for topic in topics:
        short, long = _topic(context, topic, step)
        if not long and context.query.steps.kind == "none":
            for other in [s for s in context.train_steps if s != step][:MOST_STEPS]:
                short, long = _topic(context, topic, other)
                if long:
                    step = other
                    break
        if long:
            items.extend(short)
            lines.extend(long)
        else:
            what = context.say(f"derive.what_{topic}")
            held = all(_held(context, name) for name in _NEEDS[topic].replace("`", "").split(", "))
            phrase = "derive.inconclusive" if held and topic not in {"critic"} else "derive.cannot"
            missing.append(context.say(phrase, what=what, needs=_NEEDS[topic]))
    if missing and context.run.missing:  # what it takes may stand after a cut
        lost = sorted({gap.step for gap in context.run.missing})
        missing.append(
            context.say("derive.cut", gap=missing_row(context, lost[0]), n=context.ledger.count("steps cut", len(lost)))
        )
    if not lines and not asked:  # nothing of what was asked for was recognised, and no GPUs were
        return which(context)
    if not lines:
        context.doc.bullets(missing)
        return Verdict("no_data", unmark(missing[0]))
    if "gpus" in topics and _NODES.search(context.query.said):
        lines.append(context.say("derive.nodes_unknown"))
    summary = context.say("derive.summary_lead", items=context.join(dict.fromkeys(items)))
    summary = summary[:1].upper() + summary[1:]
    context.doc.paragraph(f"**{summary}**")
    context.doc.bullets([*dict.fromkeys(lines), *missing])
    context.doc.paragraph(context.say("derive.step_note", step=step), _consistent(context, topics))
    for topic in topics:
        metric = _CITED.get(topic)
        if metric is not None and context.run.value(metric, step) is not None:
            context.cite(context.card(metric))
    return Verdict("answered", unmark(summary))


def _held(context: Context, pattern: str) -> bool:
    """Whether the log holds a key, or one that starts as a pattern with ``*`` does."""
    stem = pattern.rstrip("*")
    return any(metric == pattern or (stem != pattern and metric.startswith(stem)) for metric in context.run.metrics)


def _step(context: Context) -> int:
    slot, steps = context.query.steps, context.train_steps or list(context.run.distinct_steps)
    if slot.kind == "single" and slot.values[0] in context.run.distinct_steps:
        return slot.values[0]
    for step in steps:  # the first step that holds a whole row
        if derive(context.ledger, "n_gpus", step) is not None:
            return step
    return steps[0]


def _consistent(context: Context, topics: list[str]) -> str:
    """That the training steps agree on all that was derived, or those that show it; empty where they do not."""
    names = [name for topic in topics for name in _DERIVED.get(topic, ())]
    rows = [[derive(context.ledger, name, step) for name in names] for step in context.train_steps]
    shown = [name for place, name in enumerate(names) if any(row[place] is not None for row in rows)]
    kept = [[fact for name, fact in zip(names, row, strict=True) if name in shown] for row in rows]
    whole = [[fact.value for fact in row if fact is not None] for row in kept if None not in row]
    seen = [{fact.value for row in kept if (fact := row[place]) is not None} for place in range(len(shown))]
    if not shown or len(whole) < 2 or any(len(values) > 1 for values in seen):
        return ""
    if len(whole) == len(rows):
        return context.say("derive.stable")
    counts = (
        context.ledger.count(name, n) for name, n in (("steps that show it", len(whole)), ("training_steps", len(rows)))
    )
    return context.say("derive.stable_where", **dict(zip("kn", counts, strict=True)))


def _topic(context: Context, topic: str, step: int) -> tuple[list[str], list[str]]:
    maker = {
        "gpus": _gpus, "batch": _batch, "group": _group, "advantage": _advantage, "critic": _critic,
        "kl_reward": _kl_reward, "ranks": _ranks, "throughput": _throughput, "generation": _generation,
    }[topic]  # fmt: skip
    return maker(context, step)


def _cells(context: Context, step: int, *metrics: str) -> list[Fact] | None:
    facts = [context.value(metric, step) for metric in metrics]
    return None if any(fact is None for fact in facts) else [fact for fact in facts if fact is not None]


def _gpus(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "n_gpus", step)
    cells = _cells(context, step, "perf/total_num_tokens", "perf/throughput", "perf/time_per_step")
    cells = cells or _cells(context, step, "perf/total_num_tokens", "perf/throughput", "timing_s/step")
    if fact is None or cells is None:
        return _gpus_by_rates(context, step)
    tokens, rate, seconds = cells
    context.metrics.extend(str(cell.metric) for cell in cells)
    line = context.say("derive.gpus", v=fact, tokens=tokens, rate=rate, time=seconds)
    return [context.say("derive.item_gpus", v=fact)], [line]


def _rates(context: Context, step: int) -> tuple[Fact, Fact, Fact] | None:
    """GPUs as the whole throughput over that of one, where a log holds both (ROLL's ``system/tps``), with the two."""
    for whole, each in _RATES:
        cells = _cells(context, step, whole, each)
        if cells is None or not all(isinstance(c.value, (int, float)) and c.value > 0 for c in cells):
            continue
        ratio = float(cells[0].value or 0) / float(cells[1].value or 1)
        if round(ratio) < 1 or abs(ratio - round(ratio)) > WHOLE * ratio:
            continue
        fact = context.ledger.derived("n_gpus", round(ratio), step=step, inputs=cells, formula=f"{whole} / {each}")
        return fact, cells[0], cells[1]
    return None


def gpus_by_rates(context: Context, step: int) -> Fact | None:
    """The GPUs of a log that holds the whole throughput and one GPU's."""
    found = _rates(context, step)
    return None if found is None else found[0]


def _gpus_by_rates(context: Context, step: int) -> tuple[list[str], list[str]]:
    found = _rates(context, step)
    if found is None:
        return partitions.gpus(context)
    fact, whole, each = found
    context.metrics.extend([str(whole.metric), str(each.metric)])
    line = context.say("derive.gpus_rates", v=fact, whole=whole, each=each, a=str(whole.metric), b=str(each.metric))
    return [context.say("derive.item_gpus", v=fact)], [line]


def _per_gpu(context: Context, batch: Fact, step: int) -> list[str]:
    """Trajectories that fall to one GPU, where a question asks for that and they divide evenly."""
    if not _PER_GPU.search(context.query.said):
        return []
    gpus = derive(context.ledger, "n_gpus", step)
    gpus = gpus or gpus_by_rates(context, step)
    if gpus is None or not number(gpus) or number(batch) % number(gpus):
        return []
    each = context.ledger.derived(
        "trajectories_per_gpu", round(number(batch) / number(gpus)), step=step, inputs=[batch, gpus],
        formula="trajectories_per_step / n_gpus",
    )  # fmt: skip
    return [context.say("derive.item_gpus", v=gpus), context.say("derive.item_per_gpu", v=each)]


def _batch(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "trajectories_per_step", step)
    cells = _cells(context, step, "perf/total_num_tokens", "prompt_length/mean", "response_length/mean")
    logged = _cells(context, step, "system/batch_size")
    if (fact is None or cells is None) and logged is not None:
        context.metrics.append("system/batch_size")
        items = [context.say("derive.item_batch", v=logged[0]), *_per_gpu(context, logged[0], step)]
        lines = [context.say("derive.batch_logged", v=logged[0])]
        split = _split(context, logged[0], step)
        return [*items, *split[0]], [*lines, *split[1]]
    if fact is None or cells is None:
        return _batch_by_rate(context, step)
    tokens, prompt, response = cells
    items = [context.say("derive.item_batch", v=fact)]
    items += _per_gpu(context, fact, step)
    lines = [context.say("derive.batch", v=fact, tokens=tokens, prompt=prompt, response=response)]
    prompts, group = (derive(context.ledger, name, step) for name in ("prompts_per_step", "group_size"))
    if prompts is not None and group is not None:
        items += [context.say("derive.item_prompts", v=prompts), context.say("derive.item_group", v=group)]
        lines.append(context.say("derive.prompts", prompts=prompts, group=group, batch=fact))
        top = top_advantage(context, group)
        if top is not None and "advantage" not in context.query.topics:
            lines.append(context.say("derive.group", group=group, top=top))
    else:  # the group's size shows at other steps
        split = _split(context, fact, step)
        items, lines = [*items, *split[0]], [*lines, *split[1]]
    return items, lines


def _split(context: Context, batch: Fact, step: int) -> tuple[list[str], list[str]]:
    """A logged batch as prompts × answers, where a question asks for prompts and the group's size is known."""
    near = [step, *[s for s in context.train_steps if s != step][:MOST_STEPS]]
    group = next((fact for s in near if (fact := derive(context.ledger, "group_size", s)) is not None), None)
    known = group is not None and number(group) > 0 and not number(batch) % number(group)
    if group is None or not known or _PROMPTS.search(context.query.said) is None:
        return [], []
    prompts = context.ledger.derived(
        "prompts_per_step", round(number(batch) / number(group)), step=step, inputs=[batch, group],
        formula="trajectories_per_step / group_size",
    )  # fmt: skip
    items = [context.say("derive.item_prompts", v=prompts), context.say("derive.item_group", v=group)]
    return items, [context.say("derive.prompts", prompts=prompts, group=group, batch=batch)]


def _batch_by_rate(context: Context, step: int) -> tuple[list[str], list[str]]:
    """Samples a second × a step's seconds, where a log holds both of each step (DeepSpeed-Chat)."""
    cells = _cells(context, step, "CurSamplesPerSec", "E2E latency")
    if cells is None or not all(isinstance(c.value, (int, float)) and c.value > 0 for c in cells):
        return [], []
    size = number(cells[0]) * number(cells[1])
    if round(size) < 1 or abs(size - round(size)) > WHOLE * size:
        return [], []
    fact = context.ledger.derived(
        "trajectories_per_step", round(size), step=step, inputs=cells, formula="CurSamplesPerSec × E2E latency"
    )
    context.metrics.extend(str(cell.metric) for cell in cells)
    line = context.say(
        "derive.batch_rate", v=fact, rate=str(cells[0].metric), time=str(cells[1].metric), a=cells[0], b=cells[1]
    )
    return [context.say("derive.item_batch", v=fact)], [line]


def _group(context: Context, step: int) -> tuple[list[str], list[str]]:
    group = derive(context.ledger, "group_size", step)
    top = None if group is None else top_advantage(context, group)
    if group is None or top is None:
        return [], []
    line = context.say("derive.group", group=group, top=top)
    item = context.say("derive.item_group", v=group)
    return [item], [line]


def _advantage(context: Context, step: int) -> tuple[list[str], list[str]]:
    group = derive(context.ledger, "group_size", step)
    top = None if group is None else top_advantage(context, group)
    if group is None or top is None or not isinstance(group.value, int):
        return [], []
    bound = context.ledger.derived(
        "largest_advantage", largest_advantage(group.value), step=step, inputs=[group], formula="(n − 1)/√n"
    )
    context.metrics.append("critic/advantages/max")
    ddof = context.ledger.constant("ddof", DDOF, "verl/critic/advantages")
    line = context.say("derive.advantage", top=top, group=group, bound=bound, ddof=ddof)
    return [context.say("derive.item_advantage", v=top, group=group)], [line]


def _critic(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "critic_present", step)
    if fact is None:
        return [], []
    name = "critic" if fact.value else "no_critic"
    return [context.say(f"derive.item_{name}")], [note(context, fact, context.say(f"derive.{name}"))]


def _kl_reward(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "kl_in_reward", step)
    if fact is None:
        return [], []
    name = "kl_yes" if fact.value else "kl_no"
    items, lines = [context.say(f"derive.item_{name}")], [note(context, fact, context.say(f"derive.{name}"))]
    cell = context.value("actor/kl_loss", step) if _IN_LOSS.search(context.query.said) else None
    if cell is not None:
        items.append(context.say("derive.item_kl_in_loss", metric="actor/kl_loss"))
        lines.append(context.say("derive.kl_in_loss", metric="actor/kl_loss", v=cell))
        context.metrics.append("actor/kl_loss")
    return items, lines


def _ranks(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "data_parallel_ranks", step)
    if fact is None:
        return [], []
    return [context.say("derive.item_ranks", v=fact)], [context.say("derive.ranks", v=fact)]


def _throughput(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact, gpus = derive(context.ledger, "cluster_throughput", step), derive(context.ledger, "n_gpus", step)
    rate = context.value("perf/throughput", step)
    if fact is None or gpus is None or rate is None:
        return [], []
    line = context.say("derive.throughput", v=fact, rate=as_rate(context, rate), gpus=gpus)
    return [context.say("derive.item_throughput", v=fact)], [line]


def _generation(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact, gpus = derive(context.ledger, "generation_rate", step), derive(context.ledger, "n_gpus", step)
    cell = context.value("timing_per_token_ms/gen", step)
    if fact is None or gpus is None or cell is None or not isinstance(fact.value, float):
        return [], []
    each = context.ledger.derived(
        "generation_rate_per_gpu", fact.value / int(gpus.value or 1), unit="tokens/s", step=step, inputs=[fact, gpus],
        formula="generation_rate / n_gpus",
    )  # fmt: skip
    return [context.say("derive.item_generation", v=fact)], [
        context.say("derive.generation", v=fact, ms=cell, each=each)
    ]


# -- bottleneck ---------------------------------------------------------------------------------
def bottleneck(context: Context) -> Verdict:
    """Where a step's time goes."""
    slot = context.query.steps
    steps = context.train_steps or list(context.run.distinct_steps)
    step = slot.values[0] if slot.kind == "single" else steps[0] if slot.kind == "first" else steps[-1]
    found = timed(context, step, back=slot.kind == "none")
    if found is None:
        stages = _old_stages(context, step)
        untimed = context.run.framework == "verl" and "timing_s/step" not in context.run.columns
        if untimed and (lost := lost_in_a_cut(context, "timing_s/step")) is not None:
            return lost  # what stands before the cut is no picture of a step
        if stages:
            summary = context.say("bottleneck.stages", v=stages[0], stage=key(str(stages[0].metric)))
            context.doc.paragraph(f"**{summary}**")
            rows = [[key(str(stage.metric)), context.doc.show(stage, None, "seconds")] for stage in stages]
            context.doc.table([context.say("head.stage"), context.say("head.time")], rows)
            context.metrics.extend(str(stage.metric) for stage in stages[:2])
            return Verdict("answered", unmark(summary), "medium")
        if (of_groups := answer_durations.grouped(context, step)) is not None:
            return of_groups
        if answer_pace.has_parts(context) and (largest := answer_pace.largest_times(context, step)) is not None:
            return largest
        whole = _whole_steps(context)
        if whole is not None:
            return whole
        largest = answer_pace.largest_times(context, step)
        if largest is not None:
            return largest
        elsewhere = "timing_s/step" in context.run.columns  # logged, and not at this step: cut, or a validation
        text = absent(context, "timing_s/step", [step]) if elsewhere else _untold(context)
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    first, total = found.shares[0], context.doc.show(found.total, None, "seconds")
    summary = context.say("bottleneck.summary", share=first, stage=key(str(first.name)), total=total)
    rest = unnamed_share(context, found)
    if rest is not None and number(rest) >= UNNAMED:
        phrase = "bottleneck.unnamed" if number(rest) > number(first) else "bottleneck.partly_unnamed"
        summary = context.say(phrase, share=first, stage=key(str(first.name)), total=total, rest=rest)
    aside, part = validation_time(context) if slot.kind == "none" else ("", 0.0)
    large = part >= NOTABLE
    gap = "" if context.language == "zh" else " "
    context.doc.paragraph(f"**{summary}{gap}{aside}**" if large else f"**{summary}**")
    if slot.kind == "single" and str(first.name) == "timing_s/gen":
        context.doc.paragraph(slow_step_why.of_one_step(context, found.step))
    time_part(context, found.step)
    context.doc.paragraph("" if large else aside)
    context.metrics.extend([str(first.name), str(found.total.metric)])
    context.cite(context.card(str(first.name)))
    return Verdict("answered", unmark(summary))


def _untold(context: Context) -> str:
    """That the log holds no times of stages, with verl's key where the log is verl's."""
    return context.say("bottleneck.none" if context.run.framework == "verl" else "bottleneck.none_other")


def _whole_steps(context: Context) -> Verdict | None:
    """A log that times whole steps alone: how long they took, the slowest and the fastest."""
    metric = next((name for name in STEP_TIMES if name in context.run.columns), None)
    if metric is None or metric == "timing_s/step":
        return None
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if not held:
        return None
    low, high = (pick(held, key=number) for pick in (min, max))
    mean = context.ledger.derived(
        f"mean({metric})", math.fsum(number(f) for f in held) / len(held), formula=f"mean of {metric}", inputs=held,
        unit="s",
    )  # fmt: skip
    shown = {name: context.doc.show(f, None, "seconds") for name, f in (("mean", mean), ("last", held[-1]))}
    text = context.say("time.only_total", metric=metric, low=low, high=high, **shown)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.cite(context.card(metric))
    staged = _STAGES.search(context.query.said)  # where stages are asked for, the log does not hold them
    return Verdict("no_data" if staged else "answered", unmark(text), "medium")


def _old_stages(context: Context, step: int) -> list[Fact]:
    """Stage times in verl's older spelling (``timing/gen``), which logs no total; longest first."""
    names = [m for m in context.run.metrics if m.startswith(("timing/", "timing_s/"))]
    facts = [fact for name in names if "/" not in name.split("/", 1)[1] and (fact := context.value(name, step))]
    return sorted(facts, key=lambda fact: -float(fact.value) if isinstance(fact.value, (int, float)) else 0.0)


# -- out of scope ------------------------------------------------------------------------
def out_of_scope(context: Context) -> Verdict:
    """Declined in a line, with what can be done."""
    text = context.say("scope.out")
    context.doc.paragraph(text)
    return Verdict("out_of_scope", unmark(text))
