"""A follow-up that changes one thing of the question before, put as that question with the thing changed.

"换成中位数", "后 10 步的呢" and "same for reward" leave out what the question before named: a metric, a part of the run
and a statistic. Where one of the three is named and nothing else, the other two are taken from before, and the whole is
said as a question of its own; so are the few words that set two parts, or several steps, against each other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.antecedents import resolved
from assistant.ask.blanking import blanked, figures, without_names
from assistant.ask.computed import words
from assistant.ask.differing import one_step
from assistant.ask.epochs import EPOCH_KEYS
from assistant.ask.leaning import MOST_TOLD
from assistant.ask.metrics_named import metrics_named
from assistant.ask.of_both import of_what_was_told
from assistant.ask.patterns import patterns
from assistant.ask.query import Query, State
from assistant.ask.rates import FAST_OR_SLOW, RATE
from assistant.ask.scope import Scope, scope_in
from assistant.ask.set_against import of_another_kind
from assistant.ask.steps import training_steps
from assistant.ask.turned import affected, at_that_step, of_the_run, turned
from assistant.ask.windows import windows_in
from assistant.ask.wording import normalised
from assistant.knowledge import Resolver
from assistant.model import Run, StepSlot

#: Longer follow-ups say themselves what they mean.
_LONGEST: Final = 48
#: Statistics that the slots do not carry from one question to the next, and their names.
_CARRIED: Final = {
    "median": ("中位数", "median"), "std": ("标准差", "standard deviation"), "variance": ("方差", "variance"),
    "sum": ("总和", "sum"), "range": ("极差", "range"),
}  # fmt: skip
_NAMES: Final = {**_CARRIED, "mean": ("平均值", "mean"), "max": ("最大值", "maximum"), "min": ("最小值", "minimum")}
_OF_OPERATION: Final = {"max": "max", "argmax": "max", "min": "min", "argmin": "min", "mean": "mean"}
_PARTS: Final = {"range", "last_n", "all", "none"}
_FLUFF: Final = re.compile(
    r"(?i)那么?|换[成作个]?|改[成为]?|变成|[用看算给报]|同样|一样|也|再|又|呢|吗|么|的话|的|是|有?多少|几|要是|如果|还有|一下|下"
    r"|[它把我]|说|来|取|吧|只"
    r"|\b(?:and|what|about|how|the|its?|instead|then|same|for|over|in|on|of|is|was|are|now|use|take|give|show|me|please"
    r"|only|just|what's|as|well|too|also|make|a|an|rather|but|ok(?:ay)?|so|value)\b|[\s,.?!，。？！:：'’]"
)
_OF_A_PART: Final = re.compile(
    r"(?i)[第步个到至前后末头段半程次行条里内中间从起]|最[近后初]|之间|开头|开始|结尾|最终"
    r"|\b(?:steps?|first|last|final|latest|recent|initial|half|second|third|quarter|from|to|through|between|after|before|until|since|evals?|iter(?:ation)?s?|rows?"
    r"|points?)\b|[\d\s%~–—-]|\b(?:and|onwards?|on)\b"
)
#: In which run a metric moved more: "哪个涨得更多", "which one drops more".
WHICH_MOVED: Final = re.compile(
    r"(?i)(?:哪(?:一?个|一?份|边)|谁)[^,，。?]{0,24}?(?P<zh>漂移?|偏离?|drift\w*|diverg\w*|上?涨|上?升|提升|提高|进步|增加?|下?降|下?跌|掉|减少?|变化?)"
    r"(?:得|的|幅度?)?(?:更|比较|最|要)?(?:多|大|厉害|惨|狠|猛)(?:一?[些点])?(?:的|呢|啊)?\s*[?。]*$"
    r"|\b(?:which|who)\b.{0,40}\b(?P<en>rose|ris\w*|gain\w*|improv\w*|climb\w*|grew|grow\w*|increas\w*|f[ae]ll\w*|drop\w*"
    r"|decreas\w*|declin\w*|lost|chang\w*|mov\w*|drift\w*|diverg\w*)\b.{0,12}\b(?:more|most|further|farther)\b"
)
OF_EACH: Final = {"zh": "两个 run 的", "en": "in both runs:"}
"""What a question of all runs, asked after one of them, is led by."""
_SINCE: Final = re.compile(
    r"(?i)^\W*(?:那|它)?\s*(?P<how>(?:共|总共|一共)?[涨升降跌掉变][了化]?(?:多少|几倍))"
    r"\s*(?:since|from|从|自|比)\s*(?:step\s*|第\s*)?(?P<a>\d{1,7})"
    r"|^\W*(?:since|from|从|自|比)\s*(?:step\s*|第\s*)?(?P<b>\d{1,7})\s*(?:步|步?到现在|步?以来|步?起)?"
    r"\s*(?P<then>(?:共|总共|一共)?[涨升降跌掉变][了化]?(?:多少|几倍))"
    r"|^\W*how much (?:has|did|is) it .{1,24}\b(?:since|from) step (?P<c>\d{1,7})\W*$"
)
_AFTERWARDS: Final = re.compile(
    r"(?i)^\W*(?:那|它)?\s*(?:在?(?:那|此)?之后|后来|以后|随后)\s*(?:又|还|就|一共)?(?P<zh>[涨升降跌掉变][了化]?(?:多少|几倍|百分之[多几]少?))\W*$"
    r"|^\W*(?:and )?how much (?:did|has) it (?:\w+ ){0,2}\w+ (?:since(?: then)?|after (?:that|it)|afterwards?)\W*$"
)
_EACH_STEP: Final = re.compile(
    r"(?i)^\W*(?:那|也就是)?\s*平均(?:下来)?\s*[每一][一个]?\s*(?:步|steps?)\s*(?:[涨升降跌掉变]化?)?(?:是)?(?:多少|几)\w*\W*$"
    r"|^\W*(?:and |so )?(?:(?:by )?how much )?(?:(?:is|does) (?:that|it)(?: \w+)? )?"
    r"(?:per|each|every|a) step(?: on average)?\W*$"
)
#: "What's the gap between the two", after the best and the worst.
_GAP_OF_ENDS: Final = re.compile(
    r"(?i)^\W*(?:and |so )?(?:what(?:'s| is| was) )?(?:the )?(?:gap|difference|distance|spread)"
    r"(?: between (?:the two|them|those(?: two)?|these(?: two)?|both))?\W*$"
    r"|^\W*(?:那|它们|这|两个?|两者|俩)?(?:之间)?(?:的)?(?:差距|差值|相差|差)(?:是)?(?:多少|多大|几)?(?:呢)?\W*$"
)
_JUST_BEFORE: Final = re.compile(
    r"(?i)^\W*(?:那|在)?它?(?:[掉降跌涨升崩爆塌炸垮][了下]?|超过|跌破|突破|出事|崩溃)?之前(?:那一?步)?的?值?(?:是|有)?多少\W*$"
    r"|^\W*(?:and )?what was it (?:right |just )?before(?: (?:that|then|it))?\W*$"
)
_STEPS_BEFORE: Final = re.compile(
    r"(?i)^\W*(?:那|在)?(?:那|这|它)?(?:之前|以前|前面|往前)(?:的)?\s*(?P<zh>\d{1,5})\s*步(?:的|内|里)*\s*"
    r"(?P<what>平均|均值|中位数|标准差|最大值?|最小值?|最高|最低)"
    r"|^\W*(?:and )?(?:the )?(?P<op>mean|average|median|std|max|min)(?:imum)? (?:of|over|in) the (?P<en>\d{1,5}) steps"
    r" (?:right |just )?before"
)
#: "And the last 20?": so many steps.
_BARE_COUNT: Final = re.compile(r"(?i)(?:\b(?:first|last|final)|最[后近]|[前后头末])\s*\d{1,6}(?=\s*[的呢]?\W*$)")
#: "The mean of the last 10": so many steps, whatever stands behind.
_BARE_COUNT_OF: Final = re.compile(
    r"(?i)(?:\b(?:first|last|final)|最[后近]|[前头末])\s*\d{1,6}(?!\d|\s*(?:个\s*)?(?:步|steps?))"
)
_EXTREME_WORDS: Final = {
    "max": re.compile(r"(?i)\bmax(?:imum)?\b|\b(?:highest|largest)(?: value)?\b|最[大高]值?|峰值"),
    "min": re.compile(r"(?i)\bmin(?:imum)?\b|\b(?:lowest|smallest)(?: value)?\b|最[小低]值?"),
}
_WHICH_PART: Final = re.compile(
    r"(?i)^\W*(?:那|所以|so|and|then)?\W*(?:"
    r"(?:这|那)?(?:两|俩)?(?:个|段|边|者)?(?:里|中)?\s*(?:哪|which)\s*(?:一)?(?:个|段|边|one|part|half|window)?\s*(?:is|was|的|比较|更|要)?\s*"
    r"(?:[高低大小好长短多少快慢]|higher|lower|bigger|larger|smaller|longer|shorter)(?:一?[点些])?"
    r"|(?:两|俩)?(?:个|段|者)?(?:相)?差(?:了)?(?:多少|几|多大)|[涨降升跌掉变](?:了)?(?:多少|几)"
    r"|how far apart|by how much|(?:what(?:'s| is) )?the difference"
    r"|(?P<times>(?:(?:两|俩)?(?:个|段|者)?相?差|[大高慢快长短多小低涨升降]了?)?(?:几|多少)倍))"
    r"(?:的|呢|啊)?\W*$"
)
_WHICH_STEP: Final = re.compile(
    r"(?i)^\W*(?:那|所以|so|and|then)?\W*(?:"
    r"(?:这|那)?(?:几|两|三|四|\d)?(?:个|步|次|者)?(?:里|中|当中)?面?\s*哪\s*一?(?:个|步|次)?\s*(?:是|的)?\s*(?P<zh>最[高低大小长短好差多少快慢])"
    r"|which (?:one |step |of (?:them|these|those) )?(?:is |was )?(?:the )?"
    r"(?P<en>highest|lowest|largest|smallest|biggest|longest|shortest|best|worst))(?:的|呢|啊)?\W*$"
)
_RELATIVELY: Final = re.compile(
    r"(?i)^\W*(?:那|也就是|就是|换算成|换成|按|用|and|so|that is|that's)?\W*"
    r"(?:[变涨降升跌掉]了|是|about|in|as an?|by)?\s*"
    r"(?:(?P<share>百分之(?:多少|几)|几个?百分(?!点)|多少%|百分比|相对变化|percent(?:age)?s?|%|what percent(?:age)?)"
    r"|(?P<times>[几多]少?倍|what factor|how many times))(?:是多少|呢)?\W*$"
    r"|^\W*(?:and |so )?(?:(?:by )?how much (?:did|has|is) (?:it|that) [a-z]+(?: (?:up|down))?|by how much),?"
    r" (?:in|as an?) (?P<part>percent(?:age)?)\W*$"
    r"|^\W*(?:and |so )?(?P<many>(?:by )?(?:what|which) factor|how many times)(?: as)?"
    r"(?: (?:more|less|much|many|long|large|big|high|slow|fast|longer|shorter|higher|lower|larger|bigger|smaller|slower"
    r"|faster))?"
    r"(?: (?:is|was) (?:that|it|this)| (?:that|it) (?:is|was))?"
    r"(?: (?:more|less|longer|shorter|higher|lower|larger|bigger|smaller|slower|faster))?"
    r"(?: (?:then|than before|as (?:much|long|high|large)))?\W*$"
)
_THAN_START: Final = re.compile(
    r"^\W*(?:那|它)?\s*[比和跟较](?:最开始|一开始|刚开始|开始(?:时|的时候)?|开头|最初|起初|初始值?|起点|第一[步次]|第1[步次]|首[步次])"
    r"(?:的时候|时)?(?:比)?(?=[^,，。?]{0,6}(?:多少|几|百分))"
)
_STAYED: Final = re.compile(
    r"(?i)^\W*(?:那|and)?\s*(?:(?:这样|它)?(?:持续|维持|保持|待|停留)了?(?:多久|多长时间?|几步|多少步)"
    r"|(?:for )?how (?:long|many steps) (?:did|does|has) (?:it|that) (?:stay|last|hold|remain|keep)\w*"
    r"(?: (?:there|up|down|above|below|so|like that|that way))?)\W*$"
)
_WIDEST: Final = re.compile(
    r"(?i)^\W*(?:那|and)?\s*(?:the |this |这个|它们的?)?(?:gap|差距|差值?|difference)?\s*(?:is |was )?"
    r"在?(?:什么时候|哪一?步|when|where)?\s*(?:is |was )?(?:the |it |at its )*"
    r"(?:(?P<most>最大|largest|biggest|widest|max(?:imum)?)|(?P<least>最小|smallest|narrowest|min(?:imum)?))"
    r"的?(?:时候|时|那?一?步|是?在?(?:哪一?步|什么时候|多少))?呢?\W*$"
)
_WHICH_EPOCH: Final = re.compile(
    r"(?i)^\W*(?:那|and)?\s*(?:是|在)*(?:第|哪)?(?:几|一)?个?\s*(?:epoch|轮)\s*(?:是)?(?:几|多少|呢)?\W*$"
    r"|^\W*(?:and )?(?:in |at )?(?:which|what) epoch(?: (?:is|was) (?:it|that))?\W*$"
)
_DIFFERENCE: Final = re.compile(r"(?i)差|\bgap\b|difference|apart")
_SUPERLATIVE: Final = re.compile(
    r"(?i)最[高低大小长短多少快慢好差]|\b(?:highest|lowest|largest|smallest|max|min|mean)\b"
)
_NOT_FINITE: Final = re.compile(
    r"(?i)^\W*(?:那|都)?(?:是|有|在)?(?:哪|什么|啥)一?(?:些|几个|个)?\s*(?:指标|metrics?|keys?|量)"
    r"(?:上|里)?(?:呢|是|有)?\W*$"
    r"|^\W*(?:in |for )?(?:which|what) (?:metrics?|keys?|ones)\W*$"
)


def restated(text: str, state: State, run: Run, resolver: Resolver, *, several: bool = False) -> str:
    """A follow-up as a question of its own, where it changes one thing alone; the text itself where it does not.

    Args:
        text: the follow-up, normalised.
        state: what the conversation carries.
        run: the log.
        resolver: from names to cards.
        several: whether the conversation is about several runs.
    """
    before = state.query
    if before is None or not 0 < len(text) <= _LONGEST:
        return text
    zh = re.search(r"[\u3400-\u9fff]", text) is not None or state.language == "zh"
    if "nan" in before.topics and _NOT_FINITE.search(text):
        return "哪些指标出现了 NaN" if zh else "which metrics have NaN"
    epoch = next((m for m in run.metrics if m in EPOCH_KEYS), None)
    if state.step is not None and epoch is not None and _WHICH_EPOCH.match(text):
        return f"step {state.step} 的 {epoch}" if zh else f"{epoch} at step {state.step}"
    if before.mentions and (whole := of_the_run(text, zh=zh)) is not None:
        return whole
    pointed_to = None if several else resolved(text, state, run, resolver, zh=zh)
    if pointed_to is not None:
        return pointed_to
    there = at_that_step(text, state, run, resolver) or affected(text, state, run, resolver, zh=zh)
    if there is not None and not several:
        return there
    if not several and (told := of_what_was_told(text, state, run, resolver, zh=zh)) is not None:
        return told
    keys = list(dict.fromkeys(m.key for m in before.mentions if m.key in run.columns))
    if len(keys) == 2 and (widest := _WIDEST.search(text)) and _DIFFERENCE.search(before.wording or before.text):
        most = "largest" if widest["most"] else "smallest"
        if _DIFFERENCE.search(text):
            return f"where is the gap between {keys[0]} and {keys[1]} {most}"
    if len(keys) != 1:
        return text
    key = str(keys[0])
    if several and WHICH_MOVED.search(text) and not metrics_named(text, resolver, run):
        return f"{OF_EACH['zh']} {key} {text}" if zh else f"{text.rstrip('?. ')} ({OF_EACH['en']} {key})"
    if FAST_OR_SLOW.search(text) and RATE.search(key) and not metrics_named(text, resolver, run):
        return f"{key} {text}"
    if not several and (said := turned(text, state, key, run, zh=zh)) is not None:
        return said
    return _of_steps(text, before, state, key, run, zh=zh) or _changed(text, before, key, run, resolver, zh=zh) or text


def remembered(own: Query, before: Query, run: Run | None) -> Query:
    """A question with the steps, or the other part of the run, that the same was asked of right before."""
    keys = {m.key for m in own.mentions if m.key is not None}
    if run is None or len(keys) != 1 or keys != {m.key for m in before.mentions if m.key is not None}:
        return own
    parts = {"range", "last_n", "all"}
    if own.steps.kind in parts and before.steps.kind in parts:
        differs = own.steps != before.steps and _statistic(own) == _statistic(before)
        return replace(own, other_part=before.steps) if differs else own
    now, then = one_step(own, run), one_step(before, run)
    if now is None or then is None or now == then or own.op is not None or own.threshold is not None:
        return own
    line = (*(before.line or (then,)), now)
    return replace(own, line=tuple(dict.fromkeys(line))[-MOST_TOLD:])


def _of_steps(text: str, before: Query, state: State, key: str, run: Run, *, zh: bool) -> str | None:
    """What is asked of the steps that were told: which is the highest, by how many per cent, how long it lasted."""
    step = state.step if state.step is not None else one_step(before, run)
    if (start := _THAN_START.match(text)) is not None and step is not None:
        first = run.series(key)[0][0]
        return f"{key} step {step} 比 step {first} {text[start.end() :]}" if step != first else None
    if (asked := _RELATIVELY.match(text)) is not None and before.op is None and before.threshold is None:
        ends = before.steps.values if before.steps.kind in {"pair", "range"} else ()
        if not ends and len(before.line) == 2 and before.steps.kind == "single":  # "at 10", "at 60"
            ends = before.line
        if not ends and before.intent in {"compare", "trend"} and before.steps.kind in {"none", "all"}:
            ends = (run.series(key)[0][0], run.series(key)[0][-1])
        if len(ends) == 2:
            share = bool(asked["share"] or asked["part"])
            what = ("百分之多少" if share else "几倍") if zh else "percentage" if share else "factor"
            said = f"{key} 从 step {ends[0]} 到 step {ends[1]} 变化了{what}"
            return said if zh else f"by what {what} did {key} change from step {ends[0]} to step {ends[1]}"
    if step is not None and (moved := _SINCE.match(text)) is not None:
        since = int(moved["a"] or moved["b"] or moved["c"])
        how = moved["how"] or moved["then"]
        said = f"{key} 从 step {since} 到 step {step} {how}" if how else ""
        return said or f"how much did {key} change from step {since} to step {step}"
    if state.step is not None and (later := _AFTERWARDS.match(text)) is not None:
        last = run.series(key)[0][-1]
        how = later["zh"]
        said = f"{key} 从 step {state.step} 到 step {last} {how}" if how else ""
        return (
            (said or f"how much did {key} change from step {state.step} to step {last}") if state.step < last else None
        )
    if before.op in _OF_OPERATION and before.op != "mean" and _GAP_OF_ENDS.match(text) and before.threshold is None:
        return f"{key} 的最大值和最小值差多少" if zh else f"difference between the max and min of {key}"
    if _EACH_STEP.match(text) and before.op is None and before.threshold is None:
        if before.steps.kind == "pair" and len(before.steps.values) == 2:
            a, b = before.steps.values
            said = f"{key} 从 step {a} 到 step {b} 平均每步变化多少"
            return said if zh else f"how much did {key} change per step from step {a} to step {b}"
        if before.steps.kind in {"none", "all"} and not zh:
            return f"how much does {key} change per step"
    if state.step is not None and _JUST_BEFORE.match(text):
        earlier = [one for one in run.series(key)[0] if one < step] if step is not None else []
        return (f"step {earlier[-1]} 的 {key}" if zh else f"{key} at step {earlier[-1]}") if earlier else None
    if step is not None and (count := _STEPS_BEFORE.match(text)) is not None:
        first = step - int(count["zh"] or count["en"])
        what = count["what"] or count["op"]
        said = f"{key} step {first} 到 {step - 1} 的{what}"
        return said if count["zh"] else f"{what} of {key} over steps {first} to {step - 1}"
    if (most := _WHICH_STEP.match(text)) is not None and len(before.line) > 1 and before.op is None:
        listed = ("、" if zh else ", ").join(map(str, before.line))
        return f"{key} step {listed} 哪个{most['zh']}" if most["zh"] else f"{key} at steps {listed}: the {most['en']}"
    if before.threshold is not None and _STAYED.match(text):
        side, value = before.threshold
        more = side == "above"
        return (
            f"{key} 连续{'高于' if more else '低于'} {value:g} 最长多少步"
            if zh
            else f"longest stretch of {key} {side} {value:g}"
        )
    return None


def _changed(text: str, before: Query, key: str, run: Run, resolver: Resolver, *, zh: bool) -> str | None:
    """The question before with another statistic, part of the run or metric."""
    steps = list(training_steps(run))
    old, said = _statistic(before), figures(text)
    named = metrics_named(said, resolver, run)
    if patterns().single["whole_run"].search(text) and not named and _SUPERLATIVE.search(text):
        return f"{key} {text}"
    if steps and _two_parts(before, run):
        wording, other = before.wording or before.text, [m for m in named if m.key is not None]
        alone = len(other) == len(named) == 1 and not _FLUFF.sub(" ", without_names(said, named)).strip()
        return wording.replace(key, str(other[0].key)) if alone and key in wording else None
    if not named and steps and before.threshold is None and (both := _part_and_statistic(said, key, steps, zh=zh)):
        return both
    if before.steps.kind not in _PARTS or before.threshold is not None or not steps:
        return None
    if before.other_part is not None and (asked := _WHICH_PART.match(text)):
        first, second = (_part(part, zh=zh) for part in (before.other_part, before.steps))
        name = _NAMES[old or "mean"]
        if asked["times"]:
            return f"{key} {second}的{name[0]}是{first}的{name[0]}的几倍"
        return f"{key} 的{name[0]}:{first}和{second}差多少" if zh else f"{name[1]} of {key}: {first} vs {second}"
    rest = without_names(said, named)
    new, match = next(
        ((name, found) for name in (*_CARRIED, "mean") if (found := words()[name].search(rest)) is not None),
        (None, None),
    )
    if match is not None and new is not None:
        left = _FLUFF.sub(" ", blanked(rest, [match.span()])).strip()
        plain = not named and not left and (new in _CARRIED or old in _CARRIED)
        return _composed(key, new, before.steps, zh=zh) if plain and not of_another_kind(before, text, run) else None
    counted = _BARE_COUNT.search(rest) is not None  # "后 20 呢" after a mean of the first 20
    if old not in _CARRIED and not (counted and old in _NAMES and not named):
        return None
    if named:
        other = [m for m in named if m.key is not None]
        alone = len(other) == 1 and len(named) == 1 and not _FLUFF.sub(" ", rest).strip()
        return _composed(str(other[0].key), str(old), before.steps, zh=zh) if alone else None
    rest = _BARE_COUNT.sub(lambda m: f"{m[0]} {'步' if zh else 'steps'} ", rest)
    scope = scope_in(rest, steps)
    if scope.whole or scope.without or _OF_A_PART.sub(" ", _FLUFF.sub(" ", blanked(rest, scope.spans))).strip():
        return None
    return _composed(key, str(old), _slot(scope, steps), zh=zh)


def _part_and_statistic(text: str, key: str, steps: list[int], *, zh: bool) -> str | None:
    """ "换成最后 10 步的平均": a part of the run and a statistic, with nothing else said."""
    name, match = next(
        (
            (name, found)
            for name in (*_CARRIED, "mean", *_EXTREME_WORDS)
            if (found := (_EXTREME_WORDS.get(name) or words()[name]).search(text)) is not None
        ),
        (None, None),
    )
    if match is None or name is None:
        return None
    rest = _BARE_COUNT_OF.sub(lambda m: f"{m[0]} {'步' if zh else 'steps'} ", blanked(text, [match.span()]))
    scope = scope_in(rest, steps)
    if scope.whole or scope.without or _OF_A_PART.sub(" ", _FLUFF.sub(" ", blanked(rest, scope.spans))).strip():
        return None
    return _composed(key, str(name), _slot(scope, steps), zh=zh)


def _two_parts(query: Query, run: Run) -> bool:
    wording = without_names(query.wording or query.text, query.mentions)
    return windows_in(wording, run, (), training_steps(run)) is not None


def _statistic(query: Query) -> str | None:
    """The statistic that a question asked for."""
    text = without_names(figures(normalised(query.wording or query.text)), query.mentions)
    named = next((name for name in _CARRIED if words()[name].search(text)), None)
    return named or _OF_OPERATION.get(query.op or query.asked_op or "")


def _slot(scope: Scope, steps: list[int]) -> StepSlot:
    if scope.latest:
        return StepSlot("last_n", (scope.latest,))
    first = steps[0] if scope.first is None else scope.first
    return StepSlot("range", (first, steps[-1] if scope.last is None else scope.last))


def _part(slot: StepSlot, *, zh: bool) -> str:
    if slot.kind == "last_n":
        return f"最近 {slot.values[0]} 步" if zh else f"the last {slot.values[0]} steps"
    if slot.kind == "range":
        first, last = slot.values
        return f"step {first} 到 {last} " if zh else f"steps {first} to {last}"
    return "全程" if zh else "the whole run"


def _composed(key: str, statistic: str, slot: StepSlot, *, zh: bool) -> str:
    name = _NAMES[statistic]
    if slot.kind not in {"last_n", "range"}:
        return f"{key} 全程的{name[0]}" if zh else f"{name[1]} of {key} over the whole run"
    return f"{key} {_part(slot, zh=zh)}的{name[0]}" if zh else f"{name[1]} of {key} over {_part(slot, zh=zh)}"
