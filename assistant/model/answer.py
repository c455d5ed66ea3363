"""The answer object of the contract, ``metric-assistant/answer/1``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.model.fact import Fact, Finding
from assistant.model.run import Number, json_number

SCHEMA = "metric-assistant/answer/1"

Intent = Literal[
    "explain", "define", "compare", "trend", "health", "lookup",
    "bottleneck", "validation", "derive", "advice", "forecast", "out_of_scope",
]  # fmt: skip
StepKind = Literal["none", "single", "pair", "range", "last_n", "first", "last", "all"]
Op = Literal["max", "min", "mean", "argmax", "argmin", "first_crossing", "count"]
Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class StepSlot:
    """Which steps a question is about; ``values`` as the kind needs (``last_n``: the count)."""

    kind: StepKind = "none"
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    """What was understood of a question."""

    metrics: tuple[str, ...] = ()
    steps: StepSlot = field(default_factory=StepSlot)
    op: Op | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's object."""
        return {
            "metrics": list(self.metrics),
            "steps": {"kind": self.steps.kind, "values": list(self.steps.values)},
            "op": self.op,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one-word outcome, its sentence, and how sure it is."""

    code: str
    summary: str
    confidence: Confidence = "high"


@dataclass(frozen=True, slots=True)
class Citation:
    """A card that the answer draws on."""

    id: str
    card: str
    title: str
    source: str


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart; steps and values are of equal length."""

    run: str
    metric: str
    steps: tuple[int, ...]
    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as data; the surface draws it."""

    title: str
    kind: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters ``start:end`` of the answer state fact (or citation) ``fact``."""

    start: int
    end: int
    fact: str


@dataclass(frozen=True, slots=True)
class Grounding:
    """What the check found: numbers in the text, how many a fact supports, and the sentences withheld."""

    numbers: int = 0
    supported: int = 0
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of an answer: tokens, calls, seconds; with a model, its name and US dollars where its price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    llm_calls: int = 0
    seconds: float = 0.0
    model: str | None = None
    cost_usd: float | None = None
    cached: bool = False

    def to_json(self) -> dict[str, Any]:
        """The contract's object; the model, its cost and the cache are told where there is something to tell."""
        more = {"model": self.model, "cost_usd": self.cost_usd, "cached": self.cached or None}
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "llm_calls": self.llm_calls,
            "seconds": self.seconds,
            **{name: value for name, value in more.items() if value is not None},
        }


@dataclass(frozen=True)
class Answer:
    """One answer; :meth:`to_json` gives the object that every surface returns.

    ``problem`` is a one-line statement of what the user can mend (a step that is not in the log, a
    metric that nobody knows, no metric at all); the command line exits with 2 when it is set.
    """

    question: str
    language: str
    engine: str
    intent: Intent
    slots: Slots
    verdict: Verdict
    answer: str
    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    citations: tuple[Citation, ...] = ()
    charts: tuple[Chart, ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    mentions: tuple[Mention, ...] = ()
    grounding: Grounding = field(default_factory=Grounding)
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's answer object."""
        return {
            "schema": SCHEMA,
            "question": self.question,
            "language": self.language,
            "engine": self.engine,
            "intent": self.intent,
            "slots": self.slots.to_json(),
            "verdict": {
                "code": self.verdict.code,
                "summary": self.verdict.summary,
                "confidence": self.verdict.confidence,
            },
            "answer": self.answer,
            "findings": [f.to_json() for f in self.findings],
            "facts": [f.to_json() for f in self.facts],
            "citations": [{"id": c.id, "card": c.card, "title": c.title, "source": c.source} for c in self.citations],
            "charts": [
                {
                    "title": c.title,
                    "kind": c.kind,
                    "series": [
                        {
                            "run": s.run,
                            "metric": s.metric,
                            "steps": list(s.steps),
                            "values": [json_number(v) for v in s.values],
                        }
                        for s in c.series
                    ],
                }
                for c in self.charts
            ],
            "runs": [dict(r) for r in self.runs],
            "mentions": [{"start": m.start, "end": m.end, "fact": m.fact} for m in self.mentions],
            "grounding": {
                "numbers": self.grounding.numbers,
                "supported": self.grounding.supported,
                "unsupported": list(self.grounding.unsupported),
            },
            "usage": self.usage.to_json(),
            "warnings": list(self.warnings),
            "suggestions": list(self.suggestions),
        }
