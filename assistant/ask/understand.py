"""From a question to intent and slots, by patterns that stand in ``patterns.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run, Slots, StepSlot
from assistant.model.answer import Intent, Op

Depth = Literal["brief", "normal", "detailed", "every"]
_FULL_WIDTH = str.maketrans({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " "})
_CHINESE_DIGITS = {
    "零": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_CHINESE_STEP = re.compile(r"(第|前|最近|最后|头)([零一二两三四五六七八九十百]{1,5})(\s*(?:个\s*)?(?:步|step|轮))")


@dataclass(frozen=True, slots=True)
class Query:
    """What was understood.

    Attributes:
        text: the question.
        language: language of the answer.
        intent: what is asked.
        mentions: metrics named, with their cards.
        steps: steps named.
        all_steps: every single step number named, in order (``did step 2 improve on step 0``: 2, 0).
        op: operation on a metric, if any.
        topics: derived quantities asked for.
        depth: how much to say.
        threshold: number compared with (``超过 0.05``), and whether above or below.
        vague: nothing but a pronoun or mood was there to go by.
    """

    text: str
    language: str
    intent: Intent
    mentions: tuple[Mentioned, ...] = ()
    steps: StepSlot = field(default_factory=StepSlot)
    all_steps: tuple[int, ...] = ()
    op: Op | None = None
    topics: tuple[str, ...] = ()
    depth: Depth = "normal"
    threshold: tuple[str, float] | None = None

    def slots(self, metrics: Sequence[str]) -> Slots:
        """The contract's slots."""
        return Slots(tuple(dict.fromkeys(metrics)), self.steps, self.op)


@dataclass(frozen=True, slots=True)
class State:
    """What a conversation carries from one question to the next."""

    intent: Intent | None = None
    mentions: tuple[Mentioned, ...] = ()
    steps: StepSlot = field(default_factory=StepSlot)
    language: str | None = None
    depth: Depth = "normal"


@dataclass(frozen=True)
class _Patterns:
    intents: tuple[tuple[str, tuple[tuple[re.Pattern[str], float], ...]], ...]
    topics: tuple[tuple[str, re.Pattern[str]], ...]
    depth: tuple[tuple[str, re.Pattern[str]], ...]
    operations: tuple[tuple[str, re.Pattern[str]], ...]
    steps: dict[str, Any]
    domain: re.Pattern[str]
    out_of_domain: re.Pattern[str]
    offer: re.Pattern[str]


#: Intents that metric names themselves speak for ("batch size", "accuracy"); the others look past them.
_WHOLE_TEXT = {"derive", "validation"}


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (Path(__file__).parent / "patterns.yaml").read_text(encoding="utf-8")
    raw = yaml.load(text, Loader=loader)

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Patterns(
        intents=tuple(
            (name, tuple((compiled(p["re"]), float(p["w"])) for p in items)) for name, items in raw["intents"].items()
        ),
        topics=tuple((name, compiled(p)) for name, p in raw["topics"].items()),
        depth=tuple((name, compiled(p)) for name, p in raw["depth"].items()),
        operations=tuple((name, compiled(p)) for name, p in raw["operations"].items()),
        steps={
            name: [compiled(p) for p in value] if isinstance(value, list) else compiled(value)
            for name, value in raw["steps"].items()
        },
        domain=compiled(raw["domain"]),
        out_of_domain=compiled(raw["out_of_domain"]),
        offer=compiled(raw["offer"]),
    )


def language_of(text: str, default: str = "en") -> str:
    """``zh`` if the text around keys and numbers holds Chinese, ``en`` if it holds other words.

    Text with neither (empty, or nothing but a key) gives the default.
    """
    if re.search(r"[\u3400-\u9fff]", text):
        return "zh"
    rest = re.sub(r"`[^`]*`|[A-Za-z_]+(?:[/_@][A-Za-z0-9_@.]+)+|\d[\d.,e+-]*", " ", text)
    return "en" if re.search(r"[A-Za-z]{2,}", rest) else default


def understand(
    question: str, resolver: Resolver, runs: Sequence[Run], *, language: str, state: State | None = None
) -> Query:
    """Intent and slots of a question about some runs (``runs`` may be empty).

    An empty question asks for an explanation of everything that matters.
    """
    text = _western_numbers(question.translate(_FULL_WIDTH).strip())
    if not text:
        return Query(question, language, "explain", steps=StepSlot("none"))
    patterns = _patterns()
    run = runs[0] if runs else None
    mentions = tuple(resolver.mentions(text, run.metrics if run else (), run.framework if run else None))
    mentions = tuple(m for m in mentions if not re.fullmatch(r"(?i)steps?|global_step|training/global_step", m.text))
    steps, all_steps = _steps(text, patterns, run)
    bare = _blank(text, [(m.start, m.end) for m in mentions])
    scores = {
        name: sum(weight for pattern, weight in items if pattern.search(text if name in _WHOLE_TEXT else bare))
        for name, items in patterns.intents
    }
    op = next((cast("Op", name) for name, pattern in patterns.operations if pattern.search(bare)), None)
    threshold = _threshold(bare)
    topics = tuple(name for name, pattern in patterns.topics if pattern.search(text))
    depth: Depth = next((cast("Depth", name) for name, pattern in patterns.depth if pattern.search(text)), "normal")
    query = Query(
        question,
        language,
        "explain",
        mentions,
        steps,
        all_steps,
        op if mentions else None,
        topics,
        depth,
        threshold,
    )
    return _decide(query, text, scores, patterns, state)


def _decide(query: Query, text: str, scores: dict[str, float], patterns: _Patterns, state: State | None) -> Query:
    mentions, steps = query.mentions, query.steps
    known = bool(mentions) or steps.kind != "none"
    if not known and (
        patterns.out_of_domain.search(text) or (not patterns.domain.search(text) and not max(scores.values()))
    ):
        return replace(query, intent="out_of_scope")
    order = [name for name, _ in patterns.intents]
    if len(query.all_steps) >= 2 and not scores["derive"]:
        scores["compare"] += 1.0 if steps.kind == "range" else 2.0
    if mentions and not any(scores.values()):
        scores["lookup" if steps.kind not in {"none", "all", "range", "last_n"} else "define"] += 1
    if query.op and mentions:
        scores["lookup"] += 3
    if not mentions:
        scores["define"] -= 3
        scores["lookup"] -= 1.5
        scores["trend"] -= 1
    elif scores["define"] and steps.kind == "none":
        scores["define"] += 1
    named = any(m.key is not None or m.card is not None for m in mentions)
    if mentions and steps.kind in {"single", "last", "first", "pair", "last_n"}:
        if scores["lookup"]:
            scores["lookup"] += 2
        if scores["define"] and re.search(r"(?i)\bwhat('s| is| was| were| are)\b", text):
            scores["lookup"] += scores["define"] + 1
    if named and scores["lookup"] and scores["validation"]:
        scores["lookup"] += 2
    if mentions and scores["trend"] and scores["compare"]:
        scores["trend"] += 1
    if scores["explain"] and scores["validation"]:
        scores["validation"] += 1
    if scores["derive"]:
        scores["lookup"] -= 3
    best = max(order, key=lambda name: (scores[name], -order.index(name)))
    if scores[best] <= 0:
        best = "explain"
    follow_up = state is not None and re.match(
        r"(?i)\s*(那|那么|and\b|what about|how about|呢|why|为什么|再|same|also)", text
    )
    if follow_up and state is not None and state.intent is not None:
        if not mentions and state.mentions and best in {"explain", "lookup"}:
            query = replace(query, mentions=state.mentions)
        if steps.kind == "none":
            query = replace(query, steps=state.steps)
        if best == "explain":
            best = state.intent
            query = replace(query, depth=state.depth if query.depth == "normal" else query.depth)
    return replace(query, intent=cast("Intent", best))


def _steps(text: str, patterns: _Patterns, run: Run | None) -> tuple[StepSlot, tuple[int, ...]]:
    rules = patterns.steps
    for pattern in rules["range"]:
        if match := pattern.search(text):
            first, last = sorted((int(match[1]), int(match[2])))
            return StepSlot("range", (first, last)), (first, last)
    if match := rules["last_n"].search(text):
        return StepSlot("last_n", (int(match[1] or match[2]),)), ()
    if match := rules["first_n"].search(text):
        count = int(match[1] or match[2])
        steps = run.distinct_steps if run else ()
        picked = steps[:count]
        return (StepSlot("range", (picked[0], picked[-1])) if picked else StepSlot("none")), ()
    found: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    for pattern in rules["single"]:
        for match in pattern.finditer(text):
            if not any(a < match.end() and match.start() < b for a, b in spans):
                spans.append(match.span())
                found.append((match.start(), int(match[1])))
                extra = re.match(r"\s*(?:,|、|和|与|跟|and|&|vs\.?|/)\s*(\d+)(?![\d.%])", text[match.end() :])
                if extra:
                    found.append((match.end(), int(extra[1])))
    numbers = tuple(dict.fromkeys(number for _, number in sorted(found)))
    if len(numbers) == 1:
        return StepSlot("single", numbers), numbers
    if numbers:
        return StepSlot("pair", numbers[:2]), numbers
    for kind in ("last", "first", "all"):
        if rules[kind].search(text):
            return StepSlot(cast("Any", kind)), ()
    return StepSlot("none"), ()


def _western_numbers(text: str) -> str:
    """``第三步`` → ``第3步``, so that one set of patterns serves."""

    def convert(match: re.Match[str]) -> str:
        return f"{match[1]}{chinese_number(match[2])}{match[3]}"

    return _CHINESE_STEP.sub(convert, text)


def chinese_number(text: str) -> int:
    """A Chinese numeral below 1000 (``三`` → 3, ``十二`` → 12, ``一百零五`` → 105)."""
    total, digit = 0, 0
    for char in text:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        else:
            total += (digit or 1) * {"十": 10, "百": 100}[char]
            digit = 0
    return total + digit


def _threshold(text: str) -> tuple[str, float] | None:
    match = re.search(
        r"(?i)(超过|高于|大于|above|over|exceed(?:s|ed)?|greater than|more than|>=?)\s*(-?\d[\d.]*(?:e-?\d+)?)"
        r"|(低于|小于|不到|below|under|less than|<=?)\s*(-?\d[\d.]*(?:e-?\d+)?)",
        text,
    )
    if match is None:
        return None
    number = (match[2] or match[4]).rstrip(".")
    return ("above" if match[1] else "below", float(number))


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)


def looks_like_question(text: str) -> bool:
    """Whether a paragraph beside a log asks something, rather than being part of the log's surroundings."""
    if not 1 < len(text) <= 600 or text.count("\n") > 8:
        return False
    clean = text.translate(_FULL_WIDTH)
    if _patterns().offer.search(clean) or re.search(r"(?m)^\s*(?:\d+[.、)]|[-*#|>])\s*\S", clean):
        return False
    if clean.rstrip().endswith("?"):
        return True
    patterns = _patterns()
    score = max(sum(weight for pattern, weight in items if pattern.search(clean)) for _, items in patterns.intents)
    return score >= 2 and len(text) <= 200
