"""Happenings that a question names instead of a step: "its peak", "the best val score", "the end", "first above 0.5".

Each is looked up in the log, so that "after its peak" is a part of the run as "after step 280" is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.ask.blanking import spans_of, without_names
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context
from assistant.ask.logged import STEP_TIME
from assistant.ask.naming import central
from assistant.ask.part import part_of
from assistant.ask.query import Query
from assistant.ask.scope import scope_in
from assistant.ask.subject import words_of
from assistant.ask.wording import normalised
from assistant.model import Run

_HIGH: Final = (
    r"peak(?:ed|s)?|maxim(?:um|a)|max|highest(?: (?:point|value|level|step))?|top|largest|biggest|longest|slowest|spike"
    r"|峰值|最高(?:点|值|那步|的那步|处)?|最大(?:值|那步|的那步|处)?|顶点|高点|最长(?:那步|的那步)?|最慢(?:那步|的那步)?"
)
_LOW: Final = (
    r"bottom(?:ed)?(?: out)?|trough|minim(?:um|a)|min|low(?:est)?(?: (?:point|value|level|step))?|smallest"
    r"|shortest|fastest|dip"
    r"|谷底|最低(?:点|值|那步|的那步|处)?|最小(?:值|那步|的那步|处)?|低点|最短(?:那步|的那步)?|最快(?:那步|的那步)?"
)
_BEST: Final = r"best|最好(?:的)?(?:那次|那步|一次)?|最佳"
_WORST: Final = r"worst|最差(?:的)?(?:那次|那步|一次)?"
_ENDS: Final = (
    (
        "last",
        re.compile(
            r"(?i)\b(?:the )?(?:very )?(?:end|finish)\b|\bnow\b|最后|末尾|结束|现在|末步"
            r"|\b(?:the )?(?:last|final|latest) (?:logged )?(?:step|row|iteration|value|eval\w*|val\w*)"
        ),
    ),
    (
        "first",
        re.compile(
            r"(?i)\b(?:the )?(?:very )?(?:start|beginning)\b|开头|开始|起点|首步"
            r"|\b(?:the )?(?:first|initial) (?:logged )?(?:step|row|iteration|value|eval\w*|val\w*)"
        ),
    ),
)
_STEP: Final = re.compile(r"(?i)(?:step|iteration|iter|第)\s*(\d{1,8})(?![\d.])|(?<![\d.])(\d{1,8})\s*步")
#: "after its peak", "before the KL's lowest point": a part of the run told by an extreme; names of metrics are blanked.
_ANCHOR: Final = re.compile(
    r"(?i)\b(?P<side>after|past|following|before|prior to|until|since)\s+"
    r"(?:the|its|that|their|this|it|they)?\s*(?:'s\s+)?(?:had\s+|has\s+)?"
    rf"(?:(?P<high>{_HIGH})|(?P<low>{_LOW})|(?P<best>{_BEST})|(?P<worst>{_WORST}))\b"
    r"(?:\s+(?:point|value|step|eval\w*|val\w*|one|score)\b)?"
    rf"|(?P<zh>(?:(?P<zhigh>{_HIGH})|(?P<zlow>{_LOW})))(?:的)?(?P<zside>之后|以后|过后|之前|以前|后面|前面)"
)
#: What is asked of a peak itself has a writer of its own.
_NOT_AFTER: Final = re.compile(
    r"(?i)\b(?:how (?:far|much)|by how much|why|how come)\b|为(?:什么|啥|何)|多少(?!步)|几倍|跌了|降了|drawdown"
)
#: What lies behind a low point is asked of the part from there on.
_ROSE: Final = re.compile(
    r"(?i)[涨升高](?:了|回)?(?:多少|几)|反弹|回升|\b(?:ris|rose|climb|grow|grew|rebound|gain|increas)\w*"
)
_WHY: Final = re.compile(r"(?i)\bwhy\b|\bhow come\b|为(?:什么|啥|何)|drawdown")


@dataclass(frozen=True, slots=True)
class Happening:
    """A step that a question means without its number.

    Attributes:
        step: the step.
        metric: whose value tells it; ``None`` for an end of the run or a step named.
        side: ``high`` or ``low`` for an extreme, ``limit`` for a crossing, ``step`` for a step, ``first`` or ``last``.
    """

    step: int
    metric: str | None
    side: str


def extreme(run: Run, metric: str, *, high: bool) -> Happening | None:
    """Where a metric is highest or lowest, the earliest of equals; ``None`` without a finite value."""
    steps, values = run.series(metric)
    finite = [(float(value), step) for step, value in zip(steps, values, strict=True) if math.isfinite(value)]
    if not finite:
        return None
    best = (max if high else min)(value for value, _ in finite)
    return Happening(next(step for value, step in finite if value == best), metric, "high" if high else "low")


def happening_in(text: str, keys: Sequence[str], run: Run) -> Happening | None:
    """The happening that a piece of a question names, of the first of some metrics; ``None`` where it names none."""
    metric = keys[0] if keys else None
    if metric is not None:
        good = SMALL_IS_GOOD.search(metric) is None
        for words, high in ((_BEST, good), (_WORST, not good), (_HIGH, True), (_LOW, False)):
            if re.search(rf"(?i)(?<![A-Za-z])(?:{words})(?![A-Za-z])", text):
                return extreme(run, metric, high=high)
        limit = condition_in(text)
        if limit is not None:
            steps, values = run.series(metric)
            limit = limit.scaled(max((abs(float(v)) for v in values if math.isfinite(v)), default=0.0))
            at = next(
                (s for s, v in zip(steps, values, strict=True) if math.isfinite(v) and limit.holds(float(v))), None
            )
            return None if at is None else Happening(at, metric, "limit")
    match = _STEP.search(text)
    if match is not None:
        return Happening(int(match[1] or match[2]), None, "step")
    for side, pattern in _ENDS:
        if pattern.search(text) and run.distinct_steps:
            held = run.series(metric)[0] if metric is not None else run.distinct_steps
            return Happening((held or run.distinct_steps)[-1 if side == "last" else 0], metric, side)
    return None


def anchored(query: Query, run: Run) -> tuple[str, Happening] | None:
    """A question with "after its peak" told by the step's number, and that peak; ``None`` where there is none.

    Args:
        query: the question as understood.
        run: the log.
    """
    text = normalised(query.wording or query.text)
    if (slow := _slowest(text, query, run)) is not None:
        return slow
    near = _nearest_step(text, query, run) or _crossed(text, query, run) or _chosen(text, query, run)
    if near is not None:
        return near
    match = _ANCHOR.search(without_names(text, query.mentions))
    if match is None:
        return None
    held = [m for m in query.mentions if m.key is not None and m.key in run.columns]
    start = match.start()
    inside = [m for m in held if any(start <= at < match.end() + 2 for at, _ in spans_of(text, m))]
    for mention in held if match["zh"] else ():  # "KL 的峰值之后": the name stands before
        before = [span for span in spans_of(text, mention) if re.fullmatch(r"[\s的]*", text[span[1] : start])]
        if before and before[0][1] <= start:
            inside, start = [mention], before[0][0]
    keys = central([str(m.key) for m in inside or held])
    if len(keys) != 1:
        return None  # of several, which one's is not said
    of_itself = not inside or {m.key for m in held} <= {m.key for m in inside}
    rebound = bool(match["low"] or match["zlow"]) and _ROSE.search(text) is not None
    if (_NOT_AFTER if of_itself and not rebound else _WHY).search(text):
        return None
    good = SMALL_IS_GOOD.search(keys[0]) is None
    high = bool(match["high"] or match["zhigh"]) or bool(match["best"] if good else match["worst"])
    found = extreme(run, keys[0], high=high)
    if found is None:
        return None
    said = f"step {found.step} {match['zside']}" if match["zh"] else f"{match['side']} step {found.step}"
    # "the reward after the KL's peak" is about the reward; of the KL alone, the name is kept
    whole = re.search(r"(?i)\bhappen\w*|\bgoing on\b|发生|怎么了|怎么回事", text) is not None
    name = f" ({inside[0].text})" if inside and len(inside) == len(held) and not whole else ""
    return f"{text[:start]}{said}{name}{text[match.end() :]}", found


#: "of the slowest step": the step, where something else is asked of it.
_SLOWEST: Final = re.compile(
    r"(?i)\b(?:on|at|in|for|of|during) the (?:(slowest|longest)|fastest|quickest) step\b"
    r"|最(?:(慢)|快)的?(?:那|这)?一?步的?"
)
_OF_STAGES: Final = re.compile(
    r"(?i)\b(?:which|why|what (?:made|caused|took))\b|为什么|为啥|哪个?(?:阶段|环节|部分)|花在"
)
_PORTION: Final = re.compile(r"(?i)%|\bpercent\w*|\bshare\b|\bfraction\b|\bproportion\b|\bratio\b|占|比例|几成")


def _slowest(text: str, query: Query, run: Run) -> tuple[str, Happening] | None:
    """A share asked of the slowest (or fastest) step, told by that step's number."""
    match = _SLOWEST.search(text)
    metric = next((name for name in STEP_TIME if name in run.columns), None)
    others = {m.key for m in query.mentions if m.key is not None} - set(STEP_TIME)
    if match is None or metric is None or not others or (_OF_STAGES.search(text) and _PORTION.search(text) is None):
        return None
    touching = [m for m in query.mentions if m.key in others and any(
        re.fullmatch(r"[\s的]*", text[end : match.start()]) and end <= match.start() for _, end in spans_of(text, m)
    )]  # fmt: skip
    if touching and not match.group().isascii():
        return None  # "生成最快的一步": of that stage, and not of the step
    found = extreme(run, metric, high=bool(match[1] or match[2]))
    if found is None:
        return None
    said = f" at step {found.step}" if match.group().isascii() else f"step {found.step} 的"
    return f"{text[: match.start()]}{said}{text[match.end() :]}", found


#: "on the lowest one", "at its highest": the extreme of what the clause before was about.
_THAT_ONE: Final = re.compile(
    r"(?i)\b(?:on|at|in|for) (?:the|its|their|that) (?:(highest|largest|longest|slowest|biggest|peak|max(?:imum)?)"
    r"|(?:lowest|smallest|shortest|fastest|min(?:imum)?|bottom))(?: (?:one|step|point|of (?:those|these|them)))?"
    r"(?=\s*[?.,]*\s*$)"
    r"|其中最(?:(高|大|长|慢)|(?:低|小|短|快))的?那?一?(?:步|次|个)的?"
)


#: "the step closest to 250".
_NEAR_STEP: Final = re.compile(
    r"(?i)\b(?:the )?(?:logged |last |validation )?(?:step|eval\w*|validation|point|row) (?:that is |which is )?"
    r"(?:closest|nearest) to (?:step )?(\d{1,8})"
    r"|(?:离|距离?|最接近)\s*(?:第|step)?\s*(\d{1,8})\s*步?最近的?那?一?(?:步|次)?"
)


def _nearest_step(text: str, query: Query, run: Run) -> tuple[str, Happening] | None:
    match = _NEAR_STEP.search(text)
    metric = next((m.key for m in query.mentions if m.key is not None and m.key in run.columns), None)
    if match is None or metric is None or not (held := run.series(metric)[0]):
        return None
    wanted = int(match[1] or match[2])
    step = min(held, key=lambda one: (abs(one - wanted), one))
    return f"{text[: match.start()]} step {step}{text[match.end() :]}", Happening(step, None, "step")


#: "before and after kl passed 2": a part told by where another metric crossed a limit.
_CROSSED: Final = re.compile(
    r"(?i)\b(?P<side>before and after|before|after|since|until)\s+(?P<what>(?:the\s+)?\s*(?:first\s+)?(?:had\s+)?"
    r"(?:pass(?:ed|es)|cross(?:ed|es)|exceed(?:ed|s)|reach(?:ed|es)|hit"
    r"|(?:went|got|goes|gets|rose|fell|dropped|climbed)\s+"
    r"(?:above|over|below|under|past|to))\s*-?\d[\d.e-]*\s*%?)"
)
#: "reward 过 5 之后平均多少", "kl 超过 0.1 以前的熵".
_CROSSED_ZH: Final = re.compile(
    r"(?P<what>(?:第一次|首次)?(?:超过|突破|高于|大于|达到|升到|涨到|低于|小于|跌破|降到|跌到|掉到|过|到)了?\s*-?\d[\d.e-]*\s*%?)"
    r"\s*(?:的)?(?P<side>之后|以后|过后|之前|以前)(?!有没有|还有没有|是否|又|再)"
)
_SUMMED: Final = re.compile(
    r"(?i)\b(?:mean|average|avg|median|max\w*|min\w*|highest|lowest|std)\b|before and after|平均|中位"
)


def _crossed(text: str, query: Query, run: Run) -> tuple[str, Happening] | None:
    bare = without_names(text, query.mentions)
    match = _CROSSED.search(bare)
    if match is None and (zh := _CROSSED_ZH.search(bare)) is not None and _SUMMED.search(text):
        return _crossed_zh(text, query, run, zh)
    if match is None or _SUMMED.search(text) is None:
        return None
    held = [m for m in query.mentions if m.key is not None and m.key in run.columns]
    inside = [m for m in held if any(match.start() <= at < match.end() for at, _ in spans_of(text, m))]
    if len({m.key for m in inside}) != 1 or not {m.key for m in held} - {m.key for m in inside}:
        return None
    words = re.sub(r"(?i)\b(?:pass|cross)(?:ed|es)\b", "above", match["what"])
    found = happening_in(words, [str(inside[0].key)], run)
    if found is None or found.side != "limit":
        return None
    return f"{text[: match.start()]}{match['side']} step {found.step}{text[match.end() :]}", found


#: "at the best val step": where two metrics are set against each other at the extreme of one of them.
_CHOSEN: Final = re.compile(
    r"(?i)\b(?:at|on|in|for) (?:the |its )?(?:(?P<best>best|lowest|highest|worst)) (?:val\w*|eval\w*)?\s*"
    r"(?:loss |acc\w* |score )?(?:step|iter\w*|checkpoint|point|one)\b"
    r"|(?P<zh>最[低高小大好佳差])(?:值)?(?:的)?(?:那(?:一)?(?:步|次)|时候?(?!间)|处)(?:[,，]|的)?"
)
_SIDE_BY_SIDE: Final = re.compile(r"(?i)差|相减|减去|\bexceed\w*|\bgap\b|\bdiffer\w*|\babove\b|\bapart\b|\bminus\b")
_HELD_OUT: Final = re.compile(r"(?i)(?:^|[-_/ .])(?:val|valid|validation|eval|evaluation|test)(?=$|[-_/ .@])")


def _chosen(text: str, query: Query, run: Run) -> tuple[str, Happening] | None:
    """A difference of two metrics asked at the extreme of the validated one of them, told by that step's number."""
    match = _CHOSEN.search(text)
    held = [m for m in query.mentions if m.key is not None and m.key in run.columns]
    keys = list(dict.fromkeys(str(m.key) for m in held))
    if match is None or len(keys) != 2 or _SIDE_BY_SIDE.search(text) is None:
        return None
    validated = [key for key in keys if _HELD_OUT.search(key)]
    if len(validated) != 1:
        return None
    small = SMALL_IS_GOOD.search(validated[0]) is not None
    word = (match["best"] or match["zh"]).lower()
    high = word in {"highest", "最高", "最大"} or (word in {"best", "最好", "最佳"}) != small
    high = high and word not in {"lowest", "最低", "最小"}
    if word in {"worst", "最差"}:
        high = small
    found = extreme(run, validated[0], high=high)
    if found is None:
        return None
    said = f" step {found.step} 时 " if match["zh"] else f" at step {found.step} "
    return f"{text[: match.start()]}{said}{text[match.end() :]}", found


def _crossed_zh(text: str, query: Query, run: Run, match: re.Match[str]) -> tuple[str, Happening] | None:
    """As :func:`_crossed`, of the metric that stands right before the limit; the name of the only one is kept."""
    held = [m for m in query.mentions if m.key is not None and m.key in run.columns]
    before = [
        (m, span) for m in held for span in spans_of(text, m) if re.fullmatch(r"[\s的]*", text[span[1] : match.start()])
        and span[1] <= match.start()
    ]  # fmt: skip
    keys = central(list(dict.fromkeys(str(m.key) for m, _ in before)))
    if len(keys) != 1:
        return None
    words = re.sub("(?<!超)过(?=了?\\s*-?\\d)", "超过", match["what"])
    found = happening_in(words, keys, run)
    if found is None or found.side != "limit":
        return None
    alone = {m.key for m in held} <= {m.key for m, _ in before}
    start = match.start() if alone else min(span[0] for _, span in before)
    gap = " " if alone else ""
    return f"{text[:start]}{gap}step {found.step} {match['side']}{text[match.end() :]}", found


def at_that_one(context: Context, clause: str) -> str:
    """A clause with "on the lowest one" told by the step at which the answered metric is lowest in the part told."""
    match = _THAT_ONE.search(clause)
    keys = [metric for metric in dict.fromkeys(context.metrics) if metric in context.run.columns]
    if match is None or not keys:
        return clause
    part = part_of(context, keys[0], scope_in(words_of(context), context.train_steps))
    if not len(part):
        return clause
    at = part.steps[part.values.index((max if match[1] or match[2] else min)(part.values))]
    said = f"at step {at}" if match.group().isascii() else f"step {at} 的"
    return f"{clause[: match.start()]}{said}{clause[match.end() :]}"


def told(context: Context, found: Happening) -> None:
    """Says at which step the happening is that a question named, after the answer's first paragraph."""
    fact = None if found.metric is None else context.value(found.metric, found.step)
    if fact is not None and context.doc.blocks:
        context.doc.blocks.insert(1, context.say(f"happening.{found.side}", metric=found.metric or "", v=fact))
