"""What the log shows of what somebody states to be wrong ("reward does not increase"), then what may cause it.

The first sentence is about just the metric that is complained of: its values, its direction, and whether that is what
was stated. Complaints of the time, the memory or the run as a whole are told in :mod:`answer_complaint_run`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.analysis.checks import LOSS_GONE
from assistant.analysis.diagnosis import role
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import answer_causes, answer_complaint_run, answer_supposed, findings
from assistant.ask.causes import keys_for, quantity_of
from assistant.ask.complaint_course import MAIN, STILL, TIMES, Course, course_of, ends, times
from assistant.ask.complaints import Complaint, complaints_in, merely_complains
from assistant.ask.context import Context, is_validation
from assistant.ask.departures import all_checks
from assistant.ask.parts import number
from assistant.ask.telling import course_table
from assistant.model import Verdict
from assistant.model.answer import Intent
from assistant.write.document import unmark

#: The kind of question of an answer that holds what was stated against the log already.
KIND: Final = "complaint"
#: How often larger than the usual move a jump is, and how near to the level before it counts as back.
JUMP: Final = 3.0
BACK: Final = 0.1
#: Share of responses at the limit from which truncation is named.
CUT: Final = 0.2
#: KL to the reference below which a policy has hardly moved.
MOVED: Final = 0.005
#: Longest text, in characters, that is one sentence which takes something for granted.
PREMISE: Final = 80
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
    is, a course since some step, one side that rises while the other falls."""
    said = context.query.said.strip()
    if "\n" in said or len(said) > PREMISE:
        return False
    states = {one.state for one in found}
    large = states <= {"high", "low"} and all(one.metrics for one in found)
    held_out = any(is_validation(key) or _HELD_OUT.search(key) for one in found for key in one.metrics)
    apart = {"rising", "falling"} & states and (held_out or _TWO_SIDES.search(said) is not None)
    since = found[0].since is not None and states <= {"rising", "falling"}
    valued = context.query.intent == "health" and _VALUED.search(said) is not None
    return large or bool(apart) or since or valued or answer_supposed.denied(context)


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
    if not context.runs or not merely_complains(context.query.said):
        return None
    found = complaints_in(context, context.query.said)
    if not found or (len(found) == 1 and _known_elsewhere(context, found[0])) or _left(context, found):
        return None
    broken = len(found) > 1 and any(one.state == "not_finite" for one in found)
    return told(context, found) if broken or found[0].state in {"spike", "not_rising", "not_falling"} else None


def unexplained(context: Context) -> Verdict | None:
    """What the log shows of what a "why" states, where none of the causes known is asked for; ``None`` for no "why"."""
    said = context.query.said
    if len(context.runs) != 1 or not _WHY_ASKED.search(said) or context.query.steps.kind in {"single", "pair"}:
        return None
    found = complaints_in(context, said)
    timed = bool(found) and found[0].matter == "time" and "slowdown" not in context.query.topics
    if not found or _known_elsewhere(context, found[0]) or not (found[0].metrics or timed) or found[0].state == "still":
        return None
    if _left(context, found):
        return None
    return told(context, found[:1])


def told(context: Context, found: Sequence[Complaint]) -> Verdict | None:
    """What the log shows of complaints, the first of them first."""
    if not found:
        return None
    first = next((one for one in found if one.state == "not_finite"), found[0])
    others = [one for one in found if one is not first]
    causal = first.state in {"zero", "still"}
    if causal and first.metrics and not any(one.state == "not_finite" for one in found):
        verdict = _by_cause(context)
        if verdict is not None:
            return verdict
    lead = _lead(context, first)
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
    return Verdict("warning" if odd else "insufficient_data", unmark(lead), "medium")


def _by_cause(context: Context) -> Verdict | None:
    """A metric that stands at zero is told by its cause, as for "why is it zero"."""
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
        return context.say(phrase, metric=metric, a=whole.facts[0])
    gone = [check for check in all_checks(context) if check.rule == LOSS_GONE and metric in check.metrics]
    if gone:  # whatever it is said to do: from there on its values are none of learning
        return findings.told(context, gone[:1])[0].sentence
    if complaint.since is not None and complaint.state in {"not_rising", "still"}:
        text = _since(context, whole, complaint.since, so)
        if text is not None:
            return text
    return _TELLERS[complaint.state](context, whole, so)


def _values(context: Context, course: Course) -> dict[str, object]:
    count = context.ledger.count("values", len(course.facts), metric=course.metric)
    first, last = course.facts[0], course.facts[-1]
    return {
        "metric": course.metric, "n": count, "low": course.low, "high": course.high, "a": first, "b": last,
        "ends": ends(context, course), "times": times(context, first, last),
    }  # fmt: skip


def _say(context: Context, phrase: str, course: Course, so: str, **more: object) -> str:
    return context.say(f"complaint.{phrase}", **{**_values(context, course), "so": so, **more})


def _not_rising(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if course.way == "up" and number(course.facts[-1]) - number(course.facts[0]) > _little(course):
        return _say(context, "not_rising_denied", course, so)
    return _say(
        context, "not_rising_falls" if course.way == "down" and not _is_still(course) else "not_rising", course, so
    )


def _not_falling(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if course.way == "down":
        first, last = number(course.facts[0]), number(course.facts[-1])
        if first > 0:
            share = context.ledger.derived(
                f"fall of {course.metric}", (first - last) / first, inputs=[course.facts[0], course.facts[-1]],
                unit="fraction", formula="(first − last) / first",
            )  # fmt: skip
            return _say(context, "not_falling_denied", course, so, share=context.doc.show(share, None, "fraction"))
    return _say(
        context, "not_falling_rises" if course.way == "up" and not _is_still(course) else "not_falling", course, so
    )


def _little(course: Course) -> float:
    return STILL * max(abs(number(course.low)), abs(number(course.high)))


def _is_still(course: Course) -> bool:
    return course.range <= _little(course)


def _still(context: Context, course: Course, so: str) -> str:
    if course.way == "same":
        return _say(context, "same", course, so)
    if _is_still(course):
        return _say(context, "still", course, so)
    return _say(context, {"up": "not_rising_denied", "down": "falling"}.get(course.way, "back_and_forth"), course, so)


def _rising(context: Context, course: Course, so: str) -> str:
    if course.way == "up":
        return _say(context, "rising", course, so)
    risen = number(course.facts[-1]) - number(course.low)
    if course.way == "mixed" and not _is_still(course) and risen >= MAIN * course.range:
        return _say(context, "rising_from", course, so, times=times(context, course.low, course.facts[-1]))
    return _say(context, "rising_denied", course, so)


def _falling(context: Context, course: Course, so: str) -> str:
    if course.way == "down":
        return _say(context, "falling", course, so, times="")
    fallen = number(course.high) - number(course.facts[-1])
    if course.way != "same" and not _is_still(course) and fallen >= MAIN * course.range:
        return _say(context, "falling_from", course, so, times="")
    return _say(context, "falling_denied", course, so)


def _turning(context: Context, course: Course, so: str) -> str:
    inside = course.high not in {course.facts[0], course.facts[-1]}
    fallen = number(course.high) - number(course.facts[-1])
    if inside and fallen >= MAIN / 2 * course.range:
        return _say(context, "turning", course, so)
    return _rising(context, course, so) if course.way == "up" else _falling(context, course, so)


def _spike(context: Context, course: Course, so: str) -> str:
    facts = course.facts
    moves = [(abs(number(b) - number(a)), place) for place, (a, b) in enumerate(pairwise(facts))]
    largest, place = max(moves)
    others = sorted(size for size, at in moves if at != place)
    usual = others[len(others) // 2] if others else 0.0
    if largest <= _little(course) or (len(facts) > 2 and largest < JUMP * usual):
        return _say(context, "spike_none", course, so)
    before, after = facts[place], facts[place + 1]
    if after is facts[-1]:
        return _say(context, "spike_last", course, so, before=before, after=after)
    left = abs(number(facts[-1]) - number(before)) / largest
    back = "back_there" if left <= BACK else "back_part" if left < 1 - BACK else "back_not"
    return _say(context, "spike", course, so, before=before, after=after, back=context.say(f"complaint.{back}"))


def _unstable(context: Context, course: Course, so: str) -> str:
    return _say(context, "still" if _is_still(course) else "back_and_forth", course, so)


def _level(context: Context, course: Course, so: str) -> str:
    if course.way in {"up", "down"} and not _is_still(course):
        text = _say(context, "level_rises" if course.way == "up" else "level_falls", course, so)
    else:
        text = _say(context, "level", course, so)
    return text


def _high(context: Context, course: Course, so: str) -> str:
    blank = "" if context.language == "zh" else " "
    return _level(context, course, so) + blank + context.say("complaint.from_start", a=course.facts[0])


def _negative(context: Context, course: Course, so: str) -> str:
    below = sum(number(fact) < 0 for fact in course.facts)
    count = context.ledger.count("values below zero", below, metric=course.metric)
    return _say(context, "negative" if below else "negative_none", course, so, k=count)


def _zero(context: Context, course: Course, so: str) -> str:
    nought = [place for place, fact in enumerate(course.facts) if not number(fact)]
    if not nought:
        return _say(context, "zero_not", course, so)
    if len(nought) == len(course.facts):
        return _say(context, "same", course, so)
    first = nought[0]
    lasting = nought == list(range(first, len(course.facts)))
    if first and lasting:
        return _say(context, "zero_from", course, so, z=course.facts[first], before=course.facts[first - 1])
    return _say(context, "level", course, so)


_TELLERS: Final[dict[str, Callable[[Context, Course, str], str]]] = {
    "not_rising": _not_rising, "not_falling": _not_falling, "turning": _turning, "zero": _zero, "spike": _spike,
    "falling": _falling, "rising": _rising, "still": _still, "unstable": _unstable, "low": _level, "high": _high,
    "garbled": _level, "negative": _negative,
}  # fmt: skip


def _since(context: Context, whole: Course, step: int, so: str) -> str | None:
    """That a metric does not rise any more from a step on, and what it did before; ``None`` where it does."""
    steps = [fact.step for fact in whole.facts if fact.step is not None]
    after = course_of(context, whole.metric, [one for one in steps if one >= step])
    before = course_of(context, whole.metric, [one for one in steps if one < step])
    if after is None or before is None or len(after.facts) < 2 or (after.way == "up" and not _is_still(after)):
        return None
    return _say(context, "since", after, so, before=before.facts[0], until=before.facts[-1])


# -- what may cause it -------------------------------------------------------------------------------------------------
def _reasons(context: Context, complaint: Complaint) -> None:
    """What the log shows of the usual causes of a reward that does not rise, or a loss that does not fall."""
    if complaint.state not in {"not_rising", "still", "low", "not_falling", "turning", "falling"}:
        return
    metrics = complaint.metrics or (_of_effect(context) if complaint.matter == "effect" else ())
    of_reward = any(quantity_of(context.run, name) in {"reward", "accuracy_reward"} or is_validation(name)
                    for name in metrics[:2])  # fmt: skip
    weighed = [line for name in metrics[:1] if of_reward for line in answer_causes.weighed_flat(context, name)]
    lines = [line for line in (_warm_up(context), *weighed, *(_of_reward(context) if of_reward else ())) if line]
    if lines:
        context.doc.paragraph(context.say("complaint.causes"))
        context.doc.bullets(lines)
    if metrics:
        points = course_of(context, metrics[0])
        if points is not None and 1 < len(points.facts) < MIN_POINTS:
            count = context.ledger.count("values", len(points.facts), metric=metrics[0])
            context.doc.paragraph(context.say("complaint.few", n=count))


def _of_reward(context: Context) -> list[str]:
    say, run, found = context.say, context.run, list[str]()
    cut = [course for name in keys_for(run, "truncated")[:1] if (course := course_of(context, name)) is not None]
    for course in cut:
        last = course.facts[-1]
        if number(last) >= CUT:
            found.append(say("complaint.cut", metric=course.metric, v=last))
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
