"""Answers to "how does it develop" and "is it well", for single metrics."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from assistant.analysis.checks import JUDGED, LOSS_GONE, NOT_FINITE, READ_BY_RULES, Check, covered
from assistant.analysis.diagnosis import role
from assistant.analysis.held_out import held_out
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.answer_large import large, meant_large
from assistant.ask.answer_lookup import lookup
from assistant.ask.answer_single import critic_learns, tail_of
from assistant.ask.context import Context, is_validation, key
from assistant.ask.course_moves import points, state_of
from assistant.ask.departures import all_checks, departure
from assistant.ask.findings import told
from assistant.ask.goes_on import not_so_far
from assistant.ask.in_order_words import in_order
from assistant.ask.naming import absent, central, named_keys, unknown, wanted_steps
from assistant.ask.outcomes import lost, rewarded
from assistant.ask.part import slot_of
from assistant.ask.parts import number
from assistant.ask.schedules import phases
from assistant.ask.scope import scope_in
from assistant.ask.subject import words_of
from assistant.ask.telling import gone_since, trend_sentence
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

MOST_GAPS, MOST_VALUES = 24, 6
#: Asks about the run as a whole, whatever metric was named before.
_OF_THE_RUN = re.compile(r"(?i)\b(?:some|any)thing (?:\w+ )?(?:wrong|off|broken)\b|哪里(?:不对|有问题|错)")
_PROBLEM = re.compile(r"[出有](?:了)?(?:什么)?问题")
#: "Is it a problem that it gets shorter?" asks about that metric.
_MOVED = re.compile(
    r"(?i)变[长短大小高低多少快慢]|[涨升降跌掉]|\b(?:gr[eo]w|ris|fall|drop|shrink|increas|decreas|get|gett)\w*\b|(?:short|long|high|low)er\b"
)


def trend(context: Context) -> Verdict:
    """Trend of the metrics named, or of the main ones; the verdict is the first one's direction."""
    from assistant.ask.parts import headlines

    keys = central(named_keys(context))
    scope = scope_in(words_of(context), context.train_steps)
    if context.query.steps.kind in {"single", "none"} and not scope.whole and not scope.plain:  # "since step 14"
        context.query = replace(context.query, steps=slot_of(context, scope))
    if not keys and any(m.card is None for m in context.query.mentions):
        return unknown(context, next(m.text for m in context.query.mentions if m.card is None))
    if not keys and context.query.mentions:
        return lookup(context)
    if not keys:
        last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
        keys = headlines(context, last)[:8]
    context.metrics.extend(keys[:8])
    texts, code = [], "inconclusive"
    for position, metric in enumerate(keys[:8]):
        steps = wanted_steps(context, metric)
        fact = context.ledger.trend(metric, steps)
        if fact is None or fact.first_step is None or fact.last_step is None:
            texts.append(absent(context, metric, steps))
            continue
        text = _trend_text(context, metric, fact, steps)
        texts.append(text)
        if position == 0:
            code = fact.direction or "inconclusive"
    broken = [check for check in all_checks(context) if check.rule == LOSS_GONE and keys[0] in check.metrics]
    for one in told(context, broken[:1]):  # from there on its course is no course of learning
        context.doc.paragraph(f"**{one.sentence}**")
    if len(texts) == 1:
        goes_on = not_so_far(context, keys)
        gap = " " if goes_on and context.language == "en" else ""
        texts = [goes_on + gap + (_yes_no(context, keys[0], code) if not goes_on else "") + texts[0]]
        context.doc.paragraph(f"**{texts[0]}**")
        _trend_detail(context, keys[0], code)
    else:
        goes_on = not_so_far(context, keys)
        context.doc.paragraph(f"**{goes_on}**" if goes_on else "")
        context.doc.bullets(texts)
        texts = [goes_on, *texts] if goes_on else texts
    context.chart(context.title(keys[0]), keys[:4])
    summary = unmark(texts[0])
    return Verdict(code, summary, "low" if code == "inconclusive" else "medium")


_ASKS_UP = re.compile(
    r"(?i)^\W*(?:and |so |but )?(?:is|are)\b.{0,60}\b(?:improving|climbing|rising|increasing|going up|getting better)\b"
    r"|(?:在|还在)(?:涨|上升|变好|提升|进步|提高)(?:了)?(?:吗|么|没有?)"
)
_CONVERGES = re.compile(r"(?i)\b(?:is|are|does|did|has|have)\b.{0,60}\bconverg|收敛")


def _yes_no(context: Context, metric: str, code: str) -> str:
    """ "Yes" or "No" before the trend of a question that asks whether an outcome improves, or a loss converges."""
    text, gap = context.query.wording or context.query.text, "" if context.language == "zh" else " "
    outcome = is_validation(metric) or _rewarded(context, metric) or _validated(context, metric)
    if (asked := _still_asked(text)) is not None and not (outcome and asked == "rising"):
        return _still(context, metric, asked, gap)
    if outcome and code == "rising" and _STILL.search(text) and (late := _of_late(context, metric)):
        return late + gap
    if outcome and _ASKS_UP.search(text) and code in {"rising", "falling", "flat"}:
        return context.say("trend.yes" if code == "rising" else "trend.no") + gap
    if "loss" in metric and _CONVERGES.search(text) and code == "rising":
        return context.say("trend.no") + gap
    return ""


_DOWNWARD = re.compile(r"(?i)降|跌|掉|减|变小|变短|\b(?:fall|drop|decreas|declin|go(?:ing)? down|shrink|lower)")
_UPWARD = re.compile(r"(?i)涨|升|增|变大|变长|\b(?:ris|increas|climb|grow|go(?:ing)? up|higher)")


def _still_asked(text: str) -> str | None:
    """The direction of which a question asks whether it still goes on; ``None`` where it asks no such thing."""
    if _STILL.search(text) is None:
        return None
    down, up = _DOWNWARD.search(text) is not None, _UPWARD.search(text) is not None
    return None if down == up else "falling" if down else "rising"


def _still(context: Context, metric: str, asked: str, gap: str) -> str:
    """Whether the latest stretch goes the way that is asked, as a sentence; empty where there are too few values."""
    steps = list(context.run.series(metric)[0])
    named = scope_in(words_of(context), context.train_steps)  # "… over the last 50 steps" names the stretch itself
    late = _latest(context, metric, steps) if named.whole else named.of(steps)
    if not late:
        return ""
    level = (_levelled(context, metric, steps) if named.whole else None) or _levelled(context, metric, late)
    late = level or late
    fact = context.ledger.trend(metric, late) if len(late) < len(steps) else None
    ends = [context.value(metric, step) for step in (late[0], late[-1])]
    if fact is None or fact.direction is None or ends[0] is None or ends[1] is None:
        return ""
    count = context.ledger.count("latest values", len(late), metric=metric)
    back = "falling" if asked == "rising" else "rising"
    name = {asked: "yes", back: f"back_{back}"}.get(fact.direction, "no")
    name = "level" if level else name
    return context.say(f"trend.still_{name}", n=count, a=late[0], b=late[-1], first=ends[0], last=ends[1]) + gap


_STILL = re.compile(r"(?i)\bstill\b|还在|仍在|还(?:有)?在|还会?继续")
#: Part of a course that is its latest, and the fewest values of it that show a direction.
LATEST, FEWEST = 0.5, 5


def _of_late(context: Context, metric: str) -> str:
    """That a course which rises over the run does not do so of late, as a sentence; empty where it does."""
    steps = list(context.run.series(metric)[0])
    late = _latest(context, metric, steps)
    level = _levelled(context, metric, steps) or _levelled(context, metric, late)
    late = level or late
    fact = context.ledger.trend(metric, late) if len(late) < len(steps) else None
    ends = [context.value(metric, step) for step in (late[0], late[-1])]
    if fact is None or (not level and fact.direction in {"rising", None}) or ends[0] is None or ends[1] is None:
        return ""
    count = context.ledger.count("latest values", len(late), metric=metric)
    name = "level" if level else "falls" if fact.direction == "falling" else "not"
    return context.say(f"trend.of_late_{name}", n=count, a=late[0], b=late[-1], first=ends[0], last=ends[1])


def _latest(context: Context, metric: str, steps: list[int]) -> list[int]:
    """The latest stretch of a course: its second half, or what follows its last jump or turn in that half."""
    late = steps[-max(FEWEST, math.ceil(LATEST * len(steps))) :]
    detail = context.ledger.trend_detail(metric)
    changed = [change.step for change in detail.changes if change.step > late[0]] if detail is not None else []
    after = [step for step in late if step >= max(changed, default=late[0])]
    return after if len(after) >= FEWEST else late


def _levelled(context: Context, metric: str, steps: list[int]) -> list[int]:
    """The steps since which a course that first rose or fell shows no clear change; empty where it goes on."""
    detail = context.ledger.trend_detail(metric, steps)
    if detail is None or detail.form != "ramp" or len(detail.knots) < 3:
        return []
    late = [step for step in steps if step >= detail.knots[2][0]]
    still = len(late) >= FEWEST and state_of(context, points(context, metric, late)) == "still"
    return late if still else []


def _validated(context: Context, metric: str) -> bool:
    found = role(context.run, "val_accuracy")
    return found is not None and metric in found.metrics


def health(context: Context, keys: list[str]) -> Verdict:
    """Whether single metrics look normal: what rules say of them, their trend, and that there is no universal norm."""
    of_critic = critic_learns(context)
    if of_critic is not None:
        return of_critic
    doc, steps = context.doc, context.train_steps or list(context.run.distinct_steps)
    slot = context.query.steps
    chosen = [s for s in slot.values if s in steps] if slot.kind == "single" else steps
    checks = all_checks(context, chosen or steps)
    found = [c for c in checks if set(c.metrics) & set(keys)]
    found += [c for c in checks if c not in found and _same_matter(context, c, keys)]
    families = {metric.rpartition("/")[0] or metric for metric in keys}
    found.sort(key=lambda c: (c.metrics[0].rpartition("/")[0] or c.metrics[0]) not in families)  # its own come first
    grave = [c for c in checks if c.severity in {"critical", "warning"} and c not in found]
    if any(is_validation(m) or _rewarded(context, m) for m in keys):  # what is wrong elsewhere bears on the outcome
        found += grave[:1]
        grave = grave[1:]
    broken, texts = _not_finite(context, keys, chosen or steps)
    found += [c for c in checks if broken and c.rule == NOT_FINITE and c not in found]
    grave = [c for c in grave if c not in found]
    findings = told(context, found)
    sentences = [one.sentence for one in findings]
    for metric in keys[:3]:
        trend = context.ledger.trend(metric, None)
        if trend is None:
            continue
        texts.append(_trend_text(context, metric, trend))
        if metric != keys[0] and slot.kind == "single" and (fact := context.value(metric, slot.values[0])) is not None:
            texts.insert(0, context.say("lookup.one", metric=metric, v=fact))
    count = context.ledger.count("training_steps", len(context.train_steps))
    by_role = {m for name in READ_BY_RULES if (held := role(context.run, name)) is not None for m in held.metrics}
    judged = any(metric.startswith(JUDGED) or metric in by_role for metric in keys)
    enough = len(context.train_steps) >= MIN_POINTS and covered(context.run)
    clean = enough and not grave and slot.kind != "single"
    quiet = "health.metric_clean" if judged else "health.run_clean" if clean else "health.metric_unjudged"
    if not clean and _loss_falls(context, keys):
        quiet = "health.loss_falls"
    if not sentences and len(context.train_steps) < MIN_POINTS:
        quiet = "health.few"
    elsewhen = []
    if slot.kind == "single" and not found:  # nothing at that step says nothing of the others
        elsewhen = [
            c
            for c in all_checks(context, steps)
            if set(c.metrics) & set(keys) and c.severity in {"critical", "warning"}
        ]
    if elsewhen:
        quiet = "health.step_clean"
    asked = context.value(keys[0], slot.values[0]) if slot.kind == "single" else None
    alone = context.run.series(keys[0])[0] if len(context.train_steps) <= 1 else []
    lone = context.value(keys[0], alone[0]) if len(alone) == 1 else None
    bad = bool(findings) and findings[0].grave
    summary = sentences[0] if sentences else context.say(quiet, names=context.join(map(key, keys)), n=count)
    if bad:
        own = _its_own(context, found[0], keys, families)
        names = context.join(map(key, keys[:3]))
        summary = context.say("health.bad" if own else "health.beside", first=summary, names=names)
    if not sentences and quiet == "health.metric_unjudged" and texts and asked is None:  # how it moves comes first
        gap = "" if context.language == "zh" else " "
        summary = texts.pop(0) + gap + context.say(_unjudged(context, keys), names=context.join(map(key, keys)))
    if not sentences and quiet == "health.few" and len(keys) == 1 and texts and asked is None and lone is None:
        summary = texts.pop(0)
    said = context.query.said
    of_run = _OF_THE_RUN.search(said) or (_PROBLEM.search(said) and not _MOVED.search(said))
    if grave and not findings and of_run:  # "is something wrong?": this is
        other = told(context, grave[:1])[0]
        summary = context.say("health.bad", first=other.sentence) + ("" if context.language == "zh" else " ") + summary
        grave = []
    if broken and bad:  # of the metric itself, whichever key tells the finding
        summary = context.say("health.bad", first=broken)
    if asked is not None:  # the value that was asked for comes first
        summary = (
            context.say("lookup.one", metric=keys[0], v=asked) + ("" if context.language == "zh" else " ") + summary
        )
    told_large = not sentences and (quiet == "health.few" or lone is not None)
    sized = large(context, meant_large(context, keys)) if told_large else []
    if lone is not None and not sentences:
        return _lone(context, keys, lone, sized)
    if sized:
        summary, texts = sized[0], [*sized[1:], *texts]
    doc.paragraph(f"**{summary}**")
    lines = [*(one.line for one in findings[:1]), *(one.whole(context.language) for one in findings[1:])]
    doc.bullets([*lines, *texts])
    beside = _outcome(context, keys)
    doc.paragraph(beside)
    if elsewhen:
        grave = elsewhen
    if grave and not found:
        other = told(context, grave[:1])[0]
        doc.paragraph(context.say("health.elsewhen" if elsewhen else "health.elsewhere", first=other.sentence))
    if len(keys) == 1 and slot.kind != "single":
        _values_table(context, keys[0])
    for metric in keys[:3]:
        doc.paragraph(context.gloss(metric))
    context.metrics.extend(keys)
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in found)), None)
    vouched = clean or (judged and enough) or _loss_falls(context, keys)
    return Verdict(worst or ("healthy" if vouched else "insufficient_data"), unmark(summary), "medium")


def _not_finite(context: Context, keys: list[str], steps: list[int]) -> tuple[str, list[str]]:
    """That the first of some metrics with values that are not finite has them, and the last value before."""
    for metric in keys:
        cells = [cell for cell in context.run.cells(metric) if cell.step in set(steps)]
        bad = [cell.step for cell in cells if not math.isfinite(cell.value)]
        if not bad or (first := context.value(metric, bad[0])) is None:
            continue
        many = context.ledger.count("steps not finite", len(bad), metric=metric)
        text = context.say("nan.one", metric=metric, v=first, k=many, n=context.ledger.count("values", len(cells)))
        before = [cell.step for cell in cells if cell.step < bad[0]]
        return text, [context.say("nan.before", v=context.value(metric, before[-1]))] if before else []
    return "", []


def _unjudged(context: Context, keys: list[str]) -> str:
    """The phrase for a metric that no rule judges: a reward's worth is its task's, a loss's that of held-out data."""
    reward, loss = rewarded(context.run), lost(context.run)
    if reward is not None and set(keys) <= set(reward.metrics):
        return "health.unjudged_reward"
    return "health.unjudged_loss" if loss is not None and set(keys) <= set(loss.metrics) else "health.unjudged"


def _lone(context: Context, keys: list[str], value: Fact, sized: list[str]) -> Verdict:
    """A metric of a log of one step: its value, that one step shows no trend, and how such a value is to be read."""
    doc, metric = context.doc, keys[0]
    text = context.say("health.one", metric=metric, v=value)
    doc.paragraph(f"**{sized[0]}**" if sized else f"**{text}**")
    if sized:
        doc.bullets([text])
        text = sized[0]
    others = [fact for other in keys[1:3] if (fact := context.value(other, value.step or 0)) is not None]
    doc.bullets([context.say("lookup.one", metric=str(fact.metric), v=fact) for fact in others])
    for other in keys[:3]:
        doc.paragraph(context.gloss(other))
    card = context.card(metric)
    if card is not None:
        doc.paragraph(context.quote(card, "read"))
    context.metrics.extend(keys)
    return Verdict("insufficient_data", unmark(text), "medium")


#: Category whose metrics all measure one matter: what is found on one of them speaks of the others.
ONE_MATTER = "rollout-mismatch"


def _same_matter(context: Context, check: Check, keys: list[str]) -> bool:
    """Whether a grave finding was made on another measure of what the keys measure."""
    if check.severity not in {"critical", "warning"} or not check.metrics:
        return False
    cards = [context.card(metric) for metric in (check.metrics[0], *keys)]
    alike = [card is not None and card.category == ONE_MATTER for card in cards]
    return alike[0] and any(alike[1:])


def _its_own(context: Context, check: Check, keys: list[str], families: set[str]) -> bool:
    """Whether what was found is wrong with the keys themselves, and not with something that bears on them."""
    first = check.metrics[0] if check.metrics else ""
    told_of = {first, *(fact.metric for _, fact in check.facts if fact.metric)}
    if told_of & set(keys) or (first.rpartition("/")[0] or first) in families or _same_matter(context, check, keys):
        return True
    rewarded = any(_rewarded(context, one) for one in told_of if one)
    return rewarded and any(_rewarded(context, one) for one in keys)


def _loss_falls(context: Context, keys: list[str]) -> bool:
    """Whether all that is asked about is a training loss that falls, all values finite: as it should be."""
    found = role(context.run, "training_loss")
    if found is None or set(keys) - set(found.metrics):
        return False
    trends = [context.ledger.trend(metric) for metric in keys]
    finite = all(math.isfinite(cell.value) for metric in keys for cell in context.run.cells(metric))
    return finite and all(t is not None and t.direction == "falling" for t in trends)


def _rewarded(context: Context, metric: str) -> bool:
    """Whether a key is the training reward or score."""
    held = (role(context.run, name) for name in ("score_mean", "reward_mean"))
    return any(found is not None and metric in found.metrics for found in held)


def _outcome(context: Context, keys: list[str]) -> str:
    """How validation moved, for a question about the training reward: the one is read against the other."""
    if not any(_rewarded(context, metric) for metric in keys):
        return ""
    found = role(context.run, "val_accuracy")
    if found is None or not found.spelling.plain or found.metrics[0] in keys:
        return ""
    trend = context.ledger.trend(found.metrics[0])
    if trend is None or trend.direction == "inconclusive":
        return ""
    said = trend_sentence(context, found.metrics[0], trend)
    said += tail_of(context, found.metrics[0], said)
    return context.say("health.against", said=said)


def _trend_text(context: Context, metric: str, fact: Fact, steps: list[int] | None = None) -> str:
    """A trend in words: its form, its levels, values lost to cuts, and what a large p-value beside it means."""
    texts = [trend_sentence(context, metric, fact, steps)]
    if phases(context, metric, steps) is not None:
        return texts[0]
    jumped = fact.form in {"shift", "bend", "ramp", "turn"}
    levels = {} if fact.form == "shift" or _ends_tell(context, metric, fact) else context.levels(metric, fact)
    if levels:
        texts.append(context.say("trend.moved", **levels))
    lost = sorted({g.step for g in context.run.missing if g.metric == metric and g.step in context.run.steps})
    if lost and len(lost) <= MOST_GAPS:
        for step in lost:
            context.ledger.missing(metric, step)
        texts.append(context.say("trend.gaps", steps=lost))
    texts += _not_finite_end(context, metric, fact, steps)
    if not jumped and fact.direction in {"rising", "falling"} and (fact.p_value or 0) >= 0.05:
        texts.append(context.say("trend.level"))
    if fact.direction == "fluctuating" and fact.form is None and in_order(context, metric, fact, steps) is None:
        texts += _says_little(context, metric, fact)
    return ("" if context.language == "zh" else " ").join(texts)


def _not_finite_end(context: Context, metric: str, fact: Fact, steps: list[int] | None) -> list[str]:
    """That the last of the values looked at are no finite numbers, which no trend tells."""
    gone, last = gone_since(context, metric), context.value(metric, fact.last_step or 0)
    cells = [step for step in context.run.series(metric)[0] if steps is None or step in steps]
    after = [step for step in cells if step > (fact.last_step or 0)]
    if gone is None or last is None or not after:
        return []
    first = context.value(metric, after[0])
    count = context.ledger.count("not_finite_end", len(after), metric=metric, last_step=after[-1])
    return [] if first is None else [context.say("trend.not_finite_end", count=count, first=first, last=last)]


def _ends_tell(context: Context, metric: str, fact: Fact) -> bool:
    """Whether the levels that the sentence names already go the way of the trend, so that medians add nothing."""
    if fact.form in {"ramp", "turn"}:
        return True
    way = {"rising": 1, "falling": -1}.get(fact.direction or "", 0)
    first, last = (context.value(metric, step or 0) for step in (fact.first_step, fact.last_step))
    return bool(way) and fact.form in {None, "slope"} and (number(last) - number(first)) * way > 0


def _says_little(context: Context, metric: str, fact: Fact) -> list[str]:
    """What a trend that was not found leaves possible: the change that would have drowned, and data seen but once."""
    texts = []
    ends = fact.first_step, fact.last_step
    if fact.low is not None and fact.high is not None and ends[0] is not None and ends[1] is not None:
        span = ends[1] - ends[0]
        low, high = (
            context.ledger.derived(
                f"possible_change_{name}/{metric}/{ends[0]}-{ends[1]}", bound * span, inputs=[fact],
                formula=f"{name} end of the slope's 95 % interval × {span} steps", run=context.run,
            )
            for name, bound in (("lower", fact.low), ("upper", fact.high))
        )  # fmt: skip
        kind = context.kind_of(metric)
        style = "points" if kind == "fraction" else kind
        shown = {name: context.doc.show(one, None, style) for name, one in (("low", low), ("high", high))}
        texts.append(context.say("trend.says_little", **shown))
    epoch = context.value("epoch", ends[1]) if ends[1] is not None else None
    if held_out(metric):  # the same data every time
        return texts
    if epoch is not None and isinstance(epoch.value, (int, float)) and 0 < epoch.value <= 1:
        texts.append(context.say("trend.first_epoch", epoch=epoch))
    return texts


def _trend_detail(context: Context, metric: str, code: str) -> None:
    doc, say = context.doc, context.say
    _values_table(context, metric)
    doc.paragraph(_outcome(context, [metric]))
    gone = departure(context, metric)
    if gone is not None:
        doc.bullets([say("finding.departure", at=gone.at, before=gone.before)])
    if code == "inconclusive" and not held_out(metric):
        least = context.ledger.constant("least_points", MIN_POINTS, "trend")
        doc.paragraph(say("trend.few_note", least=least))
    card = context.card(metric)
    if card is not None:
        doc.paragraph(context.gloss(metric))


def _values_table(context: Context, metric: str) -> None:
    """A few values of a metric, evenly picked, and the peak of a schedule."""
    doc, say = context.doc, context.say
    steps = [s for s in wanted_steps(context, metric) if context.run.value(metric, s) is not None]
    if len(steps) > MOST_VALUES:
        turning = phases(context, metric)
        spread = [steps[round(i * (len(steps) - 1) / (MOST_VALUES - 1))] for i in range(MOST_VALUES)]
        steps = sorted({*spread, *(f.step for f in turning or () if f.step in steps)})
    shown = steps
    rows = []
    for step in shown:
        fact = context.value(metric, step)
        if fact is not None:
            rows.append([doc.step(step), doc.show(fact)])
    if len(rows) > 1:
        doc.table([say("head.step"), key(metric)], rows)
