"""Steps that a sentence names, and where: ``step 2``, ``第三步``, ``steps 1–3``, ``step 1 → 2``, ``the last step``."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assistant.ground.bareplaces import bare_places
from assistant.ground.quantities import chinese_number

_N: Final = r"(\d{1,3}(?:,\d{3})+(?!\d)|\d{1,7}(?!\d|,\d{3}(?!\d)))(?![\d.]*(?:%|\d*\.\d))"
_HEAD: Final = r"(?:\bglobal[_ ]steps?|\btraining[_ ]steps?|(?<!per )(?<!each )(?<!every )(?<!\ba )(?<![A-Za-z0-9_])(?:time ?|log )?steps?|\biter(?:ation)?s?|\bupdates?|\bepochs?|\brows?|记录|步骤|(?<![次每单])迭代(?=\s*\d)|(?<![每一单个末首0-9])(?<!\d\s)步)"
_NUMERAL: Final = r"[零一二两三四五六七八九十百]{1,5}"
_JOIN: Final = r"(?:\s*(?:,\s*and|,\s*or|,|、|，|和|与|跟|及|and|&|or|/)\s*)"
_SPAN: Final = r"\s*(?:to|through|until|till|到|至|[-–—~～∼]{1,2}|直到)\s*"
_ARROW: Final = r"\s*(?:->|→|⟶|➜|➡\ufe0f?|=>|⇒|vs\.?|versus)\s*"
_WORD: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "twenty": 20,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100,
}  # fmt: skip
Kind = Literal["steps", "range", "pair", "ends"]


@dataclass(frozen=True, slots=True)
class Place:
    """Steps named at ``start:end``.

    ``kind``: ``steps`` (each of them), ``range`` (all from the first to the last), ``pair`` (from the first to the
    second), ``ends`` (the first or last step, by word). ``steps`` may hold numbers that the log does not have.
    """

    start: int
    end: int
    steps: tuple[int, ...]
    kind: Kind = "steps"


_LIST: Final = re.compile(
    rf"(?i){_HEAD}(?:(?<!\d steps)(?<!steps)(?<!last step)(?<!first step)(?<!final step)\s+(?:being|is|was|number|no\.))?\s*[#:：=_-]?\s*(?:\*\*)?(?P<first>{_N}(?:(?:{_JOIN}|{_SPAN}|{_ARROW})(?:{_HEAD}\s*[#:]?\s*|第\s*)?{_N}(?!\s*(?:[%％°×]|per ?cent\b|倍|秒|s\b|ms\b|min\b|minutes|seconds|tokens?|GB|GiB|个|条|步|steps?\b|(?:at|in|on|by|for|@|of|out of)\s)))*)(?![\d.]*\d)(?!\s*(?:s\b|min\b|minutes|seconds|秒|分钟|h\b|hours?\b|GB\b|ms\b|条|tokens?\b|GPUs?\b|trajector|prompts?\b|[%％]|GiB|个\s?(?:prompt|回答|样本|点|值|step|步)))"
)
#: ``over steps 47–79, 187 → 14.1``: behind a range, a value that something went from.
_RANGE_THEN_VALUES: Final = re.compile(
    rf"(?i)\d{{1,7}}{_SPAN}(?:{_HEAD}\s*)?\d{{1,7}}(?=\s*(?:步)?\s*[,，]\s*\d{{1,7}}\s*(?:tokens?\s*|s\s*)?(?:→|->|⟶|=>|⇒|\bto\b|到))"
)
#: ``（step 77，517）``: in brackets, a step and the value there, where the log holds no such step.
_THEN_VALUE: Final = re.compile(r"(?<=[（(]step )\d{1,7}(?=\s*[，,]\s*(?P<value>\d{1,7})\s*[)）])")
#: "At step 67 prompts average 255 tokens": a step, no count.
_AT_STEP: Final = re.compile(
    r"(?i)(?<=\bat )step (\d{1,7})(?=\s+(?:the )?(?:prompts?|tokens?|GPUs?|trajector(?:y|ies))\s+(?:average|are|is|run|have|has|take|use|were|was|cost)\w*\b)"
)
_BEST_STEP: Final = re.compile(
    r"(?i)\b(?:best|worst|highest|lowest|peak|top) step\b[^.,;，。\d]{0,30}\b(?:is|was|being)\s+(\d{1,7})(?![\d.]*\d|%)"
)
_INDEX: Final = re.compile(r"(?<=[A-Za-z_`])\[(\d{1,7})\]")
_AT_SIGN: Final = re.compile(
    r"(?<=[A-Za-z`\u3400-\u9fff])(?<!mean)(?<!best)(?<!worst)(?<!maj)(?<!std)(?<!pass)(?<!avg)\s?@\s?(?:step\s*)?(\d{1,7})(?=\s*(?:[=:：≈]|is\b|was\b|为))"
)
_COLON: Final = re.compile(
    r"(?i)(?:\bsteps?|(?<![单每一])步)[^\d。；;,，\n]{0,14}[:：]\s*(?P<first>\d{1,7}(?:(?:\s*[、，]\s*|,\s+)\d{1,7})+)(?![\d.]*\d|[%％.])"
)
_CHINESE: Final = re.compile(
    rf"第\s*(?P<first>(?:\d{{1,7}}|{_NUMERAL})(?:\s*(?:个\s*)?(?:步|step|轮|次迭代))?(?:(?:{_JOIN}|{_SPAN}|{_ARROW})(?:第\s*)?(?:\d{{1,7}}|{_NUMERAL})(?!\d*(?:\.\d|[%％]|\s*(?:秒|分钟|小时|s\b|ms\b|GB|GiB|tokens?|个(?!\s*(?:步|step))|条|倍)))(?:\s*(?:个\s*)?(?:步|step))?)*)\s*(?:个\s*)?(?P<tail>步|step|轮|次迭代|epoch)?"
)
_BARE_RANGE: Final = re.compile(rf"(?<![\d.])(\d{{1,6}}){_SPAN}(\d{{1,6}})\s*(?:步|steps?\b)(?!\s*[:：]?\d)")
_ORDINAL: Final = re.compile(
    r"(?i)\b(?P<word>second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d{1,6}(?:st|nd|rd|th))\s+(?:training\s+)?(?:step|iteration|update)\b"
)
_WORDED: Final = re.compile(
    r"(?i)\bstep\s+(?P<word>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty)\b"
)
_LAST_N: Final = re.compile(
    rf"(?i)\b(?P<side>last|final|latest|first|initial|opening|closing)\s+(?P<n>\d{{1,6}}|{'|'.join(k for k in _WORD if not k.endswith(('th', 'st', 'nd', 'rd')))})\s+(?:training\s+|logged\s+|recorded\s+)?(?:steps?|iterations?|updates?|values?|points?|readings?|records?|rows?|entries)\b"
    rf"|(?P<cside>最后|最近|末|后|前|最初|头|开头)\s*(?P<cn>\d{{1,6}}|{_NUMERAL})\s*(?:个\s*)?(?:训练\s*|记录\s*)?(?:步|steps?|(?<=个)(?:记录点|数据点|记录|点|值|数)|(?<=个 )(?:记录点|数据点|记录|点|值)|记录点|数据点|条(?:记录|数据|日志)?(?!\s*(?:回答|回复|样本|响应|轨迹|序列|prompt)))"
)
_LAST: Final = re.compile(
    r"(?i)\blast[ -](?:logged|recorded|reported)(?= [`*a-z])(?! (?:at|from|on|in|with|since|by|during|for|step)\b)|^\W*(?:and )?(?:the )?(?:last|final|latest)(?=\s*[:：])|\bat last(?=\s*(?:[,.;)]|$))|\b(?:last|final|latest|most recent|closing)\s+(?:logged\s+|recorded\s+|training\s+)?(?:step|iteration|update|row|entry|value|reading|point|record|result|measurement|one)\b|\b(?:the|its) (?:final|last)(?= [-−\d.])|\b(?:at|by|towards?) the (?:very )?end\b(?! of (?:the )?(?:step|line|sentence))(?:\s+of\s+(?:the\s+)?(?:run|training|log))?"
    r"|(?:末|最后一)条(?:记录|数据|日志)?(?!\s*(?:回答|回复|样本|响应|轨迹|序列|prompt))|最后一?(?:个\s*)?(?:步|step)|末(?:一)?步|最新(?:的)?一?(?:步|step)|最近一步|(?:训练|运行|日志)?(?:结束|末尾|结尾)(?:时|处)?|最终(?:的)?(?:值|步|一步)?|最后(?=只有|仅有?|为|是|只?剩|停在|落在|收在|达到|约|[\s`]*[-−]?\d(?!\d*\s*(?:个|步|次|条|轮)))|\bat the (?:last|latest)(?=\s*\()|(?<!\d )\b(?:ends?|ended|finish(?:es|ed)?|closes?|closed|finally) (?:up )?(?:(?:the |its )?(?:run|training) )?(?:(?:a )?(?:little|bit|touch|shade|slightly|somewhat|well|far|much) )?(?:(?:lower|higher|below|above|there|down|up)[,，]? )?(?:at|with|on)\b|\bfinal\b(?= value)|收(?:于|官|在|盘)|末值|(?:结尾|终点)(?:处|时)?的?|末尾的?|\b(?:in|at|on|by) the (?:last|final)(?= ?[,.;:)]|$)|(?<!the )\b(?:the |its )?(?:final|closing|ending)(?= (?:[a-z][\w-]* ){1,3}(?:of|is|was|at|sits|stands)\b)(?! (?:step|iteration|update))|\b(?:final|closing|ending)(?= (?:[a-z][\w/-]* ){0,2}[a-z][\w/-]*\s*[:：=]\s*[`*]*[-−]?\d)(?! (?:step|iteration|update))|(?:最后|最近)一次(?=验证|评测|评估|测试|eval|[回升降跌涨掉滑]|\s*[`*]*\d|\s*[是为])|末次(?=\s*(?:验证|评测|评估|[\d是为]))|\b(?:last|latest|final|most recent) (?=validation\b|evaluation\b|eval\b)|\bto the (?:very )?end\b|\bto (?:the )?(?:last|final|latest)(?=\s*(?:[:：,.;)]|$))"
    r"|\b(?:finally|now)(?=\s*(?:[).,;，]|$))|\b(?:at |on |in |by )?(?:the )?(?:last|latest|final|most recent) (?:in-training )(?:validation|evaluation|eval|test)\b|\bafter (?:the )?training\b|训练(?:结束|完成)?(?:之?后)(?![几的]?\s*\d*\s*步)"
)
_FIRST: Final = re.compile(
    r"(?i)\bfirst[ -](?:logged|recorded|reported)(?= [`*a-z])(?! (?:at|from|on|in|with|since|by|during|for|step)\b)|^\W*(?:the )?(?:first|initial)(?=\s*[:：])|\bwhere (?:it|they) (?:began|started|begins|starts)(?=\s*\()|\bthe first(?=\s*\()|\b(?:first|initial|opening|starting|very first)\s+(?:logged\s+|recorded\s+|training\s+)?(?:step|iteration|update|row|entry|value|reading|point|record|result|measurement|batch(?! size))\b(?!\s+(?:phase|time))|\b(?:an?|its|the) (?:initial|starting|opening)(?= (?:(?:value|level) of )?[`*~≈]*[-−]?\d)|\b(?:at|from|in|since) the (?:very )?(?:start|beginning|outset)\b(?:\s+of\s+(?:the\s+)?(?:run|training|log))?|\binitially\b"
    r"|\b(?:in|at|on) the first(?=\s*[(,.;:)]|$)|(?<!the )\b(?:the |its )?(?:initial|starting|opening)(?= (?:[a-z][\w-]* ){1,3}(?:of|is|was|at|sits|stands)\b)(?! (?:step|iteration|update))|(?:首|第一)条(?:记录|数据|日志)?(?!\s*(?:回答|回复|样本|响应|轨迹|序列|prompt))|第一(?:个\s*)?(?:步|step)|首(?:个\s*)?(?:步|step)|(?<![\d步起] )(?<![\d步起])(?:训练|运行|日志)?(?:一?开始(?!变|下降|上升|出现|成|就|减|增)|起初|最初|初始|起始)(?:时|处|阶段)?(?:的)?(?:值)?|\b(?:starts?|started|begins?|began) (?:out )?(?:(?:the |its |this )?(?:run|training|log) )?(?:out )?(?:at|with|from)\b|初值|起步(?:时|阶段|处)?(?:的)?|(?:开头|起点)(?:处|时)?的?(?=\s*[`\d是为约（(])"
    r"|\bat first(?=\s*[).,;，]|$|\s+and\b)|\b(?:before|prior to) (?:any |the )?(?:training|updates?)\b|训练(?:开始)?(?:之)?前|首次(?=(?:验证|评测|评估)(?:验证|得分|准确率|成绩|集|的))|\bopens with\b|起于|开局(?:时|为|是)?|开盘"
)
_WHOLE: Final = re.compile(
    r"(?i)\b(?:whole|entire|full)\s+(?:run|training|log)\b|\bthroughout\b|\b(?:over|across|during|in|through|for)(?: all of)?(?: the| this)? (?:whole |entire |full )?(?:run|training(?! (?:reward|score|loss|step|time))|course(?! of (?:the )?steps?\b))\b|\bend to end\b|首尾(?:相比)?|\ball (?:the )?(?:logged )?(?:training )?steps\b|\b(?:every|each) (?:logged |training )?step\b(?! (?:before|after|that|up to|until|from|since|with|where|which))|\ball (?:along|the way through)\b|\bfrom start to (?:finish|end)\b|全程|整个训练|整个过程|始终|所有(?:训练\s*)?(?:步|step)|每一?(?:个\s*)?(?:步|step)(?=都|均|里|中|上|，|,)|全部(?:训练)?(?:步|step)"
)
_NUMBERED: Final = rf"(?:{_HEAD}\s*#?\s*(?P<{{0}}>\d{{{{1,7}}}})(?!\d|[\d.]*[%％])|第\s*(?P<{{0}}z>\d{{{{1,7}}}})\s*(?:个\s*)?(?:步|step))"
#: From a step on, or up to one: a stretch.
#: ``steps (33 to 36)``, ``the slowest step, 131,``, ``steps such as 60 or 120``, ``（0、10、20 步）``: steps without a word before.
_APART: Final = re.compile(
    r"(?i)(?:\bsteps?|\b(?:slowest|fastest|longest|shortest|best|worst))\s*(?:[（(]\s*|(?<=step|test),\s*(?=\d+,)|such as\s+|like\s+)(?P<one>\d{1,7}(?:(?:\s*(?:,|and|or|to|→|->|[-–—])\s*)+\d{1,7})*)(?=\s*[),，）:]|\s+(?:carry|carries|have|has|hold|are|is|was|were|need|took|take)\b)"
    r"|(?:[（(]|只?在)\s*(?P<two>\d{1,7}(?:\s*[、,，和]\s*\d{1,7})+)\s*步|\b(?:from|since)\s+(?P<on>\d{1,7})\s+on(?:wards?)?\b"
    r"|(?<![\d.第])(?P<past>\d{1,7})\s*步\s*(?P<side>之后|以后|之前|以前)"
)
_ONWARDS: Final = re.compile(
    rf"(?i)\b(?:from|starting (?:at|from)|since)\s+{_NUMBERED.format('on')}\s*(?:on(?:wards?)?|forward|and (?:on|later|beyond)|(?:up |right )?(?:to|until|till|through) the (?:very )?(?:end|last(?: logged)? step))\b|\bsince\s+{_NUMBERED.format('son')}(?!\s*['’]s)|(?:从|自)?\s*{_NUMBERED.format('zon')}\s*(?:步)?\s*(?:起|开始|往后|以来|(?:一直)?(?:到|直到|至)(?:最后(?:一步)?|末尾|末步|结束|结尾))(?!点)"
)
_BEYOND: Final = re.compile(
    rf"(?i)\b(?:after|past|beyond)\s+{_NUMBERED.format('after')}|(?:从|自|在)?\s*{_NUMBERED.format('zafter')}\s*(?:之后|以后)"
)
_UP_TO: Final = re.compile(
    rf"(?i)\b(?:up to(?: and including)?|(?<!get )(?<!got )(?<!passed )(?<!went )(?<!go )through|until|till)\s+{_NUMBERED.format('until')}|\bbefore\s+{_NUMBERED.format('before')}|(?:在|到|截至|截止)?\s*{_NUMBERED.format('zbefore')}\s*(?:之前|以前)"
)
_PART: Final = re.compile(
    r"(?i)\b(?:the )?(?P<side>first|second|last|final|latter|middle) (?P<part>half|third|quarter|tenth)\b(?! of (?:the )?(?:step|batch|responses|samples|tokens))|(?P<zside>前|后|最后|最初|末)\s*(?P<zpart>一?半(?:段|程|期|部分)?|三分之一|四分之一|十分之一)(?!以)"
)
#: "3.74 at step 1000, 3.56 at 2000": a step without the word, right behind the value it is of.
_AFTER_VALUE: Final = re.compile(
    r"(?i)(?<![\w.])[-−]?\d+(?:\.\d+)?\s*(?:%|s|ms|tokens?|GB|GiB)?\s+(?:at|on|by|after) (?P<at>\d{1,7})(?=\s*(?:[,.;:)](?!\d)|$|and\b|then\b|but\b|to\b|while\b))"
)
#: "The first 12 take 184 s, the remaining 18 550 s": all those after.
_REST: Final = re.compile(
    r"(?i)\bthe (?:remaining|other|following) (?P<n>\d{1,6})\b(?: (?:steps|iterations|updates|records))?|(?:之后|其后|此后|后面|其余|剩下|余下)的?\s*(?P<zn>\d{1,6})\s*步"
)
#: "Higher in the second half than in the first": the half is meant.
_OTHER_HALF: Final = re.compile(
    r"(?i)\b(?:in|over|during|of|for|across|against|than) the (?P<side>first|second|last|latter)\b(?=\s*(?:[,.;:()]|$|one\b|and\b|\())"
)
_PARTS: Final = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "tenth": 10,
    "半": 2,
    "三分之一": 3,
    "四分之一": 4,
    "十分之一": 10,
}
#: ``the last 100 steps (401–500)``: said twice.
_TWICE: Final = re.compile(
    r"\s*(?:里|中|内)?\s*[（(]\s*(?:step\s*)?(\d{1,7})\s*[-–—~～至到]\s*(\d{1,7})\s*(?:步)?\s*[)）]"
)
_BARE_LAST: Final = re.compile(
    rf"(?i)\b(?P<side>last|final|first|opening)\s+(?P<n>\d{{1,6}}|{'|'.join(k for k in _WORD if not k.endswith(('th', 'st', 'nd', 'rd')))})\b(?=\s*(?:[,.;)(]|$|it\b|they\b|is\b|was\b|are\b|only\b|averag|[-−]?\d))"
    rf"|(?P<zside>最后|末|后|最初|前|头)\s*(?P<zn>\d{{1,6}}|{_NUMERAL})\s*个(?=\s*(?:平均|均值|是|为|的|里|中|[-−]?\d|[，,]))"
)
#: ``response length (13→59): +38%``: two bare steps.
_BRACKETED: Final = re.compile(
    r"[（(]\s*(?P<one>\d{1,7})\s*(?:→|->|⟶)\s*(?P<two>\d{1,7})\s*[)）](?=\s*[:：])"
    r"|(?<=[`A-Za-z\u3400-\u9fff])\s*[,，]\s*(?P<three>\d{1,7})\s*(?:→|->|⟶)\s*(?P<four>\d{1,7})(?=\s*[:：])"
)
_TOLD: Final = re.compile(r"(?i)\s*[（(]\s*(?:step\s*)?(\d{1,7})\s*[)）]")
_RELATIVE: Final = re.compile(
    r"(?i)\b(?:the\s+)?(?P<en>previous|preceding|prior|next|following)\s+(?:training\s+|logged\s+|recorded\s+)?(?:step|one|value|point|reading|record|row|entry)\b|\b(?:one|the|a) step (?P<rel>earlier|later|before|after)\b|(?P<zh>上一|前一|下一|后一)(?:个\s*)?(?:步|step|记录点|数据点|记录|点|值)"
)
#: "Two steps later", "三步之后": counted from the step named before.
_AWAY: Final = re.compile(
    rf"(?i)\b(?P<n>\d{{1,4}}|{'|'.join(k for k in _WORD if not k.endswith(('th', 'st', 'nd', 'rd')))})\s+(?:training\s+|logged\s+)?(?:steps?|iterations?|updates?)\s+(?P<en>later|earlier|before|after)\b(?! step)|(?<![\d前后第最])(?P<zn>[一二两三四五六七八九十]{{1,3}})\s*步\s*(?P<zh>之后|以后|后|之前|以前|前)"
)
#: "The slowest step is 131 at 409 s, the fastest is 7 at 254 s", "the slowest iteration is number 20 (…)".
_SUPERLATIVE_STEP: Final = re.compile(
    r"(?i)\b(?:slowest|fastest|quickest|longest|shortest|best|worst|highest|lowest)(?: (?:one|step|iteration|update))?(?: is| was|:)? (?:(?:number|no\.?) ?(?P<no>\d{1,7})|(?<=is )(?P<one>\d{1,7})(?= at\b|\s*[,(]))(?![\d.]*[%\d])"
)
#: "Of all steps, number 38 took longest".
_NUMBERED_STEP: Final = re.compile(
    r"(?i)\b(?:steps?\b[^.;\d]{0,12}?\bnumber|number(?=\s*\d+\s+(?:took|takes?|was|is|had|has|ran|lasted)\b)) (\d{1,7})\b"
)
_FIRST_STEP: Final = ("第一步", "第一个步", "第一个 step", "第一step")
_NUMBERS: Final = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+|\d{{1,7}}|{_NUMERAL}")


def places(text: str, steps: Sequence[int]) -> list[Place]:
    """Every naming of steps in a text, left to right, not overlapping.

    Args:
        text: a sentence.
        steps: the run's steps, ascending: what "the last step" and "the first 5 steps" are.
    """
    found: list[Place] = []
    taken: list[tuple[int, int]] = []

    def take(start: int, end: int, named: tuple[int, ...], kind: Kind = "steps") -> None:
        if named and not any(a < end and start < b for a, b in taken):
            taken.append((start, end))
            found.append(Place(start, end, named, kind))

    for found_bare in bare_places(text, steps):
        take(*found_bare)
    for match in _LAST_N.finditer(text):
        word = match["n"] or match["cn"]
        count = int(word) if word.isdigit() else _WORD.get(word.lower()) or chinese_number(word)
        side = (match["side"] or match["cside"]).lower()
        if match["cn"] in {"一", "1"} and side in {"前", "后"}:
            continue  # the step before, the one after
        part = end_part(steps, count, tail=side in _TAIL)
        if part:
            twice = _TWICE.match(text, match.end())
            end = twice.end() if twice and {int(twice[1]), int(twice[2])} <= {*part, *steps} else match.end()
            take(match.start(), end, (part[0], part[-1]) if count > 1 else (part[0],), "range" if count > 1 else "ends")
    if any(place.kind == "range" for place in found) or re.search(
        r"(?i)^\W*(?:and |but )?(?:in|over|across|during) the (?:last|final|first|opening) \w+ *[,:]|\b(?:over|across|during) the (?:last|final) \w+ (?:it|they)\b",
        text,
    ):
        for match in _BARE_LAST.finditer(text):
            word = match["n"] or match["zn"]
            tail = (match["side"] or match["zside"]).lower() in _TAIL
            count = int(word) if word.isdigit() else _WORD.get(word.lower()) or chinese_number(word)
            part = end_part(steps, count, tail=tail)
            if part:
                take(match.start(), match.end(), (part[0], part[-1]), "range")
    if (
        len(ranges := [place for place in found if place.kind == "range"]) == 1
        and steps
        and ranges[0].steps[0] <= steps[1 if steps[0] == 0 and len(steps) > 1 else 0]
    ):
        rest = [s for s in steps if s > ranges[0].steps[-1]]
        for match in _REST.finditer(text, ranges[0].end):
            if len(rest) > 1 and int(match["n"] or match["zn"]) == len(rest):
                take(match.start(), match.end(), (rest[0], rest[-1]), "range")
    if steps and not any(place.kind == "range" for place in found):
        _stretches(text, steps, take)
    for match in _PART.finditer(text):
        side, part_word = (match["side"] or match["zside"]).lower(), (match["part"] or match["zpart"])
        count = len(steps) // _PARTS[re.sub(r"^一|段|程|期|部分", "", part_word).lower()]
        if count > 1 and side != "middle":
            rows = steps[-count:] if side in {*_TAIL, "second", "latter"} else steps[:count]
            take(match.start(), match.end(), (rows[0], rows[-1]), "range")
    if halved := next((m for m in _PART.finditer(text) if (m["part"] or m["zpart"] or "").lower() in {"half"}), None):
        for match in _OTHER_HALF.finditer(text, halved.end()):
            later = match["side"].lower() in {*_TAIL, "second", "latter"}
            rows = steps[-(len(steps) // 2) :] if later else steps[: len(steps) // 2]
            if len(rows) > 1:
                take(match.start("side"), match.end(), (rows[0], rows[-1]), "range")
    for match in _COLON.finditer(text):
        named, kind = _listed(match["first"])
        take(match.start("first"), match.end(), named, kind)
    for pattern in (_AT_SIGN, _INDEX):
        for match in pattern.finditer(text):
            take(match.start(), match.end(), (int(match[1]),))
    for match in _BEST_STEP.finditer(text):
        take(match.start(1), match.end(1), (int(match[1]),))
    for match in _AT_STEP.finditer(text):
        take(match.start(), match.end(), (int(match[1]),))
    for match in _LIST.finditer(text):
        if text[match.start()] == "步" and (
            text[: match.start()].endswith("训练") or re.match(r"\s*个", text[match.end("first") :])
        ):
            continue  # "训练步 3 个" counts them
        short = _RANGE_THEN_VALUES.match(text, match.start("first")) or _THEN_VALUE.match(text, match.start("first"))
        named, kind = _listed(short.group() if short else match["first"])
        if short and short.re is _THEN_VALUE and ({*named} - {*steps} or int(short["value"]) in steps):
            named, kind = _listed(match["first"])
            short = None
        take(match.start(), short.end() if short else match.end("first"), named, kind)
    for match in _CHINESE.finditer(text):
        if match.group() in _FIRST_STEP and steps and 1 not in steps:
            take(match.start(), match.end(), (steps[0],), "ends")  # of a log that begins elsewhere
        elif match["tail"] or re.search(r"步|step", match["first"]):
            named, kind = _listed(match["first"])
            take(match.start(), match.end(), named, kind)
    for match in _BARE_RANGE.finditer(text):
        take(match.start(), match.end(), (int(match[1]), int(match[2])), "range")
    for match in _ORDINAL.finditer(text):
        word = match["word"].lower()
        take(match.start(), match.end(), (_WORD.get(word) or int(re.sub(r"\D", "", word)),))
    for match in _WORDED.finditer(text):
        take(match.start(), match.end(), (_WORD[match["word"].lower()],))
    held = set(steps)
    for match in (
        _SUPERLATIVE_STEP.finditer(text) if re.search(r"(?i)\bsteps?\b|\biterations?\b|\bupdates?\b", text) else ()
    ):
        which = "no" if match["no"] else "one"
        if int(match[which]) in held:
            take(match.start(which), match.end(which), (int(match[which]),))
    for match in _NUMBERED_STEP.finditer(text) if re.search(r"(?i)\bsteps?\b", text) else ():
        if int(match[1]) in held:
            take(match.start(1), match.end(1), (int(match[1]),))
    for match in _APART.finditer(text):
        if group := next((name for name in ("one", "two") if match[name]), None):
            named, kind = _listed(match[group])
            if held and set(named) <= held:
                take(match.start(group), match.end(group), named, kind)
            continue
        at = int(match["on"] or match["past"])
        later = match["on"] is not None or (match["side"] or "").endswith("后")
        rows = [s for s in steps if (s >= at if match["on"] else s > at if later else s < at)]
        if len(rows) > 1 and at in held:
            take(match.start(), match.end(), (rows[0], rows[-1]), "range")
    if any(place.kind == "steps" for place in found):
        for match in _AFTER_VALUE.finditer(text):
            if int(match["at"]) in held:
                take(match.start("at"), match.end("at"), (int(match["at"]),))
    for match in _BRACKETED.finditer(text):
        a, b = ("one", "two") if match["one"] else ("three", "four")
        if int(match[a]) in held and int(match[b]) in held:
            take(match.start(a), match.end(b), (int(match[a]), int(match[b])), "pair")
    if steps:
        for pattern, step in ((_LAST, steps[-1]), (_FIRST, training(steps)[0])):
            for match in pattern.finditer(text):
                told = _TOLD.match(text, match.end())
                if told and int(told[1]) not in held and "step" not in told.group().lower():
                    told = None  # "at the end (1187)": a value
                end = told.end() if told else match.end()
                take(match.start(), end, (int(told[1]) if told else step,), "ends")
        said = any(place.kind == "range" for place in found)
        for match in _WHOLE.finditer(text):
            if text[match.end() : match.end() + 2] in {"'s", "’s"}:
                continue  # "the change in the run's entropy"
            if said and re.fullmatch(r"(?i)throughout|始终|全程|(?:every|each) .*", match.group()):
                continue  # "from step 41 on it always stays": that stretch
            take(match.start(), match.end(), (steps[0], steps[-1]), "range")
    if any(p.kind != "ends" for p in found):  # "step 0 starts from": the verb names no step of its own
        found = [
            p
            for p in found
            if p.kind != "ends"
            or not re.search(r"(?i)start|end|begin|began|finish|initially|起|初|收于", text[p.start : p.end])
            or (
                re.match(r"(?i)起于|开局|收|开盘|finish|clos|end(?!\w* (?:at|with|on)$)", text[p.start : p.end])
                and all(
                    re.search(r"[,，;；、]|\b(?:and|but|then)\b", text[min(p.end, o.end) : max(p.start, o.start)])
                    for o in found
                    if o.kind != "ends"
                )
            )
            or re.search(
                r"(?i)\d|\b(?:to|at|by|in|from|towards?) the (?:very )?(?:end|start|beginning|outset)|结尾|结束|终点|起点|开头|起步|起初|最初|开始时|一开始|一次|训练|最终|最后|\b(?:last|latest|final|most recent|first|initial|starting|opening|closing|ending)(?: in-|$)",
                text[p.start : p.end],
            )
        ]
    apart = (one for place in found for one in _against(place, text))
    return sorted((_paired(place, text) for place in apart), key=lambda place: place.start)


#: "Compared with step 37, step 61 …": no list of two, the first is what the other is compared with.
_COMPARED_TO: Final = re.compile(
    r"(?i)\b(?:compared (?:to|with)|relative to|in contrast (?:to|with)|contrary to|unlike|against|versus|vs\.?|than|after|before|since|from)\s*(?:the )?$|(?:相比于?|相较于?|相对于?|较之?|比起|对比|不同于)\s*$"
)
_NEXT_STEP: Final = re.compile(r"\s*[,，]\s*(?=(?i:step|iteration)\s*\d+$|第\s*\d+\s*(?:步|step)?$)")


#: "Of steps 12, 22 and 46, step 22 …": behind its last member a list is closed.
_LIST_CLOSED: Final = re.compile(r"(?i)\b(?:and|or)\s*(?:step\s*)?\d+(\s*[,，:]\s*)(?=(?:step|iteration)\s*\d+$)")


def _against(place: Place, text: str) -> Iterator[Place]:
    """A list of two steps as two, where the words before it set the first against the second, or it is closed before."""
    part = text[place.start : place.end]
    closed = _LIST_CLOSED.search(part) if len(place.steps) > 2 and place.kind == "steps" else None
    if closed is not None:
        yield Place(place.start, place.start + closed.start(1), place.steps[:-1])
        yield Place(place.start + closed.end(1), place.end, place.steps[-1:])
        return
    gap = _NEXT_STEP.search(part) if len(place.steps) == 2 and place.kind == "steps" else None
    if gap is None or not _COMPARED_TO.search(text[max(0, place.start - 24) : place.start]):
        yield place
        return
    yield Place(place.start, place.start + gap.start(), place.steps[:1])
    yield Place(place.start + gap.end(), place.end, place.steps[1:])


_TAIL: Final = frozenset({"last", "final", "latest", "closing", "最后", "最近", "末", "后"})


def end_part(steps: Sequence[int], count: int, *, tail: bool) -> Sequence[int]:
    """The first or last so many steps; where only every tenth step is logged, those among so many step numbers."""
    if not steps or count < 1:
        return ()
    apart = (steps[-1] - steps[0]) / (len(steps) - 1) if len(steps) > 1 else 1
    if count > 1 and apart >= 2 and count >= 2 * apart:
        part = [s for s in steps if (s > steps[-1] - count if tail else s <= steps[0] // count * count + count)]
        return part if len(part) > 1 else ()
    if count > len(steps):
        return ()
    return steps[-count:] if tail else training(steps)[:count]


def part_of(text: str) -> tuple[int, int, bool] | None:
    """``the first 20 steps`` → (20, 1, False), ``the last third`` → (0, 3, True): how many, of what part, at the end."""
    if match := _PART.fullmatch(text):
        side, word = (match["side"] or match["zside"]).lower(), (match["part"] or match["zpart"])
        return 0, _PARTS[re.sub(r"^一|段|程|期|部分", "", word).lower()], side in {*_TAIL, "second", "latter"}
    match = _LAST_N.match(text)
    if match is None:
        bare = _BARE_LAST.match(f"{text} is") or _BARE_LAST.match(f"{text}是")
        told = None if bare is None else (bare["side"] or bare["zside"], bare["n"] or bare["zn"])
    else:
        told = match["side"] or match["cside"], match["n"] or match["cn"]
    if told is None:
        return None
    side, word = told
    count = int(word) if word.isdigit() else _WORD.get(word.lower()) or chinese_number(word)
    return count, 1, side.lower() in _TAIL


def _stretches(text: str, steps: Sequence[int], take: Callable[[int, int, tuple[int, ...], Kind], None]) -> None:
    """ "From step 159 on", "第 41 步往后", "before step 30": every step from there, or up to there."""
    for pattern in (_ONWARDS, _BEYOND, _UP_TO):
        for match in pattern.finditer(text):
            name, at = next((name, int(value)) for name, value in match.groupdict().items() if value)
            others = [
                other for other in _ANY_STEP.finditer(text)
                if not match.start() <= other.start() < match.end() and _named_by(text, other) != at
            ]  # fmt: skip
            if others and (pattern is not _ONWARDS or name.startswith("son")) and not _EXCEPT.search(text):
                continue  # "after step 30 it rose to 0.5 at step 40": two steps, no stretch
            later = pattern is not _UP_TO
            rows = [
                s for s in steps
                if (s >= at if later and "on" in name else s > at if later else s < at if "before" in name else s <= at)
            ]  # fmt: skip
            if len(rows) > 1:
                take(match.start(), match.end(), (rows[0], rows[-1]), "range")


def _named_by(text: str, match: re.Match[str]) -> int:
    """The step number at the end of a match, whole."""
    start = max(match.start(), match.end() - 1)
    while start > match.start() and text[start - 1].isdigit():
        start -= 1
    found = re.search(r"\d{1,9}", text[start:] if text[start].isdigit() else match.group())
    return int(found.group()) if found else -1


_ANY_STEP: Final = re.compile(rf"(?i){_HEAD}\s*#?\s*\d|第\s*\d+\s*(?:个\s*)?(?:步|step)")
_EXCEPT: Final = re.compile(r"(?i)\bexcept\b|\bapart from\b|\bother than\b|\bexcluding\b|除(?:了|去)?|不算|不计")


def _paired(place: Place, text: str) -> Place:
    """``between step 1 and step 2`` is a pair; ``step 2 与 step 1 相比`` is the pair from the second to the first."""
    if place.kind == "ends" or len(place.steps) != 2:
        return place
    before, after = text[max(0, place.start - 14) : place.start], text[place.end : place.end + 8]
    if re.match(r"\s*(?:步|的)?\s*(?:对比|比较)的?\s*[:：]?[*_\s]*$", text[place.end :]) and place.kind != "range":
        return Place(place.start, place.end, (min(place.steps), max(place.steps)), "pair")  # a heading: in order
    if re.match(r"\s*(?:步|的)?\s*(?:相比|比较|对比|compared|比(?=[，,]))", after) and place.kind != "range":
        return Place(place.start, place.end, place.steps[::-1], "pair")
    if re.search(r"(?i)\bbetween\s*$|在\s*$", before) and place.kind == "steps" and re.search(r"(?i)between", before):
        return Place(place.start, place.end, place.steps, "pair")
    if re.search(r"(?i)\bvs\b|versus", text[place.start : place.end]):
        return Place(place.start, place.end, (min(place.steps), max(place.steps)), "pair")
    return place


def relative_places(text: str, base: int | None, steps: Sequence[int]) -> list[Place]:
    """ "The previous step", "下一步", counted from ``base``."""
    if base is None or base not in steps:
        return []
    found, at = [], steps.index(base)
    for match in _AWAY.finditer(text):
        word = (match["n"] or match["zn"]).lower()
        count = int(word) if word.isdigit() else _WORD.get(word) or chinese_number(word)
        back = (match["en"] or match["zh"]).lower() in {"earlier", "before", "前", "之前", "以前"}
        if (target := base - count if back else base + count) in steps:
            found.append(Place(match.start(), match.end(), (target,)))
    for match in _RELATIVE.finditer(text):
        word = (match["en"] or match["rel"] or match["zh"] or "").lower()
        back = word in {"previous", "preceding", "prior", "earlier", "before", "上一", "前一"}
        target = at - 1 if back else at + 1
        if 0 <= target < len(steps):
            found.append(Place(match.start(), match.end(), (steps[target],)))
    return found


def training(steps: Sequence[int]) -> Sequence[int]:
    """The steps without a step 0 before training, where there are others."""
    return steps[1:] if len(steps) > 1 and steps[0] == 0 else steps


def _listed(text: str) -> tuple[tuple[int, ...], Kind]:
    numbers: list[int] = []
    for match in _NUMBERS.finditer(text):
        word = match.group().replace(",", "")
        numbers.append(int(word) if word.isdigit() else chinese_number(word))
    rest = _NUMBERS.sub("#", text)
    if len(numbers) == 2:
        if re.search(r"->|→|⟶|➜|➡|=>|⇒|\bvs|versus", rest):
            return tuple(numbers), "pair"
        if re.search(r"(?i)to|through|until|till|到|至|[-–—~～∼]", re.sub(r"(?i)step|iteration", "", rest)):
            return tuple(numbers), "range" if numbers[0] < numbers[1] else "pair"
    return tuple(numbers), "steps"
