"""Parts of a run that a question sets beside each other, and quantities made of two metrics.

"第 60 步以后生成占整步的比例平均是多少，和前 60 步比": a ratio, its mean, two parts. Each is read by itself, so
that any quantity goes with any statistic over any parts. The words stand in ``portions.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.ask.blanking import spans_of
from assistant.ask.lexicon import words
from assistant.ask.query import Query
from assistant.ask.scope import Scope, scope_in


def _word(name: str) -> re.Pattern[str]:
    return words("portions")[name]


#: Metrics that are shares themselves.
_IS_SHARE = re.compile(r"(?i)ratio|frac|(?:^|[/_])(?:acc|accuracy|rate|share)(?:$|[/_@])")

_SHARE_OF = re.compile(
    r"(?i)(?:share|fraction|percent(?:age)?|proportion|part|how much|%) of"
    r" (?:the |an? |our |each |every |one |whole |total ){0,3}$"
)
_TAKEN_BY = re.compile(r"(?i)\b(?:is|was|goes|go|went|does|did|do|are|were)\b")
#: So many of the last or the first entries, counted otherwise than in steps: "最后 20 条", "前 10 个".
_COUNTED = re.compile(
    r"(?:(?P<last>最后|最近|末尾?|倒数)|(?:最开始|最初|最早|一?开头|前|头))\s*(?:的)?\s*(?P<n>\d{1,5})\s*"
    r"(?:条|个(?:记录|点|值|数|采样)?|次|轮|行)(?!\s*(?:step|步|最|[高大低小长短](?![吗么了多还出不没一些])))"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is told of each step: a metric, or its ratio to another.

    Attributes:
        metric: key.
        of: key that it is divided by; ``None``: the metric itself.
        share: whether the ratio is a share of a whole, shown in per cent.
        minus: whether ``of`` is taken off rather than divided by.
    """

    metric: str
    of: str | None = None
    share: bool = False
    minus: bool = False


def portions_in(text: str, training: Sequence[int]) -> list[Scope]:
    """The parts of a run that a question names, in its order: at most two; a part told as the rest of the other counts.

    Args:
        text: the question, normalised, names of metrics blanked.
        training: steps of training, ascending.
    """
    text = _COUNTED.sub(lambda m: f"{'最后' if m['last'] else '前'} {m['n']} 步 ".rjust(len(m.group())), text)
    whole = [match.span() for match in _word("one_range").finditer(text)]  # "between 20 and 60" is one part
    seams = [match.span() for match in _word("seam").finditer(text)]
    seams = [(a, b) for a, b in seams if not any(first <= a and b <= last for first, last in whole)]
    bounds = [0, *(place for seam in seams for place in seam), len(text)]
    pieces = [text[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
    found: list[tuple[int, Scope]] = []
    for place, piece in enumerate(pieces):
        scope = scope_in(piece, training)
        if not scope.whole and _key(scope) not in {_key(one) for _, one in found}:
            found.append((place, replace(scope, spans=())))
    if len(found) == 1:
        place, scope = found[0]
        rest = [piece for at, piece in enumerate(pieces) if at != place]
        other = next((other for piece in rest if (other := _preceding(scope, piece)) is not None), None)
        other = other or next((other for piece in rest if (other := rest_of(scope, piece)) is not None), None)
        if other is not None:
            found.append((place + 1, other))
    return [scope for _, scope in found][:2]


def _preceding(scope: Scope, text: str) -> Scope | None:
    """So many steps right before a part ("和之前 10 步比")."""
    match = _word("preceding").search(text)
    if match is None or scope.first is None or scope.latest:
        return None
    return Scope(first=scope.first - int(match["n"] or match["m"]), last=scope.first - 1)


def rest_of(scope: Scope, text: str) -> Scope | None:
    """The part on the other side of a bound, where a text asks for it ("之前呢", "and after that?")."""
    one_sided = (scope.first is None) != (scope.last is None) and not scope.without and not scope.latest
    if not one_sided:
        return None
    if scope.first is not None and (_word("earlier").search(text) or _word("rest").search(text)):
        return Scope(last=scope.first - 1, plain=False)
    if scope.last is not None and (_word("later").search(text) or _word("rest").search(text)):
        return Scope(first=scope.last + 1, plain=False)
    return None


def ratio_asked(text: str) -> bool:
    """Whether words ask for one quantity divided by another."""
    return _word("ratio").search(text) is not None


def ratio_in(query: Query, text: str, keys: Sequence[str], whole: str | None) -> Quantity | None:
    """The ratio that a question asks for: of the two metrics named, or of a stage to the whole step.

    Args:
        query: the question as understood.
        text: the question, normalised, names of metrics blanked.
        keys: the log's metrics that it names, families by their means.
        whole: the log's time of a whole step, where one of the metrics is a stage's.
    """
    minus = _word("difference").search(text) is not None and not ratio_asked(text)
    if not minus and not ratio_asked(text):
        return None
    share = _word("share").search(text) is not None
    placed: list[tuple[str, int]] = []
    for mention in query.mentions:
        spans = spans_of(query.wording or query.text, mention)
        if mention.key in keys and mention.key not in {name for name, _ in placed}:
            placed.append((str(mention.key), spans[0][0] if spans else len(text)))
    for name in keys:
        if name not in {one for one, _ in placed}:
            placed.append((name, len(text)))
    names = [name for name, _ in sorted(placed, key=lambda one: one[1])]
    if len(names) == 1 and not minus and whole is not None and whole != names[0] and share:
        return Quantity(names[0], whole, True)
    if len(names) != 2:
        return None
    if share and any(_IS_SHARE.search(name) for name in names):
        return None  # what is a share itself is no part of another metric, nor its whole
    first, second = names
    between = text[placed[0][1] : placed[1][1]] if len(placed) == 2 else ""
    if share and _word("joiner").fullmatch(between):
        return None  # "A 和 B 占一步的几成": each is a part of a third
    head = text[: placed[0][1]] if placed else ""
    if share and _SHARE_OF.search(head) and _TAKEN_BY.search(between):
        first, second = second, first  # "what share of the step is rollout": the whole stands first
    elif share and (first == whole or (_word("whole_first").search(between) and "占" not in between)):
        first, second = second, first
    return Quantity(first, second, share and not minus, minus)


def _key(scope: Scope) -> tuple[int | None, int | None, tuple[int, ...], int]:
    return scope.first, scope.last, scope.without, scope.latest
