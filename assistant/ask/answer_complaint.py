"""What the log shows of what somebody states to be wrong ("reward does not increase"), then what may cause it.

The first sentence is about just the metric that is complained of: its values, its direction, and whether that is what
was stated. Complaints of the time, the memory or the run as a whole are told in :mod:`answer_complaint_run`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.analysis.checks import LOSS_GONE, Check
from assistant.analysis.diagnosis import role
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import answer_causes, answer_complaint_run, answer_supposed, answer_why, findings, run_questions
from assistant.ask.causes import keys_for, quantity_of
from assistant.ask.complaint_course import MAIN, TIMES, Course, course_of, ends
from assistant.ask.complaint_tellers import TELLERS, since
from assistant.ask.complaints import Complaint, clauses_of, complaints_in, merely_complains, sentences
from assistant.ask.confirmed import statement_in
from assistant.ask.context import Context, is_validation
from assistant.ask.departures import all_checks
from assistant.ask.parts import number
from assistant.ask.telling import course_table
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.model.answer import Intent
from assistant.write.document import unmark

#: The kind of question of an answer that holds what was stated against the log already.
KIND: Final = "complaint"
#: Share of responses at the limit from which truncation is named.
CUT: Final = 0.2
#: KL to the reference below which a policy has hardly moved.
MOVED: Final = 0.005
#: Longest text, in characters, that is one sentence which takes something for granted; from how many characters and
#: clauses on one is a story.
PREMISE: Final = 80
STORY: Final = 60
MOST_WHYS: Final = 3
#: So many rows are few.
FEW: Final = 12
CLAUSES: Final = 3
_BESIDE: Final = (
    "reward", "validation", "loss", "ref_kl", "grad_norm", "lr", "length", "truncated", "reward_std",
)  # fmt: skip
_WHY: Final = {"zh": "，为什么？", "en": ", why?"}
_WHY_ASKED: Final = re.compile(r"(?i)\bwhy\b|\bhow come\b|为(?:什么|啥|何)|原因")
_HELD_OUT: Final = re.compile(r"(?i)(?:^|[/_ ])(?:val|valid|validation|eval|test)(?:[/_ ]|$)")
#: Training against evaluation, named without a key.
_TWO_SIDES: Final = re.compile(
    r"(?i)训练[^,，]{0,12}[,，]?[^,，]{0,4}(?:验证|评测|测试)|\btrain\w*\b.{0,40}\b(?:eval\w*|val\w*|test)\b"
)
_SUCCESS: Final = re.compile(
    r"(?i)success|accuracy|(?:^|[/_])acc(?:$|[/_])|win_?rate|solved?(?:_rate)?$|pass[@_]|reward|score|return"
)
_MOST_ROWS: Final = 8


def attempt(context: Context) -> Verdict | None:
    """The answer to a complaint; ``None`` (nothing written) where the text is none or asks for more than help.

    What other writers know more of is left to them: a single value that is no number, whether the model learns, an
    evaluation's loss that rises, and any metric where another holds NaN.
    """
    if not context.runs or not merely_complains(context.query.said):
        return None
    found = complaints_in(context, context.query.said)
    if not found or (len(found) == 1 and _known_elsewhere(context, found[0])) or _left(context, found):
        return None
    return told(context, found)


_GRAVE: Final = ("critical", "warning")
#: "只有 9 个 token 正常吗": how a value that is named is judged, rather than which way it went.
_VALUED: Final = re.compile(
    r"(?i)(?:只有|才|仅有?|只剩|高达|多达|达到|大到|小到|低到|高到)了?"
    r"\s*-?\d[^,，。?]{0,16}(?:正常|合理|健康|对)(?:吗|么|不|嘛)"
    r"|\b(?:only|just|as (?:high|low|large|small) as|of|at|around|about)"
    r"\s+-?\d[^?.]{0,30}\b(?:normal|ok(?:ay)?|expected"
    r"|healthy|reasonable|too (?:low|high|short|long))\b"
)


def _left(context: Context, found: Sequence[Complaint]) -> bool:
    """Whether others tell one short sentence better: a value taken for granted that the log denies, how large a value
    is, one side that rises while the other falls."""
    said = context.query.said.strip()
    if "\n" in said or len(said) > PREMISE:
        return False
    if context.query.steps.kind in {"single", "pair"} and _WHY_ASKED.search(said) and all(one.metrics for one in found):
        return True  # why it moved there, and not over the whole log
    put = statement_in(normalised(said))
    if put is not None and not put.taken and len(put.clauses) > 1:  # "…, so the step got longer, right?"
        return True
    states = {one.state for one in found}
    large = states <= {"high", "low"} and all(one.metrics for one in found)
    held_out = any(is_validation(key) or _HELD_OUT.search(key) for one in found for key in one.metrics)
    apart = {"rising", "falling"} & states and (held_out or _TWO_SIDES.search(said) is not None)
    valued = context.query.intent == "health" and _VALUED.search(said) is not None
    return large or bool(apart) or valued or answer_supposed.denied(context)


def _known_elsewhere(context: Context, complaint: Complaint) -> bool:
    if complaint.state == "not_finite" or "learning" in context.query.topics:
        return True
    if complaint.state == "rising" and any(_HELD_OUT.search(key) for key in complaint.metrics):
        return True
    run = context.run
    return bool(complaint.metrics) and any(not math.isfinite(v) for key in run.metrics for v in run.series(key)[1])


def at_once(context: Context) -> Verdict | None:
    """The answer to complaints that others would be taken for: values that are no numbers and what follows them ("the
    reward becomes 0"), a jump, for which a log may be too short to call it a spike, and what does not move as wanted.
    """
    if not context.runs or run_questions.asks("around", context.query):
        return None
    if not merely_complains(context.query.said):
        return _why_at_once(context)
    found = complaints_in(context, context.query.said)
    if not found or (len(found) == 1 and _known_elsewhere(context, found[0])):
        return None
    if _at_a_step(context, found):
        context.query = replace(context.query, intent="explain", op=None, asked_op=None)
        return answer_why.premise(context)
    story = _is_story(context, found)
    if not story and _left(context, found):
        return None
    broken = len(found) > 1 and any(one.state == "not_finite" for one in found)
    at_once = story or broken or found[0].state in {"spike", "not_rising", "not_falling"}
    return told(context, found) if at_once or _went_to_zero(context, found[0]) else None


_MOVES: Final = frozenset({"spike", "rising", "falling"})


def _at_a_step(context: Context, found: Sequence[Complaint]) -> bool:
    """Whether one move of one metric at one step is complained of, which is held against that step."""
    slot, first = context.query.steps, found[0]
    if slot.kind != "single" or len(found) != 1 or first.state not in _MOVES or first.since is not None:
        return False
    steps = context.run.series(first.metrics[0])[0] if len(first.metrics) == 1 else []
    return len(context.query.said) <= PREMISE and "\n" not in context.query.said and slot.values[0] in list(steps)[1:]


def _why_at_once(context: Context) -> Verdict | None:
    """The answer to why a metric became zero, or went one way over the few rows of a paste, too few to test a trend."""
    said = context.query.said
    why = _WHY_ASKED.search(said)
    if len(context.runs) != 1 or why is None:
        return None
    found = complaints_in(context, said[why.start() :]) or complaints_in(context, said)
    if not found or not found[0].metrics or _known_elsewhere(context, found[0]):
        return None
    course = course_of(context, found[0].metrics[0])
    begins = found[0].since if found[0].state in {"rising", "falling"} else None
    if course is not None and begins is not None and since(context, course, found[0].state, begins, "") is not None:
        return told(context, found[:MOST_WHYS])
    if context.query.steps.kind in {"single", "pair"} or _left(context, found):
        return None
    way = {"rising": "up", "falling": "down"}.get(found[0].state)
    few = course is not None and len(course.facts) <= FEW and course.way == way and _steady(context, course)
    return told(context, found[:MOST_WHYS]) if few or _went_to_zero(context, found[0]) else None


def _steady(context: Context, course: Course) -> bool:
    """Whether a metric's trend over these rows is not established, so that others would deny it."""
    trend = context.ledger.trend(course.metric)
    return trend is None or trend.direction not in {"rising", "falling"}


def _went_to_zero(context: Context, complaint: Complaint) -> bool:
    """Whether what is said to be zero was not so at first, and is from some step on."""
    if complaint.state not in {"zero", "falling"} or not complaint.metrics:
        return False
    values = [value for value in context.run.series(complaint.metrics[0])[1] if math.isfinite(value)]
    nought = [place for place, value in enumerate(values) if not value]
    lasting = len(nought) > 1 and nought == list(range(nought[0], len(values)))
    return lasting and nought[0] > 1 and all(values[: nought[0]])


def _is_story(context: Context, found: Sequence[Complaint]) -> bool:
    """Whether a text tells more than what it complains of, so that its numbers and names would mislead others, or
    calls the metric by a name that the log does not have."""
    said = context.query.said
    long = len(said) > STORY and sum(len(clauses_of(one)) for one in sentences(said)) >= CLAUSES
    named = {key for mention in context.query.mentions if (key := mention.key) is not None}
    lost = any(mention.key not in context.run.columns for mention in context.query.mentions)
    return bool(found[0].metrics) and (long or (lost and not named & set(found[0].metrics)))


def unexplained(context: Context) -> Verdict | None:
    """What the log shows of what a "why" states, where none of the causes known is asked for; ``None`` for no "why"."""
    said = context.query.said
    if (
        len(context.runs) != 1
        or not _WHY_ASKED.search(said)
        or (context.query.steps.kind in {"single", "pair"} and len(context.run.distinct_steps) > 1)
    ):
        return None
    found = complaints_in(context, said)
    timed = bool(found) and found[0].matter == "time" and "slowdown" not in context.query.topics
    learns = bool(found) and found[0].state == "not_rising" and found[0].matter == "effect"
    if learns and all(map(math.isfinite, _values_of_effect(context))):  # "why does it learn nothing": the causes
        return told(context, found[:1])
    if not found or _known_elsewhere(context, found[0]) or not (found[0].metrics or timed) or found[0].state == "still":
        return None
    lowly = found[0].state == "low" and any(_is_success(context, name) for name in found[0].metrics)
    if _left(context, found) and not lowly:
        return None
    return told(context, found[: MOST_WHYS if lowly else 1])


def _values_of_effect(context: Context) -> list[float]:
    return [value for name in _of_effect(context) for value in context.run.series(name)[1]]


def _is_success(context: Context, name: str) -> bool:
    """Whether a metric measures what a training achieves."""
    return quantity_of(context.run, name) in {"reward", "accuracy_reward"} or is_validation(name)


def told(context: Context, found: Sequence[Complaint]) -> Verdict | None:
    """What the log shows of complaints, the first of them first."""
    if not found:
        return None
    first = next((one for one in found if one.state == "not_finite"), found[0])
    known = set() if first.metrics or first.matter != "effect" else set(_of_effect(context))
    others = [
        replace(one, metrics=tuple(key for key in one.metrics if key not in known)) for one in found if one is not first
    ]
    gone = _went_to_zero(context, first)
    causal = first.state in {"zero", "still", "negative"} and not gone
    if causal and first.metrics and not any(one.state == "not_finite" for one in found):
        verdict = _by_cause(context)
        if verdict is not None:
            return verdict
    lead = _lead(context, replace(first, state="zero") if gone else first)
    if (
        lead is not None
        and gone
        and (
            moved := answer_complaint_run.before_zero(
                context, first.metrics[0], scored=_is_success(context, first.metrics[0])
            )
        )
    ):
        lead += ("" if context.language == "zh" else " ") + moved
    if lead is None:
        return None
    beside = [text for one in others if (text := _beside(context, one, first)) is not None]
    blank = "" if context.language == "zh" else " "
    context.doc.paragraph(blank.join([f"**{lead}**", *beside]))
    _reasons(context, first)
    _table(context, found)
    context.settled, context.kind = True, KIND
    asked = context.query.intent
    kept: Intent = asked if asked in {"advice", "bottleneck"} else "health"
    context.query = replace(context.query, intent=kept, op=None, asked_op=None, threshold=None)
    odd = first.state == "not_finite" and "NaN" in lead
    grave = findings.told(context, _of_the_metric(context, first)[:1])
    context.doc.bullets([one.whole(context.language) for one in grave])
    worst = grave[0].check.severity if grave else "warning" if odd else "insufficient_data"
    return Verdict(worst, unmark(lead), "medium")


def _of_the_metric(context: Context, complaint: Complaint) -> list[Check]:
    """What rules say of the metrics that somebody complains of, the gravest first."""
    grave = [c for c in all_checks(context) if c.severity in _GRAVE and set(c.metrics) & set(complaint.metrics)]
    return sorted(grave, key=lambda c: _GRAVE.index(c.severity))


def _by_cause(context: Context) -> Verdict | None:
    """A metric that stands at zero, or is negative, is told by its cause, as for "why is it zero"."""
    whole = context.query
    context.query = replace(whole, text=whole.text.rstrip(" .。!！,，?？") + _WHY[context.language])
    verdict = answer_causes.attempt(context)
    context.query = replace(context.query, text=whole.text)
    if verdict is None:
        context.query = whole
    return verdict


def _beside(context: Context, complaint: Complaint, first: Complaint) -> str | None:
    """The sentence on a further complaint; ``None`` where the first one's says it too."""
    told_already = first.state == "not_finite" and complaint.state in {"zero", "not_finite", "garbled"}
    if told_already or (not complaint.metrics and complaint.matter != "effect"):
        return None
    lead = _lead(context, complaint, so="")
    return None if lead is None else context.say("complaint.beside", told=lead)


def _lead(context: Context, complaint: Complaint, *, so: str | None = None) -> str | None:
    """The sentence on one complaint; ``so``: what stands before what is as stated."""
    if complaint.state == "not_finite":
        return answer_complaint_run.not_finite(context, complaint.metrics)
    if complaint.matter == "memory":
        return answer_complaint_run.memory(context)
    if complaint.state in {"slow", "slower", "standstill"} or complaint.matter == "time":
        return answer_complaint_run.time(context, complaint)
    if complaint.matter == "run":
        return answer_complaint_run.whole(context, garbled=complaint.state == "garbled")
    metrics = complaint.metrics or _of_effect(context)
    if not metrics:
        listed = context.join(f"`{name}`" for name in context.run.metrics[:_MOST_ROWS])
        return context.say("complaint.absent", listed=listed)
    blank = "" if context.language == "zh" else " "
    texts = list[str]()
    for name in metrics[:2]:
        before = "" if texts else context.say("complaint.so") + blank if so is None else so
        text = _of_metric(context, name, complaint, before)
        texts += [text] if text is not None else []
    return blank.join(texts) if texts else None


def _of_effect(context: Context) -> tuple[str, ...]:
    """The metrics that measure what a training achieves: of validation, then the reward, else the loss."""
    held = [key for name in ("validation", "reward") for key in keys_for(context.run, name)[:1]]
    named = [key for key in context.run.metrics if _SUCCESS.search(key)]
    return tuple(held or named[:1] or keys_for(context.run, "loss")[:1])


def _of_metric(context: Context, metric: str, complaint: Complaint, so: str) -> str | None:
    """The sentence on a metric that is said to be in a state."""
    metric = next((name for name in (f"{metric}_mean",) if name in context.run.columns), metric)  # the running mean
    whole = course_of(context, metric)
    if whole is None:
        steps = context.run.series(metric)[0]
        if not steps:
            return None
        count = context.ledger.count("values", len(steps), metric=metric)
        return context.say("complaint.none_finite", metric=metric, n=count, steps=context.doc.show(steps[:8]))
    context.metrics.append(metric)
    if len(whole.facts) == 1:
        phrase = "complaint.level_one" if complaint.state in {"low", "high", "zero"} else "complaint.one"
        return context.say(phrase, metric=metric, a=whole.facts[0]) + _highest(context, metric, complaint)
    gone = [check for check in all_checks(context) if check.rule == LOSS_GONE and metric in check.metrics]
    if gone:  # whatever it is said to do: from there on its values are none of learning
        return findings.told(context, gone[:1])[0].sentence
    if complaint.since is not None:
        text = since(context, whole, complaint.state, complaint.since, so)
        if text is not None:
            return text
    aimless = complaint.state == "not_falling" and complaint.matter == "effect" and _is_success(context, metric)
    return TELLERS["not_rising" if aimless else complaint.state](context, whole, so)


def _highest(context: Context, metric: str, complaint: Complaint) -> str:
    """The largest single value beside a mean that is said to be high; empty for none."""
    key = re.sub(r"mean$", "max", metric)
    held = course_of(context, key) if key != metric and key in context.run.columns else None
    if held is None or complaint.state not in {"rising", "spike", "high", "unstable"}:
        return ""
    return ("" if context.language == "zh" else " ") + context.say("complaint.highest", metric=key, a=held.facts[0])


# -- what may cause it -------------------------------------------------------------------------------------------------
def _reasons(context: Context, complaint: Complaint) -> None:
    """What the log shows of the usual causes of a reward that does not rise, or a loss that does not fall."""
    if complaint.state not in {"not_rising", "still", "low", "not_falling", "turning", "falling"}:
        return
    metrics = complaint.metrics or (_of_effect(context) if complaint.matter == "effect" else ())
    of_reward = any(_is_success(context, name) for name in metrics[:2])
    weighed = [line for name in metrics[:1] if of_reward for line in answer_causes.weighed_flat(context, name)]
    truncation = keys_for(context.run, "truncated")[:1]
    told_cut = bool(truncation) and any(f"`{truncation[0]}`" in line for line in weighed)
    more = _of_reward(context, cut=not told_cut) if of_reward else ()
    lines = [line for line in (_warm_up(context), *weighed, *more) if line]
    if lines:
        context.doc.paragraph(context.say("complaint.causes"))
        context.doc.bullets(lines)
    if metrics:
        points = course_of(context, metrics[0])
        if points is not None and 1 < len(points.facts) < MIN_POINTS:
            count = context.ledger.count("values", len(points.facts), metric=metrics[0])
            context.doc.paragraph(context.say("complaint.few", n=count))


def _of_reward(context: Context, *, cut: bool) -> list[str]:
    say, run, found = context.say, context.run, list[str]()
    shares = [course for name in keys_for(run, "truncated")[:1] if (course := course_of(context, name)) is not None]
    for course in shares if cut else ():
        last = course.facts[-1]
        if number(last) >= CUT:
            shown = context.doc.show(last, None, "fraction")
            found.append(say("complaint.cut", metric=course.metric, v=shown, step=last.step))
    grad, kl = (
        next((course for name in keys_for(run, what)[:1] if (course := course_of(context, name)) is not None), None)
        for what in ("grad_norm", "ref_kl")
    )
    if grad is not None and kl is not None and number(grad.low) > 0:
        texts = {
            name: say("complaint.run_end", metric=course.metric, ends=ends(context, course))
            for name, course in (("grad", grad), ("kl", kl))
        }
        small = len(kl.facts) > 1 and 0 <= number(kl.high) < MOVED
        found.append(say("complaint.update_small" if small else "complaint.update_there", **texts))
    entropy = role(run, "policy_entropy")
    if entropy is not None and entropy.spelling.plain:
        course = course_of(context, entropy.metrics[0])
        if course is not None and course.way == "down" and number(course.facts[-1]) < MAIN * number(course.facts[0]):
            found.append(say("complaint.entropy_gone", metric=course.metric, a=course.facts[0], b=course.facts[-1]))
    return found


def _warm_up(context: Context) -> str:
    rates = [course for name in keys_for(context.run, "lr")[:1] if (course := course_of(context, name)) is not None]
    for rate in rates:
        if rate.way == "up" and number(rate.facts[-1]) > TIMES * number(rate.facts[0]):
            return context.say("complaint.warm_up", metric=rate.metric, ends=ends(context, rate))
    return ""


def _table(context: Context, found: Sequence[Complaint]) -> None:
    """The metrics complained of and those that tell how the run stands, from where to where."""
    named = [key for one in found for key in one.metrics]
    vital = [key for name in _BESIDE for key in keys_for(context.run, name)[:1]]
    entropy = role(context.run, "policy_entropy")
    more = list(entropy.metrics[:1]) if entropy is not None and entropy.spelling.plain else []
    course_table(context, list(dict.fromkeys([*named, *vital, *more]))[:_MOST_ROWS])


__all__ = ["KIND", "at_once", "attempt", "told", "unexplained"]
