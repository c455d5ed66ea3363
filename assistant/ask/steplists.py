"""Steps named in lists or by figures alone: "第5、10、15步", "score 10-14", "why was 12 slower than 11"."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.limits import limit_in
from assistant.model import Run

Mark = tuple[int, int]
"""A step and where in the question it stands: (position, step)."""

_MORE: Final = r"\d{1,7}(?![A-Za-z0-9_%％@]|\.\d|:\d)"
_N: Final = rf"(?<![A-Za-z0-9_.@/#=-]){_MORE}"
_SEP: Final = (
    r"\s*(?:步|步的)?\s*(?:[,、&+/]\s*(?:and\s+|和|以及)?|\b(?:and|plus|or|then)\b|和|与|跟|及|以及|还有|再)\s*(?:第\s*|steps?\s*"
    r"|at\s+|@\s*)?"
)
_LIST: Final = rf"{_N}(?:{_SEP}{_MORE})+"
_BEHIND: Final = r"(?!\s*(?:%|个|条|张|块|次|倍|gpus?\b|cards?\b|tokens?\b|prompts?\b|seconds?\b|秒|分钟|小时))"
#: A list with the noun before or behind it, which needs no further sign that steps are meant.
_NOUN: Final = re.compile(
    rf"(?i)(?:第\s*|\b(?:steps?|iters?|iterations?|updates?)\s*[:#]?\s*)({_LIST}){_BEHIND}"
    rf"|({_LIST})\s*(?:步|steps?\b|iterations?\b|(?:这|那)[两三四几]步)"
)
#: A list behind a preposition or a colon: of steps where the log holds each.
_PLACED: Final = re.compile(
    rf"(?i)(?:\b(?:at|on|for|in|around|from)\s+|[@:：]\s*|(?:在|看看?|比较?|对比)\s*)({_LIST}){_BEHIND}"
)
#: Three figures or more with nothing but marks between them: "host mem 33/66/99".
_MARKED: Final = re.compile(rf"(?i)({_N}(?:\s*[/、,]\s*{_MORE}){{2,}}){_BEHIND}")
#: Two figures that are to be compared, whatever other step is spoken of: "30 步前后有断崖，29 跟 36 比一下".
_SET_AGAINST: Final = re.compile(
    rf"(?i)(?:第\s*)?({_N})\s*步?\s*(?:跟|和|与|同|vs\.?|对)\s*(?:第\s*)?({_MORE})\s*步?\s*(?:相?比|对比|比较|对照|差(?!不多))"
)
_FIGURE: Final = re.compile(r"\d+")
_SPAN: Final = re.compile(
    rf"(?i)(?<![A-Za-z0-9_.@/#=*×x+-])(?:第\s*)?({_N})\s*步?\s*(?:-{{1,2}}|–|—|~|～|→|⟶|-{{1,2}}>|=>|\.{{2,3}}|到|至"
    rf"|through|thru|起?(?:到|至)(?:第)?)"
    rf"\s*(?:第\s*|steps?\s*)?({_MORE})\s*(?P<noun>步|steps?\b)?{_BEHIND}"
)
#: Where one figure alone is a step: behind a preposition, or before a word of place or time.
_PLACE_BEFORE: Final = re.compile(
    r"(?i)(?:\b(?:at|around|near|by|in|for|on|from|about|circa|roughly|approx\.?)|[@~]|在|(?<![快降升涨跌掉达近接回减增得])到了?|跑到|第|大概|大约|约)\s*$"
)
_PLACE_BEHIND: Final = re.compile(
    r"(?i)\s*(?:左右|附近|前后|那会儿?|那时|那里|那儿|那(?!么)|时(?!间)|处|上下|的时候|的(?!话|批|个|倍|组)|-ish\b|\bish\b)"
)
#: Words between or around two figures that set steps against each other.
_AGAINST: Final = re.compile(
    r"(?i)\bthan\b|\bvs\b|\bversus\b|\bagainst\b|side by side|next to each other|\bcompar|\bdiff|\bbeat"
    r"|\bbetween\b|\bchanged?\b"
    r"|比|差|放一起|放在一起|摆一起|摆在一起|并排|对照|对比|变化|变了|哪个|谁|各"
)
_COUNTED: Final = re.compile(
    r"(?i)\s*-?(?:gpus?|cards?|prompts?|tokens?|samples?|responses?|answers?|epochs?|seconds?|secs?|s\b|mins?\b"
    r"|minutes?|hours?|hrs?|h\b"
    r"|days?|weeks?|[kmgb]\b|gb|gib|percent|points?|words?|lines?|sentences?|times|x\b|×|\*|runs?|logs?|metrics?"
    r"|numbers?|things?"
    r"|questions?|rows?|turns?|problems?|nodes?|workers?|steps|more|other|evals?|validations?|checkpoints?|bits?"
    r"|ways?|people|bullets?"
    r"|reasons?|examples?|decimals?|digits?|tools?|calls?|files?|way\b|of\b|out of|\)"
    r"|[个条张块卡次遍回轮句字行倍秒分天万亿千百十元题组项种点年月号名位点成])"
)
_NOT_BEFORE: Final = re.compile(
    r"(?i)(?:\b(?:top|best|size|last|first|past|next|previous|math|aime|gsm|amc|mean|pass|maj|n)|前|后|最近|最后|每|共|倒数|近|头"
    r"|变成?|变为|变到|归|等于|成了?|[降跌掉涨升]到)[\s_-]*$"
)
#: The other side of a comparison whose one side is named as a step: "at step 100 compared to 20", "that of 98".
_OTHER_SIDE: Final = re.compile(
    r"(?i)\b(?:than|vs\.?|versus|against|unlike|beside|(?:compared|relative|next|similar|identical|equal|close)"
    r" (?:to|with)|differ\w* (?:from|than|to)|same as|with (?=that |the one ))\s*"
    rf"(?:(?:what it was |it was |it is |that |those |the one )?(?:at|of|in|for|from|on)\s+)?(?:step\s*)?({_MORE})"
)
_AROUND: Final = 60
"""Characters before a figure that may say what it is."""

_BOTH_ENDS: Final = re.compile(
    r"(?i)\b(?:start|begin(?:ning)?|first|opening)\b\s*(?:step\s*)?(?:vs\.?|versus|to|and|against|compared (?:to"
    r"|with)|[-–—→/&]+>?)\s*(?:the\s+)?"
    r"\b(?:end|finish|last|final|closing)\b(?!\s*\d)"
    r"|头尾|首尾|两头|一头一尾|始末|起止|首末"
)


def listed(text: str, run: Run | None) -> list[Mark]:
    """The steps of a list of figures: with a noun always, behind a preposition where the log holds each.

    Args:
        text: the question, Chinese numerals in figures.
        run: the log.
    """
    held = set(run.distinct_steps) if run is not None else set()
    for pattern, sure in ((_NOUN, True), (_PLACED, False), (_MARKED, False)):
        for match in pattern.finditer(text):
            place = next(at for at in range(1, len(match.groups()) + 1) if match[at])
            found = [(match.start(place) + one.start(), int(one[0])) for one in _FIGURE.finditer(match[place])]
            if sure or all(step in held for _, step in found):
                return found
    return []


def set_against(text: str, run: Run | None) -> list[Mark]:
    """Two steps that are to be compared with each other, where the log holds both; else none."""
    two, held = _SET_AGAINST.search(text), set(run.distinct_steps) if run is not None else set()
    if two is None or not {int(two[1]), int(two[2])} <= held:
        return []
    return [(two.start(1), int(two[1])), (two.start(2), int(two[2]))]


def other_side(text: str, run: Run | None, found: list[Mark]) -> list[Mark]:
    """The step that the one named is compared with, where a figure alone tells it and the log holds it; else none."""
    two = _OTHER_SIDE.search(text) if run is not None and len({step for _, step in found}) == 1 else None
    if two is None or run is None or _COUNTED.match(text[two.end() :]) or _overlaps(text, two):
        return []
    other = int(two[1])
    return [(two.start(1), other)] if other in run.distinct_steps and other != found[0][1] else []


def span(text: str, run: Run | None) -> tuple[Mark, Mark] | None:
    """A range of steps by its ends ("score 10-14", "30→40步"), where the log holds both or a noun stands behind."""
    held = set(run.distinct_steps) if run is not None else set()
    for match in _SPAN.finditer(text):
        first, last = int(match[1]), int(match[2])
        known = match["noun"] is not None or {first, last} <= held
        if known and first != last and not _overlaps(text, match):
            return (match.start(1), first), (match.start(2), last)
    return None


def both_ends(text: str) -> bool:
    """Whether the first and the last step are meant by one expression: "头尾", "start vs finish"."""
    return _BOTH_ENDS.search(text) is not None


def loose(text: str, run: Run | None) -> list[Mark]:
    """Figures alone that can only be steps: two set against each other, or one with a word of place.

    A figure is none that counts something ("8 GPUs", "top 5"), belongs to a limit, or is no step of the log.
    """
    if run is None:
        return []
    held, limit = set(run.distinct_steps), limit_in(text)
    found: list[tuple[re.Match[str], bool]] = []
    for match in re.finditer(_N, text):
        before, behind = text[max(0, match.start() - _AROUND) : match.start()], text[match.end() :]
        if int(match[0]) not in held or _NOT_BEFORE.search(before) or _COUNTED.match(behind):
            continue
        if limit is not None and limit.start < match.end() and match.start() < limit.end:
            continue
        placed = _PLACE_BEFORE.search(before) is not None or _PLACE_BEHIND.match(behind) is not None
        found.append((match, placed))
    if len(found) == 2 and (all(placed for _, placed in found) or _AGAINST.search(text)):
        return [(match.start(), int(match[0])) for match, _ in found]
    return [(match.start(), int(match[0])) for match, placed in found if placed]


def _overlaps(text: str, match: re.Match[str]) -> bool:
    limit = limit_in(text)
    return limit is not None and limit.start < match.end() and match.start() < limit.end
