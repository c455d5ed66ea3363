"""The words of a question as tags: parts of the run, statistics, limits, what is to be told of them; all or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assistant.ask.plan.readings import Value, between, counts, crossed, limit, named, rule


@dataclass(frozen=True, slots=True)
class Tag:
    """One thing that a question says.

    Attributes:
        kind: what it is, as in ``_RULES``.
        value: its numbers and names.
        start: where it begins.
        end: where it ends.
    """

    kind: str
    value: Value
    start: int
    end: int


_N: Final = r"(\d{1,7}|[一二两三四五六七八九十]{1,3}|two|three|four|five|six|seven|eight|nine|ten|twenty)"
_STEP: Final = (
    r"(?:(?:the )?(?:global[_ ]?)?(?:steps?|iterations?|iters?|updates?|rows?|rounds?|evals? at)\s*#?\s*|第\s*|@\s*)"
)
_UNIT: Final = r"\s*个?\s*(?:步|steps?|轮|行|rows?|iters?|iterations?|rounds?|updates?)"
_UNITS: Final = rf"(?:{_UNIT}|\s*个?\s*(?:次验证|次评测|次|evals?|validations?|values?|个值|条|个|points?))"
_TO: Final = r"\s*(?:-|–|—|~|～|到|至|to|through|until)\s*"
_NUMBER: Final = r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|-?\.\d+)\s*(%|％|percent\b|k\b)?"
_NOT_STEPS: Final = r"(?!\s*个?\s*(?:步|steps?\b|轮|倍|次|times\b|x\b|\d))"
_SECONDS: Final = r"\s*(minutes?|mins?|分钟|hours?|hrs?|小时|seconds?|secs?|s\b|秒|tokens?|gib|gb|个)?"


_EARLY: Final = (
    r"(?:the |its )?(?:最?前|头|最初|最早|开头|起初|一开始|最开始|第一个|前面|first|initial|opening|earliest|early"
    r"|beginning)(?:的|那)?"
)
_LATE: Final = r"(?:the |its )?(?:最后|最近|末尾|末|尾|后面?|last|final|closing|latest|ending|most recent)(?:的|那)?"
#: Kind, words, and what of them is kept. Where several match at one place, the longest is taken.
_RULES: Final = (
    rule(
        "range",
        rf"(?:between\s+|from\s+|从\s*|在\s*|over\s+|in\s+)?{_STEP}\s*(\d{{1,7}})(?:\s*步)?(?:{_TO}"
        rf"|\s+and\s+){_STEP}?\s*(\d{{1,7}})(?:{_UNIT}|\s*之间)?",
        counts,
    ),
    rule("range", rf"(?:between\s+|from\s+|从\s*|在\s*)?(\d{{1,7}})(?:\s*步)?{_TO}(\d{{1,7}}){_UNIT}(?:之间)?", counts),
    rule(
        "bare_range",
        r"(?:step\s*)?(?<![\d.])(\d{1,7})\s*[-–—~～到至]\s*(\d{1,7})(?![\d.%％]|\s*(?:k"
        r"|tokens?|秒|s|gb)\b)",
        counts,
    ),
    rule("first_n", rf"(?:over |in |of |on )?{_EARLY}\s*{_N}{_UNITS}?(?![\d.%])", counts),
    rule("last_n", rf"(?:over |in |of |on )?{_LATE}\s*{_N}{_UNITS}?(?![\d.%])", counts),
    rule(
        "previous_n",
        rf"(?:再?(?:之前|往前|前面)(?:的|那)?|(?:the )?(?:previous|preceding|prior))\s*{_N}{_UNITS}"
        rf"|the\s+{_N}(?:{_UNITS})?\s+(?:right |just )?before(?: (?:that|it|them|those|these))?",
        counts,
    ),
    rule(
        "after",
        rf"(?:after|past|beyond)\s+{_STEP}?(\d{{1,7}})(?!\d){_NOT_STEPS}|{_STEP}(\d{{1,7}})(?:\s*步)?\s*(?:之后"
        rf"|以后|过后)"
        rf"|(?<![\d.])(\d{{1,7}})\s*步\s*(?:之后|以后)",
        counts,
    ),
    rule(
        "since",
        rf"(?:since|from)\s+{_STEP}(\d{{1,7}})(?:\s+on(?:wards?)?)?|从?\s*{_STEP}(\d{{1,7}})(?:\s*步)?\s*(?:开始"
        rf"|起|往后|以来)",
        counts,
    ),
    rule(
        "before",
        rf"(?:before|prior to)\s+{_STEP}?(\d{{1,7}})(?!\d)|{_STEP}(\d{{1,7}})(?:\s*步)?\s*(?:之前|以前)"
        rf"|(?<![\d.])(\d{{1,7}})\s*步\s*(?:之前|以前)",
        counts,
    ),
    rule("until", rf"(?:until|up to|through)\s+{_STEP}(\d{{1,7}})|到\s*{_STEP}(\d{{1,7}})(?:\s*步)?为止", counts),
    rule("first_half", r"(?:over |in |of )?(?:the )?first half|前半(?:程|场|段|部分|期)?|上半[程场段]", named(2)),
    rule(
        "last_half",
        r"(?:over |in |of )?(?:the )?(?:second|last|latter) half|后半(?:程|场|段|部分|期)?"
        r"|下半[程场段]",
        named(2),
    ),
    rule("first_half", r"(?:over |in |of )?(?:the )?first third|前三分之一", named(3)),
    rule("last_half", r"(?:over |in |of )?(?:the )?last third|后三分之一", named(3)),
    rule(
        "whole",
        r"全程|整个\s*(?:run|训练|过程)?|(?:over |in )?the (?:whole|entire|full) (?:run|log|training)|overall"
        r"|全部(?:步|记录"
        r"|的步)?|整体",
    ),
    rule(
        "point",
        rf"(?:at\s+|in\s+|on\s+|of\s+|在\s*)?{_STEP}(\d{{1,7}})(?![\d.%])(?:\s*(?:步|step|轮|行))?(?:\s*时)?"
        rf"|\bat (\d{{1,7}})(?![\d.%])|(?<![\d.])(\d{{1,7}})\s*步(?![的之以]?[前后内])",
        counts,
    ),
    rule(
        "at_last",
        rf"(?:at |in )?{_LATE}\s*(?:一?[步次行轮]|step|row|value|iteration|eval\w*|one)|(?:at )?the end|现在"
        rf"|目前|当前|最新|末值"
        rf"|末步|结尾|最终值?|latest|最后",
    ),
    rule(
        "at_first",
        r"(?:at |in )?(?:the )?(?:very )?first (?:step|row|value|iteration|eval\w*|one)|(?:at )?the (?:start"
        r"|beginning)|第一步|首步|最开始|一开始|起点|初始值?|最初|开头",
    ),
    rule(
        "there",
        r"(?:在|at |in |on |for )?(?:那|这|该|同)一?个?\s*(?:步|step|行|轮|次|时候?|row|iteration)|当时|那时"
        r"|(?:at |in |on "
        r"|for )?(?:that|the same|this) (?:very )?(?:step|point|time|row|iteration|eval|moment)|there\b|届时",
    ),
    rule(
        "back",
        r"(?:的)?(?:上|前)一?个?\s*(?:步|step|行|轮|次)|(?:the )?(?:step|row|one) (?:right "
        r"|just )?before(?: (?:that|it))?"
        r"|(?:the )?previous (?:step|row|one)",
        named(-1),
    ),
    rule(
        "back",
        r"(?:的)?(?:下|后)一?个?\s*(?:步|step|行|轮|次)|(?:the )?(?:step|row|one) (?:right "
        r"|just )?after(?: (?:that|it))?"
        r"|(?:the )?next (?:step|row|one)",
        named(1),
    ),
    rule("back", r"(?:one|1) step (?:later|after(?:wards)?)", named(1)),
    rule("back", r"(?:two|2) steps (?:later|after(?:wards)?)|两步(?:之)?后", named(2)),
    rule(
        "before_it",
        r"(?:在)?(?:那|这|此|[破掉跌降升涨坏崩])?(?:之前|以前)|\bbefore(?: (?:that|it"
        r"|then))?\b(?!\s*\d)",
    ),
    rule("after_it", r"(?:在)?(?:那|这|此|[破掉跌降升涨坏崩])?(?:之后|以后)|\bafter(?:wards?| that| it)?\b(?!\s*\d)"),
    rule(
        "around",
        rf"前后各\s*{_N}{_UNITS}|the {_N}{_UNITS} (?:before and after|on (?:either|each) side)(?: (?:it|that))?",
        counts,
    ),
    rule("stat", r"(?:the )?(?:mean|average|avg)(?: value)?(?: of)?|平均(?:值|数|下来)?(?:的)?|均值", named("mean")),
    rule("stat", r"(?:the )?median(?: value)?(?: of)?|中位数|中值", named("median")),
    rule(
        "stat",
        r"(?:the )?(?:max(?:imum)?|highest|largest|biggest|peak|longest)(?: value)?(?: of)?|最[大高长][值点]?|峰值",
        named("max"),
    ),
    rule(
        "stat",
        r"(?:the )?(?:min(?:imum)?|lowest|smallest|shortest)(?: value)?(?: of)?|最[小低短][值点]?|谷值",
        named("min"),
    ),
    rule("stat", r"(?:the )?(?:std|standard deviation)(?: of)?|标准差", named("std")),
    rule("stat", r"(?:the )?(?:sum|total)(?: of)?|总和|合计|总量", named("sum")),
    rule(
        "percentile",
        r"(?:the )?(\d{1,2})(?:th|st|nd|rd)[- ]percentile(?: of)?|\bp(\d{1,2})\b"
        r"|第?\s*(\d{1,2})\s*(?:个)?(?:百?分位(?:数"
        r"|点|值)?|%\s*分位(?:数|点)?)",
        counts,
    ),
    rule("limit", r"(?:为|是)正(?:数|值|的)?|\bpositive\b", named("positive", 0.0, "")),
    rule("limit", r"(?:为|是)负(?:数|值|的)?|\bnegative\b", named("negative", 0.0, "")),
    rule(
        "except",
        r"(?:excluding|without|w/o|except(?: for)?|leaving out|ignoring|不算|不含|剔除|去掉|排除|除去)"
        r"(?: the| those| any)?(?: (?:outliers|spikes|values|steps|rows|ones))?",
    ),
    rule(
        "limit",
        rf"(?:is |lies |are )?between\s+{_NUMBER}\s+and\s+{_NUMBER}{_NOT_STEPS}|在?\s*{_NUMBER}{_TO}{_NUMBER}\s*之间",
        between,
    ),
    rule("its", r"它的|\b(?:its|their)\b"),
    rule("rank", r"第二名", named(2, "told")),
    rule("rank", r"第三名", named(3, "told")),
    rule("rank", r"(?:the )?second[- ](?P<en>highest|largest|biggest|longest)|第二[大高长](?:的)?值?", named(2, "max")),
    rule("rank", r"(?:the )?second[- ](?:lowest|smallest|shortest)|第二[小低短](?:的)?值?", named(2, "min")),
    rule("rank", r"(?:the )?third[- ](?:highest|largest|biggest|longest)|第三[大高长](?:的)?值?", named(3, "max")),
    rule("rank", r"(?:the )?third[- ](?:lowest|smallest|shortest)|第三[小低短](?:的)?值?", named(3, "min")),
    rule(
        "limit",
        rf"(?:不低于|不小于|不少于|至少|>=|≥|at least|no less than)\s*(?:为|是)?\s*{_NUMBER}{_NOT_STEPS}{_SECONDS}",
        limit("at_least"),
    ),
    rule(
        "limit",
        rf"(?:不超过|不高于|不大于|至多|<=|≤|at most|no more than)\s*(?:为|是)?\s*{_NUMBER}{_NOT_STEPS}{_SECONDS}",
        limit("at_most"),
    ),
    rule(
        "limit",
        rf"(?:(?:went |is |are |was |were |goes |go )?(?:超过|超出|高于|大于|多于|过|>|above|over"
        rf"|exceed(?:s|ed|ing)?"
        rf"|greater than|higher than|more than|larger than|longer than))\s*(?:了)?\s*{_NUMBER}{_NOT_STEPS}{_SECONDS}",
        limit("above"),
    ),
    rule(
        "limit",
        rf"(?:(?:is |are |was |were |went |goes |go )?(?:低于|小于|少于|不到|不足|<|below|under|less than"
        rf"|lower than"
        rf"|smaller than|shorter than))\s*(?:了)?\s*{_NUMBER}{_NOT_STEPS}{_SECONDS}",
        limit("below"),
    ),
    rule(
        "limit",
        rf"(?:第一次|首次)?(?:突破|升破|涨破|破|[升涨]到了?|rises? above|rose above|first (?:rose|went|goes"
        rf"|climbed) above|climb(?:s|ed) above"
        rf"|first exceeds?)\s*(?:了)?\s*{_NUMBER}"
        rf"(?:\s*以上)?{_NOT_STEPS}{_SECONDS}",
        crossed("above"),
    ),
    rule(
        "limit",
        rf"(?:第一次|首次)?(?:跌破|降破|[掉跌降落]到了?(?=.{{1,12}}以下)|falls? below|fell below|first (?:fell"
        rf"|went|goes|dropped) (?:below|under)|drop(?:s"
        rf"|ped) below)\s*(?:了)?\s*{_NUMBER}"
        rf"(?:\s*以下)?{_NOT_STEPS}{_SECONDS}",
        crossed("below"),
    ),
    rule(
        "limit",
        rf"(?:(?:is |are |was |were )?(?:等于|恰好是|正好是|恰为|==?|exactly"
        rf"|equal(?:s)? ?(?:to)?))\s*{_NUMBER}{_NOT_STEPS}{_SECONDS}",
        limit("equal"),
    ),
    rule("limit", rf"with (?:an? |the )?(?:value (?:of )?)?{_NUMBER}{_NOT_STEPS}{_SECONDS}", limit("equal")),
    rule(
        "all_n",
        rf"(?:over |of |in )?(?:the |all (?:the )?)(\d{{1,7}}){_UNITS}|(?:这|全部|所有)(\d{{1,7}}){_UNITS}",
        counts,
    ),
    rule(
        "count",
        r"(?:一共|总共|共)?有?(?:几|多少)个?(?:步|次|行|条|轮|个\s*step|step|值|记录|row)s?|how many (?:steps?"
        r"|rows?|times|values?"
        r"|evals?|points?)|how often|(?:the )?number of (?:steps?|rows?|evals?)|次数|步数",
    ),
    rule(
        "share",
        r"(?:占(?:了)?(?:全部|总数|总步数|所有步|全程)?的?(?:多少|几成|百分之几|百分之多少|比例|几)|(?:what "
        r"|which |the )?(?:share|fraction"
        r"|percentage|proportion) of (?:the )?(?:steps?|rows?|values?|points?)|比例(?:是)?(?:多少)?)",
    ),
    rule(
        "list",
        r"(?:都)?(?:有|是)?(?:哪些|哪几)个?\s*(?:步|次|轮|行|steps?|rows?)?|which (?:steps|rows|evals|ones)"
        r"|list (?:the "
        r"|all )?(?:steps|rows)|列(?:一下|出来)",
    ),
    rule("share", r"(?:的步|的行)?有几成(?=\W*$)"),
    rule("and", r"(?:崩|坏|掉|涨|变)[^(（,，\d]{0,4}?[之以]?[前后](?=\s*[(（]\s*(?:step|第)?\s*\d)"),
    rule(
        "list",
        r"的(?:步|行|轮|记录|steps?|rows?)(?=\W*$)|(?:the |list |all )*(?:steps|rows|evals) (?:with"
        r"|where|at which)",
    ),
    rule(
        "first_time",
        r"(?:的)?(?:第一次|首次|最早(?:一次)?)|(?:the )?first time|\bfirst(?= (?:above|over|below|under|exceed|at or))"
        r"|(?:for )?the first time",
    ),
    rule(
        "difference",
        r"(?:之间)?的?(?:相差|差距|差值|差了|差)(?:是)?(?:多少|几个?(?:百分点|点)?|多大)?|(?:what(?:'s"
        r"| is) )?(?:the )?(?:difference"
        r"|gap)(?: between)?|(?:by )?how much (?:higher|lower|more|less|longer|shorter)|how far apart|by how much"
        r"|[快慢高低大小长短多少好差涨跌升降][了些]?还是[快慢高低大小长短多少好差涨跌升降][了些]?"
        r"|(?:faster or slower|slower or faster|higher or lower"
        r"|lower or higher|longer or shorter|more or less|up or down)|[高低大小多少长短涨降升跌][了出]?(?:多少"
        r"|几(?:个百?分?点)?)",
    ),
    rule("ratio", r"(?:缩小|缩短|减少|减小|下降|降低|少|小|低)了?(?:多少|几)倍", named("less")),
    rule(
        "percent",
        r"(?:[涨升增降跌减变]了?|提高了?|变化)?(?:几成|百分之几|百分之多少|多少个?百分比)|(?:by )?(?:how many"
        r"|what) per ?cent(?:age)?"
        r"|per ?cent(?:age)? (?:change|difference)|in (?:%|per ?cent)",
    ),
    rule(
        "moved",
        r"(?:有没有|有|是|是不是)?(?:变[长高大多快]|上?涨|上升|升高?|增加|提高|变好)了?(?:吗|没有?"
        r"|么)?(?![\u4e00-\u9fff])"
        r"|(?:did it |has it )?(?:go|went|gone) up|(?:is |was )?(?:it |that )?(?:higher|longer|larger|up)\b(?= *\W*$)"
        r"|(?:did it )?(?:rise|rose|grow|increase)\b",
        named("up"),
    ),
    rule(
        "moved",
        r"(?:有没有|有|是|是不是)?(?:变[短低小少慢]|下?跌|下降|降低?|掉|减少|缩短)了?(?:吗|没有?"
        r"|么)?(?![\u4e00-\u9fff])"
        r"|(?:did it |has it )?(?:go|went|gone) down|(?:is |was )?(?:it |that )?(?:lower|shorter|smaller"
        r"|down)\b(?= *\W*$)"
        r"|(?:did it )?(?:fall|fell|drop|decrease|shrink)\b",
        named("down"),
    ),
    rule("ratio", r"的(?:几|多少)倍|(?:the )?ratio(?: of| between)?|比值|比率", named("of")),
    rule(
        "ratio", r"(?:[翻涨升增]|增加|提高|扩大)?了?(?:几|多少)倍|倍数|(?:by )?what factor|how many times", named("by")
    ),
    rule(
        "which",
        r"(?:是)?(?:哪(?:一?个|边|段|一?次|头|半)|谁|which(?: (?:one|half|part|window))?)\s*(?:is |was "
        r"|are )?(?:的)?(?:更|比较"
        r"|要)?(?:高|大|长|多|higher|larger|bigger|longer|more)(?:一?[点些])?",
        named("max"),
    ),
    rule(
        "which",
        r"(?:是)?(?:哪(?:一?个|边|段|一?次|头|半)|谁|which(?: (?:one|half|part|window))?)\s*(?:is |was "
        r"|are )?(?:的)?(?:更|比较"
        r"|要)?(?:低|小|短|少|lower|smaller|shorter|less)(?:一?[点些])?",
        named("min"),
    ),
    rule("and", r"的(?:值|步|行|记录|点)之?后"),
    rule("and", r"[,，、;；?？。.]|\band\b|和|跟|与|且|并且|而且?|同时|但|\bbut\b|\bplus\b|&|/|\bor\b|还是|\bto\b"),
    rule("and", r"\bvs\b\.?|\bversus\b|对?比|\bthan\b|\bagainst\b", named("vs")),
    rule(
        "these",
        r"(?:of |in )?(?:these|those|them|the)(?: (two|three|four|five|[2-5]))?(?: (?:values|steps|ones))?|(?:这|那"
        r"|上面)?([两二三四五2-5])(?:个|步|次|者|轮)(?:里面?|中|之中|之间)?|(?:at )?(both)(?: (?:of them"
        r"|steps))?|(?<=平均)一下",
        counts,
    ),
    rule(
        "noise",
        r"(?:is (?:that|it|this) )?(?:significant|beyond noise|a real (?:change|difference))|(?:变化|差别|差距)?(?:显著"
        r"|超出噪声|是噪声)",
    ),
)
_FLUFF: Final = re.compile(
    r"(?i)(?:请问|帮我|麻烦|看看|看一?下|算一?下|查一?下|告诉我|我想知道|分别|各自?|都|就|才|又|还|再|也|那么?"
    r"|呢|吗|么|啊|吧|呀|的|得|地|了|过|是|有|在|从|于|为|把|被|个|些|这|那"
    r"|它|其|时候?|里面?|中|上|下|值|数|大约|大概|约|多少|是多少|几|多大|多长|怎么样|如何|什么|情况|一共|总共"
    r"|这个|日志|log|run|记录|验证步|训练步|一步|步|全部|其中|token"
    r"|tokens|秒|每步|单步"
    r"|\b(?:the|a|an|is|are|was|were|be|of|in|on|at|for|with|what|what's|how|much|many|did|does|do|it|its|that|this"
    r"|they"
    r"|over|during|where|when|while|has|have|had|been|get|got|give|show|tell|me|please|same|value|values"
    r"|respectively|each|both|as|by"
    r"|steps?|rows?|there|so|then|all|metric|which|s)\b|[\s'\"“”‘’()（）:：!！~`*_-])+"
)


def _widened(text: str, names: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Names with the words beside them that are parts of their keys: "amc23" before "best@8", "@8" after "maj"."""
    wide = []
    for begin, stop, key in names:
        start, end = begin, stop
        known = set(re.split(r"[/_@.]", key.lower()))
        while (before := re.search(r"([A-Za-z0-9_.]+)\s+$", text[:start])) and set(
            re.split(r"[/_@.]", before[1].lower())
        ) <= known:
            start = before.start()
        after = re.match(r"@(\d+)|[率值]" + (r"| time\b" if "tim" in key else ""), text[end:])
        end += after.end() if after is not None and (after[1] is None or after[1] in known) else 0
        wide.append((start, end, key))
    return wide


def tagged(text: str, names: Sequence[tuple[int, int, str]]) -> list[Tag] | None:
    """The tags of a question, in order; ``None`` where a word of it is none.

    Args:
        text: the question, normalised.
        names: where metrics are named, and their keys, ascending.
    """
    found: list[Tag] = []
    names = _widened(text, names)
    place = 0
    starts = {start: (end, key) for start, end, key in names}
    covered = [False] * len(text)
    for start, end, _ in names:
        covered[start:end] = [True] * (end - start)
    while place < len(text):
        if place in starts:
            end, key = starts[place]
            found.append(Tag("metric", (key,), place, end))
            place = max(end, place + 1)
            continue
        tag = _longest(text, place, covered)
        fluff = _FLUFF.match(text, place)
        stop = 0 if fluff is None else fluff.end()
        if fluff is not None:  # fluff may not run into a name
            stop = next((at for at in range(place, stop) if covered[at]), stop)
        if tag is not None:
            found.append(tag)
            place = tag.end
        elif stop > place:
            place = min(stop, _next_tag(text, place, stop, covered))
        else:
            return None
    bare = any(tag.kind == "bare_range" for tag in found)
    if bare and not any(tag.kind == "range" for tag in found):
        return None  # two numbers may be anything where no other part is told by its steps
    found = [replace(tag, kind="range") if tag.kind == "bare_range" else tag for tag in found]
    labels = {"before_it", "after_it"}  # "before the crash (steps 1 to 60)"
    heads = [tag for tag, then in pairwise(found) if tag.kind in labels and then.kind == "range"]
    return [tag for tag in found if tag not in heads]


def _next_tag(text: str, place: int, stop: int, covered: Sequence[bool]) -> int:
    """Within words that say nothing, where the first thing begins that does."""
    for at in range(place + 1, stop):
        if text[at - 1].isascii() and text[at - 1].isalnum() and text[at].isascii() and text[at].isalnum():
            continue  # within a word
        if not covered[at] and _longest(text, at, covered) is not None:
            return at
    return stop


def _longest(text: str, place: int, covered: Sequence[bool]) -> Tag | None:
    best: Tag | None = None
    if (
        place
        and text[place].isascii()
        and text[place].isalpha()
        and text[place - 1].isascii()
        and text[place - 1].isalnum()
    ):
        return None
    for kind, words, read in _RULES:
        match = words.match(text, place)
        if match is None or match.end() == place or any(covered[place : match.end()]):
            continue
        end = match.end()
        if (
            end < len(text)
            and text[end - 1].isascii()
            and text[end - 1].isalpha()
            and text[end].isascii()
            and text[end].isalpha()
        ):
            continue  # part of a longer word
        if best is None or end > best.end:
            best = Tag(kind, read(match), place, end)
    return best
