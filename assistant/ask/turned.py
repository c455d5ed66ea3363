"""Follow-ups that go on from the steps just told: "前一个", "second to last", "涨了吗", "那一步最久的呢".

Each is put as a question of its own (:mod:`assistant.ask.restated`); the words that it leaves out, the metric and the
step, are those of the turn before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.blanking import figures
from assistant.ask.differing import one_step
from assistant.ask.metrics_named import metrics_named
from assistant.ask.pointing import THERE, pointed
from assistant.ask.query import State
from assistant.ask.steps import chinese_number
from assistant.knowledge import Resolver
from assistant.model import Number, Run

_LEAD: Final = r"^\W*(?:(?:那|那么|再|还有|and|then|what about|how about|what was|so|the|at|in)\W*)*"
_TAIL: Final = r"(?:的)?(?:那|这)?(?:一?个|值|数)?(?:呢|是?多少|是?几)?\W*$"
_ONE: Final = r"(?:个|次|步|条|行|回|轮|steps?|evals?|rows?|ones?)"
#: "倒数第二次", "the second to last one".
_FROM_THE_END: Final = re.compile(
    rf"(?i){_LEAD}倒数第\s*(?P<zh>\d{{1,3}}|[一二两三四五六七八九十])\s*{_ONE}?{_TAIL}"
    r"|" + _LEAD + r"(?:(?P<second>second|2nd|next)|(?P<third>third|3rd))[- ](?:to|from)[- ](?:the[- ])?last"
    rf"(?: {_ONE})?\W*$|{_LEAD}(?P<penultimate>penultimate|last but one)(?: {_ONE})?\W*$"
)
#: "前一个", "再前一个", "and the one before that".
_BACK: Final = re.compile(
    rf"(?i){_LEAD}(?:(?:往)?[前上](?:面)?(?:的)?(?:那)?一?{_ONE}|往前一?{_ONE}?){_TAIL}"
    rf"|{_LEAD}(?:previous|prior|preceding)(?: {_ONE})?\W*$"
    rf"|{_LEAD}(?:{_ONE} )?(?:right |just )?before(?: (?:that|it))?(?: {_ONE})?\W*$"
)
_ON: Final = re.compile(
    rf"(?i){_LEAD}(?:(?:往)?(?:下|(?<!最)后)(?:面)?(?:的)?(?:那)?一?{_ONE}|往后一?{_ONE}?){_TAIL}"
    rf"|{_LEAD}(?:next|following)(?: {_ONE})?\W*$"
    rf"|{_LEAD}(?:{_ONE} )?(?:right |just )?after(?: (?:that|it))(?: {_ONE})?\W*$"
)
#: "涨了吗", "did it go up": of the two steps that were told, one after the other.
_MOVED: Final = re.compile(
    r"(?i)^\W*(?:那|所以|它|这样|算|so|and|then)?\W*(?:是不是|有没有|有)?(?P<zh>[涨升降跌掉]|变[大小高低好差长短快慢]|上升|下降|提高|提升|回升)"
    r"(?:了)?(?:没有?|吗|么|没|吧|是吧|对吧)?\W*$"
    r"|^\W*(?:so |and |then )?(?:did|has|is) it (?:go(?:ne)? |gotten |get )?"
    r"(?P<en>up|down|rise|risen|rose|fall|fallen|fell|drop|dropped|increase|increased|decrease|decreased|improve|improved"
    r"|higher|lower|worse|better)\W*$"
)
#: "除了它之外最慢的呢", "the next slowest": the second of the order that was asked about.
_NEXT_OF_ORDER: Final = re.compile(
    r"(?i)^\W*(?:那|and|then)?\W*(?:除了(?:它|这个|这一?步|那一?步|这次)(?:之外|以外|外)?|排除(?:它|这一?步)|其次|第二名|次之)"
    r"(?:之后|后)?[,，]?\s*(?:还有|再)?(?:最[慢快高低大小长短久多少好差](?:的)?)?(?:(?:一)?步|那一?步)?(?:是)?(?:哪一?[步个次])?(?:呢|是)?\W*$"
    r"|^\W*(?:and |then )?(?:the |what's the |which is the )?(?:second|next|runner[- ]up)"
    r"(?:[- ](?:slowest|fastest|highest|lowest|largest|smallest|longest|shortest|best|worst|one))?\W*$"
)
_WHERE_SLOW: Final = re.compile(
    r"(?i)^\W*(?:那|它)?\s*(?:是)?(?:主要)?(?:慢|卡|耗|花)在(?:了)?(?:哪里?|哪儿|什么地方|哪个(?:阶段|环节|部分|phase|stage))\W*$"
    r"|^\W*(?:and |so )?(?:(?:what|where) (?:made|makes|was|did|is)|why (?:was|is|did))"
    r" (?:it|that(?: (?:one|step))?)(?: get| take)? (?:so |that )?(?:slow|long)\W*$"
    r"|^\W*(?:and )?(?:what (?:took|takes|ate)|where did) (?:the |all the |its )?(?:time|so long)(?: go)?\W*$"
)
#: "What made the slow one slow": of all steps the slowest, whichever was told last.
_THE_SLOW_ONE: Final = re.compile(
    r"(?i)^\W*(?:and |so )?(?:what (?:made|makes)|why (?:was|is|did)) the (?:slow|slowest|longest)(?: one| step)?"
    r"(?: take)? (?:so |that )?(?:slow|long)\W*$"
    r"|^\W*(?:那|所以)?(?:最)?慢的?那一?[步个次]?(?:为什么|为啥|怎么)(?:这么|那么)?慢\W*$"
)
_SLOW: Final = re.compile(r"(?i)最慢|最久|最耗时|最长时间|slowest|took (?:the )?longest|longest step")
_TIMED: Final = re.compile(r"(?i)tim(?:e|ing)|step_total|duration")
_CONCLUSION: Final = re.compile(
    r"(?i)^\W*(?:那|所以|好|最后|so|ok(?:ay)?|and)?\W*(?:给个?|来个?|下个?|说个?|一句话)?\s*(?:总的|最终|整体)?"
    r"(?:结论|总结|小结|判断|定论|verdict|conclusion|bottom line|final (?:verdict|call))"
    r"(?:一?下|呢|吧|是什么|是啥)?\W*$"
    r"|^\W*(?:so )?(?:what(?:'s| is) (?:the|your) (?:verdict|conclusion|bottom line)|sum (?:it|that) up)\W*$"
)
_AFFECTED: Final = re.compile(
    r"(?i)(?:有|也)?(?:没有)?(?:受|被)(?:到|了)?(?:什么)?影响(?:了)?(?:吗|么|没有?)?\W*$|\b(?:affected|suffer(?:ed)?)\b"
)
#: "The max" and "the mean" of a family whose members end otherwise than in /max and /mean.
_MEMBER: Final = re.compile(r"(?<=/)(?:mean|max|min)(?=_[a-z_]+$)")
_STATISTIC: Final = re.compile(
    r"(?i)^\W*(?:那|那么|再|and|what about|how about|the|its)?\W*(?:(?:the|its)\s+)?(?:"
    r"(?P<max>max(?:imum)?|longest|最[大长])|(?P<min>min(?:imum)?|shortest|最[小短])|(?P<mean>mean|average|avg|平均))"
    r"(?:的|值)?(?:一条|那条|one)?(?:呢|是?多少)?\W*$"
)
_EXTREME_MEMBER: Final = re.compile(r"(?:^|[/_])(?:max|min)(?:imum)?(?=$|_[a-z]+$)")
#: "之前平均多少": a statistic on one side of the step told before.
_SIDE: Final = re.compile(
    r"(?i)^\W*(?:那|那么)?\s*(?:在?(?:那|此|这)?(?:之[前后]|以[前后]))(?:呢)?\s*[,，]?\s*(?:的)?\s*"
    r"(?:平均值?|均值|中位数|标准差|最[大小高低]值?)(?:是|有)?(?:多少|几|呢)?\W*$"
)
_SHARE: Final = re.compile(
    r"(?i)占[^,，。?]{0,12}(?:几成|多少|百分|比例|几)|\b(?:share|fraction|percentage|percent) of\b"
)
_AT_ANOTHER: Final = re.compile(
    r"(?i)^\W*(?:那|那么|and|what about|how about|then)?\W*(?:at |in )?(?:step\s*|第\s*)(?P<step>\d{1,7})"
    r"\s*步?\s*(?:的)?(?:呢)?\W*$"
)
_LIMIT: Final = re.compile(
    r"(?i)^\W*(?:那|那么|它的?)?\s*(?:长度)?(?:上限|最大(?:能)?(?:设|允许|生成)?(?:的)?长度|cap|limit)"
    r"(?:是|设的?|为|有)?(?:多少|几|多大|呢)?\W*$"
    r"|^\W*(?:and |so )?(?:what(?:'s| is) )?the (?:cap|limit|upper bound|maximum allowed)\W*$"
)
_OF_LENGTH: Final = re.compile(r"(?i)(?:response|completion|output|answer)s?[_/]?(?:\w+_)?len|mean_length|max_length")
_WHOLE: Final = re.compile(
    r"(?i)全程|整个|所有|历史|一直|哪一?[步次]|第几步|什么时候|\b(?:overall|ever|which|when|whole|all|so far)\b"
)
_LONGEST: Final = 40


def of_the_run(text: str, *, zh: bool) -> str | None:
    """The question after the whole run that "给个结论" is at the end of a conversation; else ``None``."""
    if not _CONCLUSION.match(text):
        return None
    return "这次训练整体正常吗" if zh else "is the run healthy overall"


def at_that_step(text: str, state: State, run: Run, resolver: Resolver) -> str | None:
    """A question for a metric of its own at the step told before, with that step's number; else ``None``.

    "那一步最久的 tool call" asks for the longest call of that step; so does "the longest prompt?" after another value
    of one step, where the log holds such a member of a family.
    """
    before = state.query
    held = None if before is None else state.step if state.step is not None else one_step(before, run)
    if before is None or held is None or len(text) > _LONGEST or re.search(r"\d", text) or _WHOLE.search(text):
        return None
    named = [m.key for m in metrics_named(text, resolver, run) if m.key in run.columns]
    if len(named) != 1 or not _EXTREME_MEMBER.search(str(named[0])):
        return None
    if THERE.search(text):
        return pointed(text, held)
    single = before.steps.kind in {"single", "first", "last"} and before.op is None and before.threshold is None
    if not single or named[0] in {m.key for m in before.mentions}:
        return None
    return f"step {held} 的 {named[0]}" if re.search(r"[\u3400-\u9fff]", text) else f"{named[0]} at step {held}"


def turned(text: str, state: State, key: str, run: Run, *, zh: bool) -> str | None:
    """A follow-up about ``key`` that leans on the steps told before, as a question of its own; else ``None``."""
    before = state.query
    if before is None or len(text) > _LONGEST:
        return None
    steps = list(run.series(key)[0])
    here = state.step if state.step is not None else one_step(before, run)
    told = before.threshold is None and before.op is None
    if here is None and told and before.steps.kind == "none" and before.intent in {"lookup", "validation"} and steps:
        here = steps[-1]
    other = _neighbour(text, here, steps)
    if other is not None:
        return f"step {other} 的 {key}" if zh else f"{key} at step {other}"
    if (move := _MOVED.match(text)) is not None and told and len(before.line) > 1 and before.steps.kind != "pair":
        first, second = before.line[-2:]
        asked = f"比较 step {min(first, second)} 和 step {max(first, second)} 的 {key}"
        return asked if move["zh"] else f"did {key} change from step {min(first, second)} to {max(first, second)}"
    if here is not None and _SIDE.match(text):
        return f"{key} {pointed(text, here)}"
    asked = before.wording or before.text
    of_a_share = _SHARE.search(asked) is not None and _TIMED.search(key) and not re.search(r"\d", asked)
    if of_a_share and (another := _AT_ANOTHER.match(text)) is not None:
        step = another["step"]
        return f"step {step} 的 {key} 占一步的百分之多少" if zh else f"what share of step {step} is {key}"
    if _LIMIT.match(text) and _OF_LENGTH.search(key):
        return "回答长度上限是多少" if zh else "what is the response length limit"
    extreme = {"max": True, "argmax": True, "min": False, "argmin": False}.get(before.op or "")
    if extreme is not None and _NEXT_OF_ORDER.match(text):
        which = ("最高" if extreme else "最低") if zh else "highest" if extreme else "lowest"
        return f"{key} 第二{which[1:]}的是哪一步" if zh else f"second {which} {key}"
    wording = before.wording or before.text
    if here is not None and _SLOW.search(wording) and _TIMED.search(key) and _WHERE_SLOW.match(text):
        return f"step {here} 的时间花在哪" if zh else f"where did the time go in step {here}"
    if _THE_SLOW_ONE.match(text) and _TIMED.search(key) and steps:
        slowest = max(steps, key=lambda step: _finite(run.value(key, step)))
        return f"step {slowest} 的时间花在哪" if zh else f"where did the time go in step {slowest}"
    if before.steps.kind == "single" and told and (asked_for := _STATISTIC.match(text)) is not None:
        name = next(name for name in ("max", "min", "mean") if asked_for[name])
        member = _MEMBER.sub(name, key)
        if member != key and member in run.columns:
            return f"step {here} 的 {member}" if zh else f"{member} at step {here}"
    return None


def _finite(value: Number | None) -> float:
    return float(value) if value is not None and math.isfinite(value) else -math.inf


#: Of fewer values behind an event no course is told.
_COURSE: Final = 3


def affected(text: str, state: State, run: Run, resolver: Resolver, *, zh: bool) -> str | None:
    """ "Val 有受影响吗" after an event at a step, as the course of that metric from there on; else ``None``."""
    if len(text) > _LONGEST or not _AFFECTED.search(text):
        return None
    named = [m.key for m in metrics_named(text, resolver, run) if m.key in run.columns]
    if len(named) != 1:
        return None
    since = ""
    steps = run.series(str(named[0]))[0]
    if state.step is not None and sum(step > state.step for step in steps) >= _COURSE:
        since = f"step {state.step} 之后" if zh else f" after step {state.step}"
    return f"{named[0]} {since}的走势怎么样" if zh else f"what is the trend of {named[0]}{since}"


def _neighbour(text: str, here: int | None, steps: Sequence[int]) -> int | None:
    """The step beside the one told before, or one counted from the end."""
    if (end := _FROM_THE_END.match(figures(text))) is not None:
        said = end["zh"]
        count = 3 if end["third"] else 2 if said is None else int(said) if said.isdigit() else chinese_number(said)
        return steps[-count] if 0 < count <= len(steps) else None
    if here is None:
        return None
    if _BACK.match(text):
        return next((step for step in reversed(steps) if step < here), None)
    if _ON.match(text):
        return next((step for step in steps if step > here), None)
    return None
