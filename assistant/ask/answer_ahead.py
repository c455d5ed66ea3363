"""What lies ahead: how long a run still takes, where a metric will be, when it gets somewhere; or why not."""

from __future__ import annotations

import math
import re
from typing import Any

from assistant.analysis import Ledger
from assistant.analysis.diagnosis import role
from assistant.analysis.forecast import DRIFT, forecast, reach, remaining, total_steps
from assistant.analysis.series import series
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import answer_pace
from assistant.ask.answer_reached import already
from assistant.ask.beside_steps import assumed, of_the_steps, on_top, to_come
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys, unknown
from assistant.ask.outcomes import trained
from assistant.ask.parts import number
from assistant.ask.parts import number as seconds
from assistant.ask.possible import possible
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark

#: A total that the user states: "总共 200 步", "of 500 steps", "to step 300".
_TOTAL = re.compile(
    r"(?i)(?:一?共|总共|总步数(?:是|为)?|计划|跑(?:到|满|完)|训(?:练)?(?:到|满|完)|(?<![跌降掉])到)\s*(?:第|step)?\s*(\d{1,7})\s*(?:个)?\s*(?:步|steps?)"
    r"|(?:total(?:\s+of)?|out\s+of|for|until|till|to)\s+(?:step\s+)?(\d{1,7})\s*(?:steps?|iterations?)?\b"
    r"|(\d{1,7})\s+(?:total\s+)?steps\s+(?:in\s+)?total"
)
#: "the next 10 steps", "接下来 10 步".
_NEXT = re.compile(
    r"(?i)(?:next|接下来|之后|未来|往后|再(?:跑|训|过|来|走)?)\s*(?P<next>\d{1,5})\s*(?:个)?\s*(?:步|steps?)"
    r"|\bin (?:another |about |some )?(?P<in>\d{1,5}) (?:more |further )?(?:steps|iterations)\b"
    r"|(?<!\d)(?P<now>\d{1,5}) (?:more )?(?:steps|iterations) (?:from now|later|ahead|on)\b"
    r"|(?<!\d)(?P<zh>\d{1,5})\s*步(?:之)?后"
)
#: "The box has 512 GB": a limit that a use of memory may come to.
_CAPACITY = re.compile(r"(?i)(?<![\d.])(\d{1,5}(?:\.\d+)?)\s*(?:(t)i?b?|g(?:i?b)?)\b")
_MEMORY = re.compile(r"(?i)mem|_gb\b|_gib\b|vram|显存|内存")
#: "for 100 more steps", "再跑 100 步": so many steps from the last one on, whatever the total.
_MORE = re.compile(
    r"(?i)(\d{1,7})\s+(?:more|further|additional|extra|other|remaining)\s+steps?|\bremaining\s+(\d{1,7})\s+steps?|\banother\s+(\d{1,7})\s+(?:more\s+)?steps?"
    r"|(?:再|继续|多)(?:跑|训练|训|练|来|走)?\s*(\d{1,7})\s*(?:个)?\s*(?:步|steps?)"
)
#: Steps ahead that are shown where the question names none.
USUAL = 10
PER = 100
#: A prediction interval that reaches down to nothing and up to so many times the expected time tells nothing.
USELESS = 4.0
#: Nor does an interval of a value that is so many times as wide as all values so far.
TOO_WIDE = 3.0
UNTOLD = "untold"


def forecast_metric(context: Context) -> Verdict:
    """A metric's value at a step ahead, or the step at which it reaches a value; refused with the reason."""
    if (reached := already(context)) is not None:
        return reached
    keys = central(named_keys(context))
    if not keys and any(m.card is None for m in context.query.mentions):
        return unknown(context, next(m.text for m in context.query.mentions if m.card is None))
    metric = keys[0] if keys else _main(context)
    trend = None if metric is None else context.ledger.trend(metric)
    if metric is None or trend is None:
        text = context.say("ahead.nothing")
        context.doc.paragraph(f"**{text}**")
        return Verdict("inconclusive", unmark(text), "low")
    context.metrics.append(metric)
    sentence = trend_sentence(context, metric, trend)
    target = context.query.threshold[1] if context.query.threshold is not None else _capacity(context, metric)
    if target is None and _MEMORY.search(metric) and _RUNS_OUT.search(context.query.said):
        return _runs_out(context, keys)
    text = _value(context, metric, trend) if target is None else _reach(context, metric, target)
    gap = "" if context.language == "zh" else " "
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("ahead.so_far") + gap + sentence + gap + _latest(context, metric, trend))
    if context.kind != UNTOLD:
        _assumes(context)
    if not keys:
        context.doc.paragraph(context.say("ahead.which", metric=metric))
    context.cite(context.card(metric))
    context.chart(context.title(metric), [metric])
    return Verdict(trend.direction or "inconclusive", unmark(text), "low")


def _assumes(context: Context) -> None:
    """What is continued, over which steps, and that this is an assumption; nothing where nothing was foreseen."""
    ahead = [fact for fact in context.ledger.facts if (fact.name or "").startswith(("forecast/", "reach/"))]
    for phrase, logged in (("ahead.assumes", False), ("ahead.assumes_log", True)):
        held = [fact for fact in ahead if ("log(" in (fact.formula or "")) is logged]
        if held:
            context.doc.paragraph(context.say(phrase, f=held[0]))


_MEMORIES = re.compile(r"(?i)max_memory_reserved|cpu_memory_used|cuda_mem|gpu.*mem")
_RUNS_OUT = re.compile(
    r"(?i)oom|爆显存|爆内存|溢出|不够|撑[多到不]|装不下|out of memory|run(?:s|ning)? out|blow up"
    r"|(?:will|would) .{0,30}(?:fill|fit)"
)


def _runs_out(context: Context, keys: list[str]) -> Verdict:
    """That it cannot be told when memory of unknown size runs out; where the memories that grow are headed."""
    text = context.say("ahead.oom")
    context.doc.paragraph(f"**{text}**")
    held = [name for name in context.run.metrics if _MEMORIES.search(name)]
    lines, code = [], None
    for metric in list(dict.fromkeys([*keys, *held]))[:3]:
        trend = context.ledger.trend(metric)
        if trend is None:
            continue
        grows = trend.direction == "rising"
        lines.append(_value(context, metric, trend) if grows else trend_sentence(context, metric, trend))
        code = code if code not in {None, "flat", "inconclusive"} else trend.direction
        context.metrics.append(metric)
    context.doc.bullets(lines)
    _assumes(context)
    return Verdict(code or "inconclusive", unmark(text), "low")


def _main(context: Context) -> str | None:
    """The validation where there are enough, else the reward."""
    run = context.run
    for name, least in (("val_accuracy", MIN_POINTS), ("score_mean", 1), ("reward_mean", 1), ("training_loss", 1)):
        found = role(run, name)
        if found is not None and found.spelling.plain and len(found) >= least:
            return found.metrics[0]
    reward = trained(run)
    return None if reward is None or not reward.spelling.plain else reward.metrics[0]


def _value(context: Context, metric: str, trend: Fact) -> str:
    last, slot = trend.last_step or 0, context.query.steps
    following = _NEXT.search(context.query.said)
    ahead = [step for step in slot.values if slot.kind in {"single", "pair"} and step > last]
    if ahead:
        step = ahead[-1]
    elif following is not None:
        step = last + int(next(group for group in following.groups() if group))
    else:
        step = last + max(1, min(USUAL, (trend.n or 1) // 2))
    fact, reason = forecast(context.ledger, metric, step, possible=possible(context, metric))
    if fact is None:
        asked = context.ledger.constant("step_ahead", step, "the question")
        return context.say(f"ahead.refused_{reason}", metric=metric, at=asked)
    kind = context.kind_of(metric)
    shown: dict[str, Any] = {"value": context.doc.show(fact, None, kind)}
    shown |= {end: context.doc.show(fact, end, kind) for end in ("low", "high")}
    if _says_nothing(context, metric, fact):
        context.kind = UNTOLD
        return _untold(context, metric, fact, {end: shown[end] for end in ("low", "high")})
    return context.say("ahead.value", metric=metric, f=fact, level=confidence_level(context.ledger), **shown)


def _span(context: Context, metric: str) -> tuple[Fact, Fact] | None:
    """The lowest and the highest value so far."""
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    return (min(held, key=number), max(held, key=number)) if held else None


def _says_nothing(context: Context, metric: str, fact: Fact) -> bool:
    """Whether an interval is many times as wide as all that the metric went through so far."""
    span = _span(context, metric)
    if span is None or fact.low is None or fact.high is None:
        return False
    low, high = (number(one) for one in span)
    return fact.high - fact.low > TOO_WIDE * (high - low)


def _untold(context: Context, metric: str, fact: Fact, shown: dict[str, str]) -> str:
    """That a value cannot be told, and why: the interval would be wider than all that has been."""
    span = _span(context, metric)
    assert span is not None
    step = context.ledger.constant("step_ahead", fact.step or 0, "the question")
    return context.say(
        "ahead.untold", metric=metric, at=step, least=span[0], most=span[1], level=confidence_level(context.ledger),
        **shown,
    )  # fmt: skip


def _latest(context: Context, metric: str, trend: Fact) -> str:
    """The latest value, from which any reckoning of one's own starts."""
    fact = context.value(metric, trend.last_step or 0)
    return "" if fact is None else context.say("ahead.latest", v=fact)


def _capacity(context: Context, metric: str) -> float | None:
    """The size of a memory that a question names, in gibibytes, where a use of memory is forecast."""
    match = _CAPACITY.search(context.query.said) if _MEMORY.search(metric) else None
    return None if match is None else float(match[1]) * (1024 if match[2] else 1)


def _reach(context: Context, metric: str, target: float) -> str:
    fact, reason = reach(context.ledger, metric, target, possible=possible(context, metric))
    asked = context.ledger.constant("target", target, "the question")
    shown = context.doc.show(asked, None, context.kind_of(metric))
    if fact is None:
        return context.say(f"ahead.target_{reason}", metric=metric, target=shown)
    steps = {end: context.doc.show(fact, end, "integer") for end in ("low", "high") if getattr(fact, end) is not None}
    value = context.doc.show(fact, None, "integer")
    phrase = "ahead.reach" if "high" in steps else "ahead.reach_open"
    return context.say(phrase, metric=metric, target=shown, value=value, **steps)


# -- the run's end -----------------------------------------------------------------------------------------------------
def time_left(context: Context) -> Verdict:
    """Seconds until the run ends, from the last step times; refused where the total is not known."""
    doc, say, run = context.doc, context.say, context.run
    more = _MORE.search(context.query.said)
    if more is not None:
        return _time_of_steps(context, int(next(group for group in more.groups() if group)))
    stated = _TOTAL.search(context.query.said)
    asked = None if stated is None else int(next(group for group in stated.groups() if group))
    total = asked if asked is not None else total_steps(run)
    metric = answer_pace.whole_step_seconds(run)
    fact, reason = remaining(context.ledger, total=total, metric=metric)
    trend = None if metric is None else context.ledger.trend(metric)
    if metric is not None:
        context.metrics.append(metric)
    last = max(run.distinct_steps)
    if total is not None and total <= last:
        fact, reason = None, "done"
    few = reason == "few_points" and metric is not None and len(series(run, metric)) > 0
    if metric is not None and total is not None and (few or (fact is not None and _useless(fact))):
        text = _at_this_pace(context, metric, total, stated=asked is not None, why=_why_none(fact))
        if asked is None:
            doc.paragraph(answer_pace.beside_printed(context, answer_pace.projected(context, metric, total)))
    elif fact is not None and total is not None and isinstance(fact.value, float):
        source = "question" if asked is not None else "log"
        number = context.ledger.constant("total_steps", total, f"the {source}")
        left = context.ledger.derived("steps_left", total - last, inputs=[number], formula=f"total_steps − {last}")
        steps = of_the_steps(context, fact)
        mean = context.ledger.derived(
            "seconds_per_step", seconds(steps) / (total - last), unit="s", inputs=[steps, left],
            formula=f"{steps.name} / steps_left",
        )  # fmt: skip
        beside, gap = to_come(context, total), "" if context.language == "zh" else " "
        text = say(
            "eta.left" if (fact.low or 0) > 0 else "eta.left_most",
            v=fact,
            left=left,
            total=number,
            last=last,
            mean=mean,
            beside=gap + say("eta.and_beside", steps=steps, beside=beside) if beside else "",
        )
        doc.paragraph(f"**{text}**")
        doc.paragraph(say(f"eta.total_{source}", total=number), _assumed(context, fact))
        doc.paragraph(answer_pace.beside_printed(context, fact.value) if asked is None else "")
    elif total is not None and reason == "no_step_times" and (said := answer_pace.left_at_rate(
        context, total, stated=asked is not None)) is not None:  # fmt: skip
        text = said
    else:
        total_fact = None if total is None else context.ledger.constant("total_steps", total, "the run")
        values: dict[str, Any] = {"last": last} | ({} if total_fact is None else {"total": total_fact})
        text = say(f"eta.refused_{reason}" if reason != "done" or total_fact else "eta.refused_no_total", **values)
        printed = answer_pace.printed_left(context) if asked is None and reason == "no_total" else None
        if printed is not None:  # the trainer's own estimate, where nothing else tells the end
            text = say("eta.printed", v=printed, last=last)
        doc.paragraph(f"**{text}**")
        if total_fact is not None and reason != "done" and total is not None:
            left = context.ledger.derived(
                "steps_left", total - last, inputs=[total_fact], formula=f"total_steps − {last}"
            )  # fmt: skip
            doc.paragraph(say("eta.steps_left", left=left, total=total_fact, last=last))
        if metric is not None and reason in {"no_total", "few_points"}:
            tell = reason == "no_total" and printed is None
            doc.paragraph(_pace(context, metric), say("eta.tell_total") if tell else "")
    if trend is not None and metric is not None and (trend.n or 0) >= MIN_POINTS:
        doc.paragraph(trend_sentence(context, metric, trend))
    code = (trend.direction if trend is not None and fact is not None else None) or "inconclusive"
    return Verdict(code, unmark(text), "medium" if fact is not None else "low")


def _time_of_steps(context: Context, more: int) -> Verdict:
    """How long so many further steps take, from the last step times."""
    run, say = context.run, context.say
    last = max(run.distinct_steps)
    metric = answer_pace.whole_step_seconds(run)
    fact, reason = remaining(context.ledger, total=last + more, metric=metric)
    count = context.ledger.constant("further_steps", more, "the question")
    if metric is not None:
        context.metrics.append(metric)
    few = reason == "few_points" and metric is not None and len(series(run, metric)) > 0
    if fact is None and not few:
        text = say("eta.more_refused" if reason == "no_step_times" else "eta.refused_few_points", n=count, last=last)
        context.doc.paragraph(f"**{text}**")
        return Verdict("inconclusive", unmark(text), "low")
    if metric is not None and (fact is None or _useless(fact)):
        mean, recent = _recent(context, metric)
        taken = context.ledger.derived(
            "seconds_of_further_steps", number(mean) * more, unit="s", inputs=[mean, count],
            formula="mean_step_time × further_steps",
        )  # fmt: skip
        held = context.ledger.count("step times", len(series(run, metric)))
        text = say("eta.more_pace", n=count, v=taken, mean=mean, recent=recent, last=last)
        further = " ".join(
            filter(None, (on_top(context, last + more, taken), say(_why_none(fact), held=held, left=count)))
        )
    else:
        phrase = "eta.more" if fact is not None and (fact.low or 0) > 0 else "eta.more_most"
        beside = to_come(context, last + more)
        gap = "" if context.language == "zh" else ", "
        of_it = gap + say("eta.of_it_beside", beside=beside) if beside else ""
        text, further = say(phrase, n=count, v=fact, last=last, beside=of_it), _assumed(context, fact)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(further)
    return Verdict("answered", unmark(text), "medium")


def _useless(fact: Fact) -> bool:
    """Whether a prediction interval is too wide to be told."""
    if fact.low is None or fact.high is None:
        return False
    return fact.low <= 0 and fact.high > USELESS * number(fact)


def _why_none(fact: Fact | None) -> str:
    """The sentence that says why there is no interval: step times drift, or they are too few."""
    return "eta.no_interval" if fact is not None and fact.noise_basis == DRIFT else "eta.no_interval_few"


def _assumed(context: Context, fact: Fact | None) -> str:
    """What the interval rests on, and how often it holds."""
    drifting = fact is not None and fact.noise_basis == DRIFT
    return context.say(
        "eta.assumes_drift" if drifting else "eta.assumes",
        level=confidence_level(context.ledger),
        beside=assumed(context),
    )


def confidence_level(ledger: Ledger) -> str:
    """How often intervals hold what comes, as it is written."""
    level = ledger.derived("confidence_level", 0.95, formula="1 − 0.05", inputs=[], unit="fraction")
    return mark(level.id, "95%")


def _at_this_pace(context: Context, metric: str, total: int, *, stated: bool, why: str) -> str:
    """What the steps left take if the pace stays, where step times allow no interval; writes it."""
    doc, say, ledger = context.doc, context.say, context.ledger
    last, times = max(context.run.distinct_steps), series(context.run, metric)
    mean, recent = _recent(context, metric)
    source = "question" if stated else "log"
    whole = ledger.constant("total_steps", total, f"the {source}")
    left = ledger.derived("steps_left", total - last, inputs=[whole], formula=f"total_steps − {last}")
    taken = ledger.derived(
        "seconds_left_at_this_pace", number(mean) * (total - last), unit="s", inputs=[mean, left],
        formula="mean_step_time × steps_left",
    )  # fmt: skip
    held = ledger.count("step times", len(times))
    text = say("eta.pace_only", n=recent, mean=mean, left=left, total=whole, last=last, v=taken)
    doc.paragraph(f"**{text}**")
    doc.paragraph(
        say(f"eta.total_{source}", total=whole), on_top(context, total, taken), say(why, held=held, left=left)
    )
    return text


def _recent(context: Context, metric: str) -> tuple[Fact, Fact]:
    """The mean of the last twenty step times, and how many they are."""
    recent = series(context.run, metric).last(20)
    inputs = [context.value(metric, int(step)) for step in recent.steps]
    mean = context.ledger.derived(
        "mean_step_time", math.fsum(recent.values.tolist()) / len(recent), unit="s", inputs=inputs,
        formula=f"mean of {metric} over the last {len(recent)} steps",
    )  # fmt: skip
    return mean, context.ledger.count("recent step times", len(recent))


def _pace(context: Context, metric: str) -> str:
    """How long a hundred steps take at the pace of the last twenty."""
    if not len(series(context.run, metric)):
        return ""
    mean, count = _recent(context, metric)
    per = context.ledger.constant("steps", PER, "the answer")
    whole = context.ledger.derived(
        "time_per_100_steps",
        PER * number(mean),
        unit="s",
        inputs=[mean, per],
        formula="100 × mean_step_time",
    )
    return context.say("eta.pace", n=count, mean=mean, per=per, whole=whole)
