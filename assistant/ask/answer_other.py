"""What the log implies (GPUs, batch, group size), where time goes, advice, and what is out of scope."""

from __future__ import annotations

from assistant.analysis import derive
from assistant.analysis.checks import check_all, covered
from assistant.analysis.diagnosis import role
from assistant.analysis.identities import largest_advantage
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.context import Context, key
from assistant.ask.findings import remedy, told
from assistant.ask.naming import absent
from assistant.ask.parts import as_rate, note, time_part, timed, top_advantage
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Delta degrees of freedom of the group standard deviation (torch.std; core_algos.py#compute_grpo_outcome_advantage).
DDOF = 1
#: How many further steps are tried where the first does not imply a quantity.
MOST_STEPS = 60
#: Findings for which measures are quoted.
MOST_ADVISED = 2
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

_CITED = {
    "gpus": "perf/throughput", "throughput": "perf/throughput", "batch": "perf/total_num_tokens",
    "group": "critic/advantages/max", "advantage": "critic/advantages/max", "kl_reward": "critic/rewards/mean",
    "ranks": "global_seqlen/mean",
}  # fmt: skip


# -- derive -------------------------------------------------------------------------------------
def derived(context: Context) -> Verdict:
    """The quantities that a question asks for, each with its arithmetic."""
    topics = [t for t in context.query.topics if t in _NEEDS] or ["gpus", "batch", "critic", "kl_reward"]
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
    if not lines:
        context.doc.bullets(missing)
        return Verdict("no_data", unmark(missing[0]))
    summary = context.say("derive.summary_lead", items=context.join(dict.fromkeys(items)))
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
    names = {"gpus": "n_gpus", "batch": "trajectories_per_step"}
    for topic in topics:
        if topic in names:
            facts = [derive(context.ledger, names[topic], step) for step in context.train_steps]
            values = {fact.value for fact in facts if fact is not None}
            if len(values) == 1 and sum(fact is not None for fact in facts) > 1:
                return context.say("derive.stable")
    return ""


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
        return [], []
    tokens, rate, seconds = cells
    context.metrics.extend(str(cell.metric) for cell in cells)
    line = context.say("derive.gpus", v=fact, tokens=tokens, rate=rate, time=seconds)
    return [context.say("derive.item_gpus", v=fact)], [line]


def _batch(context: Context, step: int) -> tuple[list[str], list[str]]:
    fact = derive(context.ledger, "trajectories_per_step", step)
    cells = _cells(context, step, "perf/total_num_tokens", "prompt_length/mean", "response_length/mean")
    if fact is None or cells is None:
        return [], []
    tokens, prompt, response = cells
    items = [context.say("derive.item_batch", v=fact)]
    lines = [context.say("derive.batch", v=fact, tokens=tokens, prompt=prompt, response=response)]
    prompts, group = (derive(context.ledger, name, step) for name in ("prompts_per_step", "group_size"))
    if prompts is not None and group is not None:
        items += [context.say("derive.item_prompts", v=prompts), context.say("derive.item_group", v=group)]
        lines.append(context.say("derive.prompts", prompts=prompts, group=group, batch=fact))
        top = top_advantage(context, group)
        if top is not None and "advantage" not in context.query.topics:
            lines.append(context.say("derive.group", group=group, top=top))
    return items, lines


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
    return [context.say(f"derive.item_{name}")], [note(context, fact, context.say(f"derive.{name}"))]


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
        if stages:
            summary = context.say("bottleneck.stages", v=stages[0], stage=key(str(stages[0].metric)))
            context.doc.paragraph(f"**{summary}**")
            rows = [[key(str(stage.metric)), context.doc.show(stage, None, "seconds")] for stage in stages]
            context.doc.table([context.say("head.stage"), context.say("head.time")], rows)
            context.metrics.extend(str(stage.metric) for stage in stages[:2])
            return Verdict("answered", unmark(summary), "medium")
        elsewhere = "timing_s/step" in context.run.columns  # logged, and not at this step: cut, or a validation
        text = absent(context, "timing_s/step", [step]) if elsewhere else context.say("bottleneck.none")
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    first, total = found.shares[0], context.doc.show(found.total, None, "seconds")
    summary = context.say("bottleneck.summary", share=first, stage=key(str(first.name)), total=total)
    context.doc.paragraph(f"**{summary}**")
    time_part(context, found.step)
    context.metrics.extend([str(first.name), str(found.total.metric)])
    context.cite(context.card(str(first.name)))
    return Verdict("answered", unmark(summary))


def _old_stages(context: Context, step: int) -> list[Fact]:
    """Stage times in verl's older spelling (``timing/gen``), which logs no total; longest first."""
    names = [m for m in context.run.metrics if m.startswith(("timing/", "timing_s/"))]
    facts = [fact for name in names if "/" not in name.split("/", 1)[1] and (fact := context.value(name, step))]
    return sorted(facts, key=lambda fact: -float(fact.value) if isinstance(fact.value, (int, float)) else 0.0)


# -- advice, out of scope ---------------------------------------------------------------
def advice(context: Context) -> Verdict:
    """Advice only where a rule fires: its card's measures in their order, with what else it may be and the risk.

    Nothing follows from one step's movement.
    """
    doc, say = context.doc, context.say
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    checks = [
        c for c in check_all(context.ledger, context.train_steps or [last]) if c.severity in {"critical", "warning"}
    ]
    findings = told(context, checks[:MOST_ADVISED])
    if findings:
        summary = say("advice.some", first=findings[0].sentence)
    else:
        summary = say("advice.none" if covered(context.run) else "explain.not_covered")
    doc.paragraph(f"**{summary}**")
    for place, one in enumerate(findings):
        doc.bullets([one.line if place == 0 else one.whole(context.language)])
        measures = remedy(context, one)
        if measures:
            doc.paragraph(say("advice.measures"), measures)
            doc.paragraph(context.quote(one.card, "not") if one.card is not None else "")
    if not findings:
        doc.bullets(_open_points(context))
    doc.paragraph(say("advice.condition"))
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in checks)), None)
    enough = len(context.train_steps) >= MIN_POINTS and covered(context.run)
    return Verdict(worst or ("healthy" if enough else "insufficient_data"), unmark(summary), "medium")


def _open_points(context: Context) -> list[str]:
    """Where nothing fires: what is missing to judge the run, which is what may be worth doing."""
    say, lines = context.say, []
    validated = role(context.run, "val_accuracy")
    if validated is None:
        lines.append(say("advice.no_validation"))
    elif len(validated) < 2:
        lines.append(say("advice.one_validation"))
    if len(context.train_steps) < MIN_POINTS:
        lines.append(say("explain.next_trend"))
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    times = timed(context, last)
    if times is not None:
        first = times.shares[0]
        lines.append(say("advice.time", share=first, stage=key(str(first.name))))
    return lines


def out_of_scope(context: Context) -> Verdict:
    """Declined in a line, with what can be done."""
    text = context.say("scope.out")
    context.doc.paragraph(text)
    return Verdict("out_of_scope", unmark(text))
