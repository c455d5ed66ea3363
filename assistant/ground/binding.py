"""Which metric and which steps a number of a sentence is about.

Grammar does most of it: the name before a number in its clause, else the one right after it; the step beside a number,
else that of its clause, else of its sentence; what a sentence does not say, it takes from the one before, from the list
item or heading above it, or from the table's header.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity

_STRONG: Final = re.compile(
    r"[，；。;]|,(?!\d{3}(?!\d))|[：:](?=\s|\D)|\s[—–-]\s|——|\s(?:while|whereas|but|yet|although|though)\s|而(?!且)|但是?|不过|同时|"
    r"(?<=\S)\s(?:and|with|alongside)\s(?=(?:the |an? |at |in |by |its? |their )?[A-Za-z`*]{2,})"
)
_TIGHT: Final = re.compile(
    r"^[`*\s）)'\"]*(?:[:：=＝~≈]|为|是|的|was|is|were|are|of|at|values?|值|约|[(（]|mean|'s|’s|，|,)?[\s`*(（]*(?:为|是|约|about|around|~|≈|[=:：])?[\s`*]*$",
    re.I,
)
_OF: Final = re.compile(
    r"(?i)^[`*\s]*(?:(?:for|of|in|on|as)(?:\s+(?:the|an?|its|both))?(?:\s+(?:mean|average))?|的|in)?\s*[`*“\"]*$"
)
_AT: Final = re.compile(
    r"(?i)^[`*\s）)]*[（(]?\s*(?:(?:,\s*)?(?:is|was|comes?|came|occurs?|occurred|belongs?|dates?|falls|fell)\s+(?:at|in|on|to|from)|,\s*to(?=\s*$)|(?:was|were|is|are)?\s*(?:recorded|logged|seen|reached|reported|observed|measured|found)?\s*(?:at|in|on|by|during|for|from|over|across|through|of|as of|@|出现在|在|于|是在|，在|（在|——)|,\s*(?:at|in|on)|seen at|reached at|recorded at|logged at|(?:出现|发生|达到|记录)(?:在|于))?\s*(?:the\s+)?[`*]*$"
)
_AGAINST: Final = re.compile(
    r"(?i)^[\s`*]*[,，]?\s*(?:against|vs\.?|versus|compared (?:to|with)|instead of|rather than|up from|down from|对|比|而不是|而非|而后者(?:是|为)?)[\s`*]*(?:about|around|roughly|约)?[\s`*]*$"
)
_COUNTING: Final = {"points", "steps", "gpus", "samples", "prompts", "lines", "metrics", "validations", "characters"}
_LISTED: Final = re.compile(
    r"(?i)^[\s`*]*(?:,\s*and|,|、|，|and|和|与|及|以及|/|&|;|then|再到|再)[\s`*]*(?:then\s+)?(?:to\s+)?$"
)
_ARROW: Final = re.compile(r"^[\s`*）)]*(?:->|→|⟶|➜|➡\ufe0f?|=>|⇒|—>|➔)[\s`*]*(?:约|about|~)?\s*$")
_TO: Final = re.compile(
    r"(?i)^[\s`*）)]*(?:[^,，;；。0-9]{0,24}?)(?:\bto\b|到了?|至|变为|变成|变到|为|成)(?:\s*(?:just|only|about|around|roughly|approximately|nearly|almost|约|大约|近|~|≈|the))*[^,，;；。0-9]{0,18}[\s`*（(]*$"
)
#: "At step 53, entropy (0.24) is below its step-42 value": between a number and a step that is not its own.
_SET_AGAINST: Final = re.compile(
    r"(?i)\b(?:above|below|than|versus|vs|against|exceeds|compared (?:to|with))\b|[高低大小多少长短]于|超过"
)
#: "Down by 523, to 1054": by how much, and to what.
_BY_SO_MUCH: Final = re.compile(r"(?i)\bby\s*(?:about|around|roughly|some|nearly|almost|~|≈)?\s*[`*]*$")
_DASH: Final = re.compile(r"^[`*\s]*[-–—~～∼][`*\s]*$")
_BETWEEN: Final = re.compile(r"(?i)^[`*\s]*(?:and|to|和|与|到|至)[`*\s]*$")
_FROM: Final = re.compile(r"(?i)(?:\bfrom\b|从|由|自)[^,，;；。0-9]{0,30}$")
_BETWEEN_BEFORE: Final = re.compile(
    r"(?i)\bbetween[\s`*]*(?:about|around)?\s*$|(?:在|介于|处于)[\s`*]*(?:约)?$|\bin the range (?:of |from )?$|范围(?:为|是|在)?[：:]?\s*$|\brang(?:e|es|ed|ing) (?:from )?$|\b(?:band|corridor|window|interval)(?: of| from| between)?\s*$"
)


@dataclass(frozen=True, slots=True)
class Group:
    """Numbers that belong together: ``chain`` (from a to b), ``range`` (a–b), ``list``."""

    members: tuple[int, ...]
    form: str


@dataclass
class Carried:
    """What a sentence takes from the text before it."""

    names: tuple[Named, ...] = ()
    steps: tuple[int, ...] = ()
    pair: tuple[int, int] | None = None
    span: tuple[int, int] | None = None
    key: str | None = None
    both: tuple[Named, ...] = ()
    """The two metrics of the sentence before, where it names two: what "the former" and "the latter" are of it."""

    def pair_of(self, key: str) -> tuple[int, int] | None:
        """The pair of steps carried over: any metric's where it was said, else only that of the metric it was of."""
        return self.pair if self.key in {None, key} else None


@dataclass
class Frame:
    """A sentence taken apart: its text, names, steps and numbers, and what it carries over."""

    text: str
    names: list[Named]
    places: list[Place]
    numbers: list[Quantity]
    carried: Carried
    breaks: list[int] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    away: tuple[tuple[int, int], ...] = ()
    """Stretches that are no words of the sentence: names of runs."""

    def __post_init__(self) -> None:
        covered = [(n.start, n.end) for n in self.names] + [(q.start, q.end) for q in self.numbers]
        covered += [(p.start, p.end) for p in self.places]
        self.breaks = [
            m.start() for m in _STRONG.finditer(self.text) if not any(a <= m.start() < b for a, b in covered)
        ]
        self.groups = _groups(self)

    def clause(self, at: int) -> int:
        """The number of the clause that a place lies in."""
        return sum(1 for stop in self.breaks if stop < at)

    def clause_span(self, at: int) -> tuple[int, int]:
        """Its characters."""
        before = [stop for stop in self.breaks if stop < at]
        after = [stop for stop in self.breaks if stop >= at]
        return (before[-1] + 1 if before else 0), (after[0] if after else len(self.text))

    def clause_text(self, at: int) -> str:
        """Its text."""
        start, end = self.clause_span(at)
        return self.text[start:end]

    def group_of(self, index: int) -> Group | None:
        """The group of the number with an index."""
        return next((group for group in self.groups if index in group.members), None)


def _groups(frame: Frame) -> list[Group]:
    found: list[Group] = []
    at, numbers = 0, frame.numbers
    while at < len(numbers) - 1:
        members, form = [at], ""
        while members[-1] + 1 < len(numbers):
            here, there = numbers[members[-1]], numbers[members[-1] + 1]
            joined = _joined(frame, here, there, form, first=len(members) == 1)
            if not joined:
                break
            form = joined
            members.append(members[-1] + 1)
        if form:
            found.append(Group(tuple(members), form))
            at = members[-1] + 1
        else:
            at += 1
    return found


def _joined(frame: Frame, here: Quantity, there: Quantity, form: str, *, first: bool) -> str:
    gap = frame.text[here.end : there.start]
    kept = gap
    for place in frame.places:
        if here.end <= place.start and place.end <= there.start:
            kept = kept.replace(frame.text[place.start : place.end], "", 1)
    kept = re.sub(r"(?i)[（(]\s*[)）]|\bat\b(?=\s*(?:to|→|->|,|and|$))|\bin\b\s*(?=to\b|→)|的\s*$", "", kept)
    if any(here.end <= name.start < there.start for name in frame.names):
        return ""
    if len(gap) > 60:
        return ""
    alike = here.unit == there.unit or ((not here.unit or not there.unit) and not {here.unit, there.unit} & _COUNTING)
    if not alike:
        return ""
    before = frame.text[max(0, here.start - 40) : here.start]
    if here.unit == "%" and there.unit != "%" and not _FROM.search(_without(frame, before, here)):
        return "versus" if first and _AGAINST.match(kept) else ""  # "fell by 9%, to 0.203"
    if _ARROW.match(kept) and form in {"", "chain"}:
        return "chain"
    if (
        first
        and re.search(r"[\[［]\s*[`*]*$", before)
        and re.match(r"\s*[,，]\s*$", kept)
        and re.match(r"\s*[\]］]", frame.text[there.end :])
    ):
        return "range"
    if first and _BETWEEN.match(kept) and _BETWEEN_BEFORE.search(before):
        return "range"
    so_much = first and _BY_SO_MUCH.search(before) is not None  # "from step 1 to step 3 by 0.028, to 0.124"
    from_it = form == "chain" or _FROM.search(_without(frame, before, here)) is not None
    if form in {"", "chain"} and from_it and not so_much and _TO.match(kept):
        return "chain"
    if (
        form in {"", "chain"}
        and not so_much
        and re.match(
            r"(?i)^[\s`*,]*(?:rising|falling|climbing|dropping|up|down|going)?\s*(?:up|down)?\s*\bto\b(?:\s*(?:about|around|just|only))*[\s`*]*$",
            kept,
        )
    ):
        return "chain"
    if (
        first
        and re.search(r"[（(]\s*[`*]*$", before)
        and re.fullmatch(r"\s*(?:[升降涨跌变增减]?[到至]|变成|变为)\s*", kept)
    ):
        return "chain"  # "（0.62 到 0.52）"
    if (
        first
        and re.fullmatch(r"(?i)\s*[,，]?\s*(?:and )?(?:then|later|afterwards|后来?|再)(?:是|到|为|to)?\s*", kept)
        and re.search(r"(?i)[（(]\s*(?:先|first|from)?\s*[`*]*$|先(?:是|为)?\s*$", before)
    ):
        return "chain"  # "(51.4 s, then 58.9 s)"
    if first and _AGAINST.match(kept):
        return "versus"
    if first and _DASH.match(kept):
        return "range"
    ranged = any(p.kind == "range" and here.end <= p.start and p.end <= there.start for p in frame.places)
    if form in {"", "list"} and not ranged and _LISTED.match(kept) and "(" not in gap and "（" not in gap:
        return "list"
    return ""


def _without(frame: Frame, before: str, here: Quantity) -> str:
    """The text before a number without the steps in it."""
    start = here.start - len(before)
    for place in frame.places:
        if start <= place.start and place.end <= here.start:
            before = before.replace(frame.text[place.start : place.end], "")
    for name in frame.names:
        if start <= name.start and name.end <= here.start:
            before = before.replace(frame.text[name.start : name.end], "")
    return before


def metric_of(frame: Frame, index: int) -> tuple[Named | None, bool]:
    """The metric that a number is about, and whether its own sentence names it."""
    q, names = frame.numbers[index], frame.names
    group = frame.group_of(index)
    if told := _former(frame, q):
        return told, True
    if group is not None and group.form == "versus":
        ordered = list({n.keys: n for n in reversed(names) if n.keys and n.end <= q.start}.values())[::-1]
        if len(ordered) == 2:
            return ordered[group.members.index(index)], True
    elif group is not None and group.form != "list":
        q = frame.numbers[group.members[0]] if group.members[0] != index else q
    elif group is not None:
        shared = _in_order(frame, group, index)
        if shared is not None:
            return shared, True
    before = [n for n in names if n.end <= q.start]
    after = [n for n in names if n.start >= q.end]
    clause = frame.clause(q.start)
    gap = frame.text[before[-1].end : q.start] if before else ""
    titled = (
        re.fullmatch(r"[`*\s]*[:：][`*\s]*", gap) is not None
    )  # "Responses per step: 512 (total tokens divided by …)"
    if before and _TIGHT.match(gap) and (titled or frame.clause(before[-1].start) == clause):
        return before[-1], True
    whole = q.unit == "%" and before and re.match(r"(?i)\s*of\b", frame.text[q.end : q.end + 5])
    if (
        after
        and not whole
        and _OF.match(frame.text[q.end : after[0].start])
        and after[0].statistic != "whole"
        and not _tight_with_next(frame, after[0], q)
    ):
        return after[0], True
    same = [n for n in before if frame.clause(n.start) == clause]
    if not same and before and after and q.unit == "%" and (whole or after[0].statistic == "whole"):
        return before[-1], True
    if same:
        return same[-1], True
    ahead = [n for n in after if frame.clause(n.start) == clause]
    if ahead and not _tight_with_next(frame, ahead[0], q):
        return ahead[0], True
    if before:
        return _subject(frame, before, q), True
    if ahead:
        return ahead[0], True
    carried = frame.carried.names if carries(frame, q.start) else ()
    if carried and not after:
        return carried[-1], False
    if after and not (carried and _tight_with_next(frame, after[0], q)):
        return after[0], True
    return (carried[-1], False) if carried else (None, False)


_FORMER: Final = re.compile(r"(?i)前者|\bthe former\b|(?P<latter>后者|\bthe latter\b)")


def _former(frame: Frame, q: Quantity) -> Named | None:
    """``前者从 2.5% 到 4.6%，后者 …``: of the two metrics named first, the one meant."""
    found = list(_FORMER.finditer(frame.text[: q.start]))
    held = list({n.keys: n for n in frame.names if n.keys and (not found or n.end <= found[0].start())}.values())
    held = held or list(frame.carried.both)
    if not found or len(held) < 2 or any(found[-1].end() <= n.start and n.end <= q.start for n in frame.names):
        return None
    return held[1 if found[-1]["latter"] else 0]


_FILLER: Final = re.compile(
    r"(?i)\b(?:it|its|this|that|these|those|they|the|a|an|value|values|number|figure|metric|then|and|or|but|so|by|at|in|on|of|from|to|for|with|was|is|are|were|be|been|has|had|have|stands?|stood|"
    r"came|comes?|goes|went|closes?|closed|finish(?:es|ed)?|highs?|lows?|no|not|other|gets?|got|single|mark|worst|overall|reach(?:es|ed)?|only|just|about|around|roughly|approximately|nearly|almost|now|still|already|again|later|earlier|before|after|first|last|final|finally|next|"
    r"step|steps|run|whole|entire|over|during|between|up|down|back|again|mean|average|max|min|maximum|minimum|median|peak|peaks|peaked|lowest|highest|best|worst|range|ranges|ranged|"
    r"compared|versus|vs|than|which|where|while|i\.e|e\.g|change|changes|changed|difference|increase|decrease|drop|rise|factor|percent|points?|per|each|every|total|sum|overall|"
    r"ends?|ended|starts?|started|begins?|began|recorded|logged|reported|reading|reads?|shows?|similarly|likewise|respectively|further|slightly|again|roughly|exactly|"
    r"never|always|below|above|under|over|exceeds?|exceeded|beyond|past|averages?|averaged|averaging|share|also|both|mostly|largely|hardly|barely|until|since|while|when|once|twice|first|"
    r"holds?|held|sits?|sat|hits?|tops?|topped|bottoms?|bottomed|spikes?|spiked|dips?|dipped|levels?|lands?|landed|hovers?|hovered|recovers?|recovered|settles?|settled|shrinks?|shrank|doubles?|doubled|halves|halved|triples?|tripled|"
    r"even|yet|though|whereas|instead|rather|more|less|much|far|well|some|any|all|there|here|onwards?|afterwards|thereafter|earliest|latest|early|late|end|start|beginning|middle|second|third|half|quarter|"
    r"rose|rises|rising|fell|falls|falling|grew|dropped|increased|decreased|climbed|declined|jumped|remained?|stayed|stays|moved|moves|baseline|steady|steadily)\b"
)
_FILLER_ZH: Final = re.compile(
    r"它的?|其|该(?:指标|值|项)?|这(?:个|一|项)?(?:指标|数值|数字|值|数)?|此(?:时|后|前)?|为|是|在|到|至|达到?|从|由|自|的|了|约|大约|大概|左右|接近|近|仅|只有|只|有|又|再|也|还|都|均|已|则|而|但|与|和|跟|比|较|相比|对比|"
    r"上升|下降|升高|升|降低|降|涨|跌|增加|减少|增|减|变化|变为|变成|变|回落|回升|提高|提升|最后|最终|最初|开始|起|末|初|首|尾|平均|均值|最大值?|最小值?|最高|最低|峰值|中位数|之间|范围|波动|全程|整个|训练|"
    r"两者|二者|分别|此|才|超过|低于|高于|不到|突破|跌破|从未|未曾|没有|不|就|却|仍|依然|维持|保持|停|落|徘徊|附近|左右|这|那|时候|份额|占比?|一半|之|所|更|最|该|只剩|剩|缩|"
    r"过程|期间|一直|稳定|之后|之前|随后|后来|然后|接着|同样|其中|即|每步|每|共|总共|合计|累计|幅度|差|数值|值|步|第|里|中|上|下|时|内|外|后|前|高|低|多|少|大|小|快|慢|倍|个|点|百分"
)


def carries(frame: Frame, at: int) -> bool:
    """Whether what stands before a place in its clause may leave the metric to the sentence before.

    "It rose to 0.15", "At step 3: 0.127" do; "Effective rank was 0.15" names something else.
    """
    start, _ = frame.clause_span(at)
    left = list(frame.text[start:at])
    for place in (*frame.places, *(Place(a, b, ()) for a, b in frame.away)):
        for spot in range(max(place.start, start), min(place.end, at)):
            left[spot - start] = " "
    for q in frame.numbers:
        for spot in range(max(q.start, start), min(q.end, at)):
            left[spot - start] = " "
    from assistant.ground.cues import cue

    told = "".join(left)
    for sense in ("up", "down", "worsen"):  # "by step 60 it had exploded to 0.33"
        told = cue(sense).sub(" ", told)
    rest = _FILLER_ZH.sub("", _FILLER.sub(" ", told))
    words = re.findall(r"[A-Za-z][A-Za-z_@/-]{2,}", rest)
    return not words and len(re.findall(r"[\u3400-\u9fff]", rest)) <= 2


def _subject(frame: Frame, before: Sequence[Named], q: Quantity) -> Named:
    """Of names in clauses before, the nearest."""
    return before[-1]


def _tight_with_next(frame: Frame, name: Named, q: Quantity) -> bool:
    """Whether a name after a number has a number of its own right behind it."""
    following = [other for other in frame.numbers if other.start >= name.end]
    if not following:
        return False
    if not frame.text[q.end : name.start].strip(" `*") and "," in frame.text[name.end : following[0].start]:
        return False  # "32 prompts per step, 16 rollouts per prompt, 512 in total": each number before its name
    return bool(_TIGHT.match(frame.text[name.end : following[0].start]))


#: "more time on A than on B (175 s and 3 s)": in this order.
_COMPARED_WITH: Final = re.compile(
    r"(?i)[^.;,，。；\d]{0,40}\bthan\b[^.;,，。；\d]{0,14}|[`*]*\s(?:[a-z\d.]+\s){0,4}(?:above|below|over|under|exceeds?|beats|as (?:slow|fast|long|short|large|small|high|low) as)\s(?:the |its )?[`*]*|[`*\s]*(?:明显|远|略)?(?:[高低大小多少长短]于|超过|不及)[`*\s]*|\s*(?:明显|略|要|远)?\s*[比较]\s*"
)


#: "The reward and the run's mean entropy": before the second of two names.
_ARTICLE: Final = re.compile(
    r"(?i)(?<=[\s`*])(?:(?:the(?: run(?:'s|’s))?|its|this run(?:'s|’s))\s+)?(?:(?:mean|average|avg|max|maximum|min|minimum) )?$"
)


def _in_order(frame: Frame, group: Group, index: int) -> Named | None:
    """``A and B are 0.1 and 0.2``: of as many names as numbers, the one at the same place."""
    first = frame.numbers[group.members[0]]
    before = [n for n in frame.names if n.end <= first.start]
    count = len(group.members)
    if not frame.names and count == len(frame.carried.both):
        return frame.carried.both[group.members.index(index)]  # "…; step 56 has 0.35 and 0.75": of the two told before
    if len(before) < count:
        return None
    run = before[-count:]
    bracketed = re.search(r"[（(:：]\s*[`*]*$", frame.text[: first.start]) is not None
    for left, right in pairwise(run):
        between = _ARTICLE.sub("", frame.text[left.end : right.start])
        if not _LISTED.match(between) and not (count == 2 and bracketed and _COMPARED_WITH.fullmatch(between)):
            return None
    if any(run[0].end <= q.start < run[-1].start and q.unit not in {"ratio", "factor"} for q in frame.numbers):
        return None
    return run[group.members.index(index)]


def places_of(frame: Frame, index: int) -> tuple[list[Place], str]:
    """The steps that a number is about, and how: ``own`` (beside it), ``clause``, ``sentence`` or "" (not said)."""
    q = frame.numbers[index]
    after = [p for p in frame.places if p.start >= q.end]
    if (
        after
        and "\n" not in frame.text[q.end : after[0].start]
        and _AT.match(frame.text[q.end : after[0].start])
        and not _leads(frame, after[0])
        and not _led(frame, q, after[0])
    ):
        return [after[0]], "own"
    if (inside := _parenthesis(frame, q)) is not None:
        own = [p for p in frame.places if inside[0] <= p.start and p.end <= inside[1]]
        others = [n for n in frame.numbers if n is not q and inside[0] <= n.start and n.end <= inside[1]]
        if len(own) == 1 and not others:
            return own, "own"  # "the smallest (1.03, step 920)"
    before = [p for p in frame.places if p.end <= q.start]
    clause = frame.clause(q.start)
    near = [p for p in before if frame.clause(p.start) == clause]
    if near and not any(near[-1].end <= other.start < q.start for other in frame.numbers):
        return [near[-1]], "own"
    if near:
        return [near[-1]], "clause"
    ahead = [p for p in after if frame.clause(p.start) == clause]
    led = (
        before
        and (
            _has_own(frame, ahead[0], q)
            or _aside(frame, ahead[0], q)
            or _leads(frame, ahead[0])
            or _SET_AGAINST.search(frame.text[q.end : ahead[0].start])
        )
        if ahead
        else False
    )
    if ahead and not led:
        return [ahead[0]], "clause"
    if before:
        return [before[-1]], "sentence"
    if after and not _closed(frame, after[0], q):
        return [after[0]], "sentence"
    return [], ""


def _has_own(frame: Frame, place: Place, q: Quantity) -> bool:
    """Whether a step has a number of its own in the brackets behind it: ``已不到第 1 步（970 token）的百分之一``."""
    opened = re.match(r"\s*[（(]\s*", frame.text[place.end :])
    return opened is not None and any(n is not q and n.start == place.end + opened.end() for n in frame.numbers)


def _aside(frame: Frame, place: Place, q: Quantity) -> bool:
    """Whether a step stands in brackets behind a number, with another one: ``by step 45 it had risen to 0.2 (0.16 at step 39)``."""
    opened = max(frame.text.rfind("(", q.end, place.start), frame.text.rfind("（", q.end, place.start))
    if opened < 0 or re.search(r"[)）]", frame.text[opened : place.start]):
        return False
    return any(opened < n.start and n.end <= place.start for n in frame.numbers)


def _led(frame: Frame, q: Quantity, place: Place) -> bool:
    """Whether a step behind a comma has a number to come, and this one a step before it: ``on step 17 it was 0.77, on step 22 0.83``."""
    if not re.match(r"[`*\s]*[,，]", frame.text[q.end : place.start]):
        return False
    start, stop = frame.clause_span(q.start)[0], next((p.start for p in frame.places if p.start > place.start), None)
    led = [p for p in frame.places if start <= p.start and p.end <= q.start]
    told = any(start <= n.start < q.start and n.unit not in _COUNTING for n in frame.numbers)
    following = [n for n in frame.numbers if n.start >= place.end and (stop is None or n.start < stop)]
    return bool(led) and not told and bool(following)


def _parenthesis(frame: Frame, q: Quantity) -> tuple[int, int] | None:
    """The innermost parentheses that a number stands in."""
    opened = max(frame.text.rfind("(", 0, q.start), frame.text.rfind("（", 0, q.start))
    if opened < 0 or re.search(r"[)）]", frame.text[opened : q.start]):
        return None
    closed = re.search(r"[)）]", frame.text[q.end :])
    return None if closed is None else (opened, q.end + closed.start())


def _closed(frame: Frame, place: Place, q: Quantity) -> bool:
    """Whether a step belongs to another number of the same metric: "最短 94.5，最长 135.8（step 1660）"."""
    for other in frame.numbers:
        if other is q or other.end > place.start or frame.clause(other.start) != frame.clause(place.start):
            continue
        gap = frame.text[other.end : place.start]
        between = sorted((other.start, q.start))
        same = not any(between[0] <= n.start < between[1] for n in frame.names)
        led = any(p.end <= other.start and frame.clause(p.start) == frame.clause(other.start) for p in frame.places)
        if same and not led and _AT.match(gap) and gap.strip() and not _leads(frame, place):
            return True
    return False


def _leads(frame: Frame, place: Place) -> bool:
    """Whether a step begins what follows it (``…, step 2: 0.15``), rather than closing what stands before."""
    tail = frame.text[place.end : place.end + 3]
    if place.kind == "ends" and re.search(r"(?i)\b(?:initial|starting|opening)$", frame.text[place.start : place.end]):
        return True  # "to 1691 from an initial 668"
    return bool(re.match(r"\s*(?:[:：=]|的\s*[\d`-]|为|是)", tail)) and not re.match(r"\s*[)）]", tail)
