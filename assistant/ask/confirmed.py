"""Statements that a question puts for confirmation: "entropy fell below 0.1 while the score rose, right?".

A statement is read clause by clause; a clause with words that are not understood makes none of it read, so that
nothing is confirmed that was not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from assistant.ask.lexicon import words
from assistant.ask.supposed import Supposed, values_stated

Kind = Literal["value", "from_to", "times", "peak", "bottom", "moved", "broke", "nan", "than"]

#: So much of a text is searched, and so many clauses are read.
LONGEST: Final = 300
MOST: Final = 3
_FIGURE: Final = (
    r"(?<![\w.@-])(-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)\s*"
    r"(%|k\b|ms\b|分钟|minutes?\b|mins?\b|秒|seconds?\b|secs?\b|s\b|gb\b|gib\b)?"
)
_FROM_TO: Final = re.compile(
    rf"(?i)(?:\bfrom|从|由)\s*(?:about |around |大约|约)?{_FIGURE}\s*(?:[^\d,，;；]{{0,14}}?)"
    r"(?:\bto|->|→|到|至|成|为)\s*"
    rf"(?:about |around |over |more than |大约|约|快)?{_FIGURE}(?!\s*(?:步|steps?\b))"
    rf"|{_FIGURE}\s*(?:->|→|=>)\s*{_FIGURE}"
)
_STEP_WORD: Final = re.compile(r"(?i)(?:steps?|第)\s*$")
_STEP: Final = re.compile(
    r"(?i)(?:\b(?:at|in|on|near|around|by|from|since|after|before|past|until|over)\s+)?(?:the )?"
    r"(?:steps?|step #|rows?|iterations?|第)\s*\d{1,8}"
    r"(?:\s*(?:-|~|to|到|至)\s*\d{1,8})?(?:\s*步)?(?:\s+on(?:wards?)?\b)?|(?<![\d.])\d{1,8}\s*(?:步|steps?\b)|@\d{1,8}"
)
_ZH_FIGURES: Final = {
    "两": 2.0,
    "三": 3.0,
    "四": 4.0,
    "五": 5.0,
    "六": 6.0,
    "七": 7.0,
    "八": 8.0,
    "九": 9.0,
    "十": 10.0,
}
_FIGURES: Final = {
    "one and a half": 1.5, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0,
    "nine": 9.0, "ten": 10.0, "twenty": 20.0, "fifty": 50.0, "hundred": 100.0, "a hundred": 100.0,
}  # fmt: skip
_FIXED: Final = {
    "double": 2.0, "triple": 3.0, "quadruple": 4.0, "halve": 0.5, "zh_double": 2.0, "zh_halve": 0.5, "several": 3.0,
}  # fmt: skip
#: Shares in words, as per cent.
_SHARES: Final = (
    (re.compile(r"(?i)\btwo[- ]thirds\b(?: of(?: all)?(?: the)?)?|三分之二"), "about 67%"),
    (re.compile(r"(?i)\b(?:a|one)[- ]third\b(?: of(?: all)?(?: the)?)?|三分之一"), "about 33%"),
    (re.compile(r"(?i)\bthree[- ]quarters\b(?: of(?: all)?(?: the)?)?|四分之三"), "about 75%"),
    (re.compile(r"(?i)\b(?:a|one)[- ]quarter\b(?: of(?: all)?(?: the)?)?|四分之一"), "about 25%"),
    (re.compile(r"(?i)\bhalf\b of(?: all)?(?: the)?(?= )|(?<=[到是有])一半"), "about 50%"),
)
_TENTHS: Final = re.compile(r"([一二两三四五六七八九]|\d)成(?!功|为)")
_TENTH: Final = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_PERFECT: Final = re.compile(r"(?i)\b(?:is|was|are) perfect\b|满分")
_LETTERS: Final = re.compile(r"[A-Za-z]{2,}|[\u3400-\u9fff]|\d")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a clause states of a metric.

    Attributes:
        kind: what it is about.
        supposed: the number stated, for ``value``.
        ends: the two numbers stated, for ``from_to``.
        factor: how many times, for ``times``.
        up: the direction, for ``moved`` and ``times``; ``None`` where neither is said.
        about: whether the number is a rough one.
        first: whether it is said of the start.
        pace: whether the direction is said as faster or slower.
        average: whether it is said of the mean.
    """

    kind: Kind
    supposed: Supposed | None = None
    ends: tuple[Supposed, Supposed] | None = None
    factor: float = 1.0
    up: bool | None = None
    about: bool = False
    first: bool = False
    pace: bool = False
    average: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """What is put for confirmation.

    Attributes:
        clauses: in order.
        causal: whether one is said to be the cause of another.
        taken: whether it is taken for granted and something else asked ("…, what should I do?").
    """

    clauses: tuple[str, ...]
    causal: bool
    taken: bool = False


def statement_in(text: str) -> Statement | None:
    """The statement that a question puts for confirmation or takes for granted; ``None`` where it does neither.

    Args:
        text: the question, normalised.
    """
    held = words("confirmed")
    text = text.strip()[:LONGEST]
    body, tagged = text, False
    for _ in range(2):  # "…了吧，对不对"
        match = held["tag"].search(body)
        if match is None:
            break
        body, tagged = body[: match.start()], True
    if not tagged and (asked := held["is_it"].search(body)) is not None:  # "entropy 是 0.2 吗"
        body, tagged = body[: asked.start("tag")], True
    lead = held["lead"].search(body)
    if lead is not None and lead.end():
        body, tagged = body[lead.end() :], True
    filler = held["filler"].match(body)
    given = held["given"].match(body) if tagged else None  # "since it calls more tools, steps are slow, right?"
    body = body[given.end() :] if given is not None else body
    body = body[filler.end() :] if filler is not None else body
    if not tagged or _asks(body):
        return _taken(text)
    return _clauses(body, taken=False, causal=given is not None)


def _clauses(body: str, *, taken: bool, causal: bool = False) -> Statement | None:
    held = words("confirmed")
    causal = causal or held["because"].search(body) is not None
    pieces: list[str] = []
    for piece in held["break"].split(held["because"].sub(",", body)):
        later = held["therefore"].match(piece)
        causal = causal or (later is not None and bool(pieces))
        rest = (piece[later.end() :] if later is not None else piece).strip(" ?？!！.。")
        if rest:
            pieces.append(rest)
    return Statement(tuple(pieces), causal, taken) if 0 < len(pieces) <= MOST else None


_KEY: Final = re.compile(r"(?<![\w/])[A-Za-z][\w.@-]*/[\w./@-]*\w")


def _asks(text: str) -> bool:
    """Whether a text asks something; a key is a name, whatever words it is made of ("critic/score/mean")."""
    return words("confirmed")["asks"].search(_KEY.sub("x", text)) is not None


_FIRST_PIECE: Final = re.compile(r"[,，;；?？]")


def _taken(text: str) -> Statement | None:
    """What stands before the clause that asks, or behind "why did": it is taken for granted."""
    held = words("confirmed")
    given = held["given"].match(text)  # "since it became NaN at step 40, which …": what is asked supposes nothing
    if held["supposing"].search(_FIRST_PIECE.split(text)[0] if given is not None else text):
        return None
    why = held["why"].search(text)
    if why is not None and why.end() < len(text):
        body = f"{text[: why.start()]} {text[why.end() :]}"
        return None if _asks(body) else _clauses(body, taken=True)
    pieces: list[str] = []
    for piece in re.split(r"[,，;；?？!！]|[.。](?!\d)|\s-+\s", held["given"].sub("", text)):
        if _asks(piece) or held["judges"].search(piece):
            break
        pieces.append(piece)
    else:
        return None
    return _clauses(",".join(pieces), taken=True) if "".join(pieces).strip() else None


def claim_in(text: str) -> Claim | None:
    """What a clause states; ``None`` where that is not read to the last word.

    Args:
        text: the clause, names of metrics and words for a part of the run blanked.
    """
    held = words("confirmed")
    text = _in_figures(text[:LONGEST])
    up, down = held["rises"].search(text) is not None, held["falls"].search(text) is not None
    way = None if up == down else up
    first = held["start"].search(text) is not None
    about = held["about"].search(text) is not None
    found: Claim | None = None
    rest = text
    if held["negated"].search(text):
        return None
    many = held["times"].search(text) is not None and len(_STEP.findall(text)) < 2  # "five times more than before"
    if not many and (match := held["than"].search(text)) is not None:
        up = next((name for name, word in match.groupdict().items() if word), "").startswith("up")
        rest = _without(text, match.span())
        return None if _unread(rest) else Claim("than", up=up)
    if held["nan"].search(text):
        found, rest = Claim("nan"), held["nan"].sub(" ", text)
    elif (match := _FROM_TO.search(text)) is not None and not _STEP_WORD.search(text[: max(0, match.start(1))]):
        groups = match.groups()[:4] if match[1] is not None else match.groups()[4:]
        ends = [values_stated(f"is {groups[at]}{groups[at + 1] or ''}")[0] for at in (0, 2)]
        over = held["over"].search(text[match.start() : match.end() + 8]) is not None
        last = replace(ends[1], kind="above" if over else "is")
        found = Claim("from_to", ends=(replace(ends[0], kind="is"), last), up=way, about=about)
        rest = held["over"].sub(" ", _without(text, match.span()))
    elif (match := held["times"].search(text)) is not None:
        factor = _factor(match)
        if up and not down and (match["halve"] or match["zh_halve"]):
            factor = 1.5  # "rose by half"
        falling = factor < 1 or (down and not up)
        several = bool(match.groupdict().get("several"))
        found = Claim("times", factor=1 / factor if falling and factor > 1 else factor, up=not falling, about=several)
        rest = _without(text, match.span())
    elif held["peak"].search(text) or held["bottom"].search(text):
        kind: Kind = "peak" if held["peak"].search(text) else "bottom"
        found, rest = Claim(kind, about=about), held[kind].sub(" ", text)
    elif (stated := values_stated(text)) and len(stated) == 1:
        found = Claim("value", supposed=stated[0], about=about, first=first)
        rest = text.replace(stated[0].text, " ", 1)
    elif (match := words("supposed")["negative"].search(text)) is not None:
        below = Supposed("negative", 0.0, 0.0, percent=False, last=False, text="0")
        found, rest = Claim("value", supposed=below, first=first), _without(text, match.span())
    elif held["broke"].search(text):
        found, rest = Claim("broke"), held["broke"].sub(" ", text)
    elif way is not None and not stated:
        found = Claim("moved", up=way)
    if found is None or _unread(rest):
        return None
    average = held["average"].search(text) is not None
    return replace(found, pace=held["pace"].search(text) is not None, average=average)


def values_from_to(text: str) -> bool:
    """Whether "from … to …" names values rather than steps: with a decimal point, a unit, or downwards, and no step."""
    match = _FROM_TO.search(text[:LONGEST])
    if match is None or _STEP_WORD.search(text[: match.start(1)]) or re.search(r"(?i)step|步", match.group()):
        return False
    a, unit_a, b, unit_b = match.groups()[:4] if match[1] is not None else match.groups()[4:]
    return "." in a + b or bool(unit_a or unit_b) or float(a) > float(b)


def _in_figures(text: str) -> str:
    """Shares in words as per cent: "a third of", "三成"."""
    for pattern, figure in _SHARES:
        text = pattern.sub(f" {figure} ", text)
    text = _TENTHS.sub(lambda m: f" about {(_TENTH.get(m[1]) or int(m[1])) * 10}% ", text)
    return _PERFECT.sub(" is 1 ", text)


def _factor(match: re.Match[str]) -> float:
    held = match.groupdict()
    for name, value in _FIXED.items():
        if held[name]:
            return value
    if held["number"]:
        return float(held["number"])
    if held["zh_number"]:
        return _ZH_FIGURES.get(held["zh_number"]) or float(held["zh_number"])
    return _FIGURES[" ".join((held["word"] or held["fold"]).lower().split())]


def _without(text: str, span: tuple[int, int]) -> str:
    return f"{text[: span[0]]} {text[span[1] :]}"


def _unread(text: str) -> bool:
    """Whether words are left that none of the tables knows."""
    held = words("confirmed")
    text = _STEP.sub(" ", text)
    for name in ("start", "about", "rises", "falls", "as_much", "together"):
        text = held[name].sub(" ", text)
    of_values = words("supposed")
    for name in ("above", "below", "up_to", "down_to", "to", "is", "every", "last", "throughout"):
        text = of_values[name].sub(" ", text)
    return _LETTERS.search(held["plain"].sub(" ", text)) is not None
