"""Words around a number or a verb: compiled from ``words.yaml``, and which clauses state nothing as so."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.lexicon import words
from assistant.ground.quantities import Quantity
from assistant.ground.thesaurus import SENSES, directions

_IF: Final = re.compile(
    r"(?i)\bif\b|\bsuppos(?:e|ing)\b|\bassum(?:e|ing)\b|\bunless\b|如果|假如|假设|倘若|若(?!干|以[^，。]{1,16}为\s*(?:100\s?%|1|基准|基数))|一旦|要是|除非|假使|万一|如若|(?<![整入说论算看讲])的话|^[\s(*]*had\b(?!\s*[`*]*\d)"
    # "…, had fallen to 0.51 by step 60" is told as so; "had the entropy fallen" is not
    r"(?!\s+(?:(?:already|since|just|now|only|barely|also|then|even|again|almost|nearly|by then|not|never)\s+){0,2}(?:\w+(?:ed|wn|en)|been|begun|come|gone|become|sunk|shrunk|lost|hit|slid|crept|shot|gained|held|left|met|swung|run|cut|doubled)\b)"
)
_NOUN_AFTER: Final = re.compile(
    r"(?i)^[`*\s）)]*(?:的)?\s*(?:[（(]\s*)?(?:threshold|limit|target|typical|warning|alarm|rule of thumb|阈值|警戒|目标|常用|上限值|典型|为宜|以内为|是正常|属(?:于)?正常)"
)
#: "没有记录，不能当作 0": what a value that is not there is no case of.
_NOT_TAKEN_FOR: Final = re.compile(
    r"(?i)(?:不能|不应该?|不要|别|不可|不宜)(?:被)?(?:当作?成?|看[作成]|视[作为]|算[作成]?|记[作为]|理解[为成])\s*[`*]*$"
)
_SYMBOL: Final = re.compile(
    r"(?:[εβγλαθδτσ]|\b(?:eps|epsilon|beta|gamma|lambda|alpha|tau))\s*(?:=|为|of|:|是)?\s*[`*]*$", re.IGNORECASE
)
_CHANGE_AFTER: Final = re.compile(
    r"(?i)^[`*\s]*(?:relative\s+)?(?:[（(]\s*)?(?:higher|lower|more|less|fewer|faster|slower|longer|shorter|larger|smaller|greater|bigger|increase|decrease|drop|rise|"
    r"decline|gain|reduction|improvement|jump|growth|fall(?!(?:s|ing)? (?:on|at|in)\b)|change|up\b|down\b|above|below|apart\b|的?(?:上升|下降|增长|增加|减少|提升|降幅|涨幅|增幅|跌幅|变化|降低|改善|差距|差异))"
)


_DIFFERENCE: Final = re.compile(
    r"(?i)(?:之差|差值|相差|之比|比值|比例关系)\s*(?:为|是|约|[:：=])*\s*$|(?:Δ|\bdelta\b)[^，,。；;0-9]{0,24}(?:=|:|：|is|为|是)\s*$|\b(?:difference|gap|ratio|minus|increase|decrease|drop|rise|decline|growth|gain|reduction|change|fall|climb|dip|slump|uptick|surge|slide|jump|(?:the|a) loss(?= (?:in|of)))\b[^.;，。]{0,48}\b(?:is|was|of|c[ao]mes? to|amount(?:s|ed) to|work(?:s|ed) out (?:at|to|as)|total(?:s|led)|equal(?:s|led)|=)\s*$|(?:涨幅|降幅|增幅|跌幅|变化量|变化幅度)\s*(?:为|是|约|达|[:：=])*\s*$"
)
_GENERALLY: Final = re.compile(
    r"(?i)^\W*(?:typical(?:ly)?|usual(?:ly)?|normal(?:ly)?|in general|generally|as a rule|一般(?:来说|而言|情况下)?|通常)"
)
OF_ONE_SAMPLE: Final = re.compile(
    r"(?i)[`*\s]*(?:(?:per|each|an?|for each|for every)\s+(?:mean |average )?(?:answer|response|sample|completion|prompt|trajectory|rollout)|[/每](?:条|个)?(?:回答|回复|样本|响应|prompt))"
)
"""What follows a number of tokens that is one sample's, not a step's."""
RATIO_OF: Final = re.compile(r"(?i)\bratio\b|之比|比值|倍数")
REVERSED: Final = re.compile(
    r"(?i)\bminus\b|\bless (?:that of )?step\b|减去?(?=\s*(?:第|step))|之差|\bratio of\b|之比|比值"
)
_NO_SIGN: Final = re.compile(
    r"(?i)\b(?:no|not (?:a|any)|without (?:a|any)|little|hardly any) (?:sign|hint|trace|evidence|indication)s? (?:of|that)\b[^.,;]*$"
)


#: "Look at step 3: …": what follows is stated.
#: "…，降低 117.6%", "…, lower by 79%": how much it moved, beside the values told.
_MOVED_BY: Final = re.compile(
    r"(?i)^[\s，,]*(?:降低|提高|增大|减小|调高|调低|加大)\s*(?:约|近|大约)?[`*]*[-+−]?[\d.]+\s*(?:%|％|个百分点|倍)?|^\W*(?:lower|raise|cut|drop|increase|decrease|reduce)\w* by\b"
)
_GAINED: Final = re.compile(r"(?i)\b(?:added|adds|shed|sheds|shedding|put on)\s*(?:about |around |roughly |~)?[`*]*$")
#: "0.022 is what the score gained between step 5 and step 35": by how much.
_WHAT_IT_MOVED: Final = re.compile(
    r"(?i)[`*\s]*(?:is|was) (?:what|how much|the amount(?: by which)?) (?:(?:the|its|this|mean|average) )*\x00+ (?:has |had )?(?:gained|lost|rose|fell|grew|shrank|climbed|dropped|declined|increased|decreased|added|shed|moved|changed|went (?:up|down))\b"
)
#: What is told with a definite article is told as so.
_DEFINITE: Final = re.compile(r"(?i)[\s(*_>\-]*(?:(?:and|but|so)\s+)?(?:the|that|this|its|these|those)\b")
_DOUBTED: Final = re.compile(
    r"(?i)\b(?:is|was|are|were|looks?|seems?)\s+(?:\w+\s)?(?:probably|likely|perhaps|possibly|more likely|most likely)$"
)
_I_WOULD: Final = re.compile(
    r"(?i)[\s(*_>\-]*(?:(?:and|but|so|personally)\s+)?(?:(?:I|we|you)(?:'d|’d| would| should| could| might)?(?: not|n't|n’t)?|(?:don't|do not|you need not|no need to))\s+(?:(?:not|never|even|really|just|simply)\s+)*"
    r"(?:read|make|worry|call|attribute|ascribe|put|ignore|treat|trust|regard|take|describe|blame|dismiss|over-?interpret|be|draw|see)\b[^,.;:\d]{0,40}?\b(?:the|that|this|its)\b"
)
#: "…, 0.088 lower": by how much, behind a value.
_AMOUNT: Final = re.compile(r"\s*[-+−±~≈]?\d[\d.,]*\s?(?:%|pp|points?|tokens?|s|GB|GiB|min)?\s+[A-Za-z]")
#: "If you keep one, keep step 54: its score of 0.62 is the best": why, which is stated.
_REASON: Final = re.compile(
    r"(?i)^\W*(?:its|their|there|it (?:is|was|has|had|scored|reached)|that (?:step|one) (?:is|was|has|had)|它的?|其(?!他|它|余|中)|该步|[这那]一步)"
)
_SEE: Final = re.compile(
    r"(?i)^\W*(?:(?:just|now) )?(?:look at|see|note|take|compare|consider|check|recall)\b|^\W*(?:请看|看看?|注意|对照|对比)"
)


@lru_cache(maxsize=128)
def cue(name: str) -> re.Pattern[str]:
    """A cue's pattern; those of direction with the thesaurus's words."""
    pattern = words()["cues"][name]
    if name in SENSES:
        pattern = f"{pattern}|{directions(SENSES[name])}"
    elif name == "versus":
        pattern = "|".join([pattern, directions("more"), directions("less")])
    return re.compile(pattern, re.IGNORECASE)


def before(frame: Frame, at: int, width: int = 40) -> str:
    """The text before a place."""
    return frame.text[max(0, at - width) : at]


def outside(frame: Frame, start: int, end: int) -> str:
    """A stretch of the sentence with its names blanked, so that their words are no cues."""
    text = list(frame.text[start:end])
    for name in frame.names:
        if name.keys or name.derived or name.absent:
            for at in range(max(name.start, start), min(name.end, end)):
                text[at - start] = "\x00"
    return "".join(text)


def bare(frame: Frame, start: int, end: int) -> str:
    """A stretch of the sentence with its names and numbers blanked: ``72 min`` is no minimum."""
    text = list(outside(frame, start, end))
    for q in frame.numbers:
        for at in range(max(q.start, start), min(q.end, end)):
            text[at - start] = "\x00"
    return "".join(text)


def idle_clauses(frame: Frame) -> list[bool]:
    """Of each clause, whether it states nothing about the log as so: a hypothesis, advice, a question."""
    edges = [0, *(stop + 1 for stop in frame.breaks), len(frame.text)]
    flags: list[bool] = []
    conditional = advised = False
    if cue("question").search(frame.text) or cue("external").search(outside(frame, 0, len(frame.text))):
        return [True] * (len(edges) - 1)
    if not frame.places and _GENERALLY.match(frame.text):
        return [True] * (len(edges) - 1)
    if (
        not frame.places
        and (match := cue("setting").search(frame.text))
        and re.match(r"[^，,。]{0,8}\d", frame.text[match.end() :])
    ):
        return [True] * (len(edges) - 1)
    for start, end in pairwise(edges):
        clause = outside(frame, start, end)
        factual = bool(cue("factual").search(clause)) and not _IF.search(clause)
        if factual:
            conditional = advised = False
        if _IF.search(clause) and not re.search(r"(?i)\bas if\b|even if", clause):
            conditional = True
        titled = frame.places and re.search(
            r"[:：=]\s*[`*]*[-+−±]?\d", frame.text[start:end]
        )  # "change in X, step 3 → 5: +4%"
        shown = frame.text[end - 1 : end] in ":：" and _SEE.match(clause) is not None
        told = not shown and (
            bool(cue("imperative").search(clause) and not titled and frame.text[start - 1 : start] != "而")
            or bool(cue("advice_words").search(clause) and not _settled(frame, start, end, "advice_words"))
        )
        if bool(frame.groups or len(frame.places) > 1) and _MOVED_BY.match(clause):
            told = False
        if start > 0 and _AMOUNT.match(frame.text, start):
            told = False
        if frame.places and _REASON.match(clause) and re.search(r"\d\.\d", clause) and not _IF.search(clause):
            told = conditional = advised = False
        if told and not factual:
            advised = True
        supposed = (
            bool(cue("hypothesis").search(clause)) and not factual and not _settled(frame, start, end, "hypothesis")
        )
        flags.append(conditional or advised or supposed)
    postponed = next((at for at, (a, b) in enumerate(pairwise(edges)) if _IF.search(frame.text[a:b])), None)
    if postponed and re.search(r"(?i)\bwould\b|\bcould\b|\bmight\b", frame.text):
        flags = [True] * len(flags)
    return flags


def _settled(frame: Frame, start: int, end: int, which: str) -> bool:
    """Whether a clause only wonders about, or advises on, what it tells as a fact.

    ``The 22 % rise between step 41 and step 59 is probably noise``, ``I would not read much into the +22 % …``: a number
    and its steps with a "the", and the word of doubt outside them.
    """
    clause = outside(frame, start, end)
    places = [p for p in frame.places if start <= p.start < end and re.search(r"\d", frame.text[p.start : p.end])]
    numbers = [q for q in frame.numbers if start <= q.start < end and q.unit not in {"steps", "points"} and not q.bound]
    if not places or not numbers or _IF.search(clause):
        return False
    found = list(cue(which).finditer(clause))
    last = max(*(p.end for p in places), *(q.end for q in numbers)) - start
    if all(match.start() >= last for match in found):
        return bool(_DEFINITE.match(clause) or all(_DOUBTED.search(clause[: match.end()]) for match in found))
    lead = _I_WOULD.match(clause)
    return lead is not None and all(match.start() < lead.end() for match in found)


def normative(frame: Frame, q: Quantity) -> bool:
    """Whether a number is a threshold, a usual range or a constant, rather than a value of this log."""
    left = outside(frame, max(0, q.start - 60), q.start)
    left = re.split(r"[，,。；;]|\b(?:but|while|is|was|at|compared)\b(?![^，,。；;]*(?:typical|normal|usual))", left)[
        -1
    ]
    if _SYMBOL.search(before(frame, q.start, 14)) or _NOT_TAKEN_FOR.search(before(frame, q.start, 14)):
        return True
    if re.match(r"\s*[−\-+±]\s*[εϵ]", frame.text[q.end : q.end + 6]):
        return True
    if _NOUN_AFTER.match(frame.text[q.end : q.end + 24]):
        return True
    found = list(cue("normal").finditer(left))
    if not found:
        return False
    between = left[found[-1].end() :]
    return "\x00" not in between and not re.search(r"\d\s*[^\s\d\-–~到至.]{3,}", between)


def _stepless(frame: Frame, start: int, end: int) -> str:
    """A stretch of the sentence without its names and steps."""
    text = list(outside(frame, start, end))
    for place in frame.places:
        for at in range(max(place.start, start), min(place.end, end)):
            text[at - start] = "\x00"
    return "".join(text).replace("\x00", "")


def end_said(frame: Frame, q: Quantity) -> str:
    """``start`` or ``end`` where the words right before a number say that it is what a metric starts or ends at."""
    start = max([frame.clause_span(q.start)[0], *(n.end for n in frame.numbers if n.end <= q.start)])
    words = outside(frame, max(start, q.start - 32), q.start)
    found = [(m.end(), which) for which, name in (("start", "starting"), ("end", "ending")) for m in cue(name).finditer(words)]  # fmt: skip
    return (
        max(found)[1]
        if found and not re.search(r"(?i)\b(?:since|after|before|until|than|from the)\b|[比之]", words[max(found)[0] :])
        else ""
    )


def negated(frame: Frame, at: int) -> bool:
    """Whether "not", "没有" or the like stands before a place."""
    return bool(cue("negated").search(before(frame, at, 30)) or _NO_SIGN.search(before(frame, at, 80)))


#: "0.15 lower at step 3 than it was at step 1", "0.15 below step 1's": by how much.
_THAN_ANOTHER: Final = re.compile(
    r"(?i)[`*\s]*(?:tokens?\s)?(?:(?:more|less|fewer|longer|shorter|higher|lower|slower|faster|larger|smaller|greater|bigger)\b[^.;]{0,60}?\bthan\b"
    r"|(?:above|below|under|beneath)\s+(?:step\b|its\b|that\b|those\b|what\b|where\b|the (?:value|level|figure|one|first|initial)\b))"
)


def _of_a_change(frame: Frame, q: Quantity) -> bool:
    """``the fall in A, from 0.9 at step 1 to 0.4 at step 3, comes to 0.5``: what a noun of change is said to be."""
    start = max(0, q.start - 110)
    if _DIFFERENCE.search(_stepless(frame, start, q.start)):
        return True
    text = list(frame.text[max(0, q.start - 180) : q.start])
    if not re.search(r"(?i)\bfrom\b", "".join(text)):
        return False
    first = q.start - len(text)
    spans = [(part.start, part.end) for parts in (frame.names, frame.places, frame.numbers) for part in parts]
    for one, end in spans:
        for at in range(max(one, first), min(end, q.start)):
            text[at - first] = "\x00"
    return _DIFFERENCE.search(re.sub(r"\s{2,}", " ", "".join(text).replace("\x00", ""))) is not None


def told_as_change(frame: Frame, q: Quantity) -> bool:
    """Whether the words beside a number say that it is by how much something changed or lies apart, and no value."""
    return bool(
        _THAN_ANOTHER.match(frame.text, q.end)
        or _GAINED.search(frame.text[max(0, q.start - 24) : q.start])
        or _of_a_change(frame, q)
    )


#: "Its change from step 1 to step 3: -0.028".
_CHANGE_OF_STEPS: Final = re.compile(
    r"(?i)(?:\bchange\b|\bdelta\b|Δ|变化量?|\bdifference\b)[^.;,。；，0-9]{0,48}[:：=]\s*[`*]*$"
)
#: "0.152 @ step 1, 0.124 @ step 3 (-0.028)": what lies between the two.
_IN_BRACKETS: Final = re.compile(r"\x00?\s*[（(]\s*[`*]*$")


def change_cue(frame: Frame, q: Quantity) -> str:
    """``sure`` where a number is a change, ``maybe`` where it may be, "" where it is a value."""
    if q.number != q.number:
        return ""  # "变成了 NaN": what it is, no change
    listed = next(
        (g for g in frame.groups if g.form == "list" and q in [frame.numbers[at] for at in g.members[1:]]), None
    )
    if (
        listed is not None
        and len(listed.members) == 2
        and not q.sign
        and q.unit not in {"", "steps", "points"}
        and re.fullmatch(r"\s*and (?:by )?", frame.text[frame.numbers[listed.members[0]].end : q.start])
    ):
        return change_cue(frame, frame.numbers[listed.members[0]])  # "by 53% and 19%"
    if q.unit in {"pp", "factor"}:
        return "sure"
    left = outside(frame, max(0, q.start - 44), q.start)
    if any(group.form == "versus" and frame.numbers.index(q) in group.members for group in frame.groups):
        return ""
    if q.unit == "ratio" or _GAINED.search(left):
        return "sure"
    place = frame.numbers.index(q) if q in frame.numbers else 0
    if (
        q.unit == "%"
        and place
        and re.fullmatch(
            r"\s*[（(,，]\s*(?:about |roughly |约|~|≈)?", frame.text[frame.numbers[place - 1].end : q.start]
        )
    ):
        earlier = frame.numbers[place - 1]
        if earlier.unit != "%" and change_cue(frame, earlier) == "sure":
            return "sure"
    if _of_a_change(frame, q):
        return "sure"
    if re.search(
        r"(?:处理|消耗|用|花|跑|达|有|记录|看|做)了\s*(?:约|近|大约)?\s*$", frame.text[max(0, q.start - 12) : q.start]
    ):
        return ""
    if re.search(r"占(?:了|到|据)?(?:约|近|大约)?\s*$", left):
        return ""
    if (
        cue("to").search(left)
        and not re.search(r"(?:变化|相差|差|幅度|下降|上升|增加|减少)(?:量|了)?(?:为|是|达)\s*$", left)
        and not _CHANGE_AFTER.match(frame.text[q.end : q.end + 20])
    ):
        return "maybe" if q.sign in {"+", "±"} and q.unit == "%" else ""
    left = re.sub(r"(?i)(?:more than|over|at least|less than|超过|逾|不到)\s*$", "", left)
    if cue("by").search(left) and not re.search(
        r"(?i)\b(?:value|mean|average|reward|score|rate|ratio|length|time|total|max\w*|min\w*|peak|level|entropy|norm|(?<!\ba )loss|accuracy|\x00) of\s*[`*]*$",
        left,
    ):
        return (
            "sure"
            if not re.search(r"(?i)\bof\s*[`*]*$", left)
            or re.search(
                r"(?i)(?:change|loss|slide|slump|increase|decrease|drop|rise|gain|decline|jump|fall|reduction|difference|improvement|growth|slowdown|climb|dip|surge|uptick|downtick|upswing|plunge|spike|bump|boost|shrinkage|contraction|expansion|swing|shift|hike|leap|cut|move)s? of\s*[`*]*$",
                left,
            )
            else ""
        )
    if _CHANGE_AFTER.match(frame.text[q.end : q.end + 20]) or (
        re.match(r"(?i)[`*\s]*(?:is|was)\b", frame.text[q.end : q.end + 8])
        and _WHAT_IT_MOVED.match(outside(frame, q.end, min(len(frame.text), q.end + 160)))
    ):
        return "sure"
    verb = None
    for direction in ("up", "down"):
        for match in cue(direction).finditer(left):
            verb = match if verb is None or match.end() > verb.end() else verb
    if (
        verb is not None
        and not re.search(r"\d", left[verb.end() :])
        and len(left) - verb.end() <= 12
        and not re.search(r"(?i)\b(?:to|from|at)\b|到|至|从|由|为", left[verb.end() :])
        and not re.search(r"[到至]$", verb.group())
        and not re.search(r"(?i)below|under|above|beyond|低于|高于|破", left[verb.end() :])
        and not re.search(r"[：:，,。；;]", left[verb.end() :])
    ):
        return "sure"
    if q.sign in {"+", "±"} and q.unit == "%":
        return "sure"
    if q.sign == "+":
        return "maybe"
    if q.sign == "-" and q.unit == "%":
        return "maybe"
    if q.sign == "-" and re.search(r"\x00[`*\s]*$", left) and (len(frame.places) == 2 or any(len(p.steps) == 2 for p in frame.places)):  # fmt: skip
        return "maybe"  # "step 10 to step 65: entropy -0.03"
    if re.search(r"(?i)(?:change|delta|Δ|变化|差(?:值|异)?|difference)[^，,。；;0-9]{0,14}$", left):
        return "maybe"
    if q.sign and _CHANGE_OF_STEPS.search(_stepless(frame, max(0, q.start - 110), q.start)):
        return "maybe"
    if q.sign and place > 1 and len(frame.places) == 2 and _IN_BRACKETS.search(outside(frame, 0, q.start)):
        return "maybe"
    return ""
