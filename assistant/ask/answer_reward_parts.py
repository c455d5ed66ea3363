"""The parts of a reward, one per reward function: which is lowest or highest, and which carry a change of the sum."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.outcomes import rewarded
from assistant.ask.parts import number
from assistant.ask.telling import trend_sentence
from assistant.ask.wording import seamed
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Keys of a part, as trainers spell them; not those of preference training, and no spread.
_PART: Final = re.compile(
    r"(?i)^(?:train/|mean episode )?(?:episode[_ ])?rewards? ?/ ?(?P<name>[\w .()-]{1,80}?)(?:/mean)?$"
    r"|^(?P<func>[a-z]\w{1,60}_(?:reward|func|fn))_mean$"
)
_NO_PART: Final = re.compile(
    r"(?i)(?:^|[/_ ])(?:chosen|rejected|margins?|accuracies|std|min|max|mean|sum|total|overall)$"
)
_ASKED: Final = re.compile(
    r"(?i)\b(?:which|what)\b.{0,12}\breward(?:s| func\w*| term| component| part| signal)?\b"
    r"|\breward (?:func\w*|component|term|part)s?\b"
    r"|(?:哪(?:个|一个|种|项|部分)).{0,6}(?:奖励|reward)|(?:奖励|rewards?\s?)(?:的)?(?:函数|分项|成分|分量|组成部分|子项|项)"
    r"|(?:\d|[两二三四五六七八九十几各])\s?(?:个|种|项)\s?(?:奖励|rewards?\b)|(?:奖励|\brewards?\s?)(?:里|里面|中|当中|之中)[^,，。?]{0,4}(?:哪|谁)"
    r"|\b(?:which|what)\b.{0,16}\bpenalt(?:y|ies)\b|哪(?:个|一个|种|项).{0,6}惩罚|惩罚项.{0,6}(?:哪|最)"
)
#: A penalty is the larger the more negative it is.
_PENALTY: Final = re.compile(r"(?i)\bpenalt(?:y|ies)\b|惩罚|扣分")
_WHY_LOW: Final = re.compile(
    r"(?i)(?:\bwhy\b|\bwrong\b|\breason\b|\bcaus\w*|\bwhat makes\b).{0,80}"
    r"(?:\brew(?:ard)?s?\b.{0,40}\b(?:negative|low|bad)\b|\b(?:negative|low|bad) (?:mean )?rew(?:ard)?s?\b"
    r"|(?<!kl )(?<!length )(?<!repetition )\bpenalt(?:y|ies)\b)"
    r"|\brew(?:ard)?s?\b.{0,40}\b(?:negative|low)\b.{0,40}\bwhy\b"
    r"|(?:为什么|为何|怎么|原因).{0,20}(?:奖励|reward|惩罚).{0,20}(?:负|低|大)"
    r"|(?:奖励|reward).{0,20}(?:为什么|为何|怎么).{0,20}(?:负|低)|(?:奖励|reward).{0,12}(?:负|低).{0,12}(?:为什么|为何|怎么|原因)"
)
#: Parts of a loss: keys that end or begin in the word, but for their sum; and the question for them.
_LOSS_PART: Final = re.compile(
    r"(?i)^(?:train/|losses/|loss/)?(?!total|sum|train|val|eval|test)[\w.]{1,60}[_ ]loss$|^loss_\w{1,60}$"
)
_LOSS_ASKED: Final = re.compile(
    r"(?i)\b(?:which|what)\b.{0,20}\bloss(?:es)?(?: term| component| part)?\b|\bloss (?:component|term|part)s?\b"
    r"|(?:哪(?:个|一个|种|项|部分)).{0,6}(?:损失|loss)|损失(?:分项|成分|项)"
)
_LOW: Final = re.compile(
    r"(?i)\bdrag\w*|\bpull\w* (?:it |the \w+ )?down|\blow\w*|\bworst|\bhurt\w*|\bsmallest|\bweak\w*|\bproblem|\bmiss\w*"
    r"|拖|最低|最差|最小|最弱|拉低|扣"
)
_HIGH: Final = re.compile(
    r"(?i)\bhigh\w*|\bbest|\blargest|\bmost\b|\bcontribut\w*|\bdominat\w*|\bdriv\w*|最高|最大|贡献|主导"
)
#: Which part changed most, and which way; and which is so at the end rather than on average.
_MOVED: Final = re.compile(
    r"(?i)(?:涨|升|提升|提高|增长?|上升|上涨|进步)(?:得|的|幅|幅度)?最|最(?:涨|能涨)"
    r"|\b(?:rose|gr[eo]w|gain\w*|improv\w*|increas\w*|climb\w*) (?:the )?most"
    r"|(?P<down>(?:跌|降|掉|下降|下跌|减少?|退步)(?:得|的|幅|幅度)?最"
    r"|\b(?:f[ae]ll|fell|drop\w*|declin\w*|decreas\w*|lost) (?:the )?most)"
    r"|(?P<any>(?:变化|变动)(?:得|的|幅|幅度)?最|\bchang\w* (?:the )?most)"
)
_AT_END: Final = re.compile(
    r"(?i)最后(?!一个|一段)|最新|最近|末(?:步|尾)|现在|目前|结束时|\b(?:at the end|finally|last|latest|now|final)\b"
)
_STEP_TO_STEP: Final = re.compile(r"(?i)单步|相邻|一步之|上一步|前一步|\b(?:single|one) step\b|\bstep to step\b")
_HACKING: Final = re.compile(r"(?i)\bhack\w*|\bgam(?:e|ing)\b|\bcheat\w*|刷分|作弊|投机")
#: Asks for the parts themselves: how many, which, each by itself.
_LISTED: Final = re.compile(
    r"(?i)(?:奖励|rewards?)(?![/_])[^,，。?]{0,10}"
    r"(?:(?:分|有|由)(?:成|为)?(?:哪?几|哪些|多少)(?:个)?(?:部分|分?项|组成|构成|函数)"
    r"|组成|构成|拆开|拆分|分项)"
    r"|(?:奖励|rewards?)(?![/_])[^,，。?]{0,30}分开(?:看|说|列|统计|记)"
    r"|(?:奖励|rewards?)[^,，。?]{0,4}各?(?:个)?(?:分?项|部分)(?:各|都|分别|怎么|怎样|如何)"
    r"|各(?:个|项)?\s?(?:奖励|rewards?)(?![/_])\s?(?:的)?(?:函数|分项|成分|分量|项)[^,，。?]{0,12}(?:多少|几|怎么样|如何|情况)"
    r"|\brewards?\b[^?.]{0,30}"
    r"\b(?:made (?:up )?of|consists? of|composed of|break ?down|broken down|components?|parts)\b"
    r"|\b(?:break ?down|components?|parts|composition)\b[^?.]{0,16}\brewards?\b"
)
_WHEN: Final = re.compile(r"(?i)\bwhich (?:step|epoch|row|line)|\bwhat (?:step|epoch)|哪(?:一)?(?:步|轮)|第几")
#: From which share of its first value on a part's fall beside a rising sum is told.
FALLEN: Final = 0.3
LEAST, MOST = 2, 8
_KIND: Final = "reward_parts"
_BARE: Final = re.compile(
    r"(?i)\W*(?:又|那|再|还有|and |then )*(?:是)?(?:哪(?:个|一个|项)|谁|which(?: one| of them)?\b)"
)
#: How far the sum of printed parts may be from the printed whole.
_ROUNDED: Final = 2e-3


def attempt(context: Context) -> Verdict | None:
    """Answers which part of the reward is lowest or highest, and whether one is gained at the cost of another."""
    if len(context.runs) != 1:
        return None
    said = seamed(context.query.wording or context.query.text)
    kind, low = context.query.steps.kind, spoken_of(said)
    if low is not None and kind in {"none", "all"}:
        return _ranked(context, parts_of(context), low=low)
    if _LISTED.search(said) and kind in {"none", "all", "last"} and context.query.intent != "advice":
        told = _listed(context, parts_of(context))
        if told is not None:
            context.settled, context.query = True, replace(context.query, intent="lookup", topics=())
            return told
    named = {mention.key for mention in context.query.mentions}
    if (
        _WHY_LOW.search(said)
        and context.query.steps.kind in {"none", "all", "last"}
        and not named & set(parts_of(context))
    ):
        return _drags(context)
    ranked = _LOSS_ASKED.search(said) and _HIGH.search(said) and context.query.steps.kind in {"none", "all"}
    if ranked and not _WHEN.search(said) and (parts := _loss_parts(context)):
        return _ranked(context, parts, low=False)
    if _HACKING.search(said):
        return _at_the_cost(context)
    return None


def by_course(context: Context) -> Verdict | None:
    """Which part of the reward changed most, or is the highest at the end; ``None`` where neither is asked."""
    said = seamed(context.query.wording or context.query.text)
    asked = _ASKED.search(said) or (context.kind == _KIND and _BARE.match(said))  # "…, and which rose most?"
    if len(context.runs) != 1 or not asked or context.query.steps.kind not in {"none", "all", "last"}:
        return None
    moved, parts = _MOVED.search(said), parts_of(context)
    ended = _AT_END.search(said) and (_LOW.search(said) or _HIGH.search(said))
    if not parts or (moved is None and not ended) or _WHEN.search(said) or _STEP_TO_STEP.search(said):
        return None
    return _at_the_end(context, parts, said, moved)


def spoken_of(said: str) -> bool | None:
    """Whether the lowest of the parts is asked for; ``None`` where neither it nor the highest is."""
    if not _ASKED.search(said) or not (_LOW.search(said) or _HIGH.search(said)):
        return None
    return (_LOW.search(said) is not None) != (_PENALTY.search(said) is not None)


def parts_of(context: Context) -> list[str]:
    """The keys of the reward's parts."""
    found = [m for m in context.run.metrics if _PART.match(m) and not _NO_PART.search(m.removesuffix("/mean"))]
    return found if len(found) >= LEAST else []


def _loss_parts(context: Context) -> list[str]:
    """The keys of the parts of a loss whose sum is logged beside them."""
    lower = {m.lower() for m in context.run.metrics}
    found = [m for m in context.run.metrics if _LOSS_PART.match(m)]
    return found if len(found) >= LEAST and lower & {"loss", "total_loss", "total loss"} else []


def _means(context: Context, parts: list[str]) -> list[tuple[str, Fact]]:
    """Each part with its mean over the run."""
    means = []
    for metric in parts:
        held = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None and finite(f)]
        if held:
            mean = context.ledger.derived(
                f"mean({metric})", math.fsum(number(f) for f in held) / len(held), inputs=held,
                formula=f"mean of {metric}",
            )  # fmt: skip
            means.append((metric, mean))
    return means


def _drags(context: Context) -> Verdict | None:
    """Why a reward is so low: the most negative of its parts; ``None`` where none is below zero."""
    means = sorted(_means(context, parts_of(context)), key=lambda pair: number(pair[1]))
    below = [pair for pair in means if number(pair[1]) < 0]
    if len(means) < LEAST or not below:
        return None
    metric, mean = below[0]
    whole = rewarded(context.run)
    name = whole.metrics[0] if whole is not None and whole.spelling.plain else None
    last = None if name is None else context.value(name, int(context.run.series(name)[0][-1]))
    count = context.ledger.count("parts below zero", len(below))
    parts = context.ledger.count("parts of the reward", len(means))
    told = "parts.drags" if last is None else "parts.drags_of"
    text = context.say(told, metric=metric, v=mean, k=count, n=parts, whole=name or "", last=last or mean)
    context.doc.paragraph(f"**{text}**")
    rows = [[key(one), context.doc.show(fact)] for one, fact in means[:MOST]]
    context.doc.table([context.say("head.metric"), context.say("parts.head_mean")], rows)
    context.doc.paragraph(context.say("parts.scale"))
    context.metrics.extend([*([name] if name else []), *(one for one, _ in below[:2])])
    return Verdict("insufficient_data", unmark(text), "medium")


def _ranked(context: Context, parts: list[str], *, low: bool) -> Verdict | None:
    means = _means(context, parts)
    if len(means) < LEAST:
        return None
    means.sort(key=lambda pair: number(pair[1]), reverse=not low)
    metric, mean = means[0]
    text = context.say("parts.lowest" if low else "parts.highest", metric=metric, v=mean)
    context.doc.paragraph(f"**{text}**")
    rows = [[key(name), context.doc.show(fact)] for name, fact in means[:MOST]]
    context.doc.table([context.say("head.metric"), context.say("parts.head_mean")], rows)
    context.doc.paragraph(context.say("parts.scale"))
    context.metrics.extend(name for name, _ in means[:2])
    return Verdict("answered", unmark(text), "medium")


def _at_the_end(context: Context, parts: list[str], said: str, moved: re.Match[str] | None) -> Verdict | None:
    """Which part is highest or lowest at its last value, which changed most from its first: what is asked of both."""
    rest = said if moved is None else f"{said[: moved.start()]} {said[moved.end() :]}"
    changes = [
        change for metric in parts
        if len(steps := context.run.series(metric)[0]) > 1
        and (change := context.ledger.change(metric, steps[0], steps[-1])) is not None and change.delta is not None
    ]  # fmt: skip
    if len(changes) < LEAST:
        return None
    lines = []
    if (low := _LOW.search(rest) is not None) or _HIGH.search(rest):
        low = low != (_PENALTY.search(rest) is not None)
        pick = (min if low else max)(changes, key=lambda one: float(one.to_value or 0))
        last = context.value(str(pick.metric), int(pick.to_step or 0))
        phrase = "parts.last_lowest" if low else "parts.last_highest"
        if _AT_END.search(rest) and last is not None:
            lines.append(context.say(phrase, metric=str(pick.metric), v=last))
        elif (mean := dict(_means(context, parts))) and (
            worst := (min if low else max)(mean, key=lambda m: number(mean[m]))
        ):
            lines.append(context.say("parts.lowest" if low else "parts.highest", metric=worst, v=mean[worst]))
    if moved is not None:
        most = max(changes, key=lambda one: _way(one, moved))
        none = _way(most, moved) <= 0
        phrase = "parts.none_moved" if none else "parts.moved_most"
        lines.append(context.say(phrase, metric=str(most.metric), c=most))
    if not lines:
        return None
    context.doc.paragraph(*[f"**{line}**" for line in lines])
    first, last_head = context.say("parts.head_first"), context.say("parts.head_last")
    rows = []
    for change in sorted(changes, key=lambda one: -float(one.delta or 0))[:MOST]:
        ends = [context.value(str(change.metric), int(step or 0)) for step in (change.from_step, change.to_step)]
        rows.append([key(str(change.metric)), *("" if end is None else context.doc.show(end) for end in ends)])
    context.doc.table([context.say("head.metric"), first, last_head], rows)
    context.doc.paragraph(context.say("parts.scale"))
    context.metrics.extend(str(change.metric) for change in changes[:MOST])
    context.settled, context.kind = True, _KIND
    context.query = replace(context.query, intent="lookup", topics=())
    return Verdict("answered", unmark(lines[0]), "medium")


def _way(change: Fact, moved: re.Match[str]) -> float:
    """How far a part moved the way that is asked for."""
    delta = float(change.delta or 0)
    return abs(delta) if moved["any"] else -delta if moved["down"] else delta


def _listed(context: Context, parts: list[str]) -> Verdict | None:
    """Every part with its first, last and mean value, and its share where they add up to the whole.

    Returns:
        The verdict; ``None`` where the log holds no reward at all.
    """
    whole = rewarded(context.run)
    name = whole.metrics[0] if whole is not None and whole.spelling.plain else None
    means = _means(context, parts)
    if len(means) < LEAST:
        if name is None:
            return None
        own = [m for m in context.run.metrics if _PART.match(m) and not _NO_PART.search(m)]
        text = context.say("parts.none", metric=name)
        context.doc.paragraph(f"**{text}**")
        context.doc.bullets([_course(context, metric) for metric in dict.fromkeys([name, *own[:1]])])
        context.metrics.append(name)
        return Verdict("no_data", unmark(text))
    count = context.ledger.count("parts of the reward", len(means))
    names = context.join([key(metric) for metric, _ in means[:MOST]])
    text = context.say("parts.listed", n=count, names=names)
    context.doc.paragraph(f"**{text}**")
    shares = _shares(context, name, means)
    head = [context.say(f"parts.head_{which}") for which in ("first", "last", "mean")]
    rows = []
    for metric, mean in means[:MOST]:
        steps = context.run.series(metric)[0]
        ends = [context.value(metric, step) for step in (steps[0], steps[-1])]
        row = [key(metric), *("" if fact is None else context.doc.show(fact) for fact in ends), context.doc.show(mean)]
        rows.append([*row, *([context.doc.show(shares[metric])] if shares else [])])
    context.doc.table([context.say("head.metric"), *head, *([context.say("parts.head_share")] if shares else [])], rows)
    context.doc.paragraph(
        context.say("parts.adds_up", metric=name) if shares and name else context.say("parts.weights")
    )
    context.metrics.extend([*([name] if name else []), *(metric for metric, _ in means[:MOST])])
    context.chart(context.title(means[0][0]), [metric for metric, _ in means[:MOST]])
    return Verdict("answered", unmark(text), "medium")


def _course(context: Context, metric: str) -> str:
    trend = context.ledger.trend(metric)
    return "" if trend is None else trend_sentence(context, metric, trend)


def _shares(context: Context, name: str | None, means: list[tuple[str, Fact]]) -> dict[str, Fact]:
    """Each part's share of the whole's mean; empty unless all are positive and add up to the whole at each step."""
    if name is None or any(number(mean) <= 0 for _, mean in means):
        return {}
    for step in context.run.series(name)[0]:
        total = context.value(name, step)
        cells = [context.value(metric, step) for metric, _ in means]
        if total is None or any(cell is None or not finite(cell) for cell in cells) or not finite(total):
            return {}
        added = math.fsum(number(cell) for cell in cells if cell is not None)
        if abs(added - number(total)) > _ROUNDED * max(1.0, abs(number(total))):
            return {}
    whole = math.fsum(number(mean) for _, mean in means)
    return {
        metric: context.ledger.derived(
            f"share of {metric} in {name}", number(mean) / whole, inputs=[fact for _, fact in means],
            formula="mean of the part / sum of the means", unit="fraction",
        )
        for metric, mean in means
    }  # fmt: skip


def _at_the_cost(context: Context) -> Verdict | None:
    """A part that fell while the sum rose: what gaming a reward looks like; ``None`` where there is none such."""
    whole = rewarded(context.run)
    if whole is None or not whole.spelling.plain or len(whole) < LEAST:
        return None
    metric = whole.metrics[0]
    total = context.ledger.change(metric, int(whole.steps[0]), int(whole.steps[-1]))
    if total is None or (total.delta or 0) <= 0:
        return None
    fell, rose = [], []
    for part in parts_of(context):
        steps = context.run.series(part)[0]
        change = context.ledger.change(part, steps[0], steps[-1]) if len(steps) > 1 else None
        if change is None or change.from_value is None:
            continue
        if (change.delta or 0) < -FALLEN * abs(float(change.from_value)):
            fell.append(change)
        elif (change.delta or 0) > 0:
            rose.append(change)
    if not fell or not rose:
        return None
    worst = min(fell, key=lambda one: one.delta or 0)
    best = max(rose, key=lambda one: one.delta or 0)
    text = context.say(
        "parts.at_the_cost", metric=metric, c=total, fell=str(worst.metric), a=worst, rose=str(best.metric), b=best
    )
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("parts.few" if len(whole) < 5 else "parts.check"))
    context.metrics.extend([metric, str(worst.metric), str(best.metric)])
    return Verdict("warning", unmark(text), "low")


def finite(fact: Fact) -> bool:
    """Whether a fact's value is a finite number."""
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)
