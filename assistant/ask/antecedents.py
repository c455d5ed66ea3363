"""What the last turns of a conversation told, and follow-ups that point to it: "which of the three is lowest?".

Each answer that tells one metric, at one step or over one part of the run, leaves a :class:`Told` behind; the last few
are kept. A follow-up that sets them against each other ("哪个涨得凶"), against a value of the same metric ("比 first
eval 高多少") or that asks for both sides of the step told ("之前平均多少，之后呢") is put as a question of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.metrics_named import metrics_named
from assistant.ask.query import Query, State, Told
from assistant.knowledge import Resolver
from assistant.model import Fact, Run

#: So many are kept, of the latest turns.
MOST_KEPT: Final = 6
#: So many facts of an answer are looked at for a statistic, and so many metrics of one answer are kept.
_LOOKED_AT: Final = 3
_MOST_AT_ONCE: Final = 3
_OF_A_PART: Final = re.compile(
    r"^(?P<name>mean|median|std|max|min)(?:\((?P<metric>.+?)\)(?: over .*)?(?:/(?P<a>\d+)-(?P<b>\d+)/\d+)?"
    r"| of (?P<of>.+?)/(?P<c>\d+)-(?P<d>\d+)/\d+)$"
)
#: Longer follow-ups say themselves what they mean.
_LONGEST: Final = 60
_COUNTS: Final = {
    "两": 2, "俩": 2, "二": 2, "2": 2, "三": 3, "3": 3, "四": 4, "4": 4, "五": 5, "5": 5,
    "both": 2, "two": 2, "three": 3, "four": 4, "five": 5,
}  # fmt: skip
_N_ZH: Final = r"(?P<n_zh>[两俩二三四五2-5])?"
_COMPARED: Final = r"(?:相比(?:较|之下)?|比起来|比较(?:起来)?|对比(?:一下|起来|下)?|放一起(?:看|比)?|来?比(?:一下)?)?"
_SIZE_ZH: Final = r"(?:高|低|大|小|长|短|多|少|快|慢)"
_MOVED_ZH: Final = r"(?:变化|变动|变|上?涨|增长|上?升|提升|提高|下?降|下?跌|掉|减少|波动)"
_WHICH_ZH: Final = re.compile(
    r"(?i)^\W*(?:那|所以|那么)?\s*(?:上面|刚才|前面)?(?:的)?(?:这|那|它们)?\s*"
    + _N_ZH
    + r"\s*(?:个|者|步|次|边|项|指标|样|条|种|steps?)?"
    r"\s*(?:里面?|中|之中|当中|之间)?\s*"
    + _COMPARED
    + r"\s*[,，]?\s*(?:which|哪|谁)\s*一?(?:个|边|步|次|项|指标|种|者)?\s*(?:的|是|is)?\s*"
    r"(?:(?P<moved>"
    + _MOVED_ZH
    + r")(?:的|得|了)?(?:幅度|百分比|比例)?(?:更|比较|最|要)?(?:多|大|凶|猛|狠|厉害|明显|快)"
    r"|(?P<most>最)?(?:更|比较|要)?(?P<size>" + _SIZE_ZH + r"))(?:一?[些点])?(?:的|呢|啊)?\W*$"
)
_WHICH_EN: Final = re.compile(
    r"(?i)^\W*(?:(?:and|so|then|ok(?:ay)?)\W+)*which(?: (?:one|step|metric|key))?"
    r"(?: of (?:the |these |those |them |all )*(?P<n_en>two|three|four|five|both|[2-5])?(?: (?:steps|of them"
    r"|metrics|values))?)?"
    r"(?: (?:is|was|has|are))?(?: the)? ?"
    r"(?:(?P<moved_en>chang\w*|mov\w*|rose|risen|ris\w*|grew|grow\w*|gain\w*|increas\w*|climb\w*|fell|fall\w*"
    r"|drop\w*|decreas\w*"
    r"|declin\w*)(?: by)?(?: the)? (?:more|most|furthest|faster|fastest)"
    r"|(?P<higher>high(?:er|est)|larg(?:er|est)|bigg(?:er|est)|great(?:er|est)|long(?:er|est)|slow(?:er|est)|most|more)"
    r"|(?P<lower>low(?:er|est)|small(?:er|est)|short(?:er|est)|fast(?:er|est)|least|less))\W*$"
)
#: "和 300", "plus 300": one more step of the same.
_ONE_MORE: Final = re.compile(
    r"(?i)^\W*(?:和|跟|与|还有|以及|加上|再加|plus|&)\s*(?:step\s*|第\s*)?(?P<step>\d{1,7})\s*步?(?:的)?(?:呢)?\W*$"
)
_IT: Final = r"(?:它|这个?值?|那个?值?|这个数|那个数|刚才(?:那个?|的)?值?|上面(?:那个|的)?值?|这|那)"
#: An end of the run, or a step of it, or what is usual, as the other side.
_OTHER: Final = (
    r"(?P<other>(?P<first>最?(?:开始|初|开头|早)(?:的)?(?:那?一?[步次个])?|起初|起点|初始值?|第一(?:次|步|个)"
    r"(?:\s*(?:eval\w*|val\w*|验证|评测|评估|step))?|首[次步]|"
    r"(?:the )?(?:first|initial|earliest|very first)(?: (?:eval\w*|val\w*|step|one|value|row|point))?"
    r"|(?:the )?(?:start|beginning))"
    r"|(?P<last>最[后新近终](?:的)?(?:那?一?[步次个])?|最终值?|末尾|末值|结尾|现在|目前|当前|"
    r"(?:the )?(?:last|latest|final|current)(?: (?:eval\w*|val\w*|step|one|value|row|point))?|(?:the )?end|now)"
    r"|(?P<mean>(?:全程|整体|整个\s*run|总体)?(?:的)?(?:平均(?:值|水平)?|均值)|(?:the |its )?(?:run'?s |overall "
    r"|whole[- ]run )?(?:average|mean)"
    r"(?: (?:of|over) the (?:whole )?run)?)"
    r"|(?P<median>(?:全程|整体)?(?:的)?中位数|(?:the |its )?(?:run'?s )?median)"
    r"|(?:step\s*|第\s*)(?P<step>\d{1,7})\s*步?)"
)
_THAN_OTHER_ZH: Final = re.compile(
    r"(?i)^\W*(?:那|所以)?\s*(?:"
    + _IT
    + r")?\s*[比跟和较与]\s*"
    + _OTHER
    + r"\s*(?:的)?(?:值|时候|时)?\s*(?:比|相比)?\s*"
    r"(?P<how>[高低大小多少涨升降跌掉长短快慢差变]了?(?:多少|几倍|几|百分之[几多]少?|还是[高低大小多少长短快慢]"
    r"|吗|没有?)?"
    r"|哪个[高低大小长短快慢])(?:呢|了|的)?\W*$"
)
_THAN_OTHER_EN: Final = re.compile(
    r"(?i)^\W*(?:(?:and|so|but)\W+)*(?:(?:how (?:much|far) )?(?P<side>higher|lower|more|less|larger|smaller|above"
    r"|below|better|worse|longer"
    r"|shorter|slower|faster)(?: (?:is|was) (?:that|it|this))? (?:than )?"
    r"|(?:is|was) (?:that|it|this)(?: (?:much|well|any|still))? (?P<is>higher|lower|more|less|larger|smaller|above"
    r"|below|over|under|longer|shorter"
    r"|slower|faster)(?: than)? "
    r"|(?:is|was) (?:that|it|this) (?:with)?in (?P<pct>\d{1,3}(?:\.\d+)?) ?(?:%|per ?cent) of "
    r"|how does (?:that|it|this) compare (?:to|with) |(?:compared|relative) (?:to|with) |(?:vs\.?|versus) )"
    + _OTHER
    + r"\W*$"
)
#: "最后 reward 比这个高还是低": another value of the metric against the one told.
_OTHER_THAN_ZH: Final = re.compile(
    r"(?i)^\W*(?:那|所以)?\s*"
    + _OTHER
    + r"\s*(?:的)?\s*(?P<named>[^,，。?？]{0,32}?)\s*(?:值)?\s*(?:是|有)?(?:不是)?\s*[比跟和较]\s*"
    + _IT
    + r"\s*(?P<how>(?:还|更)?[高低大小多少涨升降跌长短快慢]了?(?:多少|几倍|几|还是[高低大小多少长短快慢]|吗|没有?)?)"
    + r"(?:呢|了|的)?\W*$"
)
_OTHER_THAN_EN: Final = re.compile(
    r"(?i)^\W*(?:(?:and|so|but)\W+)*(?:is|was|how much (?P<much>higher|lower|more|less) (?:is|was)) "
    r"(?:(?P<named>[\w/@.][\w/@. ]{0,32}?) )??(?:(?:at|in|by|on) )?"
    + _OTHER
    + r"(?: (?!higher|lower|more|less|larger|smaller|above|below|than)(?P<after>[\w/@.]{1,32}))?"
    r"(?P<than> (?:(?P<is>higher|lower|more|less|larger|smaller|above|below) )?(?:than )?(?:that|this|it))?\W*$"
)
_BARE_IT: Final = frozenset({"", "it", "that", "this", "the value"})
_BOTH_SIDES: Final = re.compile(
    r"(?i)^\W*(?:那|and|so)?\s*(?:在?(?:那|此|这|它)?(?:之|以)前\s*的?(?P<zh>平均值?|均值|中位数"
    r"|最[大小高低]值?)?(?:是|有)?(?:多少"
    r"|几)?\s*[,，、和跟与;；]?\s*"
    r"(?:在?(?:那|此|这|它)?(?:之|以)?后)\s*(?:的)?(?:平均值?|均值|中位数|最[大小高低]值?)?(?:又|各|分别)?(?:呢"
    r"|(?:是|有)?(?:多少|几)(?:呢)?)"
    r"|(?:the |what(?:'s| is| was) (?:the |its )?)?(?P<en>mean|average|median|max(?:imum)?"
    r"|min(?:imum)?)? ?(?:right )?before(?: (?:that|it))? (?:and|vs\.?|versus)"
    r" after(?:wards?| that| it)?)\W*$"
)
#: "之后涨回去多少了": what it came to since the value told.
_CAME_BACK: Final = re.compile(
    r"(?i)^\W*(?:那|它)?\s*(?:在?(?:那|此)?之后|后来|以后|随后|从那(?:以后|之后)?)\s*(?:又|还|就|一共|总共)?"
    r"(?P<how>(?:[涨升降跌掉反回][涨升弹落跌调撤掉]?回?[去来]?)了?(?:多少|几倍|百分之[几多]少?))了?\W*$"
)
#: Words that ask for a statistic of some part of the run, without a name of what; and "was it 0 before step 49".
_NO_NAME: Final = re.compile(
    r"(?i)\b(?:and|so|then|what|which|how|was|were|is|are|did|does|the|a|that|this|of|on|over|in|at|for|from|to"
    r"|until|up"
    r"|before|after|since|between|values?|high|low|steps?|rows?|always|ever|there|last|first)\b|[\W\d_]+"
)
_STATISTIC: Final = re.compile(
    r"(?i)\b(?:max(?:imum)?|min(?:imum)?|mean|average|avg|median|highest|lowest|largest|smallest)\b(?: of)?(?: it\b)?"
)
_WAS_IT: Final = re.compile(
    r"(?i)^\W*(?:and |so |then |but )?(?:was|is|did|has|does) (?P<it>it|that)\b(?=.{0,60}\d)(?!.{0,40}\b(?:vs|than"
    r"|within)\b)"
)
_WHEN: Final = re.compile(
    r"(?i)什么时候|何时|啥时候|(?:从)?哪(?:一)?[步次行]|第几步|几步(?:开始|起)"
    r"|\b(?:when|since|which step|what step|at which)\b"
)


def told(query: Query, facts: Sequence[Fact], step: int | None, earlier: Sequence[Told]) -> tuple[Told, ...]:
    """What the latest turns told, this one's last.

    Args:
        query: the question as understood.
        facts: of its answer.
        step: that the answer named (:attr:`State.step`).
        earlier: of the turns before.
    """
    statistic = next((one for fact in facts[:_LOOKED_AT] if (one := _statistic_told(fact, facts)) is not None), None)
    if statistic is not None and query.intent not in {"define", "out_of_scope"}:
        return tuple([*(one for one in earlier if one != statistic), statistic][-MOST_KEPT:])
    keys = list(dict.fromkeys(m.key for m in query.mentions if m.key is not None))
    values = [fact for fact in facts if fact.kind == "value" and fact.step is not None and fact.metric in keys]
    held = list(dict.fromkeys(str(fact.metric) for fact in values))
    if not held or len(held) > _MOST_AT_ONCE or query.intent in {"define", "out_of_scope"}:
        return ()
    found = []
    for key in held:
        steps = sorted({int(fact.step or 0) for fact in values if fact.metric == key})
        if step is not None and step in steps:
            extreme = (query.op or "").removeprefix("arg")
            found.append(Told(key, step, step, extreme if extreme in {"max", "min"} else "value"))
        elif query.steps.kind in {"pair", "range"} and len(query.steps.values) == 2:
            found.append(Told(key, query.steps.values[0], query.steps.values[1]))
        elif len(steps) == 1:
            found.append(Told(key, steps[0], steps[0]))
        elif query.steps.kind in {"none", "all"}:
            found.append(Told(key, None, None))
    kept = [one for one in earlier if one not in found]
    return tuple([*kept, *found][-MOST_KEPT:])


def _statistic_told(fact: Fact, facts: Sequence[Fact]) -> Told | None:
    """The statistic of a part that a fact is, by its name; ``None`` for another fact."""
    if fact.kind != "derived" or fact.name is None or (match := _OF_A_PART.match(fact.name)) is None:
        return None
    ends = [int(one) for one in (match["a"] or match["c"], match["b"] or match["d"]) if one]
    inputs = {other.step for other in facts if other.id in (fact.inputs or ()) and other.step is not None}
    ends = ends or ([min(inputs), max(inputs)] if len(inputs) > 1 else [])
    first, last = ends if len(ends) == 2 else (None, None)
    return Told(str(match["metric"] or match["of"]), first, last, match["name"])


def onset_asked(query: Query) -> bool:
    """Whether a question asks when something set in."""
    return _WHEN.search(query.wording or query.text) is not None


def resolved(text: str, state: State, run: Run, resolver: Resolver, *, zh: bool) -> str | None:
    """A follow-up that points to what was told, as a question of its own; ``None`` where it does not.

    Args:
        text: the follow-up, normalised.
        state: what the conversation carries.
        run: the log.
        resolver: from names to cards.
        zh: whether the question is to be put in Chinese.
    """
    if not state.cells or not 0 < len(text) <= _LONGEST:
        return None
    cells = [one for one in state.cells if one.metric in run.columns]
    if not cells:
        return None
    if (more := _ONE_MORE.match(text)) is not None and cells[-1].alone and int(more["step"]) in run.distinct_steps:
        return f"step {more['step']} 的 {cells[-1].metric}" if zh else f"{cells[-1].metric} at step {more['step']}"
    if (named := _named(text, cells[-1].metric, run, resolver)) is not None:
        return named
    asked = _WHICH_ZH.match(text) or _WHICH_EN.match(text)
    if asked is not None:
        return _which(asked, cells, zh=zh)
    last = cells[-1]
    if state.step is not None and (both := _BOTH_SIDES.match(text)) is not None:
        return _both_sides(last.metric, state, run, (both["zh"] or both["en"] or "").lower(), zh=zh)
    return _against(text, last, run, resolver, zh=zh) if last.alone else None


def _named(text: str, key: str, run: Run, resolver: Resolver) -> str | None:
    """A statistic of a part of the run, or a value there, that names no metric: of the one talked of."""
    statistic, it = _STATISTIC.search(text), _WAS_IT.match(text)
    if (
        statistic is not None
        and re.search(
            r"(?i)\bsteps?"
            r" \d",
            text,
        )
        and not _NO_NAME.sub("", _STATISTIC.sub(" ", text))
    ):
        what = statistic[0].split(" ")[0]
        return f"{text[: statistic.start()]}{what} of {key}{text[statistic.end() :]}"
    if it is not None and not metrics_named(text, resolver, run):
        return f"{text[: it.start('it')]}{key}{text[it.end('it') :]}"
    return None


def _both_sides(key: str, state: State, run: Run, what: str, *, zh: bool) -> str | None:
    """A statistic before and after the step told; what set in there belongs to what is after, an extreme to neither."""
    extreme = state.query is not None and (state.query.op or "").removeprefix("arg") in {"max", "min"}
    steps = run.series(key)[0]
    before = [one for one in steps if one < (state.step or 0)]
    after = [one for one in steps if one > (state.step or 0) or (one == state.step and not extreme)]
    if not before or not after:
        return None
    if zh:
        what = what or "平均值"
        return f"{key} step {before[0]} 到 {before[-1]} 的{what}和 step {after[0]} 到 {after[-1]} 的{what}差多少"
    what = what or "mean"
    ends = f"over steps {before[0]} to {before[-1]} and over steps {after[0]} to {after[-1]}"
    return f"how far apart are the {what} of {key} {ends}"


def _which(asked: re.Match[str], cells: Sequence[Told], *, zh: bool) -> str | None:
    """Of the latest told the one that is more, or that moved more."""
    said = asked.groupdict()
    count = _COUNTS.get((said.get("n_zh") or said.get("n_en") or "").lower())
    last = cells[-1]
    steps = [one for one in cells if one.metric == last.metric and one.alone]
    others = list({one.metric: one for one in cells if (one.first, one.last) == (last.first, last.last)}.values())
    moved = said.get("moved") or said.get("moved_en")
    if moved:
        others = list({one.metric: one for one in cells}.values())
        others = others[-(count or 2) :]
        if len(others) < 2 or (count is not None and len(others) != count):
            return None
        names, span = [one.metric for one in others], ""
        pairs = {(one.first, one.last) for one in others}
        if len(pairs) == 1 and not others[0].alone and others[0].first is not None:
            span = (
                f"从 step {last.first} 到 step {last.last} " if zh else f" from step {last.first} to step {last.last}"
            )
        if zh:
            how = (
                "变化" if not said.get("moved") or "变" in moved else moved[-1] if moved[-1] in "涨升降跌掉" else moved
            )
            return f"{'、'.join(names[:-1])} 和 {names[-1]} {span}哪个{how}{'得多' if how in '涨升降跌掉' else '更大'}"
        return f"which changed more{span}, {', '.join(names[:-1])} or {names[-1]}?"
    size, low = said.get("size"), bool(said.get("lower")) or said.get("size") in set("低小短少快")
    if last.alone and len(steps) >= (count or 2):
        listed = [str(one.first) for one in steps[-(count or len(steps)) :]]
        if zh and len(listed) == 2:
            return f"{last.metric} step {listed[0]} 和 step {listed[1]} 哪个更{size or ('低' if low else '高')}"
        if len(listed) == 2:
            side = "lower" if low else "higher"
            return f"compare {last.metric} at step {listed[0]} and step {listed[1]}: which is {side}"
        if zh:
            return f"{last.metric} step {'、'.join(listed)} 哪个最{size or ('低' if low else '高')}"
        return f"{last.metric} at steps {', '.join(listed)}: the {'lowest' if low else 'highest'}"
    if len(others) >= 2 and (count is None or count == 2):
        first, second = others[-2].metric, others[-1].metric
        at = (
            "" if last.first is None or not last.alone else f"在 step {last.first} " if zh else f" at step {last.first}"
        )
        if zh:
            return f"{first} 和 {second} {at}哪个{size or ('低' if low else '高')}"
        return f"which is {'lower' if low else 'higher'}{at}, {first} or {second}?"
    return None


def _against(text: str, cell: Told, run: Run, resolver: Resolver, *, zh: bool) -> str | None:
    """The value told against another of its metric: an end of the run, a step, or what is usual."""
    key, step, series = cell.metric, cell.first, run.series(cell.metric)[0]
    if _CAME_BACK.match(text) is not None:
        return f"{key} 从 step {step} 到 step {series[-1]} 变了多少" if step != series[-1] else None
    match = _THAN_OTHER_ZH.match(text) or _THAN_OTHER_EN.match(text)
    turned = None if match is not None else _OTHER_THAN_ZH.match(text) or _OTHER_THAN_EN.match(text)
    found = match or turned
    if found is None:
        return None
    said = found.groupdict()
    named = (said.get("named") or "").strip(" 的") or (said.get("after") or "")
    if found.re is _OTHER_THAN_EN and not said["than"] and (not said["much"] or said["named"] not in _BARE_IT):
        return None
    if named.lower() not in _BARE_IT and key not in {m.key for m in metrics_named(named, resolver, run)}:
        return None
    if said["mean"] or said["median"]:
        usual = ("平均值" if said["mean"] else "中位数") if zh else "mean" if said["mean"] else "median"
        if zh:
            how = said.get("how") or "高还是低"
            return f"{key} step {step} 比全程{usual}{how}"
        share = said.get("pct")
        if share:
            return f"is {key} at step {step} within {share}% of its {usual} over the run?"
        return f"{key} at step {step} vs its {usual} over the run"
    if found.re is _THAN_OTHER_EN and not (said["side"] or said["is"]):
        return None
    other = series[0] if said["first"] else series[-1] if said["last"] else int(said["step"])
    if other == step or other not in run.distinct_steps:
        return None
    first, second = (other, step) if turned is not None else (step, other)
    if zh:
        return f"{key} 在 step {first} 比 step {second} {said.get('how') or '高还是低'}"
    side = said.get("side") or said.get("is") or said.get("much")
    return f"how much {side or 'higher or lower'} is {key} at step {first} than at step {second}"
