"""Quantities in prose: numbers in every usual spelling, with unit, sign, scale, "about" and bounds.

``4.7 %``, ``0.047``, ``2.5k``, ``72 min``, ``+219 %``, ``3.2×``, ``4.69e-2``, ``4.69×10⁻²``, ``约 0.05``, ``294 万``,
``doubled``, ``翻倍``, ``eight GPUs``: each with half a unit of its last shown digit, so that what agrees with it can be
told exactly.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Final

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_MINUS: Final = "\\-−–﹣－"

#: Unit spellings: pattern, class, factor to the class's base.
_UNITS: Final[tuple[tuple[str, str, float], ...]] = (
    (r"个?百分点|percentage[ -]points?|pp(?:ts?)?|p\.p\.|pts", "pp", 0.01),
    (r"%|％|percent\b|per cent\b", "%", 0.01),
    (r"‰", "%", 0.001),
    (r"(?:个\s?)?(?:tokens?|tok)\s?(?:/|per\s|每)\s?(?:s(?:ec(?:ond)?)?\b|秒)(?:\s?/\s?(?:GPU|worker|卡))?|(?:个\s?)?token\s?每秒",
     "rate", 1.0),
    (r"(?:ms|毫秒|milliseconds?)(?:\s?(?:/|per\s|每)\s?tok(?:en)?s?)?", "ms", 1.0),
    (r"(?:µs|μs|us|微秒|microseconds?)", "ms", 1e-3),
    (r"(?:seconds?|secs?|s|秒钟?)", "s", 1.0),
    (r"(?:minutes?|mins?|m(?=\s*\d+\s*s\b)|分钟)", "s", 60.0),
    (r"(?:个\s?(?:多\s?)?)?(?:hours?|hrs?|hr|h|小时)", "s", 3600.0),
    (r"(?:days?|天)", "s", 86400.0),
    (r"(?:GiB|GB|gigabytes?|个\s?G|G)", "gib", 1.0),
    (r"(?:MiB|MB)", "gib", 1 / 1024),
    (r"(?:TiB|TB)", "gib", 1024.0),
    (r"(?:个\s?)?(?:tokens?|toks?)", "tokens", 1.0),
    (r"(?:messages?|turns?|轮(?:对话|交互)?|条消息|rounds?)", "turns", 1.0),
    (r"(?:GPUs?|个\s?GPU|张\s?(?:显?卡|GPU)?|块\s?(?:显?卡|GPU)|卡|cards?|accelerators?)", "gpus", 1.0),
    (r"(?:training\s|logged\s)?(?:trajector(?:y|ies)|rollouts?|responses?|samples?|sequences?|completions?|answers?)"
     r"|条(?!\s?(?:数据|记录|日志))\s?(?:轨迹|回答|回复|样本|响应|序列|rollout)?|个\s?(?:样本|轨迹|回答|回复|响应|rollout)", "samples", 1.0),
    (r"(?:distinct\s|different\s|unique\s)?(?:prompts?|problems?|questions?)|个\s?(?:不同的?|独立的?|不重复的?)?\s?(?:prompt|题|问题)|道(?:不同的)?题目?|题", "prompts", 1.0),
    (r"(?:training\s|logged\s|optimi[sz]er\s|more\s|consecutive\s|distinct\s|of the\s)*(?:steps?|iterations?|updates?)"
     r"|个\s?(?:训练\s?)?(?:steps?|步|迭代)|步|次(?:迭代|更新)", "steps", 1.0),
    (r"(?:validations?|evaluations?)|次(?:验证|评测|评估)", "validations", 1.0),
    (r"(?:(?:data\s|finite\s|logged\s|recorded\s)*(?:points?|values?|readings?|observations?|records?|entries))|个(?:数据|记录)?点|个(?:数)?值|个记录|条(?:数据|记录|日志)|个(?=[，,。；;）)的]|$)", "points", 1.0),
    (r"(?:metrics?|keys?)|个(?:指标|键)|项指标", "metrics", 1.0),
    (r"(?:characters?|chars?|个?字符)", "characters", 1.0),
    (r"(?:lines?|rows?|行)", "lines", 1.0),
    (r"nats?(?:/token)?", "nats", 1.0),
    (r"(?:times(?! steps)|-?fold|倍|[x×](?!\s*\d)(?![A-Za-z0-9]))", "ratio", 1.0),
)  # fmt: skip
_SCALES: Final = {
    "k": 1e3, "K": 1e3, "千": 1e3, "thousand": 1e3, "万": 1e4, "M": 1e6, "百万": 1e6, "million": 1e6, "mil": 1e6,
    "亿": 1e8, "B": 1e9, "billion": 1e9, "bn": 1e9, "T": 1e12, "万亿": 1e12,
}  # fmt: skip
_ASCII_END: Final = r"(?![A-Za-z0-9_])"
_UNIT_CHOICE: Final = "|".join(
    f"(?P<u{at}>{pattern})" + (_ASCII_END if not re.search(r"[%％‰]", pattern) else "")
    for at, (pattern, _, _) in enumerate(_UNITS)
)
_SCALE_CHOICE: Final = (
    r"(?:百万|万亿|万|亿|千(?!分)|(?:thousand|million|billion|bn|mil)\b|[kKMBT](?![A-Za-z0-9_]|/[A-Za-z]))"
)
_NUMBER: Final = re.compile(
    rf"(?<![A-Za-z0-9_@/.,])(?<![A-Za-z][{_MINUS}])(?P<sign>(?<![0-9%A-Za-z)）])[+＋±{_MINUS}](?:(?<![0-9%)）`*]\s[{_MINUS}])\s(?=\d))?)?"
    r"(?P<body>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<!\d)\.\d+)"
    r"(?P<exp>[eE][+\-−]?\d+|\s?[×x*·]\s?10\s?(?:\^\s?\{?\(?[-−+]?\d+\)?\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    rf"(?:\s?(?P<scale>{_SCALE_CHOICE}))?(?:[ \-\u00a0]?\s?(?P<unit>{_UNIT_CHOICE}))?"
    r"(?![A-Za-z0-9_@]|\.\d|,\d{3})"
)
_SPECIAL: Final = re.compile(
    r"(?<![A-Za-z0-9_/])(?P<sign>[+-−])?(?P<body>NaN|nan|NAN|[Nn]ot[ -]a[ -][Nn]umber(?=\s*(?:[.,;:)]|$|(?:at|for|in|on|from|since|by|either|any)\b))|∞|[Ii]nf(?:inity|inite)?|无穷大?)(?![A-Za-z0-9_])"
)
_DURATION: Final = re.compile(
    r"(?i)(?<![\w.])(?:(?P<h>\d{1,3})\s?(?:hours?|hrs?|h|个?小时)\s*(?:,|and|又|零)?\s*)?(?:(?P<m>\d{1,3})\s?(?:minutes?|mins?|m|分钟?)\s*(?:,|and|又|零)?\s*)?(?:(?P<s>\d{1,2}(?:\.\d+)?)\s?(?:seconds?|secs?|s|秒钟?))?(?![A-Za-z0-9]|\.\d)"
)
_WORDS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
}  # fmt: skip
_DIGITS: Final = {
    "零": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "俩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_COUNTED: Final = "|".join(f"(?P<u{at}>{p})" for at, (p, c, _) in enumerate(_UNITS) if c in {
    "gpus", "samples", "prompts", "steps", "turns", "ratio", "s", "tokens"})  # fmt: skip
_SPELT: Final = rf"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty[ -](?:one|two|three|four|five|six|seven|eight|nine)\b|{'|'.join(_WORDS)})"
_WORD_NUMBER: Final = re.compile(rf"(?i)(?<!ty-)(?<!ty )\b(?P<word>{_SPELT})[ -](?P<unit>{_COUNTED}){_ASCII_END}")
#: "Nineteen of the 435 steps", "of the 215 values it exceeds 0.8 in fifteen": a count of those steps.
_WORD_OF: Final = re.compile(
    rf"(?i)(?<!every )(?<!each )(?<!any )(?<!only )(?<!ty-)(?<!ty )\b(?P<word>{_SPELT})(?= of (?:(?:the|its|those|these|all|them|logged|recorded) ?)*(?:\d|steps\b|values\b|points\b|(?:{_SPELT}) (?:logged |training )?(?:steps|values|points)\b))"
    rf"|(?<=\bin )(?<!ty-)(?P<in>{_SPELT})(?=\s*(?:[,.;]|$|of them\b|and (?:is|lies|falls|stays|exceeds|was|goes|drops)\b))"
)
#: "Dropped to zero", "is exactly zero", 归零: the value, where no distance from it is told.
_ZERO: Final = re.compile(
    r"(?i)(?:(?<!close )(?<!closer )(?<!near )(?<!next )(?<!down )\bto|(?<=down) to|\b(?:is|are|was|were|at|be|been|being|hits?|hit|reach(?:es|ed)?|becomes?|became|stays?|stayed|remain(?:s|ed)?|reads?|equals?))\s+(?:(?P<exact>exactly|precisely|identically)\s+)?[`*]*(?P<word>zero)\b(?![- ](?:variance|std|reward|gradient|signal|shot|advantage|mean|point|percent|or )|[`*]*\s+(?:points?|percent))"
    r"|(?:归|降为|降至|降到|变为|变成|掉到|跌到|跌至|等于|恒为|都是|均为|一直是|始终是|就是|为)(?P<zword>零)(?![一二三四五六七八九十点售星碎散件部方界下以上])"
)
#: "Falls below 0.22 once", "六次负值": how often a bound is passed.
_TIMES_WORD: Final = re.compile(
    r"(?i)(?<!spikes )(?<!spiked )(?<!peaks )(?<!peaked )(?<!jumps )(?<!jumped )\b(?P<word>once|twice|thrice)\b(?=\s*(?:[,.;:)]|$|(?:at|in|on|over|during|and|while|more)\b))|(?<![第\d一每多几数])(?P<zword>[两三四五六七八九十百]{1,5})(?=次(?!迭代|更新|验证|评测|评估|训练|采样|方|数))"
)
#: "One and a half times", 两倍半.
_AND_A_HALF: Final = re.compile(
    r"(?i)\b(?P<word>one|two|three|four|five) and a half(?: times)?(?=\s)|(?P<zword>[一两三四五])倍半"
)
_TIMES: Final = {"once": 1, "twice": 2, "thrice": 3}
_NEGATIVE: Final = re.compile(r"(?i)为负|负值|负数|\bnegative\b|\bbelow zero\b")
_CHINESE_NUMBER: Final = re.compile(
    rf"(?<![第\d零一二两三四五六七八九十百千万点])(?P<word>[一二两三四五六七八九十百]{{1,5}})\s?(?P<unit>{_COUNTED}){_ASCII_END}"
)
#: Factors in words.
_FACTORS: Final[tuple[tuple[str, float], ...]] = (
    (r"(?<!more than )tenfold|十倍于", 10.0),
    (r"(?<!more than )octupl(?:ed|es|ing)|eightfold|翻了?三番", 8.0),
    (r"(?<!more than )sextupl(?:ed|es|ing)|sixfold", 6.0),
    (r"(?<!more than )quintupl(?:ed|es|ing)|fivefold", 5.0),
    (r"(?<!more than )quadrupl(?:ed|es|ing)|fourfold|(?:翻了?两番)(?!还多|有余|以上)", 4.0),
    (r"(?<!more than )tripl(?:ed|es|ing)|threefold|(?:变|增|涨|提高|上升)(?:为|成|到|至)原来的三倍", 3.0),
    (r"(?:almost |nearly |roughly |about )?(?<!more than )doubl(?:ed|es|ing)|twofold|翻了?[一]?(?:倍|番)(?!还多|有余|以上)|(?:增加|增长|上涨|上升|提升|提高|扩大|放大|[涨升增高长大多慢])(?:了|出)?(?:约|近|大约|将近|差不多|整整)?一倍(?!半)|(?:twice|double) (?:as|the|that|its|what)|two times as", 2.0),
    (r"(?<!more than )halv(?:ed|es|ing)|by (?:about |roughly |almost |nearly |around )?(?:one )?half|(?:下降|减少|降低|缩短|缩小|缩水|缩减|削减|压缩|下滑|回落|滑落|减|少|降|跌|掉|缩)了?(?:约|近|大约|将近|差不多)?一半(?!以上|多)|减半|腰斩|降(?:了|到|至|为)?(?:原来的)?一半|half (?:of )?(?:as|what|that of|its|the (?:value|level|size|figure)|the(?= \d))|(?:只剩|仅剩|还剩|剩下|剩)(?:下|了)?(?:约|近|大约|将近|不到|差不多)?一半|(?<!more than )(?<!less than )(?<!over )(?<!under )half (?=step \d)|(?:was |were |got |been )?cut (?:about |roughly |nearly |almost |approximately )?in half|打(?:了)?对折|(?<=步的)一半(?!以上|多)", 0.5),
)  # fmt: skip
_FACTOR: Final = re.compile("|".join(f"(?P<f{at}>{p})" for at, (p, _) in enumerate(_FACTORS)), re.IGNORECASE)
#: Parts in words: what share of something, or by what share it changed.
_PART_WORDS: Final = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_PART: Final = re.compile(
    r"(?i)(?<!and )\b(?P<top>an?|one|two|three|four|nine)[ -](?P<low>half(?=\s*(?:[.,;]|of (?:its|that|the (?:value|level|size)|what|step \d)|between|from|by|over|$))|third|quarter|fifth|sixth|eighth|tenth)s?\b(?! (?:of (?:a |the )?(?:step(?! \d)|percent|second|point)|as |decimal|step(?! \d)))"
    r"|(?P<zlow>[二三四五六七八九十]|十分)分之(?P<ztop>[一二三四五六七八九])|(?P<tenths>[一二两三四五六七八九])成(?P<halfway>半)?(?=[^为了就功绩员立长])"
    r"|(?P<hshare>half)(?= (?:of )?(?:the |each |every |a |its |that )(?:whole |total )?(?:step(?!s|[- ]\d)|time|iteration(?!s)|wall))|\b(?:accounts? for|accounted for|takes?(?: up)?|took(?: up)?|makes? up|made up|consumes?|consumed|eats?(?: up)?|ate(?: up)?)\s+(?:about |roughly |around |almost |nearly |some |approximately )?(?P<hstep>half)(?= of step \d{1,7}\s*(?:[.,;:)]|$|[（(]))|占(?:了|到|整个|总|单步|每步|一步|step|的|时间|耗时)*(?:近|约|大约|差不多)?(?P<zshare>一半)|(?<=原来的)(?P<zhalf>一半)|(?:(?:下降|减少|降低|缩短|缩小|减|少|降|跌|掉)了?)(?P<zcut>一半)(?:以上|多)|(?P<zhe>[一二三四五六七八九])折(?!扣|线|叠|中|算|合|射)|(?P<more>(?:more than|over) (?:halv|doubl|tripl|quadrupl|quintupl|sextupl|octupl)(?:ed|es|ing))|(?P<zmore>翻(?:了)?(?:一)?[倍番](?=还多|有余|以上))"
)
_MORE_THAN: Final = {
    "halv": 0.5, "doubl": 2.0, "quadrupl": 4.0, "tripl": 3.0, "quintupl": 5.0, "sextupl": 6.0, "octupl": 8.0,
}  # fmt: skip
_TO_PART: Final = re.compile(
    r"(?i)(?:\bto|\bonly|\bjust|\bis|\bat|\bwas|到|至|成|为|是|只剩|剩|只有|相当于)\s*(?:just|only|about|around|roughly|approximately|nearly|almost|barely|less than|under|over|more than|了|约|大约|大概|差不多|将近|近|接近|不到|不足|只有|原来的|起初的|最初的|开始时的|(?:step|第)\s*\d+\s*步?[^，,。；;\d]{0,10}(?:[\d.,]+)?\s*的|[^，,。；;\d]{0,12}的|its|the|\s)*$"
)
#: "Only a tenth of step 1 goes to old_log_prob": a share of its time, not what is left of a value.
_OF_STEP_SPENT: Final = re.compile(
    r"(?i)\s+of (?:(?:the|each|every|a|its|total)\s+)*(?:step(?: \d{1,7})?|time|step time|wall[- ]clock(?: time)?)\s+(?:goes|went|is (?:spent|taken)|was (?:spent|taken))\b"
)
_WHOSE: Final = r"(?:(?:原来|原先|最初|起初|初始值?|开始时|首步|起点)的?)?"
_UNDER: Final = re.compile(rf"(?i)(?:less than|under|below|不到|不足|低于)\s*{_WHOSE}\s*$")
_OVER: Final = re.compile(rf"(?i)(?:more than|over|above|at least|超过|多于|逾)\s*{_WHOSE}\s*$")
_MORE_AFTER: Final = re.compile(r"^\s*(?:以上|多(?![少次种])|有余|强)")
_AN_HOUR: Final = re.compile(
    r"(?i)\b(?:about|around|roughly|almost|nearly|just (?:under|over)|takes?|took|under|over) (?P<one>(?:(?P<half>half )?an?|one) (?P<unit>hour|minute|day))\b"
)
_PAIR_WORD: Final = re.compile(
    rf"(?i)\b(?P<word>{'|'.join(_WORDS)})(?= (?:and|to|or) (?:{'|'.join(_WORDS)})[ -](?:{_COUNTED}){_ASCII_END})".replace(
        "(?P<u", "(?P<x"
    )
)
_APPROX_BEFORE: Final = re.compile(
    r"(?i)(?:约为?|大约|大概|大致|接近|将近|差不多|近|左右|[~∼～≈≃≅]|\b(?:about|around|roughly|approximately|approx\.?|nearly|"
    r"almost|close to|circa|some|just (?:under|over|below|above|shy of)|a little (?:over|under)|slightly (?:over|under|above|below)))\s*(?:step\s)?[`*]*$"
)
#: "0.61～0.68": from the one to the other, neither about so much.
_UP_TO: Final = re.compile(r"\d\s?[%％]?(?:[~∼～]|\s[~∼～]\s)[`*]*$")
_APPROX_AFTER: Final = re.compile(r"^[`*]*\s?(?:左右|上下|or so\b|-ish\b|多(?![少次种个样])|出头)")
_A_VALUE: Final = re.compile(r"(?i) of [`*]*[-−]?\d")
_ABOVE: Final = re.compile(
    r"(?i)(?:(?<!不)(?<!未)(?<!没有)(?:超过|高过|越过|冲过|突破)[了过]?|(?<!不)高于|(?<!不)大于|(?<!不)多于|突破了?|超出|不低于|不少于|不小于|至少|\b(?:above|over|exceed(?:s|ed|ing)?|cross(?:es|ed|ing)?|pass(?:es|ed|ing)|clear(?:s|ed|ing)?|(?:goes?|went|gone|gets?|got|breaks?|broke|climbs?|climbed|rises?|rose|moves?|moved) (?:past|beyond|through)|surpass(?:es|ed)?|greater than|more than|"
    r"higher than|larger than|longer than|beyond|at least|no less than|upwards of)|(?<![-=])>=?|≥|⩾)\s*(?:了\s*)?[`*]*$"
)
_BELOW: Final = re.compile(
    r"(?i)(?:(?:没有一次|从没有?|从未|从不|未曾|不曾|一次也没有?|(?:再也?|就|从此|便)?(?:没有?|未|不)再(?:能)?|再[也]?没有?)(?:超过|高于|突破|冲破|越过|高过|升破|超出)过?|(?<!不)(?<!没有)(?<!从未)(?<!再)(?<!没)(?:低于|跌破|跌穿|降破)了?|(?<!不)小于|(?<!不)少于|不到|不足|不超过|不高于|至多|最多|未超过|未达到?|没有?超过|没到|没有达到|\b(?:below|under|less than|lower than|smaller than|"
    r"shorter than|fewer than|at most|no more than|not exceed(?:ing)?|did not exceed|never exceed(?:s|ed|ing)?|(?:does|do|did) not (?:exceed|reach)|"
    r"(?:never|not once|nowhere|at no point) (?:[a-z]+ ){0,4}(?:above|over|beyond|past)|not above)|<=?|≤|⩽)\s*(?:了\s*)?[`*]*$"
)
_AT_LEAST: Final = re.compile(
    r"(?i)(?:未低于|没有?低于|不曾低于|(?:没有一次|从没有?|从未|从不|未曾|不曾|一次也没有?|(?:再也?|就|从此|便)?(?:没有?|未|不)再|再[也]?没有?)(?:低于|跌破|跌穿|降破|降到|掉到|跌到|跌回|掉回|回到|跌至)过?|never (?:[a-z]+ ){0,4}(?:below|under)|not below|did not (?:fall|drop) below)\s*[`*]*$"
)
#: Before a count that something is shared out among.
_SPREAD_OVER: Final = re.compile(
    r"(?i)(?:\d\s?(?:[kKMB]\s?)?(?:tokens?|responses|sequences|samples|trajectories|rollouts|answers|prompts)?|\b(?:spread|split|divided|shared|distributed|averaged|summed))\s+over\s*(?:the |all )?[`*]*$"
)
#: "A hair above 0.6", 略高于: which side of the bound a value lies on is what is said, so that no rounding gives way.
_CLOSE_TO: Final = re.compile(
    r"(?i)\b(?:a (?:hair|touch|whisker|shade|tad|fraction|bit|little)|just|slightly|barely|narrowly|marginally) (?:\w+ )?(?:above|below|over|under)\s*[`*]*$|(?:略|稍|微|刚刚?|堪堪)(?:微|稍)?(?:高于|低于|大于|小于|超过|不足|不到|高过)\s*[`*]*$"
)
_CLOSE_AFTER: Final = re.compile(
    r"[`*]*\s*(?:略|稍|只|仅)?[高低大小长短多少](?:了|出)?(?:那么|这么)?(?:一丁点|一点点|一丝|一点|一丢丢|些许)"
)
_AFTER_BOUND: Final = re.compile(
    r"^[`*]*(?:\s?(以上|之上|or more|or higher|(?<!\s)\+(?=[\s，,。.]|$))|\s?(以下|之下|以内|or less|or lower))"
)
_THAN_AFTER: Final = re.compile(r"[`*]*\s*(?:略|稍|更|还)?(?:微|要)?(?:(?P<less>[低小短少])|[高大长多])(?!约|\s*[\d.])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text.

    Attributes:
        start, end: characters of it, unit included.
        text: these characters.
        number: as written, scale applied, unit not.
        half: half a unit of the last shown digit, like ``number``; the whole allowance where it is "about".
        unit: class of the unit (``%``, ``pp``, ``s``, ``ms``, ``gib``, ``rate``, ``tokens``, ``gpus``, ``ratio`` …) or "".
        factor: to the base of the unit's class (``min``: 60).
        sign: ``+``, ``-``, ``±`` or "".
        approx: "about" or the like stands beside it.
        bound: ``>`` or ``<`` where it is stated as a bound.
        digits: significant digits shown.
    """

    start: int
    end: int
    text: str
    number: float
    half: float
    unit: str = ""
    factor: float = 1.0
    sign: str = ""
    approx: bool = False
    bound: str = ""
    digits: int = 1
    decimals: int = 0

    def in_unit_of(self, other: Quantity) -> Quantity:
        """The same number in the unit of another (``3 to 5 s``: both are seconds)."""
        return replace(self, unit=other.unit, factor=other.factor)


def quantities(text: str, masked: list[tuple[int, int]]) -> list[Quantity]:
    """Every quantity of a text outside the masked spans (names, steps), left to right."""
    found: list[Quantity] = []
    for one in _NUMBER.finditer(text):
        match, end = one, one.end()
        if any(a < match.end("body") and match.start("body") < b for a, b in masked):
            continue
        if (
            match["sign"]
            and match["sign"][0] in "–—"
            and match["sign"][1:].isspace()
            and text[: match.start()].endswith(" ")
        ):
            match = _NUMBER.match(text, match.start("body")) or match  # "it rose – 0.75 at step 1": a dash
        cut = min((a for a, _ in masked if match.end("body") <= a < end), default=end)
        found.append(_quantity(text, match, cut))
    found += _durations(text, masked)
    for match in _SPECIAL.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in masked):
            body = match["body"].lower()
            value = math.nan if body[0] == "n" else -math.inf if (match["sign"] or "") in {"-", "−"} else math.inf
            found.append(Quantity(match.start(), match.end(), match.group(), value, 0.0))
    for pattern, numerals in ((_WORD_NUMBER, False), (_CHINESE_NUMBER, True)):
        for match in pattern.finditer(text):
            if any(a < match.end() and match.start() < b for a, b in masked):
                continue
            value = float(chinese_number(match["word"]) if numerals else english_number(match["word"]))
            unit, factor = _unit(match)
            if (
                numerals
                and unit == "steps"
                and (value == 1 or re.match(r"之?[间中]|相比|里|对比", text[match.end() :]))
            ):
                continue  # 一步 is a figure of speech, 两步之间 names those told before
            if value == 1:
                continue
            near = _APPROX_AFTER.search(text[match.end() : match.end() + 6]) or _APPROX_BEFORE.search(
                text[: match.start()][-24:]
            )
            half = (0.25 if near else 0.1) * value if unit == "ratio" else 0.0
            bound = _bound(text[max(0, match.start() - 40) : match.start()], "") if unit == "tokens" else ""
            found.append(
                Quantity(match.start(), match.end(), match.group(), value, half, unit, factor, bound=bound, digits=2)
            )
    for match in _AN_HOUR.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in masked):
            factor = {"h": 3600.0, "m": 60.0, "d": 86400.0}[match["unit"][0].lower()]
            number = 0.5 if match["half"] else 1.0
            found.append(
                Quantity(match.start("one"), match.end(), match["one"], number, 0.2 * number, "s", factor, approx=True)
            )
    for match in _ZERO.finditer(text):
        group = "word" if match["word"] else "zword"
        if not any(a < match.end(group) and match.start(group) < b for a, b in masked):
            half = 1e-9 if match["exact"] else 0.005
            found.append(Quantity(match.start(group), match.end(group), match[group], 0.0, half))
    for match in _PAIR_WORD.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in masked):
            found.append(Quantity(match.start(), match.end(), match.group(), float(_WORDS[match["word"].lower()]), 0.5))
    for match in _WORD_OF.finditer(text):
        if _A_VALUE.match(text[match.end() :]) and re.search(r"(?i)\b(?:to|into|from)\s*$", text[: match.start()]):
            continue  # "from a norm of 0.42 to one of 0.35"
        if (match["word"] or re.match(r"(?i)\W*of (?:the|its|those|these|all)\b", text)) and not any(
            a < match.end() and match.start() < b for a, b in masked
        ):
            found.append(Quantity(match.start(), match.end(), match.group(), float(english_number(match.group())), 0.0))
    for match in _AND_A_HALF.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in masked) and (match["zword"] or "times" in match.group().lower()):  # fmt: skip
            count = english_number(match["word"]) if match["word"] else chinese_number(match["zword"])
            found.append(Quantity(match.start(), match.end(), match.group(), count + 0.5, 0.06 * count, "ratio"))
    if any(q.bound for q in found) or _NEGATIVE.search(text):
        for match in _TIMES_WORD.finditer(text):
            if not any(a < match.end() and match.start() < b for a, b in masked):
                count = _TIMES[match["word"].lower()] if match["word"] else chinese_number(match["zword"])
                unit = "ratio" if match["word"] else ""
                found.append(Quantity(match.start(), match.end(), match.group(), float(count), 0.0, unit))
    found += _parts(text, masked)
    for match in _FACTOR.finditer(text):
        if not any(a < match.end() and match.start() < b for a, b in masked):
            value = next(_FACTORS[int(name[1:])][1] for name, held in match.groupdict().items() if held)
            found.append(
                Quantity(match.start(), match.end(), match.group(), value, 0.12 * value, "factor", approx=True)
            )
    found.sort(key=lambda q: (q.start, -q.end))
    kept: list[Quantity] = []
    for quantity in found:
        if not kept or quantity.start >= kept[-1].end:
            kept.append(quantity)
    return kept


def _durations(text: str, masked: list[tuple[int, int]]) -> list[Quantity]:
    """``1 min 11 s``, ``2 小时 14 分``: one length of time in two or three units, to the smallest told."""
    found = []
    for match in _DURATION.finditer(text):
        if any(a < match.end() and match.start() < b for a, b in masked):
            continue
        factors = {"h": 3600.0, "m": 60.0, "s": 1.0}
        told = {name: float(held) for name, held in match.groupdict().items() if held}
        if len(told) < 2:
            continue
        smallest = factors[list(told)[-1]]
        number = sum(value * factors[name] for name, value in told.items())
        decimals = len(match["s"].partition(".")[2]) if match["s"] else 0
        near = _APPROX_BEFORE.search(text[max(0, match.start() - 40) : match.start()])
        half = smallest * 10.0**-decimals * (1.0 if near else 0.5)
        bound = _bound(text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 12])
        found.append(
            Quantity(
                match.start(), match.end(), match.group(), number, half, "s", approx=bool(near), bound=bound, digits=4
            )
        )
    return found


def _parts(text: str, masked: list[tuple[int, int]]) -> list[Quantity]:
    """``a third``, ``三分之一``, ``两成``, ``more than halved``: a share in percent, or the factor to what is left."""
    found = []
    for match in _PART.finditer(text):
        if any(a < match.end() and match.start() < b for a, b in masked):
            continue
        begun = match.start("hstep") if match["hstep"] else match.start()
        left, right = text[max(0, begun - 40) : begun], text[match.end() : match.end() + 4]
        bound = "<" if _UNDER.search(left) else ">" if _OVER.search(left) or _MORE_AFTER.match(right) else ""
        start = match.start()
        unit = "factor" if _TO_PART.search(left) and not _OF_STEP_SPENT.match(text, match.end()) else "%"
        if match["low"]:
            top = {"a": 1, "an": 1}.get(match["top"].lower()) or _WORDS[match["top"].lower()]
            part = top / _PART_WORDS[match["low"].lower()]
        elif match["hshare"] or match["zshare"] or match["hstep"]:
            start = next(match.start(name) for name in ("hshare", "zshare", "hstep") if match[name])
            part, unit = 0.5, "%"
        elif match["zlow"]:
            part = _DIGITS[match["ztop"]] / chinese_number(match["zlow"][0])
        elif match["tenths"]:
            part = (_DIGITS[match["tenths"]] + (0.5 if match["halfway"] else 0)) / 10
        elif match["zhalf"]:
            part, unit = 0.5, "factor"
        elif match["zcut"]:
            start, part, bound, unit = match.start("zcut"), 0.5, ">", "%"
        elif match["zhe"]:
            part, unit = _DIGITS[match["zhe"]] / 10, "factor"
        else:
            stem = next((s for s in _MORE_THAN if s in (match["more"] or "doubl").lower()), "doubl")
            part, unit, bound = _MORE_THAN[stem], "factor", "<" if stem == "halv" else ">"
        scale = 100.0 if unit == "%" else 1.0
        half = 0.0 if bound else 0.15 * part * scale
        found.append(
            Quantity(start, match.end(), match.group(), part * scale, half, unit, approx=True, bound=bound, digits=2)
        )
    return found


def _unit(match: re.Match[str]) -> tuple[str, float]:
    for at, (_, name, factor) in enumerate(_UNITS):
        if match.groupdict().get(f"u{at}"):
            return name, factor
    return "", 1.0


def _quantity(text: str, match: re.Match[str], cut: int) -> Quantity:
    body = match["body"].replace(",", "")
    exponent = 0
    if match["exp"]:
        shown = match["exp"].translate(_SUPERSCRIPTS).replace("−", "-")
        exponent = int(re.search(r"[-+]?\d+$", shown.rstrip(")}")).group())  # type: ignore[union-attr]
    exponent = max(-250, min(250, exponent))
    decimals = len(body.partition(".")[2])
    scale = _SCALES.get(match["scale"] or "", 1.0)
    unit, factor = _unit(match)
    if not unit and re.search(
        r"(?i)\bfactor of\s*(?:about |roughly |~)?[`*]*$", text[max(0, match.start() - 24) : match.start()]
    ):
        unit = "ratio"
    if not unit and re.search(r"百分之\s*[`*]*$", text[max(0, match.start() - 6) : match.start()]):
        unit = "%"
    end = match.end()
    if cut < end:  # a name begins where a unit was read
        end, unit, factor = cut, "", 1.0
        while end > match.end("body") and text[end - 1].isspace():
            end -= 1
    place = 10.0 ** (exponent - decimals) * scale
    number = float(body) * 10.0**exponent * scale
    sign = (match["sign"] or "").strip()
    sign = "-" if sign and sign in "-−–﹣－" else "+" if sign in {"+", "＋"} else sign
    before, after = text[max(0, match.start() - 40) : match.start()], text[end : end + 12]
    approx = bool(_APPROX_BEFORE.search(before) and not _UP_TO.search(before)) or bool(_APPROX_AFTER.search(after))
    half = place / 2 if number or decimals or unit else 0.05  # "0" is no rounding of 0.4
    if approx:
        bare = body.replace(".", "").lstrip("0")
        zeros = len(bare) - len(bare.rstrip("0")) if decimals == 0 else 0
        half = place * 10**zeros
        if len(bare.rstrip("0")) <= 1:
            half = max(place, min(half, 0.15 * number))
    bound = _bound(before, after)
    if bound == ">" and unit in {"gpus", "samples", "prompts"} and _SPREAD_OVER.search(before):
        bound = ""  # "263,162 tokens over 256 sequences"
    if bound and (_CLOSE_TO.search(before) or _CLOSE_AFTER.match(after)):
        half = 0.0
    digits = len(body.replace(".", "").lstrip("0")) or 1
    return Quantity(
        match.start(), end, text[match.start() : end].strip(), -number if sign == "-" else number, half, unit, factor,
        sign, approx, bound, digits, decimals,
    )  # fmt: skip


def _bound(before: str, after: str) -> str:
    if _AT_LEAST.search(before):
        return ">"
    if _BELOW.search(before):
        return "<"
    if _ABOVE.search(before):
        return ">"
    if re.search(r"比\s*[`*]*$", before) and (than := _THAN_AFTER.match(after)):
        return "<" if than["less"] else ">"
    match = _AFTER_BOUND.search(after)
    return "" if match is None else ">" if match[1] else "<"


def english_number(text: str) -> int:
    """An English numeral below 101 (``nineteen`` → 19, ``twenty-six`` → 26)."""
    return sum(_WORDS[word] for word in re.split(r"[ -]", text.lower()))


def chinese_number(text: str) -> int:
    """A Chinese numeral below 1000 (``三`` → 3, ``十二`` → 12, ``一百零五`` → 105)."""
    total, digit = 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        else:
            total += (digit or 1) * {"十": 10, "百": 100}[char]
            digit = 0
    return total + digit
