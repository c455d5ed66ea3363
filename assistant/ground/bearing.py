"""Whether a word of direction holds of the cells that the sentence tells: the greatest of all, more than before."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame, metric_of
from assistant.ground.changes import SPEED
from assistant.ground.courses import ABSOLUTE
from assistant.ground.crossing import first_met, met, multiplied
from assistant.ground.cues import end_said
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees, median
from assistant.ground.turning import Turn

#: Words that say which end is meant only together with what is better.
_VALUED: Final = re.compile(
    r"(?i)best|worst|better|worse|improv|deterior|degrad|regress|[好佳优差]|改善|恶化|进步|倒退"
)
_PACE: Final = re.compile(r"(?i)slow|fast|quick|speed|sped|[快慢]")
_SO_FAR: Final = re.compile(r"(?i)\bas of\b|\byet\b|\bso far\b|\bto date\b|截至|新高|新低|迄今|目前|至今")
#: A course told at one step: the value there is far from the others, or from the one before.
_LOCAL: Final = re.compile(
    r"(?i)spik|jump|plung|dip|surg|rebound|blow|collaps|explo|vanish|drop|climb|rise|fall|rose|fell|further|back|[飙骤激锐冲探回反]|到$|至$"
)

_BECAME: Final = re.compile(
    r"(?i)(?:\b(?:got|gets?|getting|became|becomes?|becoming|grew|growing|grows?)\b[^,.;]{0,24}|[变得越][^，。；]{0,4})$"
)
#: Between the two sides of a comparison, the first of which is what is spoken of.
_THAN: Final = re.compile(
    r"(?i)\bthan\b|\bversus\b|\bvs\b|\bagainst\b|比|对|\b(?:above|below|behind|ahead of)\b|[高低大小多少长短快慢强弱优劣]于|超过"
)
_AGAINST: Final = re.compile(
    r"(?i)^[^,，]{0,60}(?:\bcompared (?:to|with)\b|\brelative to\b|\bagainst\b|\bversus\b|相比|相较|比起|较之|与|和)"
)
_CHANGE: Final = re.compile(
    r"(?i)\s*(?:single |one-step )?(?:(?P<up>increase|rise|jump|gain|climb)|(?P<down>decrease|drop|fall|decline|dip|loss))\b|的?(?:单步|一次)?(?:(?:上升|升幅|涨幅|增幅|跳升|上涨)|(?P<falls>下降|降幅|跌幅|下跌))"
)
#: Than all of the others, or all before.
_ALL: Final = re.compile(r"(?i)\s*than (?:every|any|all)\b(?P<before>[^,.;:]{0,24}\bbefore)?")
_ALL_BEFORE: Final = re.compile(r"比(?:任何|其他|其它|所有|别的)[^，。；]{0,12}$")
_BOUND_NEXT: Final = re.compile(r"(?i)^(?:\s*(?:to|back|well|far|just))*\s*(?:below|under|above|over|beyond)?\s*$")
_SPIKY: Final = re.compile(r"(?i)spik|dip|plung|surg|blow|collaps|explo|soar|[飙骤激锐冲探]")
_INSTEAD: Final = re.compile(
    r"(?i)[^,;，。；\d]{0,24}\b(?:instead of|rather than|versus|vs\.?|against|up from|down from)\b[^,;，。；\d]{0,16}|\s*(?:对比?|而不是|而非)\s*"
)
_HALF: Final = re.compile(r"(?i)(?P<first>\bfirst half\b|前半)|\b(?:second|latter|last) half\b|后半")
_ENDS: Final = re.compile(
    r"(?i)(?P<first>\b(?:first|initial|start(?:s|ed|ing)?|beginning)\b|第一|最初|首|开始|起初)|\b(?:last|final|ends?|ended|finish(?:es|ed)?)\b|最后|最终|末|结束"
)
_WAY: Final = re.compile(r"(?i)(?:(?P<first>\bfrom|[从由])|(?:\bto|[到至]))\s*$")
_FORMER: Final = re.compile(r"(?i)former|latter|[前后]者")
_COUNTS: Final = frozenset({"steps", "points", "validations"})
_NO_VALUE: Final = _COUNTS | {"ratio", "factor", "pp", "gpus", "samples", "prompts"}


@dataclass(frozen=True, slots=True)
class _Told:
    """A number of the sentence and the cell that it is."""

    q: Quantity
    key: str
    step: int
    value: float


def borne_out(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """Whether a word that no reader rests on holds of the values told beside it.

    Args:
        frame: the sentence.
        judge: knows the cells that its numbers were tied to.
        turn: the word.
    """
    if turn.kind == "extremes":
        return _extreme(frame, judge, turn) or _utmost_change(frame, judge, turn)
    if turn.kind == "courses":
        return _course(frame, judge, turn) or _to_a_bound(frame, turn)
    if turn.kind == "comparisons":
        if _BECAME.search(frame.text[max(0, turn.start - 40) : turn.start]) and _course(frame, judge, turn):
            return True
        return (
            met(frame, judge, turn.start, turn.end, turn.more)
            or first_met(frame, judge)
            or multiplied(frame, judge, turn.end)
            or _of_all(frame, judge, turn)
            or _compared(frame, judge, turn)
            or _of_names(frame, judge, turn)
            or _by_so_much(frame, judge, turn)
        )
    return _sign(frame, judge, turn)


def _told(frame: Frame, judge: Judge) -> list[_Told]:
    """The numbers that are cells: those that were tied to one, and those that one of the steps named, or an end, holds."""
    found = []
    for at, q in enumerate(frame.numbers):
        if q.unit in _NO_VALUE or q.bound:
            continue
        if at in judge.told:
            key, step = judge.told[at]
            if (value := judge.table.value(key, step)) is not None:
                found.append(_Told(q, key, step, float(value)))
            continue
        name, _ = metric_of(frame, at)
        meant = judge.spoken_of(frame, at, name)
        cells = {cell for key in _keys_of(judge, meant, name)[:3] for cell in _at(frame, judge, meant, key)}
        if len({(step, value) for _, step, value in cells}) == 1:  # two keys may hold the same
            found.append(_Told(q, *min(cells)))
    return found


def _keys_of(judge: Judge, q: Quantity, name: Named | None) -> tuple[str, ...]:
    """The metrics that a number may be of: those named, and a step's time where it is one."""
    total = judge.table.total_time() if q.unit == "s" else None
    return (name.keys[:2] if name is not None else ()) + ((total,) if total is not None else ())


def _at(frame: Frame, judge: Judge, q: Quantity, key: str) -> list[tuple[str, int, float]]:
    held = judge.table.held(key)
    if not held:
        return []
    steps = {step for place in frame.places if len(place.steps) <= 2 for step in place.steps}
    said = end_said(frame, q)
    steps |= {held[0]} if said == "start" else {held[-1]} if said == "end" else {held[0], held[-1]}
    cells = ((step, judge.table.value(key, step)) for step in sorted(steps))
    return [
        (key, step, float(value))
        for step, value in cells
        if value is not None and any(agrees(a, b, value) for a, b in judge.table.readings(q, key, value))
    ]


def _more(judge: Judge, frame: Frame, turn: Turn, key: str) -> bool | None:
    """Whether a word asks for more of a metric; ``None`` where nothing tells what is better."""
    word = frame.text[turn.start : turn.end]
    if _VALUED.search(word):
        better = judge.table.better(key)
        return (better == "higher") == turn.more if better else None
    return turn.more != bool(_PACE.search(word) and SPEED.search(key))


# -- extremes ----------------------------------------------------------------------------------------
def _extreme(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``第 4 步的 0.26 最低``: what stands nearest to the word is the least of the run, of the steps named, or so far."""
    clause = frame.clause(turn.start)
    values = [at for at, q in enumerate(frame.numbers) if q.unit not in _NO_VALUE and not q.bound]
    singles = [p for p in frame.places if len(p.steps) == 1]
    spots: list[tuple[int, int, int, int | None]] = [
        (frame.numbers[at].start, frame.numbers[at].end, at, None) for at in values
    ]
    spots += [(p.start, p.end, -1, p.steps[0]) for p in singles]
    own = [spot for spot in spots if frame.clause(spot[0]) == clause]
    near = own or [spot for spot in spots if abs(frame.clause(spot[0]) - clause) == 1]
    for _, _, at, step in sorted(near, key=lambda spot: max(spot[0] - turn.end, turn.start - spot[1]))[:3]:
        if at in judge.told:
            if _is_extreme(frame, judge, turn, *judge.told[at]):
                return True
        elif at >= 0:
            name, _ = metric_of(frame, at)
            keys = _keys_of(judge, frame.numbers[at], name)
            if any(_agrees_extreme(frame, judge, turn, key, frame.numbers[at]) for key in keys):
                return True
        elif step is not None and any(_is_extreme(frame, judge, turn, key, step) for key in _keys(frame, turn)):
            return True
    return False


def _utmost_change(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``the largest increase between two neighbouring steps``: of the changes between neighbours, the one told."""
    match = _CHANGE.match(frame.text[turn.end :])
    if match is None or judge.pair is None:
        return False
    key, a, b = judge.pair
    rows = judge.table.finite(key)
    sign = -1 if match["down"] or match["falls"] else 1
    moves = {(x[0], y[0]): (y[1] - x[1]) * sign for x, y in pairwise(rows)}
    here = moves.get((min(a, b), max(a, b)))
    return here is not None and turn.more and here == max(moves.values())


def _keys(frame: Frame, turn: Turn) -> Sequence[str]:
    before = [n for n in frame.names if n.keys and n.end <= turn.start]
    after = [n for n in frame.names if n.keys and n.start >= turn.end]
    named = before[-1:] or after[:1] or [n for n in frame.carried.names if n.keys][-1:]
    return named[0].keys[:3] if named else ()


def _is_extreme(frame: Frame, judge: Judge, turn: Turn, key: str, step: int) -> bool:
    here, more, rows = judge.table.value(key, step), _more(judge, frame, turn, key), judge.table.finite(key)
    if here is None or not rows or more is None:
        return False
    if key.endswith(("/max", "/min")) and key.endswith("/max") == more:
        return True  # 第 8 步的最大值: of that step's samples
    utmost = max if more else min
    return any(part and utmost(part) == here for part in _parts(frame, judge, key, step))


def _agrees_extreme(frame: Frame, judge: Judge, turn: Turn, key: str, q: Quantity) -> bool:
    more = _more(judge, frame, turn, key)
    if more is None:
        return False
    utmost = max if more else min
    found = [utmost(part) for part in _parts(frame, judge, key, None) if part]
    return any(agrees(a, b, value) for value in found for a, b in judge.table.readings(q, key, value))


def _parts(frame: Frame, judge: Judge, key: str, step: int | None) -> list[list[float]]:
    """The values among which one may be the greatest: all, those of a range named, those up to the step."""
    rows = judge.table.finite(key)
    spans = [set(place.steps) for place in frame.places if place.kind == "range"]
    if frame.carried.span is not None and not frame.places:
        spans.append(set(range(frame.carried.span[0], frame.carried.span[1] + 1)))
    if step is not None and _SO_FAR.search(frame.text):
        spans.append({at for at, _ in rows if at <= step})
    parts = [[value for _, value in rows]]
    return parts + [[value for at, value in rows if at in span] for span in spans if step is None or step in span]


# -- courses -----------------------------------------------------------------------------------------
def _course(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``grows quickly – from -0.98 at step 10 to -0.23 at step 40``: the later of two values told lies on that side."""
    told = _told(frame, judge)
    clause = frame.clause(turn.start)
    before = [t for t in told if t.q.end <= turn.start]
    after = [t for t in told if t.q.start >= turn.end]
    own = [t for t in after if frame.clause(t.q.start) == clause]
    if len(own) == 1 and _SPIKY.search(frame.text[turn.start : turn.end]):
        return _at_one_step(frame, judge, turn, own[0])
    pairs: list[tuple[_Told, _Told]] = []
    if len(own) > 1:
        pairs.append((own[0], own[-1]))
    if before and after:
        pairs.append((before[-1], after[0]))
    if len(after) > 1:
        pairs.append((after[0], after[1]))
    if len(before) > 1:
        pairs.append((before[-2], before[-1]))
    for one, two in pairs:
        if one.key != two.key or one.step == two.step:
            continue
        early, late = sorted((one, two), key=lambda t: t.step)
        return _moved(frame, judge, turn, early.key, early.value, late.value)
    if not told:
        return _by_pair(frame, judge, turn)
    if len(told) == 1 or (after and not before) or own:
        return _at_one_step(frame, judge, turn, own[0] if own else after[0] if after else told[0])
    return False


def _by_pair(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """By the change that the sentence told a number of."""
    if judge.pair is None:
        return False
    key, a, b = judge.pair
    x, y = judge.table.value(key, min(a, b)), judge.table.value(key, max(a, b))
    return x is not None and y is not None and _moved(frame, judge, turn, key, float(x), float(y))


def _by_so_much(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``steps now take 26 minutes longer``: a change right before the word, of which the steps are known."""
    near = [q for q in frame.numbers if 0 <= turn.start - q.end <= 3]
    return bool(near) and _by_pair(frame, judge, turn)


def _to_a_bound(frame: Frame, turn: Turn) -> bool:
    """``降到 1 以下``: a course to a bound, which is judged as one."""
    following = next((q for q in frame.numbers if q.start >= turn.end), None)
    if following is None or not following.bound or not _BOUND_NEXT.match(frame.text[turn.end : following.start]):
        return False
    return (following.bound == ">") == turn.more


def _moved(frame: Frame, judge: Judge, turn: Turn, key: str, x: float, y: float) -> bool:  # noqa: PLR0917
    more = _more(judge, frame, turn, key)
    if ABSOLUTE.search(frame.clause_text(turn.start)) or re.search("zero", turn.other):
        x, y = abs(x), abs(y)
    return more is not None and x != y and (y > x) == more


def _at_one_step(frame: Frame, judge: Judge, turn: Turn, at: _Told) -> bool:
    """``飙到 1,927``: against the value at the other step that the sentence names, or the one before and the middle."""
    if not _LOCAL.search(frame.text[turn.start : turn.end]):
        return False
    others = [p.steps[0] for p in frame.places if len(p.steps) == 1 and p.steps[0] != at.step]
    if _SPIKY.search(frame.text[turn.start : turn.end]):
        others = []
    rows = judge.table.finite(at.key)
    if others:
        other = judge.table.value(at.key, others[0])
        return other is not None and _moved(
            frame, judge, turn, at.key, *((other, at.value) if others[0] < at.step else (at.value, other))
        )
    back = judge.table.before(at.key, at.step)
    then = judge.table.value(at.key, back) if back is not None else None
    middle = median([value for _, value in rows])
    if then is None or not _moved(frame, judge, turn, at.key, float(then), at.value):
        return False
    return not _SPIKY.search(frame.text[turn.start : turn.end]) or _moved(frame, judge, turn, at.key, middle, at.value)


# -- comparisons -------------------------------------------------------------------------------------
def _of_all(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``slower than every step before it: 5,750 s``: the value told is beyond all others, or all before."""
    match = _ALL.match(frame.text[turn.end :])
    if match is None and not _ALL_BEFORE.search(frame.text[: turn.start]):
        return False
    for one in _told(frame, judge):
        rows = judge.table.finite(one.key)
        if (match is not None and match["before"]) or "之前" in frame.text:
            rows = [row for row in rows if row[0] <= one.step]
        more = _more(judge, frame, turn, one.key)
        if more is not None and rows and (max if more else min)(value for _, value in rows) == one.value:
            return True
    return False


def _of_names(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``A 远大于 B：step 0 前者 950，后者 8.1``: two metrics at one step, the first named is spoken of."""
    told = _told(frame, judge)
    names: list[Named] = []
    for name in frame.names:
        if name.keys and not any(set(name.keys) & set(other.keys) for other in names):
            names.append(name)
    if (
        len(told) != 2
        or len(names) != 2
        or told[0].step != told[1].step
        or _AGAINST.search(frame.text[: names[1].start])
    ):
        return False
    sides = [next((t for t in told if t.key in name.keys), None) for name in names]
    if sides[0] is None or sides[1] is None or sides[0] is sides[1]:
        return False
    return sides[0].value != sides[1].value and (sides[0].value > sides[1].value) == turn.more


def _compared(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``step 434 比 step 429 好：0.569 对 0.543``: of two values told the first is the one spoken of."""
    told = _told(frame, judge)
    text = frame.text
    if _of_halves(frame, judge, turn):
        return True
    if len(told) != 2 or told[0].key != told[1].key or told[0].step == told[1].step:
        return False
    one, two = told
    if (
        turn.end <= one.q.start
        and _INSTEAD.fullmatch(text[one.q.end : two.q.start])
        and not _THAN.search(text[turn.end : one.q.start])
    ):
        return _moved(frame, judge, turn, one.key, two.value, one.value)  # "slower: 99 minutes instead of 72"
    if (
        re.search("更", text[turn.start : turn.end])
        and one.q.end <= turn.start
        and turn.end <= two.q.start
        and not _THAN.search(text[: turn.start])
    ):
        return _moved(frame, judge, turn, one.key, one.value, two.value)  # 第 1 步 -0.66，第 5 步更低到 -1.25
    places = [p for p in frame.places if len(p.steps) == 1 and p.steps[0] in {one.step, two.step}]
    if (
        len(places) == 2
        and places[0].steps[0] != places[1].steps[0]
        and _THAN.search(text)
        and not _AGAINST.search(text[: turn.start])
    ):
        values = {one.step: one.value, two.step: two.value}
        return _moved(frame, judge, turn, one.key, values[places[1].steps[0]], values[places[0].steps[0]])
    return False


def _of_halves(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``后半程略高``: the mean of one half of the run against that of the other."""
    found = [(m.start(), bool(m["first"])) for m in _HALF.finditer(frame.text)]
    before = [first for at, first in found if at < turn.start]
    if not before or len(frame.places) > 1:
        return False
    for key in _keys(frame, turn):
        values = [value for _, value in judge.table.finite(key)]
        if len(values) < 4:
            continue
        middle = len(values) // 2
        x, y = (sum(part) / len(part) for part in (values[:middle], values[middle:]))
        if before[0]:
            x, y = y, x
        return _moved(frame, judge, turn, key, x, y)
    return False


# -- order -------------------------------------------------------------------------------------------
# -- signs -------------------------------------------------------------------------------------------
def _sign(frame: Frame, judge: Judge, turn: Turn) -> bool:
    """``negative (-5.1e-04)``, ``前者 950，后者 8.1``: the sign of the value beside the word, or whose value it is."""
    told = _told(frame, judge)
    if not told:
        return False
    near = min(told, key=lambda t: max(t.q.start - turn.end, turn.start - t.q.end))
    word = frame.text[turn.start : turn.end]
    if _FORMER.search(word):
        names = [n for n in frame.names if n.keys and n.end <= turn.start]
        after = [t for t in told if t.q.start >= turn.end]
        if len(names) < 2 or not after:
            return False
        return after[0].key in names[-2 if re.search("(?i)former|前", word) else -1].keys
    if len(told) == 2 and (way := _WAY.search(frame.text[: turn.start])):
        near = told[0] if way["first"] else told[1]  # "from positive to negative: 2.2 at step 3, -0.5 at step 9"
    if near.value == 0 or not re.search(r"(?i)positive|negative|正|负", word):
        return False
    if "转" in word:
        back = judge.table.before(near.key, near.step)
        then = judge.table.value(near.key, back) if back is not None else None
        return then is not None and (then < 0 < near.value if turn.more else near.value < 0 < then)
    return (near.value > 0) == turn.more
