"""Which part of a run a question is about: "after step 40", "前 10%", "除了 step 16", "第二半程"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.ask.patterns import patterns
from assistant.ask.sparse import since_last
from assistant.ask.steps import chinese_number, first_steps

_STEP = r"(?:(?:the )?(?:global[_ ]?)?(?:steps?|iterations?|iter|updates?|rows?|records?)\s*#?\s*|第\s*)"
_N = r"(\d{1,8})"
#: A step as it is named: "step 40", "第 40 步", "40 步".
_AT = rf"(?:{_STEP}{_N}(?:\s*个?\s*(?:步|step|轮|行|条(?:记录)?))?|(?<![\d.]){_N}\s*(?:步|steps?))"
#: A number alone, where the word before it says that it is a step: "since 18".
_BARE = (
    r"(?P<bare>\d{1,8})(?![\d.,:/@-]*\d)(?!\s*(?:%|percent|s\b|secs?\b|seconds?|ms\b|mins?\b|minutes?|h\b"
    r"|hours?|tokens?|k\b|gb|gib"
    r"|evals?|validations?|epochs?|rows?|points?|values?|logs?|of\b|to\b|and\b|-|–|runs?|gpus?|[一-鿿]))"
)
_BARE_AFTER = re.compile(rf"(?i)\b(?:after|past)\s+{_BARE}")
_BARE_SINCE = re.compile(
    rf"(?i)\bsince\s+{_BARE}|\bfrom\s+{_BARE.replace('bare', 'from_bare')}(?=\s+(?:on|onwards?)\b)"
)
_BARE_BEFORE = re.compile(rf"(?i)\b(?:before|prior to)\s+{_BARE}")
_BARE_UNTIL = re.compile(rf"(?i)\b(?:until|till|up to)\s+{_BARE}")
_TO_NEXT = r"(?!\s*步?\s*(?:to|until|through|and|till|-|~|到|至|和|与)\s*(?:step|第)?\s*\d)"
_AFTER = re.compile(
    rf"(?i)\b(?:after|past|beyond|later than)\s+{_AT}(?!\d)|{_AT}\s*(?:的)?(?:之后|以后|过后|后面|后(?!续|半|期"
    rf"|台|来|处理|能|会))"
)
_SINCE = re.compile(
    rf"(?i)\b(?:since|from|starting (?:at|from|with)|beginning (?:at|from|with)|as of)\s+{_AT}{_TO_NEXT}"
    rf"|\b(?<!first )(?<!last )(?:at\s+|in\s+)?{_AT}"
    r"\s*(?:(?:and|or) (?:later|after(?:wards)?|beyond|onwards?)|onwards?\b"
    r"|on\b(?! (?:average|avg|the|which|whether|that|an?|what|its|our|my)\b))"
    rf"|(?:从|自从?)\s*{_AT}(?:\s*(?:开始|起|以来|往后|之后|以后))?{_TO_NEXT}|{_AT}\s*(?:起|以来|往后|开始往后"
    rf"|及以后|及之后|开始(?:到(?:最后|结束)|之后|以后))"
)
_BEFORE = re.compile(
    rf"(?i)\b(?:before|prior to|earlier than|ahead of|preceding)\s+{_AT}(?!\d)|{_AT}\s*(?:的)?(?:之前|以前|前面"
    rf"|前(?!后))"
)
#: "Go through step 1" reads it, and is no part of the run up to it.
_NOT_READ = "".join(rf"(?<!\b{verb} )" for verb in ("go", "going", "walk", "talk", "run", "me", "us", "look", "step"))
_UNTIL = re.compile(
    rf"(?i)\b(?:until|till|up to(?: and including)?|up until|{_NOT_READ}through)\s+{_AT}(?!\d)"
    rf"|(?:截至|截止到?|直到|到)\s*{_AT}\s*为止|(?:截至|截止到?)\s*{_AT}|{_AT}\s*(?:为止|及(?:以前|之前))"
)
_LEAVE_OUT = (
    r"(?:excluding|except(?:ing)?(?: for)?|without|ignor(?:e|ing)|leaving out|leave out|other than|apart from"
    r"|aside from|"
    r"besides|not counting|skip(?:ping)?|omit(?:ting)?|disregard(?:ing)?|minus|but not|exclude|discard(?:ing)?"
    r"|drop(?:ping)?)"
)
_ZH_LEAVE_OUT = (
    r"(?:除了|除去|除开|除掉|排除掉?|去掉|去除|不算|不含|不包括|不包含|不计|剔除掉?|忽略掉?|抛开|扣掉|扔掉|刨去|刨除)"
)
_LIST = r"(\d{1,8}(?:\s*(?:,|、|and|和|与|及|&|以及|/)\s*(?:step|第)?\s*\d{1,8})*)"
_WITHOUT = re.compile(
    rf"(?i)\b{_LEAVE_OUT}\s+(?:the )?(?:value (?:at|of) |row )?{_STEP}{_LIST}(?!\s*(?:-|~|to|through)\s*\d)"
    rf"|{_ZH_LEAVE_OUT}\s*(?:{_STEP})?{_LIST}\s*(?:个)?\s*(?:步|step)?(?=\s|之|以|外|的|,|，|$|[^\d\s到至~-])"
    rf"|{_STEP}{_LIST}\s*步?\s*(?:除外|以外|之外|外(?=[的,，]|\s|[\u3400-\u9fff])|不算|excluded|left out)"
)
_WITHOUT_RANGE = re.compile(
    rf"(?i)\b{_LEAVE_OUT}\s+(?:the )?steps?\s*{_N}\s*(?:-|–|~|to|through)\s*{_N}"
    rf"|{_ZH_LEAVE_OUT}\s*(?:step|第)?\s*{_N}\s*步?\s*(?:到|至|-|~)\s*(?:step|第)?\s*{_N}\s*步?"
)
_COUNTED = r"(\d{1,6}|[一二两三四五六七八九十]{1,3})"
_WITHOUT_ENDS = re.compile(
    rf"(?i)\b{_LEAVE_OUT}\s+(?:the )?(?:(first|initial|last|final)(?: (\d{{1,6}}))?)(?: (?:training )?(?:steps?"
    rf"|iterations?|values?|rows?|ones?)|\s*[?.!]*\s*$)"
    rf"|{_ZH_LEAVE_OUT}\s*(?:(?P<head>第一|首|最初的?(?!\d)|前面?\s*{_COUNTED}|头\s*{_COUNTED}"
    rf"|最初\s*的?\s*{_COUNTED})|"
    rf"(?P<tail>最后一|末|最后\s*的?\s*{_COUNTED}))\s*(?:个)?\s*(?:步|step)"
)
_PERCENT = r"(\d{1,3}(?:\.\d+)?)\s*(?:%|％|percent\b|个?百分(?:点|之))"
_SHARES = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_ZH_SHARES = {"二": 2, "三": 3, "四": 4, "五": 5, "十": 10, "两": 2}
_FIRST_SHARE = re.compile(
    rf"(?i)\b(?:first|initial|earliest|opening)\s+{_PERCENT}|(?:前|头|最初(?:的)?|开头(?:的)?|最早(?:的)?)\s*{_PERCENT}"
    rf"|\bfirst (half|third|quarter|fifth|tenth)\b|(?:前|头)\s*([二两三四五十])分之一|(?P<half>前半(?:程|段|部分"
    rf"|截|期)|上半程|前一半)"
)
_LAST_SHARE = re.compile(
    rf"(?i)\b(?:last|final|latest)\s+{_PERCENT}|(?<![前之以随然])(?:后|末|最后(?:的)?|最近(?:的)?"
    rf"|最末(?:的)?)\s*{_PERCENT}"
    rf"|\b(?:last|second|latter|final) (half|third|quarter|fifth|tenth)\b|(?:后|最后)\s*([二两三四五十])分之一"
    rf"|(?P<half>后半(?:程|段|部分|截|期)|下半程|后一半)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a run.

    Attributes:
        first: first step that belongs to it; ``None``: from the start.
        last: last step that belongs to it; ``None``: to the end.
        without: steps left out.
        spans: the words of the question that say so, as (start, end).
        plain: whether it is said as "the last 20 steps" or "between 3 and 9" rather than in a way of this module.
        latest: so many last values of a metric; 0: all.
    """

    first: int | None = None
    last: int | None = None
    without: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    plain: bool = True
    latest: int = 0

    @property
    def whole(self) -> bool:
        """Whether it is all of the run."""
        return self.first is None and self.last is None and not self.without and not self.latest

    def of(self, steps: Sequence[int]) -> list[int]:
        """Of ascending steps, those that belong to it."""
        low, high = self.first, self.last
        kept = [
            s for s in steps if (low is None or s >= low) and (high is None or s <= high) and s not in self.without
        ]  # fmt: skip
        return kept[-self.latest :] if self.latest else kept


#: What lies behind the first so many steps, or before the last so many: a bound, and not these steps themselves.
_BEHIND_FIRST = re.compile(
    r"(?i)\b(?:after|past|beyond|following|once)\s+(?:the\s+|its\s+)?(?:very\s+)?"
    r"(?:first|initial|opening)\s+(?P<en>\d{1,6})\s+(?:training\s+)?(?:steps?|iterations?|updates?)\b"
    r"(?P<over>\s+(?:are|were|had|is)\s+(?:over|done|past|through|finished|gone))?"
    r"|(?:过了)?(?:最?前|头|最初|开头|最开始)(?:的)?\s*(?P<zh>\d{1,6})\s*(?:个)?\s*(?:步|steps?)\s*(?:的)?"
    r"(?:之后|以后|过后|后(?![面续半期台来处理能会])|过了)"
    r"|过了\s*(?:最?前|头|最初|开头|最开始)(?:的)?\s*(?P<past>\d{1,6})\s*(?:个)?\s*(?:步|steps?)"
)
_BEFORE_LAST = re.compile(
    r"(?i)\b(?:before|until|prior to|up to|preceding)\s+(?:the\s+|its\s+)?(?:very\s+)?(?:last|final|closing)\s+"
    r"(?P<en>\d{1,6})\s+(?:training\s+)?(?:steps?|iterations?|updates?)\b"
    r"|(?:最后|末尾?|倒数|最近)(?:的)?\s*(?P<zh>\d{1,6})\s*(?:个)?\s*(?:步|steps?)\s*(?:的)?(?:之前|以前|前(?!后))"
)


def bounds_named(text: str, training: Sequence[int]) -> str:
    """A text with "after the first 200 steps" as "after step 200", "before the last 20 steps" as "before step 81".

    Args:
        text: the question, normalised.
        training: steps of training, ascending.
    """
    for pattern, behind in ((_BEHIND_FIRST, True), (_BEFORE_LAST, False)):
        match = pattern.search(text)
        if match is None:
            continue
        count = int(next(group for name, group in match.groupdict().items() if group and name != "over"))
        held = first_steps(training, count) if behind else training[-count:]
        if not 0 < len(held) < len(training):
            continue
        english = match["en"] is not None
        if behind:
            said = f"after step {held[-1]}" if english else f"第{held[-1]}步之后"
        else:
            said = f"before step {held[0]}" if english else f"第{held[0]}步之前"
        text = text[: match.start()] + said + text[match.end() :]
    text = _ZH_BARE.sub(lambda m: f"第{m[1]}步" if int(m[1]) in training else m[0], text)
    return _AT_NUMBER.sub(" @ ", text)


#: "clip_ratio@40": a step behind a name, and no "mean@16" of a validation.
_AT_NUMBER = re.compile(
    r"(?<=[A-Za-z])(?<!\bmean)(?<!\bbest)(?<!\bworst)(?<!\bmaj)(?<!\bpass)(?<!\bstd)(?<!\bacc)(?<!\bavg)(?<!/mean)(?<!/pass)"
    r"@(?=\d{1,7}(?![\w/@.]))"
)


#: "42 之后掉了": a number alone that is a step, and no value that was reached, time or count.
_ZH_BARE = re.compile(
    r"(?<![\w.@%-])(?<![到为是至过于超破成第约前后近共满了])(?<![到为是至过于超破成第约前后近共满了] )"
    r"(?<!step )(?<!steps )(?<!epoch )(\d{1,7})\s*"
    r"(?=(?:之后|以后|之前|以前)(?!\S{0,3}(?:步|次|个|轮|条)))"
)


def scope_in(text: str, training: Sequence[int]) -> Scope:
    """The part of a run that a question names; all of it where it names none.

    Args:
        text: the question, normalised; names of metrics blanked.
        training: steps of training, ascending: what a share, and "the first 20 steps", are counted on.
    """
    without, spans = _left_out(text, training)
    rest = _blanked(text, spans)
    first, last, more, plain = _bounds(rest, training)
    if without and first is not None and last is None and not more:
        plain = False
    latest = _latest(rest, more, training)
    if first is None and (since := since_last(training, latest)) is not None:
        first, latest = since, 0
    return Scope(
        first if first is None or first >= 0 else None, last, tuple(without), (*spans, *more[:4]),
        plain and not without, latest,
    )  # fmt: skip


def _bounds(
    text: str, training: Sequence[int]
) -> tuple[int | None, int | None, tuple[tuple[int, int], ...], bool]:  # fmt: skip
    """First and last step of the part named, where in the question it is named, and whether in a plain way."""
    if (found := _share_of(text, training)) is not None:
        return (*found, False)
    for pattern in patterns().steps["range"]:
        if match := pattern.search(text):
            low, high = sorted((int(match[1]), int(match[2])))
            return low, high, (match.span(),), True
    first = last = None
    spans: list[tuple[int, int]] = []
    for pattern, side, shift in (
        (_AFTER, "first", 1),
        (_SINCE, "first", 0),
        (_BEFORE, "last", -1),
        (_UNTIL, "last", 0),
        (_BARE_AFTER, "first", 1),
        (_BARE_SINCE, "first", 0),
        (_BARE_BEFORE, "last", -1),
        (_BARE_UNTIL, "last", 0),
    ):
        match = pattern.search(_blanked(text, spans))
        if match is None or (first is not None and side == "first") or (last is not None and side == "last"):
            continue
        step = int(next(group for group in match.groups() if group)) + shift
        if "bare" in pattern.groupindex and not (training and training[0] <= step <= training[-1]):
            continue  # a value rather than a step
        first, last = (step, last) if side == "first" else (first, step)
        spans.append(match.span())
    if spans:
        return first, last, tuple(spans), False
    match = patterns().steps["first_n"].search(text)
    counted_steps = match is not None and match.group().rstrip().endswith(("步", "step", "steps"))
    ranked = match is not None and re.match(r"高|大|低|小", text[match.end() :]) is not None
    if match and training and (counted_steps or not ranked):  # "the top 3" in Chinese is "前 3 高"
        picked = first_steps(training, int(next(group for group in match.groups() if group)))
        return picked[0], picked[-1], (match.span(),), True
    return None, None, (), True


def _latest(text: str, taken: Sequence[tuple[int, int]], training: Sequence[int]) -> int:
    """How many last values are meant ("over the last 100 steps"); 0 where none are."""
    match = None if taken else patterns().steps["last_n"].search(text)
    return int(next(group for group in match.groups() if group)) if match and training else 0


def _share_of(text: str, training: Sequence[int]) -> tuple[int, int, tuple[tuple[int, int], ...]] | None:
    """First and last step of a share of the run."""
    head, tail = _FIRST_SHARE.search(text), _LAST_SHARE.search(text)
    match = head or tail
    if match is None or (head and tail) or len(training) < 2:
        return None  # two shares are two windows, which are compared
    count = counted(match, len(training))
    part = training[:count] if head else training[-count:]
    return part[0], part[-1], (match.span(),)


def shares_in(text: str, training: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The first and last step of each of two shares set against each other ("the first 10% and the last 10%")."""
    head, tail = _FIRST_SHARE.search(text), _LAST_SHARE.search(text)
    if head is None or tail is None or len(training) < 2:
        return None
    n, m = counted(head, len(training)), counted(tail, len(training))
    if n + m > len(training):
        return None
    return (training[0], training[n - 1]), (training[-m], training[-1])


def counted(match: re.Match[str], total: int) -> int:
    """How many of so many steps a share is, at least one."""
    if match.group("half"):
        share = 0.5
    else:
        word = next(group for group in match.groups() if group)
        if word in _ZH_SHARES:
            share = 1 / _ZH_SHARES[word]
        else:
            share = _SHARES[word.lower()] if word.lower() in _SHARES else min(float(word), 100.0) / 100
    # A half of an odd number goes to the later part, so that two halves have no step in common.
    return max(1, math.floor(share * total + 0.5) if share != 0.5 else total // 2)


def _left_out(text: str, training: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Steps that a question leaves out, and where it says so."""
    out: list[int] = []
    spans: list[tuple[int, int]] = []
    if match := _WITHOUT_RANGE.search(text):
        low, high = sorted(int(group) for group in match.groups() if group)
        out += range(low, min(high, low + 1_000_000) + 1)
        spans.append(match.span())
    elif match := _WITHOUT_ENDS.search(text):
        numbers = [group for group in match.groups()[1:] if group and (group.isdigit() or set(group) <= _NUMERALS)]
        count = 1 if not numbers else int(numbers[0]) if numbers[0].isdigit() else chinese_number(numbers[0])
        head = (match[1] or "").lower() in {"first", "initial"} or match.group("head") is not None
        out += training[:count] if head else training[-count:]
        spans.append(match.span())
    elif match := _WITHOUT.search(text):
        out += [int(number) for group in match.groups() if group for number in re.findall(r"\d+", group)]
        spans.append(match.span())
    return out, spans


_NUMERALS = set("一二两三四五六七八九十")


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)
