"""Values against another value of the same metric: the value before, the start, the extreme so far, the mean."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask.answer_computed import deviation
from assistant.ask.context import Context
from assistant.ask.leaps_told import leap
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.steps import chinese_number
from assistant.ask.subject import Subject, subject_of
from assistant.model import Fact, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain, signed

_FALL: Final = re.compile(
    r"(?i)drop|fall|fell|decreas|declin|\bdip|plung|loss of|went down|变(?:小|低|短|少|差)|跌|掉|降|回落|下滑|回撤|缩"
)
_RISE: Final = re.compile(
    r"(?i)\brise|\brose|increas|\bgain|\bjump|climb|surg|went up|grow|grew|变(?:大|高|长|多|好)|涨|升|增|跳(?!水)"
)
_EITHER_WAY: Final = re.compile(r"(?i)chang|\bmove|swing|突然|差(?:得)?最|变化|波动|变动|跳变")
_PEAK: Final = re.compile(r"(?i)\bpeak|highest|maximum|\bmax\b|\btop\b|峰值|最高|最大|顶点|高点")
_TIMES: Final = (
    (re.compile(r"(?i)\bhal(?:f|ve[sd]?)\b|一半|减半|腰斩|对半|1/2|二分之一"), 0.5),
    (re.compile(r"(?i)\bone[- ]third\b|\ba third\b|三分之一|1/3"), 1 / 3),
    (re.compile(r"(?i)\bquarter\b|四分之一|1/4"), 0.25),
    (re.compile(r"(?i)\bfifth\b|五分之一|1/5"), 0.2),
    (re.compile(r"(?i)\btenth\b|十分之一|1/10"), 0.1),
    (
        re.compile(r"(?i)\b(?:doubl\w*|twice|twofold)\b|翻(?:了)?(?:一)?[倍番]|两倍|(?<![\d.])2\s*倍|(?<![\d.])2x\b"),
        2.0,
    ),
    (re.compile(r"(?i)\bfour times\b"), 4.0),
    (re.compile(r"(?i)\bfive times\b"), 5.0),
    (re.compile(r"(?i)\b(?:ten times|tenfold)\b"), 10.0),
    (re.compile(r"(?i)\b(?:a hundred|one hundred) times\b"), 100.0),
    (re.compile(r"(?i)\b(?:tripl\w*|threefold|three times)\b|三倍|(?<![\d.])3\s*倍|(?<![\d.])3x\b"), 3.0),
)
_MEDIAN: Final = re.compile(r"(?i)中位数|\bmedian\b")
_WITHIN: Final = re.compile(
    r"(?i)\b(?:with)?in (?P<en>\d{1,3}(?:\.\d+)?) ?(?:%|per ?cent) of\b|(?:平均值?"
    r"|均值)的?\s*[±上下]*\s*(?P<zh>\d{1,3}(?:\.\d+)?)\s*[%％]\s*(?:以|之)?内"
)
_FACTOR: Final = re.compile(r"(?i)(?<![\d.])(\d+(?:\.\d+)?)\s*(?:倍|times\b|x\b)")
_NUMERAL: Final = re.compile(r"(?<!翻)(?<!翻了)([三四五六七八九十百][一二三四五六七八九十百]{0,3})\s*倍")
_PERCENT: Final = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:%|％|percent\b|个?百分之)")
_OF_ITSELF: Final = re.compile(r"[到至为成]了?\s*50\s*%")
_HALF: Final = re.compile(r"一半|对半|半数|二分之一")
_START: Final = re.compile(r"初始|最初|开始|起始|起点|开头|第 ?1 ?步|初值|原来|起初|峰值|最高")
_BY: Final = re.compile(
    r"(?i)\b(?:by|down|up)\s+(?:about |more than |at least |over )?$|(?:了|掉|涨|幅|[高低多少]出?)\s*$"
)
_ABOVE: Final = re.compile(r"(?i)above|over|higher|more|larger|longer|exceed|greater|高|大|超|多|长")
_POINT: Final = {"single", "last", "first"}


# -- neighbours --------------------------------------------------------------------------------------------------------
def neighbours(context: Context) -> Verdict | None:
    """The largest move from one logged value to the next; ``None`` where no direction or no single metric is named."""
    found = subject_of(context, least=3)
    if found is None:
        return None
    text, part = found.text, found.part
    fall, rise = _FALL.search(text) is not None, _RISE.search(text) is not None
    if fall == rise and not _EITHER_WAY.search(text):
        return None
    if fall != rise and (told := leap(context, part, text, up=rise)) is not None:
        return told
    sign = 0.0 if fall == rise else -1.0 if fall else 1.0
    moves = [
        (_size(b - a, sign), place) for place, (a, b) in enumerate(zip(part.values, part.values[1:], strict=False))
    ]
    size, place = max(moves, key=lambda one: (one[0], -one[1]))
    context.metrics.append(found.metric)
    way = "any" if not sign else "down" if fall else "up"
    if size <= 0:
        said = context.say(f"rel.no_move_{way}", metric=found.metric, over=part.over)
        return _settled(context, said, "argmin" if fall else "argmax")
    change = context.ledger.change(found.metric, part.steps[place], part.steps[place + 1])
    if change is None:
        return None
    delta = mark(change.id, signed(change.delta or 0.0, context.kind_of(found.metric), language=context.language))
    said = context.say(f"rel.move_{way}", metric=found.metric, c=change, delta=delta, over=part.over)
    lines = []
    lost = [s for s in part.lost if part.steps[place] < s < part.steps[place + 1]]
    if lost:
        lines.append(context.say("rel.gap_between", steps=context.doc.show(lost)))
    if change.noise is not None and change.significant is False:
        lines.append(context.say("rel.within_noise", limit=context.bound(change)))
    return _settled(context, said, "argmin" if fall else "argmax", *lines)


def _size(delta: float, sign: float) -> float:
    return abs(delta) if not sign else delta * sign


# -- a share of the start, or of the peak ------------------------------------------------------------------------------
def of_start(context: Context) -> Verdict | None:
    """When a metric first was such a part, or so many times, of its first value (or of its peak)."""
    found = subject_of(context)
    if found is None:
        return None
    factor = factor_in(found.text)
    if _OF_ITSELF.search(found.text) and _START.search(found.text) is None:
        factor = 0.5 if _HALF.search(context.query.text) else None  # "falls to 50%" may be a level of its own
    if factor is None or factor == 1.0:
        return None
    part = found.part
    peak = _PEAK.search(found.text) is not None
    at = part.values.index(max(part.values)) if peak else 0
    base = cell(context, part, at)
    context.metrics.append(found.metric)
    if number(base) <= 0:
        said = context.say("rel.base_not_positive", metric=found.metric, base=base)
        return _settled(context, said, None, code="no_data")
    target = context.ledger.derived(
        f"{factor:g} × value at step {base.step} of {found.metric}", number(base) * factor, inputs=[base],
        formula=f"{factor:g} × {found.metric} at step {base.step}",
    )  # fmt: skip
    down = factor < 1
    values = {
        "metric": found.metric, "base": base, "target": shown(context, target, found.metric),
        "factor": _factor_text(context, factor),
    }  # fmt: skip
    level = number(target)
    places = [p for p in range(at, len(part)) if (part.values[p] <= level if down else part.values[p] >= level)]
    side = ("peak_" if peak else "start_") + ("down" if down else "up")
    if not places:
        rest = part.values[at:]
        nearest = cell(context, part, at + rest.index((min if down else max)(rest)))
        return _settled(context, context.say(f"rel.{side}_never", near=nearest, **values), "first_crossing")
    said = context.say(f"rel.{side}", v=cell(context, part, places[0]), **values)
    stays = len(places) == len(part) - places[0]
    lines = []
    if places[0] < len(part) - 1:
        last = cell(context, part, len(part) - 1)
        count = context.ledger.count("values on that side from there on", len(places), metric=found.metric)
        rest_count = context.ledger.count("values from there on", len(part) - places[0], metric=found.metric)
        lines.append(
            context.say("rel.stays", n=rest_count, last=last)
            if stays
            else context.say("rel.stays_partly", k=count, n=rest_count, last=last)
        )
    return _settled(context, said, "first_crossing", *lines, *remarks(context, part))


def factor_in(text: str) -> float | None:
    """The factor that a question names: "half" 0.5, "by 30 %" down 0.7, "to 80 %" 0.8, "doubled" 2."""
    percent = _PERCENT.search(text)
    if percent is not None:
        share = float(percent[1]) / 100
        if _BY.search(text[: percent.start()]):
            return 1 - share if _FALL.search(text) else 1 + share
        return share
    numeral = _NUMERAL.search(text)
    if numeral is not None:
        return float(chinese_number(numeral[1]))
    for words, factor in _TIMES:
        if words.search(text):
            return factor
    times = _FACTOR.search(text)
    return None if times is None else float(times[1])


def _factor_text(context: Context, factor: float) -> str:
    fact = context.ledger.constant("factor", factor, "the question", "fraction")
    return mark(fact.id, f"{plain(100 * factor)}%")


# -- against the mean --------------------------------------------------------------------------------------------------
def against_mean(context: Context) -> Verdict | None:
    """How far a step's value is from the mean of all, or which steps lie on one side of it."""
    slot = context.query.steps
    pointed = slot.kind in _POINT
    found = subject_of(context, least=3)
    if found is None:
        return None
    whole = part_of(context, found.metric, Scope()) if pointed else found.part
    context.metrics.append(found.metric)
    if pointed and _MEDIAN.search(found.text):
        usual = statistic(context, whole, "median", median(whole.values), "median")
        return _one_against_usual(context, found, whole, usual, "median")
    mean = statistic(context, whole, "mean", math.fsum(whole.values) / len(whole), "mean")
    if pointed:
        return _one_against_usual(context, found, whole, mean, "mean")
    up = _ABOVE.search(found.text) is not None
    percent = _PERCENT.search(found.text)
    share = 0.0 if percent is None else float(percent[1]) / 100
    level = number(mean) + (1 if up else -1) * share * abs(number(mean))
    places = [p for p, v in enumerate(whole.values) if (v > level if up else v < level)]
    count = context.ledger.count(
        f"steps {'above' if up else 'below'} the mean {share:g}", len(places), metric=whole.metric
    )
    values = {"metric": found.metric, "mean": shown(context, mean, found.metric), "k": count, "over": whole.over}
    if share:
        margin = context.ledger.constant("margin", share, "the question", "fraction")
        said = context.say(f"rel.mean_{'above' if up else 'below'}_by", margin=margin, **values)
    else:
        said = context.say(f"rel.mean_{'above' if up else 'below'}", **values)
    steps = [whole.steps[p] for p in places]
    line = context.say("calc.steps", steps=context.doc.show(steps)) if 0 < len(steps) <= MOST_LISTED else ""
    return _settled(context, said, "count", line, *remarks(context, whole))


MOST_LISTED: Final = 40


def _one_against_usual(context: Context, found: Subject, whole: Part, usual: Fact, name: str) -> Verdict | None:
    """How far one step's value is from the mean or the median of all."""
    slot = context.query.steps
    step = slot.values[0] if slot.kind == "single" else whole.steps[-1 if slot.kind == "last" else 0]
    fact = context.value(found.metric, step)
    if fact is None or not math.isfinite(number(fact)):
        return None  # the look-up says why there is none
    gap = context.ledger.derived(
        f"distance of {found.metric} from its {name}", abs(number(fact) - number(usual)), inputs=[fact, usual],
        step=step, formula=f"|{found.metric} at step {step} − {name} of {found.metric}|",
    )  # fmt: skip
    kind = context.kind_of(found.metric)
    text = mark(gap.id, signed(number(gap), kind, language=context.language).lstrip("+"))
    said = context.say(
        f"rel.{'above' if number(fact) >= number(usual) else 'below'}_{name}", metric=found.metric, v=fact, gap=text,
        mean=shown(context, usual, found.metric), over=whole.over,
    )  # fmt: skip
    if (limit := _WITHIN.search(found.text)) is not None and number(usual):
        said = _within(context, float(limit["en"] or limit["zh"]) / 100, gap, usual) + said
    lines = []
    if len(whole) > 2:
        spread = statistic(
            context, whole, "std", deviation(whole.values),
            "sample standard deviation (n − 1)",
        )  # fmt: skip
        lines.append(context.say("rel.spread", sd=shown(context, spread, found.metric)))
    context.query = replace(context.query, op=None)
    return _settled(context, said, None, *lines, *remarks(context, whole), keep_steps=True)


def _within(context: Context, limit: float, gap: Fact, usual: Fact) -> str:
    """Whether a value is within a share of what is usual: yes or no, and how far off it is."""
    share = context.ledger.derived(
        "relative distance", number(gap) / abs(number(usual)), inputs=[gap, usual], unit="fraction",
        formula="distance ÷ |what is usual|",
    )  # fmt: skip
    asked = context.ledger.constant("limit asked for", limit, "the question", "fraction")
    name = "rel.within" if number(share) <= limit else "rel.not_within"
    return context.say(name, share=share, limit=asked) + ("" if context.language == "zh" else " ")


def _settled(
    context: Context, said: str, op: Op | None, *lines: str, code: str = "answered", keep_steps: bool = False
) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.chart(context.title(context.metrics[0]), context.metrics[:1])
    if not keep_steps:
        context.query = replace(context.query, op=op, asked_op=op)
    return Verdict(code, unmark(said))
