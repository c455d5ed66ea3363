"""What a column of a table tells of the metric in a row: an extreme, its step, a mean, a change, a share, a word."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_MAX: Final = r"(?:max(?:imum)?|peak|highest|largest|high|best high|最大|最高|峰|顶)"
_MIN: Final = r"(?:min(?:imum)?|lowest|smallest|low|trough|bottom|最小|最低|谷)"
_VALUE: Final = r"(?:[\s_-]*(?:values?|points?|level|值|点|数值))?"
_ALL: Final = r"(?:(?:overall|global|run|total|全程|整体|全局|训练|历史)[\s_-]*(?:的)?)?"
_OVER: Final = (
    r"(?:[\s_-]*(?:over (?:the |all )?(?:whole |entire |full )?(?:run|training|steps?)|overall|of (?:the )?run))?"
)
_STEPS: Final = r"(?:steps?|iter(?:ation)?s?|步数?|step 数|位置)"
#: In brackets, or behind a sign: the value's step stands beside it.
_WITH_STEP: Final = re.compile(
    r"(?i)\s*(?:[（(\[]\s*(?:at |on |@ ?)?(?:the |its |所在|对应|出现|第几)*\s*(?:steps?|iter(?:ation)?|步数?|哪步|第几步)\s*(?:no\.?|号|编号)?[)）\]]|[@/&,]\s*(?:at )?(?:steps?|步数?)|及(?:其)?所在步数?)\s*$"
)
_PERCENT: Final = re.compile(r"[%％]")
_BOTH_FORMS: Final = re.compile(r"(?i)\babs|[/,，&+和与]\s*[%％]|[%％]\s*[/,，&+和与]")
_BRACKETS: Final = re.compile(r"\s*[（(\[][^()（）\[\]]{0,40}[)）\]]\s*")
_MARKS: Final = re.compile(r"[*_`~]+(?=\W|$)|(?:^|(?<=\W))[*_`~]+|[↑↓]")
_DIGITS: Final = re.compile(r"\d")

_PLAIN: Final = tuple(
    (role, re.compile(rf"(?i){pattern}"))
    for role, pattern in (
        ("max", rf"{_ALL}{_MAX}{_VALUE}{_OVER}"),
        ("min", rf"{_ALL}{_MIN}{_VALUE}{_OVER}"),
        ("mean", rf"{_ALL}(?:mean|average|avg\.?|均|平均){_VALUE}(?:数|水平)?{_OVER}"),
        ("median", rf"{_ALL}(?:median|med\.?|中位数?){_VALUE}{_OVER}"),
        ("std", rf"{_ALL}(?:std\.?(?: ?dev\.?)?|standard deviation|标准差){_OVER}"),
        ("range", rf"{_ALL}(?:value )?(?:range|min\s*(?:to|[-–—~/…]|\.\.)\s*max|span|(?:取值|波动|变化|数值)?(?:范围|区间)|最小\s*[-–~]\s*最大)(?: of values)?{_OVER}"),
        ("unit", r"units?|单位|量纲"),
        ("argmax", rf"(?:{_STEPS}\W{{0,3}}(?:of|at|for|with)?\W{{0,3}}(?:the )?{_MAX}{_VALUE}|{_MAX}{_VALUE}\W{{0,3}}(?:的|所在|出现|对应|at|@|on|in|reached)*\W{{0,3}}(?:的|于|在)?{_STEPS}|{_MAX}{_VALUE} at|when (?:it )?(?:peaks?|peaked))"),
        ("argmin", rf"(?:{_STEPS}\W{{0,3}}(?:of|at|for|with)?\W{{0,3}}(?:the )?{_MIN}{_VALUE}|{_MIN}{_VALUE}\W{{0,3}}(?:的|所在|出现|对应|at|@|on|in|reached)*\W{{0,3}}(?:的|于|在)?{_STEPS}|{_MIN}{_VALUE} at)"),
        ("argstep", rf"(?:(?:at|@|on|in|reached|occurs?|where|所在的?|出现的?|对应的?|发生的?)\W{{0,3}}(?:在|于|at)?\W{{0,3}}(?:the |which )?)+{_STEPS}|when|where"),
        ("both", r"(?:first|initial|start|begin(?:ning)?|from|首(?:值|步)?|初(?:值|始值?)?|开始|起始值?|起点|头|前|before)\s*(?:->|→|⟶|=>|➜|to|/|到|至)\s*(?:the )?(?:last|final|end|latest|to|末(?:值|步)?|尾|结束|最后|最终值?|终点|终值?|后|after)|(?:->|→|⟶)|取值变化|数值变化"),
        ("factor", r"(?:change )?(?:ratio|factor|multiple|fold(?:[ -]change)?|×|x|times)|(?:变化)?(?:倍数?|比值|倍率)|(?:末|终|后|最终|last|final|end|latest)(?:值|步)?\s*[/÷:]\s*(?:首|初|前|始|first|initial|start)(?:值|步)?"),
        ("share", r"(?:its )?(?:share|fraction|portion|percentage|percent|pct\.?|proportion)(?: of (?:the )?(?:whole |total )?(?:step|total|time|step time))?|[%％](?: of (?:the )?(?:whole |total )?(?:step|total|time|step time))?|占比|比[例重]|占\s?(?:单步|总|整步|每步|全部|step|整个)[^，,]{0,10}|百分比"),
        ("count", r"n|#|(?:number of )?(?:values|points|samples logged)|(?:数据|记录)?点数|记录数"),
        ("trend", r"(?:overall |general )?(?:trend|direction|movement|tendency|behaviou?r|course|trajectory)|what happened|(?:整体|总体|变化)?(?:趋势|方向|走势|走向)|up/down|升降|涨/跌"),
        ("verdict", r"status|verdict|assessment|结论|判断|评价|状态|表现|评估|好坏"),
        ("value", r"(?:the )?(?:values?|time|duration|seconds|secs?|time spent|cost)|数?值|耗时|用时|时间|时长|花费"),
        ("note", r"notes?|comments?|remarks?|observations?|备注|说明|评论|点评|观察|情况"),
    )
)  # fmt: skip
_CHANGE: Final = re.compile(
    r"(?i)(?:\b(?:abs(?:olute)?|net|total|overall|rel(?:ative)?|percent(?:age)?|pct|end-to-end)\b\.?\s*|[%％]\s*|净|绝对|相对|总|整体)?"
    r"(?:\bchanges?\b|\bchg\b\.?|\bdelta\b|Δ|\bdiff(?:erence)?\b|\bshift\b|\b(?:in|de)crease\b|\bgrowth\b|\b(?:drop|fall|rise|gain|decline|reduction)\b|变化|差值?|增减|增量|涨跌|升降|变动|净变|[增涨降跌]幅|幅度|增长|降低|提升|减少)"
    r"(?:率|量|幅度?|值|比例|百分比|\s*(?:in )?(?:percent(?:age)?|pct|rate|amount))?\s*[%％]?\s*(?:(?:from|vs\.?|since|over) (?:the )?(?:first|start|initial|beginning|run)|较首步|较初始|首末)?"
)
_ONE_WAY: Final = re.compile(r"(?i)\babs|magnitude|幅度|绝对|差值|difference|\bdiff\b")
_DOWN: Final = re.compile(r"(?i)drop|fall|declin|decreas|reduc|[降跌减]")
_EITHER: Final = re.compile(r"涨跌|升降|增减")


@dataclass(frozen=True, slots=True)
class Title:
    """What a column tells.

    Attributes:
        role: ``max``, ``argmax``, ``mean``, ``change``, ``factor``, ``share``, ``trend`` … or "" where it is none.
        with_step: the step of the extreme stands beside it.
        percent: bare numbers are percentages.
        down: whether a number without a sign is a fall; ``None`` where it may be either.
    """

    role: str = ""
    with_step: bool = False
    percent: bool = False
    down: bool | None = False


@lru_cache(maxsize=4096)
def title_of(text: str) -> Title:
    """Reads a heading; one that names a step, or anything else, has no role."""
    if len(text) > 60 or _DIGITS.search(text):
        return Title()
    bare = _MARKS.sub("", text).strip()
    with_step = _WITH_STEP.search(bare)
    percent = bool(_PERCENT.search(bare)) and not _BOTH_FORMS.search(bare)
    whole = re.sub(r"\s+", " ", bare[: with_step.start()] if with_step else bare).strip(" :：?？")
    plain = re.sub(r"\s+", " ", _BRACKETS.sub(" ", whole)).strip(" :：")
    for spelt in dict.fromkeys((whole, plain)):
        for role, pattern in _PLAIN:
            if pattern.fullmatch(spelt):
                return Title(role, bool(with_step) and role in {"max", "min"}, percent)
        if _CHANGE.fullmatch(spelt):
            down: bool | None = False
            if _ONE_WAY.search(spelt) or _EITHER.search(spelt):
                down = None if not _EITHER.search(spelt) or _ONE_WAY.search(spelt) else False
            elif _DOWN.search(spelt):
                down = True
            return Title(
                "change", False, percent or bool(re.search(r"(?i)rel|percent|pct|率|相对|百分比", spelt)), down
            )
    return Title()
