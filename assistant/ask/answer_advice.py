"""Advice: only where a rule fires, by its card; with what the log shows of the metrics that the question is about."""

from __future__ import annotations

import math
import re

from assistant.analysis.checks import covered
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import outcomes
from assistant.ask.advice_supposed import supposed
from assistant.ask.answer_single import progress, tail_of
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.epochs import EPOCH_KEYS
from assistant.ask.findings import Told, remedy, told
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import number, timed
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

#: Findings for which measures are quoted.
MOST_ADVISED = 2
#: Fewest training steps in which learning would be seen.
LEAST_LEARNING = 20


def advice(context: Context) -> Verdict:
    """Advice only where a rule fires: its card's measures in their order, with what else it may be and the risk.

    Nothing follows from one step's movement.
    """
    doc, say = context.doc, context.say
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    checks = [c for c in all_checks(context, context.train_steps or [last]) if c.severity in {"critical", "warning"}]
    named = [metric for metric in central(named_keys(context)) if metric not in EPOCH_KEYS]
    checks.sort(key=lambda c: not set(c.metrics) & set(named))  # what the question is about comes first
    findings = told(context, checks[:MOST_ADVISED])
    faster = _faster(context, findings, last)
    about = [] if faster else _about_named(context, named)
    unlearnt = False
    case = supposed(context, named, hypothetical=hypothetical(context.query.said))
    if findings:
        summary = say(f"advice.{_word(context, findings)}", first=findings[0].sentence) + _checkpoint(context)
        summary = f"{faster}{'' if context.language == 'zh' or not faster else ' '}{summary}"
    else:  # what is asked about comes first; that nothing speaks for a change is no answer by itself
        lead = case or faster or _no_stop(context) or _checkpoint(context).strip() or (about.pop(0) if about else "")
        gap = "" if context.language == "zh" or not lead else " "
        unlearnt = not lead and not named and _unlearnt(context)
        none = "advice.none_flat" if unlearnt else "advice.none"
        summary = lead + gap + say(none if covered(context.run) else "advice.none_unjudged")
    doc.paragraph(f"**{summary}**")
    if unlearnt:
        doc.paragraph(say("advice.flat_next"))
    if findings and case:
        doc.paragraph(case)
    if hypothetical(context.query.said):
        doc.paragraph(say("advice.hypothetical"))
    doc.bullets(about)
    for place, one in enumerate(findings):
        doc.bullets([one.line if place == 0 else one.whole(context.language)])
        measures = remedy(context, one)
        if measures:
            doc.paragraph(measures)
            doc.paragraph(_kl_on(context, one))
            doc.paragraph(context.quote(one.card, "not") if one.card is not None else "")
    open_points = [] if findings else _open_points(context, timed_already=bool(faster or case) or unlearnt)
    doc.bullets([*_outcomes(context, named), *open_points])
    for metric in named[:2] if not findings and not case else []:
        card = context.card(metric)
        if card is not None:
            doc.paragraph(context.quote(card, "read"))
    if not findings:
        doc.paragraph(say("advice.condition"))
    context.metrics.extend(named)
    worst = next((s for s in ("critical", "warning") if any(c.severity == s for c in checks)), None)
    enough = len(context.train_steps) >= MIN_POINTS and covered(context.run)
    return Verdict(worst or ("healthy" if enough else "insufficient_data"), unmark(summary), "medium")


def _kl_on(context: Context, found: Told) -> str:
    """That the KL term a card may speak of adding is on already, where the log shows it."""
    if found.card is None or found.card.id not in _ON_KL:
        return ""
    metric = context.setting_of("printed")
    steps = context.run.series(metric)[0] if metric in context.run.columns else []
    coefficient = context.run.series("actor/kl_coef")[1] if metric in context.run.columns else []
    if not steps or not metric or (coefficient and not any(coefficient)):
        return ""
    return context.say("advice.kl_on", metric=metric, setting=context.setting_of("kl"))


#: Cards that speak of a KL constraint.
_ON_KL = frozenset({"failure/reference-drift", "failure/reward-hacking", "failure/overfitting"})


#: What a question asks about, and the rules that speak for doing it.
_ASKED = {
    "stop": (
        re.compile(r"(?i)早停|停(?!滞)|继续|接着(?:跑|训)|\b(?:stop|kill|continue|abort)|keep (?:going|training)"),
        re.compile(
            r"not_finite|reward_hacking|policy_breakdown|gradients_explode|entropy_explosion|held_out_loss_rises"
            r"|loss_(?:divergence|regained|above_start)|constant_score|validation_falling|token_accuracy_lost"
        ),
    ),
    "longer": (
        re.compile(
            r"(?i)(?:放宽|加大|调大|提高|增大|加长|raise|increase|allow|longer|bigger|larger).{0,20}(?:len|长度|上限|token|response)"
            r"|(?:长度|上限|length|tokens?).{0,10}(?:放宽|加大|调大|提高|不够|调高)"
        ),
        re.compile(r"truncation"),
    ),
}  # fmt: skip
#: Rules that speak against it, whatever speaks for it: answers that count as cut off without being so.
_AGAINST = {"longer": re.compile(r"eos_misconfigured")}
_CHECKPOINT = re.compile(
    r"(?i)\bstop(?:ped|ping)?\b|[该要]停|停不停|存档|检查点|checkpoint|ckpt|早停|回退|回滚|early[- ]stop|roll ?back"
    r"|\b(?:number of|how many|which) epochs?\b"
    r"|(?:多少|几|哪)(?:个)? ?(?:epoch|轮)"
)


def _word(context: Context, findings: list[Told]) -> str:
    """With which words the first finding answers what is asked: yes to it, or that something else comes first."""
    for name, (asked, rules) in _ASKED.items():
        if asked.search(context.query.said):
            against = _AGAINST.get(name)
            other = next((one for one in findings if against is not None and against.search(one.check.rule)), None)
            if other is not None:
                findings.sort(key=lambda one: one is not other)
                return f"no_{name}"
            first = next((one for one in findings if rules.search(one.check.rule)), None)
            if first is None:
                return f"not_yet_{name}" if name == "stop" else "some"
            findings.remove(first)
            findings.insert(0, first)
            return name
    return "some"


_KEPT = re.compile(r"(?i)存档|检查点|checkpoint|ckpt|回退|回滚|roll ?back|\bepochs?\b|轮")


def _no_stop(context: Context) -> str:
    """That nothing speaks for stopping, where that is asked, no rule fires and validation does not get worse."""
    text = context.query.said
    if not _ASKED["stop"][0].search(text) or _KEPT.search(text) or not covered(context.run):
        return ""
    if len(context.train_steps) < MIN_POINTS:
        return context.say("advice.stop_few", n=context.ledger.count("training_steps", len(context.train_steps)))
    found = outcomes.validated(context.run)
    trend = None if found is None or not found.spelling.plain else context.ledger.trend(found.metrics[0])
    worse = "rising" if found is not None and outcomes.is_loss(found) else "falling"
    return "" if trend is not None and trend.direction == worse else context.say("advice.no_stop")


def _checkpoint(context: Context) -> str:
    """Which checkpoint validation speaks for, where the question is about stopping or which to keep."""
    if not _CHECKPOINT.search(context.query.said):
        return ""
    found = outcomes.validated(context.run)
    if found is None or not found.spelling.plain:
        return ""
    metric = found.metrics[0]
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(held) < 2:
        return ""
    lower = outcomes.is_loss(found)
    best = (min if lower else max)(held, key=number)
    if best is held[-1]:
        return ""
    side = "lowest" if lower else "highest"
    return " " + context.say(f"advice.checkpoint_{side}", metric=metric, best=best, last=held[-1])


_IF = re.compile(
    r"(?i)如果|假如|假设|要是|万一|会怎(?:么)?样|会如何|\bif\b|\bsuppose\b|what would happen|hypothetical"
    r"|[把将][^,，。?]{1,24}?(?:加|调|降|升|改|提|减|设|换)[大小高低]?[到成为至]"
)


#: A fall or a rise that a question takes as having happened.
FELL = re.compile(
    r"(?i)(?:跌|掉|降|下降|变差|变低|变小|变短|减少|崩|塌)(?:了|到|至)|(?:一直|在)(?:跌|掉|降|下降)"
    r"|\b(?:dropped|fell|fallen|declined|collapsed|(?:is|are|keeps) (?:falling|dropping|decreasing"
    r"|declining)|went down)\b"
)
ROSE = re.compile(
    r"(?i)(?:涨|升|上升|增加|变大|变长|变高|爆|飙)(?:了|到|至)|(?:一直|在)(?:涨|升|上升)"
    r"|\b(?:rose|risen|increased|exploded|spiked|grew|(?:is|are|keeps) (?:rising|increasing|growing"
    r"|exploding)|went up)\b"
)


def hypothetical(text: str) -> bool:
    """Whether a question supposes something, so that the log need not show it."""
    return _IF.search(text) is not None


def clause_of(context: Context, metric: str) -> str:
    """The clause of a question that names a metric; all of the question where several do, or none."""
    said = context.query.said
    named = [mention.text for mention in context.query.mentions if mention.key == metric]
    held = [one for one in _SEAM.split(said) if any(name and name in one for name in named)]
    return held[0] if len(held) == 1 else said


_SEAM = re.compile(r"[,，;；。?？]")


def _about_named(context: Context, named: list[str]) -> list[str]:
    """What the log shows of each metric that the question is about: its course, extremes and latest value."""
    lines = []
    for metric in named[:3]:
        trend = context.ledger.trend(metric)
        if trend is None:
            continue
        sentence = trend_sentence(context, metric, trend)
        said = clause_of(context, metric)
        asserted = "down" if FELL.search(said) else "up" if ROSE.search(said) else None
        other_way = {"down": "rising", "up": "falling"}.get(asserted or "")
        if asserted and trend.direction == other_way and not hypothetical(context.query.said):
            word = context.say(f"premise.word_{asserted}")
            sentence = context.say("premise.no_such_trend", metric=metric, word=word, trend=sentence)
        lines.append(sentence + tail_of(context, metric, sentence))
    return lines


def _outcomes(context: Context, named: list[str]) -> list[str]:
    """How validation (else the held-out loss) and the training outcome moved: what speaks for going on or stopping."""
    lines = []
    for found in (outcomes.validated(context.run), outcomes.trained(context.run)):
        if found is None or not found.spelling.plain or found.metrics[0] in named:
            continue
        metric = found.metrics[0]
        trend = context.ledger.trend(metric)
        if trend is not None:
            _, sentence = progress(context, metric, trend)
            lines.append(sentence + tail_of(context, metric, sentence))
            context.cite(context.card(metric))
    return lines


def _unlearnt(context: Context) -> bool:
    """Whether neither validation nor the training outcome got better, over enough of both to see it."""
    if not covered(context.run) or len(context.train_steps) < LEAST_LEARNING:
        return False
    for found in (outcomes.validated(context.run), outcomes.trained(context.run)):
        trend = None if found is None or not found.spelling.plain else context.ledger.trend(found.metrics[0])
        if found is None or trend is None or progress(context, found.metrics[0], trend)[0] != "flat":
            return False
    return True


#: Asks how the steps could take less time.
_FASTER = re.compile(
    r"(?i)\b(?:faster|quicker|speed(?:ing)? (?:it |this |them |things |the \w+ )?up|speed up|less time|shorter steps)\b"
    r"|(?:提速|加速|快一?点|更快|缩短|省时间|跑快)"
)
_TIMES = ("timing", "time/", "step_time", "perf/time", "scheduler/", "system/tps", "perf/throughput")


def _faster(context: Context, findings: list[Told], step: int) -> str:
    """Where most time is to be gained, if that is asked and no finding is about time."""
    if not _FASTER.search(context.query.said):
        return ""
    if any(metric.startswith(_TIMES) for one in findings for metric in one.check.metrics):
        return ""
    times = timed(context, step)
    if times is None:
        return ""
    first = times.shares[0]
    return context.say("advice.time", share=first, stage=key(str(first.name)))


def _open_points(context: Context, *, timed_already: bool = False) -> list[str]:
    """Where nothing fires: what is missing to judge the run, which is what may be worth doing."""
    say, lines = context.say, []
    validated = outcomes.validated(context.run)
    if validated is None:
        lines.append(say("advice.no_validation", validate=context.setting("validate", "setting.named")))
    elif len(validated) < 2 and len(context.validation_steps) < 2:
        lines.append(say("advice.one_validation"))
    if len(context.train_steps) < MIN_POINTS:
        lines.append(outcomes.trend_hint(context))
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    times = None if timed_already else timed(context, last)
    if times is not None:
        first = times.shares[0]
        lines.append(say("advice.time", share=first, stage=key(str(first.name))))
    return lines
