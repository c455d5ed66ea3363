"""From a question to intent and slots, by patterns that stand in ``patterns.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from assistant.ask.steps import SLOWEST_STEP, step_marks, threshold_in, western_numbers
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run, Slots, StepSlot
from assistant.model.answer import Intent, Op

Depth = Literal["brief", "normal", "detailed", "every"]
_FULL_WIDTH = str.maketrans({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " "})


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
        step_marks: where in the question each step stands, as (position, step).
        guessed: no pattern told what is asked; the intent is the usual one for such a question.
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
    guessed: bool = False
    step_marks: tuple[tuple[int, int], ...] = ()

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
    split: re.Pattern[str]


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
        split=compiled(raw["split"]),
    )


def language_of(text: str, default: str = "en") -> str:
    """Language of the text around keys, steps and numbers: ``zh`` unless it holds more English words than characters.

    Text with neither (empty, or nothing but a key) gives the default.
    """
    rest = re.sub(r"`[^`]*`|[A-Za-z_-]+(?:[/_@][A-Za-z0-9_@.-]+)+|(?:step|第)\s*\d+\s*步?|\d[\d.,e+-]*", " ", text)
    chinese = len(re.findall(r"[\u3400-\u9fff]", rest))
    english = len(re.findall(r"[A-Za-z]{2,}", rest))
    if not chinese and not english:
        return "zh" if re.search(r"[\u3400-\u9fff]", text) else default
    return "zh" if chinese >= english else "en"


def understand(
    question: str, resolver: Resolver, runs: Sequence[Run], *, language: str, state: State | None = None
) -> Query:
    """Intent and slots of a question about some runs (``runs`` may be empty).

    An empty question asks for an explanation of everything that matters.
    """
    text = western_numbers(question.translate(_FULL_WIDTH).strip())
    if not text:
        return Query(question, language, "explain", steps=StepSlot("none"))
    patterns = _patterns()
    run = runs[0] if runs else None
    mentions = tuple(resolver.mentions(text, run.metrics if run else (), run.framework if run else None))
    mentions = tuple(m for m in mentions if not re.fullmatch(r"(?i)steps?|global_step|training/global_step", m.text))
    if not mentions and run is not None and (slow := SLOWEST_STEP.search(text)):
        held = next((m for m in ("timing_s/step", "perf/time_per_step", "step_time") if m in run.metrics), None)
        if held is not None:
            card = resolver.key(held, run.framework)
            mentions = (Mentioned(slow.start(), slow.start(), held, card.card if card else None, held),)
    steps, marks = step_marks(text, patterns.steps, run)
    all_steps = tuple(dict.fromkeys(step for _, step in marks))
    bare = _blank(text, [(m.start, m.end) for m in mentions])
    keyless = _blank(text, [(m.start, m.end) for m in mentions if "/" in m.text])
    seen = {"validation": text, "derive": keyless}  # what metric names themselves say ("accuracy", "batch size")
    scores = {
        name: sum(weight for pattern, weight in items if pattern.search(seen.get(name, bare)))
        for name, items in patterns.intents
    }
    op = next((cast("Op", name) for name, pattern in patterns.operations if pattern.search(bare)), None)
    threshold = threshold_in(bare)
    if re.match(r"(?i)\s*(why|为什么|为何|how come)", text):
        op = None
    topics = tuple(name for name, pattern in patterns.topics if pattern.search(keyless))
    depth: Depth = next((cast("Depth", name) for name, pattern in patterns.depth if pattern.search(text)), "normal")
    query = Query(
        question,
        language,
        "explain",
        mentions,
        steps,
        all_steps,
        op if mentions or op == "count" else None,
        topics,
        depth,
        threshold,
        step_marks=marks,
    )
    return _decide(query, text, scores, patterns, state)


def _decide(query: Query, text: str, scores: dict[str, float], patterns: _Patterns, state: State | None) -> Query:
    mentions, steps = query.mentions, query.steps
    known = bool(mentions) or steps.kind != "none"
    follows = state is not None and state.intent is not None
    if (
        not known
        and not follows
        and (patterns.out_of_domain.search(text) or (not patterns.domain.search(text) and not max(scores.values())))
    ):
        return replace(query, intent="out_of_scope")
    order = [name for name, _ in patterns.intents]
    leading = max(order, key=lambda name: scores[name])
    vague = leading in {"forecast", "define", "lookup", "compare"} and not patterns.domain.search(text)
    if vague and not known and not follows:
        return replace(query, intent="out_of_scope")
    if len(query.all_steps) >= 2 and not scores["derive"] and steps.kind != "range":
        scores["compare" if scores["compare"] or not mentions else "lookup"] += 2.0
    if mentions and not any(scores.values()):
        scores["lookup" if steps.kind not in {"none", "all", "range", "last_n"} else "define"] += 1
    if query.op and mentions:
        scores["lookup"] += 3
    if query.threshold and mentions and not scores["forecast"]:
        scores["lookup"] += 3
    if len(mentions) > 1 and steps.kind == "none" and re.search(r"区别|difference between|differ", text):
        scores["define"] += 5
    elif mentions and steps.kind in {"none", "all"} and scores["compare"] and scores["trend"]:
        scores["trend"] += scores["compare"]
    elif len(query.all_steps) > 1 and re.search(r"差多少|差了多少", text):
        scores["compare"] += 3
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
    if scores["derive"] and query.topics == ("batch",) and any(m.key for m in mentions):
        scores["lookup"] += scores["derive"] + 1  # "how many trajectories hit the limit": a metric's count
        scores["derive"] = 0
    if scores["derive"]:
        scores["lookup"] -= 3
    best = max(order, key=lambda name: (scores[name], -order.index(name)))
    guessed = scores[best] <= 0
    if guessed:
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
    if best == "trend" and query.steps.kind == "pair":
        best = "compare"  # two points are compared; a trend takes more
    if best == "compare" and query.steps.kind == "range":
        query = replace(query, steps=StepSlot("pair", query.steps.values))
    return replace(query, intent=cast("Intent", best), guessed=guessed and not follow_up)


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)


def parts(question: str) -> list[str]:
    """The questions that one text asks, where each part stands on its own; else the whole text."""
    text = question.translate(_FULL_WIDTH).strip()
    pieces = [piece.strip(" ,，、") for piece in _patterns().split.split(text)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    if not 2 <= len(pieces) <= 4 or len(text) > 400:
        return [question]
    strong = [
        max(sum(w for p, w in items if p.search(piece)) for _, items in _patterns().intents) >= 2 for piece in pieces
    ]
    return pieces if all(strong) else [question]


_ASKS = re.compile(
    r"(?i)\s*(?:(?:hi|hello|hey|ok|so|and|please|pls|now|also|but|then)[,.!]?\s+)*"
    r"(?:(?:can|could|would|will) (?:you|u)\s+(?:please )?)?"
    r"(?:explain|analy[sz]e|interpret|summari[sz]e|describe|compare|tell|show|give|help|check|look|read|walk|break|plot|find|"
    r"list|forecast|predict|evaluate|review|define|what|what's|why|how|which|when|where|who|is|are|was|were|did|do|does|has|have|"
    r"had|should|can|could|would|will|any|anything|anyone|i\b|we\b|my\b|our\b|this|the|entropy|kl|reward|loss|trend|deep)\b"
)


def off_topic(question: str) -> bool:
    """Whether a question is plainly about something else than training."""
    return _patterns().out_of_domain.search(question) is not None


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
    if language_of(clean) == "en" and not _ASKS.match(clean):
        return False  # a program's remark ("Next step: evaluate with …") rather than a person's request
    score = max(sum(weight for pattern, weight in items if pattern.search(clean)) for _, items in patterns.intents)
    return score >= 2 and len(text) <= 200
