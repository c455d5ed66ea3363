"""What a question asks to be computed: statistics of a part of a run, steps that meet a condition, ranks, streaks.

Reads what the older patterns (:mod:`assistant.ask.intents`) do not: open ranges, conditions other than a side of a
number, several statistics at once. The words stand in ``computed.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from assistant import resources
from assistant.ask.blanking import blanked, figures, spans_of, without_names
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.in_a_row import row_in
from assistant.ask.query import Query
from assistant.ask.rates import turned
from assistant.ask.scope import Scope, scope_in
from assistant.ask.steps import chinese_number
from assistant.ask.supposed import values_in
from assistant.ask.wording import normalised
from assistant.model import KnowledgeError
from assistant.model.answer import Op

Kind = Literal[
    "statistics", "values", "first", "last", "count", "list", "any", "every", "share", "missing", "top", "rank",
    "at_extreme", "streak", "window", "difference", "correlation", "changed",
]  # fmt: skip
_WORDS = (
    "correlation", "difference", "window", "streak", "streak_measure", "rising", "falling", "missing", "share", "count",
    "last_time", "first_time", "list", "any", "every", "never", "top_count", "rank", "high", "low", "better", "worse",
    "median", "std", "variance", "sum", "not_sum", "mean", "range", "percentile", "ratio", "changed", "at_that",
    "value_asked", "judging", "future",
)  # fmt: skip
_RANKS = {
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
#: Topics about what a value means rather than what it is.
_OF_MEANING = {"sign", "good", "premise", "claim", "learning", "got_worse", "got_better", "same", "share"}
SMALL_IS_GOOD = re.compile(r"(?i)loss|timing|time|kl|clip|grad_norm|perplexity|ppl|truncat|aborted")
_EXPLICIT_STEP = re.compile(
    r"(?i)(?:steps?|第|iteration)\s*#?\s*(\d{1,8})(?!\d)(?!\s*(?:窗口|window))|(?<![\d.])(\d{1,8})\s*步"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A computation asked for.

    Attributes:
        kind: what is to be told.
        scope: of which part of the run.
        limit: the condition that values must meet, where there is one.
        statistics: those asked for, in order (``max``, ``min``, ``mean``, ``median``, ``std``, ``variance``, ``sum``,
            ``range``, ``p90`` …).
        high: whether the largest are meant rather than the smallest, or a rise rather than a fall.
        number: a rank, a count of steps, the length of a window; 0 where none is named.
        keys: metrics in the order of their roles, where their order in the question does not tell.
        at_step: a step whose value is asked for beside the rest.
        text: the question, normalised, without names of metrics.
    """

    kind: Kind
    scope: Scope
    limit: Condition | None = None
    statistics: tuple[str, ...] = ()
    high: bool | None = None
    number: int = 0
    keys: tuple[str, ...] = ()
    at_step: int | None = None
    text: str = ""

    @property
    def op(self) -> Op | None:
        """The contract's operation that comes nearest."""
        if self.kind in {"top", "rank", "window", "at_extreme"}:
            return "argmax" if self.high else "argmin"
        if self.kind == "first" or (self.kind == "streak" and self.number):
            return "first_crossing"
        if self.kind in {"count", "missing"}:
            return "count"
        named: dict[str, Op] = {"max": "max", "min": "min", "mean": "mean"}
        return next((named[one] for one in self.statistics if one in named), None)


@lru_cache(maxsize=1)
def words() -> Mapping[str, re.Pattern[str]]:
    """The patterns of ``computed.yaml``.

    Raises:
        KnowledgeError: one is missing, unknown, or no regular expression.
    """
    path = Path(__file__).with_suffix(".yaml")
    table = resources.yaml_table(path)
    odd = sorted(set(table) ^ set(_WORDS))
    if odd:
        raise KnowledgeError(zh=f"{path.name}：多出或缺少 {odd}。", en=f"{path.name}: unknown or missing: {odd}.")
    found = {}
    for name in _WORDS:
        try:
            found[name] = re.compile(table[name], re.IGNORECASE)
        except re.error as error:
            raise KnowledgeError(
                zh=f"{path.name}：{name} 不是正则表达式：{error}。", en=f"{path.name}: {name} is no pattern: {error}."
            ) from None
    return found


def asked(query: Query, keys: Sequence[str], training: Sequence[int]) -> Request | None:
    """The computation that a question asks for; ``None`` where it asks for none, or for one of the plain ones.

    Args:
        query: the question as understood.
        keys: the log's metrics that it names.
        training: the log's steps of training, ascending.
    """
    if not keys or query.depth == "every":
        return None
    text = figures(normalised(query.wording or query.text))
    bare = without_names(text, query.mentions)
    if words()["future"].search(bare):
        return None
    ranged = [span for span in values_in(bare) if (named := condition_in(bare)) and named.kind == "between"]
    scope = scope_in(blanked(bare, ranged), training)  # "在 115 到 118 之间的有几步" are values
    if scope.first is not None and scope.last is not None and scope.last < scope.first:
        return None  # two parts set against each other
    rest = blanked(bare, scope.spans)
    counted = [m.span() for pattern in (_EXPLICIT_STEP, words()["window"]) for m in pattern.finditer(rest)]
    counted += [row[1]] if (row := row_in(rest)) is not None else []
    limit = condition_in(blanked(rest, counted))
    if limit is None and query.threshold is not None and query.follows == "slots":
        side, value = query.threshold  # of the question before: "and the last time?"
        limit = Condition("above" if side == "above" else "below", value, value)
    if limit is not None and OF_ONE.search(text) and scope.plain:
        return None  # "was the last eval above 0.6": of that one
    sought = any(words()[name].search(rest) for name in ("count", "first_time", "last_time", "list"))
    pointed = query.steps.kind == "single" or (query.steps.kind in {"first", "last"} and not _EVER.search(rest))
    if limit is not None and pointed and scope.plain and not sought:
        return None  # "is it 0 at step 20": of that step, not of the run
    # "What percentage of steps is above 0.5" speaks of a share, and asks for none of a step's time.
    if set(query.topics) & (_OF_MEANING - ({"share"} if limit is not None else set())):
        return None
    reading = _Reading(query, text, bare, rest, scope, limit, tuple(keys))
    plain = query.intent not in {"forecast", "advice", "out_of_scope"}
    for read in (*_DISTINCT, *(_READERS if plain else ())):
        request = read(reading)
        if request is not None:
            return request
    return None


@dataclass(frozen=True, slots=True)
class _Reading:
    """A question in the forms that its readers need."""

    query: Query
    text: str
    bare: str
    rest: str
    scope: Scope
    limit: Condition | None
    keys: tuple[str, ...]

    def has(self, name: str) -> bool:
        return words()[name].search(self.rest) is not None

    @property
    def whether(self) -> bool:
        """Whether it asks for yes or no: "was it ever above"; a verb at the start counts if no name precedes it."""
        match = words()["any"].search(self.rest)
        if match is None:
            return False
        verb = match.group().strip()
        started = self.rest[: match.start()].strip() == "" and verb.isascii()
        return not started or self.text.lstrip().lower().startswith(verb.lower())

    @property
    def side(self) -> bool | None:
        """Whether the largest (``True``) or the smallest is meant; a name such as "max length" counts as said."""
        return self.side_of(self.keys[0])

    def side_of(self, key: str) -> bool | None:
        """The side that is meant of one of the metrics: the slowest step of a rate has its smallest value."""
        spoken = blanked(
            self.text, [s for m in self.query.mentions if re.search(r"[/_@]", m.text) for s in spans_of(self.text, m)]
        )
        high, low = (words()[name].search(spoken) for name in ("high", "low"))
        if high or low:
            if high and low:
                return None
            return (high is not None) != turned(spoken, key)
        if words()["better"].search(spoken) or words()["worse"].search(spoken):
            good = words()["better"].search(spoken) is not None
            return good != bool(SMALL_IS_GOOD.search(key))
        return None

    @property
    def opened(self) -> bool:
        """Whether the part of the run is told in a way that only this module reads."""
        return not self.scope.plain


Reader = Callable[[_Reading], Request | None]
#: Metrics, of which one tells the step and the others are told there, at most.
MOST_THERE = 8


def _correlation(r: _Reading) -> Request | None:
    return Request("correlation", r.scope, text=r.rest) if r.has("correlation") and len(r.keys) == 2 else None


def _at_extreme(r: _Reading) -> Request | None:
    """ "KL 最大的那步 reward 是多少": one metric's extreme tells the step, the other's value is asked for."""
    tops = words()["top_count"].search(r.rest)
    if not 2 <= len(r.keys) <= MOST_THERE or not (r.has("at_that") or (tops and len(r.keys) == 2)):
        return None
    found = [m for name in ("high", "low", "better", "worse") for m in words()[name].finditer(r.rest)]
    if len({(m.start(), m.end()) for m in found}) != 1 or r.side is None:
        return None
    places = _places(r)
    if len(places) != len(r.keys):
        return None
    near = _near(r, places, found[0].span()) if len(places) == 2 else _nearest(r, places, found[0].span())
    if near is None:
        return None
    others = tuple(metric for metric, _ in places if metric != near)
    number = int(next(group for group in tops.groups() if group)) if tops and len(others) == 1 else 0
    return Request("at_extreme", r.scope, high=r.side_of(near), number=number, keys=(near, *others), text=r.rest)


_Placed = tuple[str, tuple[int, int]]
_BARE_JOINT = re.compile(r"(?i)\s*`?(?:and|or|和|与|及|跟|以及)`?\s*")


def _near(r: _Reading, places: Sequence[_Placed], at: tuple[int, int]) -> str | None:
    """Of two metrics the one whose extreme is meant; ``None`` where each is asked for at its own."""
    (first, a), (second, b) = places
    between = r.text[a[1] : b[0]].strip(" `")
    if re.fullmatch(r"(?i)(?:and|or|,|、|和|与|及|跟|以及)", between):
        return None
    middle = (at[0] + at[1]) / 2
    between_them = {m: r.text[min(own[1], at[0]) : max(own[0], at[1])] for m, own in places}
    same = [m for m, words_between in between_them.items() if not re.search(r"[,，;；]", words_between)]
    near = min((first, a), (second, b), key=lambda one: min(abs(one[1][0] - middle), abs(one[1][1] - middle)))[0]
    return same[0] if len(same) == 1 else near  # the one of the same clause: "when the reward was lowest, how long …"


def _nearest(r: _Reading, places: Sequence[_Placed], at: tuple[int, int]) -> str | None:
    """Of several metrics the one that stands by the word of the extreme, alone; the others are a list of their own."""
    gaps = [max(own[0] - at[1], at[0] - own[1]) for _, own in places]
    place = min(range(len(places)), key=gaps.__getitem__)
    beside = [r.text[places[n][1][1] : places[n + 1][1][0]] for n in (place - 1, place) if 0 <= n < len(places) - 1]
    return None if any(_BARE_JOINT.fullmatch(words_between) for words_between in beside) else places[place][0]


def _places(r: _Reading) -> list[tuple[str, tuple[int, int]]]:
    """The metrics named, each with where it stands first."""
    found: list[tuple[str, tuple[int, int]]] = []
    for mention in sorted(r.query.mentions, key=lambda one: one.key is None):
        spans = spans_of(r.text, mention)
        key = mention.key or next((key for key in r.keys if key not in {k for k, _ in found}), None)
        if spans and key is not None and key not in {k for k, _ in found}:
            found.append((key, spans[0]))
    return sorted(found, key=lambda one: one[1])


def _difference(r: _Reading) -> Request | None:
    if (
        len(r.keys) != 2
        or not r.has("difference")
        or r.has("judging")
        or len(r.query.all_steps) > 1
        or r.limit is not None
    ):
        return None
    order = [key for key, _ in _places(r)]
    return Request("difference", r.scope, keys=tuple(order) if len(order) == 2 else r.keys, text=r.rest)


def _window(r: _Reading) -> Request | None:
    match = words()["window"].search(r.rest)
    # 最好的 20 步 of "which 20 steps were best" names steps, unless a window or consecutive steps are spoken of
    if match is None or r.side is None or r.limit is not None:
        return None
    if not re.search(
        r"(?i)window|stretch|block|period|span|segment|interval|consecutive|successive|adjacent|contiguous"
        r"|moving|rolling|连续|相邻|滑动|窗|区间|平均|均值|average|mean",
        r.rest,
    ):
        return None
    length = int(next(group for group in match.groups() if group))
    return Request("window", r.scope, high=r.side, number=length, text=r.rest) if length > 1 else None


def _streak(r: _Reading) -> Request | None:
    row = row_in(r.rest)
    if row is not None and r.limit is not None and not r.has("judging"):
        return Request("streak", r.scope, r.limit, number=row[0], text=r.rest)
    if not r.has("streak") or not (r.has("streak_measure") or r.has("any")):
        return None
    if r.limit is not None:
        return Request("streak", r.scope, r.limit, text=r.rest)
    up, down = r.has("rising"), r.has("falling")
    return Request("streak", r.scope, high=up, text=r.rest) if up != down else None


_WHY = re.compile(r"(?i)为什么|为啥|为何|怎么会?|咋|\bwhy\b|how come")
_SOME_STEPS = re.compile(
    r"(?i)(?:有些|有的|一些|某些|部分|好几个?|几个?)\s*(?:步|steps?|行)|\bsome (?:of the )?(?:steps|rows)\b"
)


def _missing(r: _Reading) -> Request | None:
    asks = (
        r.has("count") or r.has("list") or (_WHY.search(r.rest) is not None and _SOME_STEPS.search(r.rest) is not None)
    )
    if not r.has("missing") or not asks or r.limit is not None:
        return None
    return Request("missing", r.scope, text=r.rest)


def _conditional(r: _Reading) -> Request | None:
    if r.limit is None:
        return None
    judged = r.has("judging")
    kind = next(
        (
            kind
            for kind, name in (
                ("share", "share"),
                ("count", "count"),
                ("last", "last_time"),
                ("first", "first_time"),
                ("list", "list"),
                ("any", "any"),
            )
            if (r.whether if name == "any" else r.has(name) or (kind == "last" and words()[name].search(r.text)))
        ),
        None,
    )
    if kind is None or (judged and kind in {"any", "first"}):
        return None
    if kind == "first" and re.search(
        r"(?i)哪些|哪几|which steps|what steps|\blist\b|列出|\ball (?:the )?steps", r.rest
    ):
        kind = "list"
    limit = _of_every(r, r.limit) if kind == "any" else None
    if limit is not None:
        return Request("every", r.scope, limit, text=r.rest)
    single = r.query.steps.kind == "single"
    at_step = r.query.steps.values[0] if single and _names(r.rest, r.query.steps.values[0]) else None
    misread = r.query.steps.kind in {"single", "first", "last", "pair"}
    new = not r.limit.strict or r.opened or kind in {"share", "last", "list"} or misread or r.query.op is None
    if not new:
        return None
    return Request(kind, r.scope, r.limit, at_step=at_step, text=r.rest)  # type: ignore[arg-type]


#: Weighs what is stated, which it takes to be so.
_WEIGHED = re.compile(r"(?i)[太偏过][高低大小多少长短慢快]|\btoo (?:high|low|large|small|long|short|much|little)\b")


def _of_every(r: _Reading, limit: Condition) -> Condition | None:
    """The condition that a question says to hold at every value; ``None`` where it asks for any value."""
    pointed = r.query.steps.kind in {"single", "pair"} and any(_names(r.rest, step) for step in r.query.steps.values)
    if len(r.keys) != 1 or pointed or _WEIGHED.search(r.text):
        return None
    never = words()["never"].search(r.text)
    if never is not None:  # "从来没超过 3": what denies the side is the "never" itself
        return limit if never.end() > limit.span[0] and limit.kind in {"at_most", "at_least"} else limit.denied
    return limit if words()["every"].search(r.text) else None


def _names(text: str, step: int) -> bool:
    """Whether a question names a step by its number ("step 0", "第 3 步"), rather than by "the first step where"."""
    found = [int(match[1] or match[2]) for match in _EXPLICIT_STEP.finditer(text)]
    return step in found and not re.search(r"第\s*[1一]\s*步", text)


def _ranked(r: _Reading) -> Request | None:
    if r.limit is not None:
        return None
    # the name may hold the side: "the five slowest steps"
    named = any(re.search(r"(?i)slowest|fastest|最慢|最快", mention.text) for mention in r.query.mentions)
    spoken = r.text if named else r.rest
    match = words()["rank"].search(spoken)
    if match is not None:
        word = next(
            (
                group
                for group in match.groups()
                if group
                and (group.lower() in _RANKS or group[0].isdigit() or set(group) <= set("一二三四五六七八九十"))
            ),
            "2",
        )
        number = _RANKS.get(word.lower()) or (
            int(re.sub(r"\D", "", word)) if word[0].isdigit() else chinese_number(word)
        )
        high = not re.search(r"(?i)(?<!s)lowest|smallest|shortest|fastest|min|低|小|短|少|快|差|worst", match.group())
        if re.search(r"(?i)best|worst", match.group()) and SMALL_IS_GOOD.search(r.keys[0]):
            high = not high
        return Request("rank", r.scope, high=high, number=number, text=r.rest) if number > 1 else None
    match = words()["top_count"].search(spoken)
    if match is None:
        return None
    number = int(next(group for group in match.groups() if group))
    side = r.side
    if side is None:
        side = not re.search(r"(?i)bottom|fastest|低|小|短|快", match.group())
    return Request("top", r.scope, high=side, number=number, text=r.rest) if number > 1 else None


def _statistics(r: _Reading) -> Request | None:
    pointed = r.query.steps.kind in {"single", "pair", "last", "first"}
    if (r.limit is not None or pointed) and not r.opened:
        return None
    spoken = r.rest
    order: list[tuple[int, str]] = []
    for name in ("median", "std", "variance", "range"):
        if match := words()[name].search(spoken):
            order.append((match.start(), name))
    for match in words()["percentile"].finditer(spoken):
        order.append((-1, f"p{next(group for group in match.groups() if group)}"))
    mean = words()["mean"].search(spoken)
    # "How long did it take in total" has a writer of its own; beside another statistic the sum of a key is meant.
    other = set(r.query.topics) - ({"total_time"} if mean or order else set())
    match = words()["sum"].search(spoken)
    if match is not None and not other and not words()["not_sum"].search(spoken):
        order.append((match.start(), "sum"))
    fresh = bool(order) or words()["ratio"].search(spoken) is not None
    if mean is not None and not _of_window(spoken, mean):
        order.append((mean.start(), "mean"))
    sides = [(name, words()[pattern].search(spoken)) for name, pattern in (("max", "high"), ("min", "low"))]
    named = [(match.start(), name) for name, match in sides if match is not None]
    if not named and r.side is not None and r.opened:
        named = [(len(spoken), "max" if r.side else "min")]
    if "range" not in {name for _, name in order}:
        order += named
    if not order and r.opened and r.query.op in {"max", "min", "mean", "argmax", "argmin"}:
        order = [(0, str(r.query.op).removeprefix("arg"))]
    if not order and r.opened and words()["mean"].search(r.text):
        order = [(0, "mean")]  # said in the metric's name: "the mean response length after step 100"
    if "std" in {name for _, name in order} and _spread_key(r):
        order = [one for one in order if one[1] != "std"]
        fresh = fresh and len(order) > 0
    if not order or not (fresh or r.opened):
        return None
    if r.has("judging") or (r.query.intent in {"compare", "trend", "health"} and not fresh):
        return None
    statistics = tuple(dict.fromkeys(name for _, name in sorted(order)))
    return Request("statistics", r.scope, statistics=statistics, text=r.rest)


def _spread_key(r: _Reading) -> bool:
    """Whether the log holds a key for the spread asked for, and that key was taken: its values are asked for."""
    spoken = " ".join(m.text for m in r.query.mentions).lower()
    return any(key.endswith(("/std", "_std")) for key in r.keys) and "std" not in spoken


def _of_window(text: str, match: re.Match[str]) -> bool:
    return re.search(r"(?i)(?:moving|rolling|running|滑动|移动)\s*$", text[: match.start()]) is not None


def _changed(r: _Reading) -> Request | None:
    if len(r.keys) > 1 and re.search(r"(?i)same|一样|相同|equal|identical", r.rest):
        return None  # whether they agree with each other
    single = r.query.steps.kind in {"none", "all", "range", "last_n", "first"}
    return Request("changed", r.scope, text=r.rest) if r.has("changed") and single and r.limit is None else None


def _values(r: _Reading) -> Request | None:
    """ "entropy after step 150", with nothing said of what is wanted of it."""
    if not r.opened or r.limit is not None or r.query.intent not in {"lookup", "define", "validation"} or r.scope.whole:
        return None
    return Request("values", r.scope, statistics=("mean", "max", "min"), text=r.rest)


_EVER = re.compile(r"(?i)\b(?:ever|never|any|always|all)\b|有没有|曾|出现过|有过|一直|始终|从来|[不没]再")
#: Asks of the latest (or the first) value alone whether it meets a limit.
OF_ONE = re.compile(
    r"(?i)^\W*(?:(?:and|but|so) )?(?:is|was|are|were)\b(?: the| our| my)? ?(?:very )?"
    r"(?:last|latest|final|most recent|current|first|initial)\b(?! (?:\d|time|two|three|few))"
)
#: Computations whose words mean nothing else, whatever the question's intent was taken for.
_DISTINCT: tuple[Reader, ...] = (_correlation, _at_extreme, _difference, _window, _streak, _missing)
_READERS: tuple[Reader, ...] = (_conditional, _ranked, _statistics, _changed, _values)
