"""Why steps take longer than before, how many tokens they hold, how slow the tools are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.analysis import derive
from assistant.analysis.diagnosis import role
from assistant.analysis.slowdown import Slowdown, StageChange, slowdown
from assistant.analysis.timing import layout_of, total_key
from assistant.ask import slow_causes, slower_since
from assistant.ask.answer_counts import OF_A_STEP
from assistant.ask.answer_pace import whole_step_time
from assistant.ask.answer_tail import waited
from assistant.ask.context import Context, key
from assistant.ask.cut_away import lost_in_a_cut
from assistant.ask.intents import is_stage
from assistant.ask.logged import as_mention
from assistant.ask.naming import absent, central, named_keys
from assistant.ask.parts import as_rate, number, timed
from assistant.ask.telling import course_table
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent, signed

#: From a step on, and not at it.
_ONWARD = re.compile(
    r"(?i)\b(?:after|since|from|past|beyond|starting (?:at|from|with))\s+(?:about |around )?(?:step|iter\w*)?\s*\d+"
    r"|\d+\s*(?:步)?\s*(?:之后|以后|往后|起|开始|后(?!面))|(?:从|自)\s*(?:第|step)?\s*\d+"
)
_HOW_MUCH = re.compile(r"(?i)多少|几(?:秒|分)|差|how much|\bthan\b|compar")
_GRADUAL = re.compile(
    r"(?i)一步比一步|越来越|越跑越|越训越|逐渐|逐步|慢慢|gradual"
    r"|progressive|slower and slower|longer and longer|step by step|creep"
)
#: Parts of a split that add up to more than so many times the change cancel each other.
CANCELS = 3.0
#: Fewest steps on each side for a test, and the share of the run that a side takes.
LEAST_SIDE, SIDE = 3, 3
MOST_STAGES = 5
#: Speeds that a question may ask about by name.
_TIMED = re.compile(r"(?i)(?:^|[/_ ])(?:time|latency|duration|elapsed)(?:$|[/_ (])")
_RATE = re.compile(r"(?i)throughput|(?:^|[/_])(?:fps|tps|tgs|mfu)(?:$|[/_])|per_sec|_per_s$|/s$|speed")
#: Keys that hold all tokens so far, instead of those of one step.
CUMULATIVE = ("num_tokens", "num_input_tokens_seen", "train/num_tokens", "consumed_tokens")
#: Keys that hold the tokens of one step.
PER_STEP = ("perf/total_num_tokens", "token/total_num_tokens", "train/total_num_tokens", "total_num_tokens")


# -- slower ------------------------------------------------------------------------------------------------------------
def why_slower(context: Context) -> Verdict:
    """Whether steps became slower, which stage carries it, and whether by more tokens or by slower ones."""
    rates = [name for name in central(named_keys(context)) if _RATE.search(name)]
    if rates:
        from assistant.ask.answer_trend import trend

        context.query = replace(context.query, intent="trend", topics=())
        return trend(context)
    if (one := _one_stage(context)) is not None:
        return one
    windows = _windows(context)
    found = None if windows is None else slowdown(context.ledger, context.run, *windows)
    if windows is None and _one_step(context):
        from assistant.ask.answer_other import bottleneck

        context.query = replace(context.query, intent="bottleneck", topics=())
        verdict = bottleneck(context)
        context.doc.paragraph(context.say("slower.one_step"))
        return verdict
    if windows is None or found is None:
        layout = layout_of(context.run)
        whole = None if layout is None else total_key(context.run, layout)
        steps = [step for window in windows or () for step in window]
        if windows and whole is not None and any(context.run.value(whole, step) is None for step in steps):
            lost = next(step for step in steps if context.run.value(whole, step) is None)
            text = absent(context, whole, [lost])  # they are logged, and not at these steps
            context.metrics.append(whole)
            context.doc.paragraph(f"**{text}**")
            return Verdict("no_data", unmark(text))
        named = central(named_keys(context))
        own = [name for name in context.run.metrics if OF_A_STEP.search(name)]
        if own and not any(name in own for name in named) and not named:
            named = own[:1]
            context.query = replace(
                context.query, mentions=(as_mention(context.run, context.resolver, own[0], 0, 0, ""),)
            )
        if any(
            OF_A_STEP.search(name) or context.kind_of(name) == "seconds" or _TIMED.search(name) for name in named
        ):  # the time asked about
            from assistant.ask.answer_trend import trend

            context.query = replace(context.query, intent="trend", topics=())
            verdict = trend(context)
            context.doc.paragraph(context.say("slower.no_total"))
            return verdict
        whole = whole_step_time(context.run)
        if whole is not None and windows:  # steps are timed, their stages are not
            from assistant.ask.answer_trend import trend

            meant = as_mention(context.run, context.resolver, whole, 0, 0, "")
            context.query = replace(context.query, intent="trend", topics=(), mentions=(meant,))
            return trend(context)
        from assistant.ask.answer_rates import any_speed

        if (told := any_speed(context)) is not None:
            return told
        text = context.say("slower.no_times" if windows else "slower.one_step")
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    doc, say = context.doc, context.say
    text = _summary(context, found, windows)
    jump, beside = slower_since.jump(context, found)
    asked = _GRADUAL.search(context.query.said) or slower_since.WHEN.search(context.query.said)
    gap = "" if context.language == "zh" else " "
    text = f"{jump}{gap}{text}" if jump and asked else text
    side = slow_causes.which_side(context, found)
    text = f"{side}{gap}{text}" if side else text
    doc.paragraph(f"**{text}**")
    doc.bullets([*([] if jump and jump in text else [jump]), *beside])
    rows = [_row(context, stage) for stage in found.stages[:MOST_STAGES] if _worth(stage, found)]
    head = [say("head.stage"), _span(context, windows[0]), _span(context, windows[1])]
    doc.table([*head, say("head.change"), say("slower.head_parts")], rows)
    changed = found.slower or found.faster
    if changed and found.carrier is not None and found.carrier.cause != "other":
        longer = _longer(context, windows) if found.carrier.cause == "more_tokens" else ""
        longer = say("slower.means_tools") if waited(context, found, windows) is not None else longer
        if not longer and found.slower and found.carrier.cause == "slower_tokens":
            doc.paragraph(*slow_causes.slower_tokens(context, found, windows))
        else:
            doc.paragraph(longer or say(f"slower.means_{found.carrier.cause}", stage=key(found.carrier.stage)))
    elif found.slower is None:
        least = context.ledger.constant("least_steps_a_side", LEAST_SIDE, "slowdown")
        doc.paragraph(say("slower.few_note", least=least))
    elif not changed:
        doc.paragraph(say("slower.scatter"))
    if any(_splits(stage) for stage in found.stages):
        doc.paragraph(say("slower.parts_note"))
    _stage_cards(context, found)
    if context.query.steps.kind == "pair" and _HOW_MUCH.search(context.query.said):  # two steps set against each other
        context.query = replace(context.query, intent="compare")
        code = "inconclusive" if found.slower is None else "regressed" if found.slower else "unchanged"
        return Verdict("improved" if found.faster else code, unmark(text), "low" if found.slower is None else "medium")
    return Verdict("answered", unmark(text), "low" if found.slower is None else "medium")


def _one_stage(context: Context) -> Verdict | None:
    """The one stage that is named, at two steps set against each other; ``None`` for any other question."""
    named, slot = central(named_keys(context)), context.query.steps
    if len(named) != 1 or not is_stage(named[0]) or slot.kind != "pair" or len(slot.values) != 2:
        return None
    facts = [context.value(named[0], step) for step in sorted(slot.values)]
    held = [fact for fact in facts if fact is not None and _finite(fact) and number(fact) > 0]
    if len(held) != 2:
        return None
    times = context.ledger.derived(
        f"ratio of {named[0]}", number(held[1]) / number(held[0]), inputs=[held[1], held[0]],
        formula=f"{named[0]} at step {held[1].step} / at step {held[0].step}",
    )  # fmt: skip
    more = context.ledger.derived(
        f"difference of {named[0]}", number(held[1]) - number(held[0]), inputs=[held[1], held[0]], unit="s",
        formula=f"{named[0]} at step {held[1].step} − at step {held[0].step}",
    )  # fmt: skip
    first, second = (context.doc.show(fact, None, "seconds") for fact in held)
    text = context.say(
        "slower.one_stage", metric=named[0], first=first, second=second, a=held[0].step or 0, b=held[1].step or 0,
        times=times, more=_signed(context, more),
    )  # fmt: skip
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("slower.one_stage_note"))
    context.metrics.append(named[0])
    context.cite(context.card(named[0]))
    context.query = replace(context.query, intent="compare")
    return Verdict("inconclusive", unmark(text), "low")


def _one_step(context: Context) -> bool:
    """Whether the log's only step tells where its time goes: all that one step can say of being slow."""
    steps = context.train_steps or list(context.run.distinct_steps)
    return len(steps) == 1 and timed(context, steps[0]) is not None


def _windows(context: Context) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The two sides: those that the question names, else the first and last third of the training steps."""
    steps = context.train_steps or list(context.run.distinct_steps)
    slot = context.query.steps
    if slot.kind == "pair" and len(slot.values) > 1:
        low, high = sorted(slot.values)[:2]
        return (low, low), (high, high)
    onward = [s for s in steps if slot.kind == "single" and s >= slot.values[0]]
    if len(onward) > 1 and onward[0] > steps[0] and _ONWARD.search(context.query.said):
        return (steps[0], max(s for s in steps if s < onward[0])), (onward[0], onward[-1])
    if slot.kind == "single" and (earlier := [s for s in steps if s < slot.values[0]]):
        return (earlier[0], earlier[-1]), (slot.values[0], slot.values[0])
    after = slot.kind == "range" and slot.values[1] >= steps[-1] and _ONWARD.search(context.query.said) is not None
    if after and (earlier := [s for s in steps if s < slot.values[0]]):
        return (earlier[0], earlier[-1]), (next(s for s in steps if s >= slot.values[0]), steps[-1])
    if slot.kind == "range":
        steps = [s for s in steps if slot.values[0] <= s <= slot.values[1]]
    if slot.kind == "last_n" and (earlier := steps[: -slot.values[0]]):
        late = steps[-slot.values[0] :]
        return (earlier[0], earlier[-1]), (late[0], late[-1])
    if len(steps) < 2:
        return None
    part = max(1, len(steps) // SIDE)
    return (steps[0], steps[part - 1]), (steps[-part], steps[-1])


def _span(context: Context, window: tuple[int, int]) -> str:
    first, last = window
    if first == last:
        return context.say("comparison.step", first=first)
    return context.say("comparison.window", first=first, last=last)


def _summary(context: Context, found: Slowdown, windows: tuple[tuple[int, int], tuple[int, int]]) -> str:
    state = "few" if found.slower is None else "slower" if found.slower else "faster" if found.faster else "same"
    values: dict[str, Fact | str] = {"before": found.before, "after": found.after, "relative": found.relative}
    single = all(first == last for first, last in windows)
    if state == "few" and single and number(found.change):
        state = "pair_longer" if number(found.change) > 0 else "pair_shorter"
        change = found.change
        if number(change) < 0:
            change = context.ledger.derived(
                "seconds_less", -number(change), formula="before − after", inputs=[found.before, found.after], unit="s"
            )
        values["change"] = mark(change.id, signed(number(change), "seconds", language=context.language).lstrip("+"))
    text = context.say(
        f"slower.{state}", a=_span(context, windows[0]), b=_span(context, windows[1]), **values,
        relative_text=_signed_share(context, found.relative),
    )  # fmt: skip
    if state.startswith("pair_") and context.language == "en":
        text = text[:1].upper() + text[1:]
    carrier = found.carrier
    if carrier is None or state == "same" or carrier.stage == "timing_s/step":
        return text
    gap = "" if context.language == "zh" else " "
    if (waits := waited(context, found, windows)) is not None:
        shown = {name: context.doc.show(fact, None, "seconds") for name, fact in zip("ab", waits, strict=True)}
        return (
            text
            + gap
            + context.say(
                "slower.carrier_tools", stage=key(carrier.stage), before=carrier.before, after=carrier.after, **shown
            )
        )
    return text + gap + context.say(
        f"slower.carrier_{carrier.cause}", stage=key(carrier.stage), before=carrier.before, after=carrier.after
    )  # fmt: skip


def _longer(context: Context, windows: tuple[tuple[int, int], tuple[int, int]]) -> str:
    """Mean response lengths of the two sides, where they grew."""
    lengths = role(context.run, "response_length_mean")
    if lengths is None or not lengths.spelling.plain:
        return ""
    means = []
    for first, last in windows:
        held = [f for s in context.train_steps if first <= s <= last and (f := lengths.fact(context.ledger, s))]
        held = [f for f in held if _finite(f)]
        if not held:
            return ""
        means.append(
            context.ledger.derived(
                f"mean({lengths.metrics[0]})/{first}-{last}", math.fsum(number(f) for f in held) / len(held),
                inputs=held, formula=f"mean of {lengths.metrics[0]} over steps {first} to {last}",
            )
        )  # fmt: skip
    if number(means[1]) <= number(means[0]):
        return ""
    shown = [context.doc.show(mean, None, "tokens") for mean in means]
    return context.say("slower.longer", metric=lengths.metrics[0], before=shown[0], after=shown[1])


def _splits(stage: StageChange) -> bool:
    """Whether a split says something: parts that all but cancel each other do not."""
    parts = [abs(number(part)) for part in (stage.tokens, stage.engine, stage.tail) if part is not None]
    return bool(parts) and sum(parts) <= CANCELS * abs(number(stage.change))


def _worth(stage: StageChange, found: Slowdown) -> bool:
    """Whether a stage is large enough for a line: a hundredth of the step, or of its change."""
    sizes = [abs(float(fact.value)) for fact in (stage.after, found.after) if isinstance(fact.value, (int, float))]
    moves = [abs(float(fact.value)) for fact in (stage.change, found.change) if isinstance(fact.value, (int, float))]
    return sizes[0] >= 0.01 * sizes[1] or moves[0] >= 0.05 * moves[1]


def _signed_share(context: Context, fact: Fact) -> str:
    value = float(fact.value) * 100 if isinstance(fact.value, (int, float)) else 0.0
    return mark(fact.id, f"{'+' if value > 0 else ''}{percent(value)}%")


def _row(context: Context, stage: StageChange) -> list[str]:
    doc = context.doc
    parts = [
        context.say(f"slower.part_{name}", part=_signed(context, fact))
        for name, fact in (("tokens", stage.tokens), ("engine", stage.engine), ("tail", stage.tail))
        if fact is not None and _splits(stage)
    ]
    texts = [doc.show(stage.before), doc.show(stage.after), _signed(context, stage.change)]
    return [key(stage.stage), *texts, ("；" if context.language == "zh" else "; ").join(parts) or "—"]


def _signed(context: Context, fact: Fact) -> str:
    value = fact.value if isinstance(fact.value, (int, float)) else 0
    return mark(fact.id, signed(value, "seconds", language=context.language))


def _stage_cards(context: Context, found: Slowdown) -> None:
    carrier = found.carrier or (found.stages[0] if found.stages else None)
    if carrier is not None:
        context.cite(context.card(carrier.stage))
        pair = context.query.steps.kind == "pair"
        total = str(found.after.metric or "timing_s/step")
        context.metrics.append(total if pair and total in context.run.columns else carrier.stage)
        context.chart(context.title(carrier.stage), [s.stage for s in found.stages[:3]])


# -- tokens ------------------------------------------------------------------------------------------------------------
def tokens(context: Context) -> Verdict:
    """Tokens of a step, of all steps, and how fast they are worked off."""
    doc, say, run = context.doc, context.say, context.run
    total_key = next((name for name in CUMULATIVE if name in run.columns), None)
    each_key = next((name for name in PER_STEP if name in run.columns), None)
    if total_key is None and each_key is None:
        if run.framework == "verl" and (lost := lost_in_a_cut(context, PER_STEP[0])) is not None:
            return lost
        text = say("tokens.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    metric = each_key or str(total_key)
    context.metrics.append(metric)
    held = [f for s in run.series(metric)[0] if (f := context.value(metric, s)) is not None and _finite(f)]
    slot = context.query.steps
    wanted = [f for f in held if slot.kind not in {"single", "pair"} or f.step in slot.values]
    if not wanted:
        gap = context.ledger.missing(metric, slot.values[0] if slot.values else run.distinct_steps[-1])
        text = say("lookup.not_there", metric=metric, gap=gap, steps=say("steps.range", **_ends(context, held)))
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    lines: list[str] = []
    if each_key is not None:
        text = _per_step(context, metric, held, wanted)
        lines += _made_of(context, wanted[-1])
    else:
        text = say("tokens.cumulative", metric=metric, v=wanted[-1])
        before = [f for f in held if (f.step or 0) < (wanted[-1].step or 0)]
        if before:
            mean = _pace(context, metric, before[0], wanted[-1])
            lines.append(say("tokens.pace", v=mean, a=before[0].step, b=wanted[-1].step))
    if each_key is None and lines and _EACH_STEP.search(context.query.said):  # of a counter: its pace is what is asked
        text, lines = lines[-1], [text, *lines[:-1]]
    doc.paragraph(f"**{text}**")
    doc.bullets(lines)
    if each_key is not None and len(wanted) > 1:
        shown = wanted if len(wanted) <= 6 else [*wanted[:3], *wanted[-3:]]
        doc.table([say("head.step"), key(metric)], [[doc.step(f.step or 0), doc.show(f)] for f in shown])
    context.cite(context.card(metric))
    return Verdict("answered", unmark(text))


_EACH_STEP = re.compile(r"(?i)\b(?:per|each|every|a) (?:training )?(?:step|update|iteration)\b|每一?个?\s*(?:步|step)")


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)


def _ends(context: Context, held: Sequence[Fact]) -> dict[str, Fact | int]:
    count = context.ledger.count("steps with tokens", len(held))
    return {"first": held[0].step or 0, "last": held[-1].step or 0, "n": count}


def _pace(context: Context, metric: str, first: Fact, last: Fact) -> Fact:
    steps = (last.step or 0) - (first.step or 0)
    gained = number(last) - number(first)
    return context.ledger.derived(
        f"tokens_per_step/{metric}", round(gained / steps), inputs=[first, last], unit="tokens",
        formula=f"change of {metric} / steps",
    )  # fmt: skip


def _per_step(context: Context, metric: str, held: Sequence[Fact], wanted: Sequence[Fact]) -> str:
    """Mean tokens a step and their sum; where steps are missing, that the sum is what the log holds."""
    ledger, say = context.ledger, context.say
    if len(wanted) == 1:
        return say("tokens.one", metric=metric, v=wanted[0])
    numbers = [float(fact.value) for fact in wanted if isinstance(fact.value, (int, float))]
    whole = math.fsum(numbers)
    count = ledger.count("steps with tokens", len(numbers))
    total = ledger.derived(
        "tokens_so_far",
        int(whole) if whole.is_integer() else whole,
        inputs=wanted,
        formula=f"Σ {metric}",
        unit="tokens",
    )
    mean = ledger.derived(
        "mean_tokens_per_step", round(whole / len(numbers)), inputs=[total, count],
        formula="tokens_so_far / steps", unit="tokens",
    )  # fmt: skip
    text = say("tokens.steps", n=count, mean=mean, total=total)
    lost = len(context.train_steps) - len(numbers)
    if lost > 0 and context.query.steps.kind not in {"single", "pair"}:
        missing = ledger.count("steps without tokens", lost)
        text += ("" if context.language == "zh" else " ") + say("tokens.lost", n=missing)
    if context.train_steps and context.train_steps[0] > 1:
        text += ("" if context.language == "zh" else " ") + say("tokens.from", first=context.train_steps[0])
    return text


def _made_of(context: Context, fact: Fact) -> list[str]:
    """What a step's tokens consist of, and the rates."""
    step, lines = fact.step or 0, []
    batch = derive(context.ledger, "trajectories_per_step", step)
    prompt, response = (context.value(f"{name}_length/mean", step) for name in ("prompt", "response"))
    share = derive(context.ledger, "response_token_share", step)
    if batch is not None and prompt is not None and response is not None:
        lines.append(context.say("tokens.made_of", batch=batch, prompt=prompt, response=response, step=step))
    if share is not None:
        lines.append(context.say("setup.response_share", share=share))
    cluster, rate = derive(context.ledger, "cluster_throughput", step), context.value("perf/throughput", step)
    if cluster is not None and rate is not None:
        lines.append(context.say("setup.throughput", per_gpu=as_rate(context, rate), cluster=cluster))
    return lines


# -- tools -------------------------------------------------------------------------------------------------------------
_HOW_MANY = re.compile(r"(?i)次数|几次|多少次|几个|多少个|\bhow (?:many|often)\b|\bcounts?\b|\bnumber of\b")


def tools(context: Context) -> Verdict:
    """How long tool calls take, how often tools are called, and what part of generation that is."""
    doc, say, run = context.doc, context.say, context.run
    keys = [m for m in run.metrics if "tool" in m.lower() and not m.startswith("timing_s/agent_loop/slowest")]
    if not keys:
        text = say("tools.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    slot = context.query.steps
    steps = [s for s in run.series(keys[0])[0] if slot.kind not in {"single", "pair"} or s in slot.values]
    step = steps[-1] if steps else run.series(keys[0])[0][-1]
    mean = role(run, "tool_time_mean")
    longest = context.value("timing_s/agent_loop/tool_calls/max", step)
    spent = None if mean is None else mean.fact(context.ledger, step)
    if spent is not None and longest is not None:
        text = say("tools.time", v=spent, longest=longest)
    elif spent is not None:
        text = say("tools.time_mean", v=spent)
    else:
        first = next((f for m in keys if (f := context.value(m, step)) is not None), None)
        assert first is not None
        text = say("lookup.one", metric=str(first.metric), v=first)
    counted = any("count" in m or "num_tool" in m for m in keys)
    if not counted and _HOW_MANY.search(context.query.said):  # what was asked comes first: it is not there
        text = say("tools.no_counts") + ("" if context.language == "zh" else " ") + text
    doc.paragraph(f"**{text}**")
    doc.bullets(_tool_lines(context, step, spent, longest))
    metrics = list(dict.fromkeys([*keys, *[m for m in run.metrics if m.startswith("num_turns/")]]))[:8]
    course_table(context, metrics, step=step)
    context.metrics.extend(keys[:4])
    for metric in keys[:2]:
        context.cite(context.card(metric))
    context.chart(context.title(keys[0]), keys[:2])
    return Verdict("answered", unmark(text))


def _tool_lines(context: Context, step: int, spent: Fact | None, longest: Fact | None) -> list[str]:
    ledger, lines = context.ledger, []
    whole = context.value("timing_s/agent_loop/generate_sequences/mean", step)
    if (
        spent is not None
        and whole is not None
        and _finite(whole)
        and _finite(spent)
        and 0 < number(spent) <= number(whole)
    ):
        share = ledger.share(
            "tool_calls", "generate_sequences", step, number(spent) / number(whole),
            inputs=[spent, whole],
        )  # fmt: skip
        lines.append(context.say("tools.share", share=share, whole=whole))
    stage = context.value("timing_s/gen", step)
    slowest = context.value("timing_s/agent_loop/slowest/tool_calls", step)
    if slowest is not None and stage is not None:
        lines.append(context.say("tools.slowest", v=slowest, stage=stage))
    each = role(context.run, "tool_time_each")
    per_call = None if each is None else each.fact(ledger, step)
    if per_call is not None:
        lines.append(context.say("tools.each", v=context.doc.show(per_call, None, "seconds"), step=step))
    elif spent is not None:
        lines.append(context.say("tools.no_calls"))
    failures = role(context.run, "tool_failures")
    failed = None if failures is None else failures.fact(ledger, step)
    if failed is not None:
        lines.append(context.say("tools.failures", v=context.doc.show(failed, None, "fraction"), step=step))
    return lines
