"""What every answer needs at hand: runs, ledger, cards, language, and the document under construction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from assistant import resources
from assistant.analysis import Ledger, validation_steps
from assistant.analysis.checks import Check
from assistant.ask.query import Told
from assistant.ask.spelt import fitted
from assistant.ask.understand import Query
from assistant.knowledge import Card, Resolver
from assistant.model import Chart, Fact, Finding, Run, Series
from assistant.write import Document

_VALIDATION = ("val-core/", "val-aux/", "val/")
#: Keys of rates that are none of tokens, whatever the card of all rates says.
_OTHER_RATE = re.compile(r"(?i)flop|sample|iter|\bit/|steps?\b|\bfps\b|prompt|episode|sequence|batch")
#: Keys of times beside rates: "End-to-End/Time/seq".
_TIME_OF = re.compile(r"(?i)(?:^|/)(?:time(?:/|$)|latency)|\btook\b")
#: Keys of a log that must belong to a framework before its bare names are read as that framework's.
MANY_KEYS = 4
#: Keys that say where a row without a step stands in the training.
EPOCHS = {"epoch", "train/epoch"}
#: Ends of the names of a diagnosis's facts that are levels of a metric, shown in its unit.
_LEVELS = ("_before", "_after", "_end", "_best", "_start", "_lowest", "_high", "_low")
#: Fewest rows that tell whether every step is logged.
LEAST_ROWS = 3
#: What a finding says of the time before its onset, in brackets.
_BEFORE_IT = re.compile(r"（之前的中位数为[^）]{1,80}）| \(median before: [^)]{1,80}\)")
_BOOKKEEPING = ("training/", "timing_s/testing", "timing_s/save_checkpoint")


@lru_cache(maxsize=1)
def benchmark_sizes() -> dict[str, int]:
    """Number of problems of benchmarks known by name (``knowledge/benchmarks.yaml``)."""
    table = resources.yaml_table(resources.data_folder("knowledge") / "benchmarks.yaml")
    return {name: int(entry["problems"]) for name, entry in table.items()}


@lru_cache(maxsize=1)
def _settings_named() -> dict[str, dict[str, str]]:
    """The settings that ask for validations, by framework (``settings_named.yaml``)."""
    table = resources.yaml_table(Path(__file__).with_name("settings_named.yaml"))
    return {name: {what: str(setting) for what, setting in entry.items()} for name, entry in table.items()}


_STATISTICS = {
    "zh": {"mean": "均值", "max": "最大值", "min": "最小值"},
    "en": {"mean": "mean", "max": "maximum", "min": "minimum"},
}
_ONE = {"zh": r"(?:均值|平均|中位数|最大值?|最小值?)", "en": r"(?:mean|median|max(?:imum)?|min(?:imum)?)"}
#: A list of statistics in a card's line, in each language.
_LISTED = {
    "zh": re.compile(rf"{_ONE['zh']}(?:(?:、|与){_ONE['zh']})+"),
    "en": re.compile(rf"\b{_ONE['en']}(?:(?:, (?:and )?| and | or ){_ONE['en']}\b)+", re.IGNORECASE),
}


def is_validation(metric: str) -> bool:
    """Whether a key belongs to a validation (``val/loss`` of SFT included)."""
    return metric.startswith(_VALIDATION)


def _apart(steps: Sequence[int]) -> tuple[int, int] | None:
    """First and last of steps that are mostly more than one apart; ``None`` for others."""
    if len(steps) < LEAST_ROWS or steps[-1] - steps[0] < len(steps):
        return None
    beside = sum(b - a == 1 for a, b in pairwise(steps))
    return (steps[0], steps[-1]) if 2 * beside < len(steps) - 1 else None


#: Times of one token beside those of a step, in milliseconds.
_OF_A_TOKEN = re.compile(r"(?i)per[-_ ]token latency")
#: Keys that say themselves that they are in seconds: "iter_time_s", "step_time (s)".
_IN_SECONDS = re.compile(r"(?i)(?:time|latency|duration|elapsed|runtime)[\w /]*?(?:_s|_secs?|_seconds|\(s(?:ec)?\))$")


@dataclass
class Context:
    """State of one answer."""

    query: Query
    runs: tuple[Run, ...]
    resolver: Resolver
    ledger: Ledger
    doc: Document = field(init=False)
    findings: list[Finding] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """What may stand in backquotes beside metric keys: conditions, file names."""
    settled: bool = False
    """Whether the answer is complete as it stands, so that nothing is added about the metrics named."""
    kind: str = ""
    """The kind of question (``run_questions.yaml``) that was answered; empty for none."""
    turning: int | None = None
    """The first step after the jump that the answer told, for "before it" and "after it"."""
    cells: tuple[Told, ...] = ()
    """What the answer told of which metric and part, where it says so itself."""
    quotable: dict[str, str] = field(default_factory=dict)
    """Texts that are no card's and may be quoted all the same, by the id under which they are cited."""
    whole: Run | None = None
    """The run of which only a part is read (:mod:`assistant.ask.of_part`); ``None`` where all of it is."""
    reaching: list[Check] = field(default_factory=list)
    """Findings over the whole run that hold in the part, though its rows alone may not show them."""
    parts: dict[str, str] = field(default_factory=dict)
    """Ids under which parts of a run were looked at beside it, with the id of that run."""
    outside: list[Check] = field(default_factory=list)
    """Findings over the whole run that lie outside the part."""

    def __post_init__(self) -> None:
        self.doc = Document(self.query.language, self.kind_of)
        self.doc.rows = bool(self.runs) and self.run.step_axis == "index"
        self.doc.logged = None if not self.runs or self.doc.rows else _apart(self.train_steps)

    def narrow(self, part: Run, ledger: Ledger) -> None:
        """From here on the answer is about a part of the run; what is known of the whole run stays in the ledger."""
        self.whole, self.runs, self.ledger = self.run, (part, *self.runs[1:]), ledger
        for name in ("train_steps", "validation_steps"):
            self.__dict__.pop(name, None)
        self.doc.logged = None if self.doc.rows else _apart(self.train_steps)

    # -- the run ---------------------------------------------------------------------------------
    @property
    def run(self) -> Run:
        """The run that the question is about."""
        return self.runs[0]

    @property
    def given(self) -> tuple[Run, ...]:
        """The runs, whole, also where only a part of one is read."""
        return self.runs if self.whole is None else (self.whole, *self.runs[1:])

    @property
    def language(self) -> str:
        """Language of the answer."""
        return self.query.language

    @cached_property
    def validation_steps(self) -> list[int]:
        """Steps with a validation."""
        return validation_steps(self.run)

    @cached_property
    def train_steps(self) -> list[int]:
        """Steps with a training update: any metric that is not validation or bookkeeping."""
        rows: set[int] = set()
        for metric, column in self.run.columns.items():
            if len(rows) == len(self.run.steps):
                break
            if not is_validation(metric) and not metric.startswith(_BOOKKEEPING):
                rows.update(column.rows)
        return sorted({self.run.steps[row] for row in rows})

    def used(self, ids: Iterable[str]) -> tuple[tuple[Fact, ...], dict[str, str]]:
        """As :meth:`assistant.analysis.Ledger.used`; the facts of a part are those of the run that it is of."""
        facts, names = self.ledger.used(ids)
        of = self.parts if self.whole is None else {**self.parts, self.run.id: self.whole.id}
        return tuple(replace(fact, run=of[fact.run]) if fact.run in of else fact for fact in facts), names

    # -- cards -----------------------------------------------------------------------------------
    def card(self, metric: str) -> Card | None:
        """The card of one of the log's keys, if it is known for the log's framework.

        The same bare name (``loss``, ``kl``) means different things in different frameworks: a card of another
        framework is never taken, and where the log's framework is unknown, only for a key with a path, or when
        several of the log's keys are that card family's.
        """
        framework = self.run.framework if self.runs else None
        resolution = self.resolver.key(metric, framework)
        if resolution is None and framework is not None:
            named = [r for r in self.resolver.name(metric, framework) if not r.card.own]
            resolution = named[0] if named else None
        if resolution is None or resolution.foreign:
            return None
        card = resolution.card
        if self.runs and framework is None and "/" not in metric and not card.own:
            return card if card.framework in self._likely_frameworks else None
        return card

    @cached_property
    def _likely_frameworks(self) -> set[str]:
        """Frameworks of cards that at least four of the log's keys answer to exactly."""
        found = [r.card.framework for m in self.run.metrics if (r := self.resolver.shipped_key(m, None)) is not None]
        return {name for name in found if found.count(name) >= MANY_KEYS}

    def kind_of(self, metric: str) -> str:
        """How a metric's numbers are shown."""
        if is_validation(metric) and metric != "val/loss":
            return "fraction" if "/acc/" in metric else "number"
        card = self.card(metric)
        if metric.endswith(("slowest/prompt_length", "slowest/response_length")):
            return "tokens"
        if metric.endswith(("num_preempted", "topk_ratio")):
            return "number"
        if metric.startswith("response_length_non_aborted/"):
            return "fraction" if metric.endswith("clip_ratio") else "tokens"
        if card is not None and card.kind == "rate" and _TIME_OF.search(metric) is not None:
            return "seconds"
        if card is not None and card.kind == "rate" and _OTHER_RATE.search(metric) is not None:
            return "number"
        if card is not None and card.kind == "seconds" and _OF_A_TOKEN.search(metric) is not None:
            return "milliseconds"
        if card is not None and card.kind != "number":
            return card.kind
        if metric.startswith("timing_s/") or (card is None and _IN_SECONDS.search(metric)):
            return "seconds"
        if card is not None and card.category != "timing":
            return "number"
        return "seconds" if self.runs and self.run.framework == "RLinf" and metric.startswith("time/") else "number"

    def title(self, metric: str) -> str:
        """Plain name of a metric: its card's title, else the key."""
        card = self.card(metric)
        return card.title(self.language) if card else metric

    def cite(self, card: Card | None) -> str:
        """A reference such as ``[K1]`` to a card, empty for ``None``."""
        return "" if card is None else self.doc.cite(card.id, card.title(self.language), card.source)

    def quote(self, card: Card, section: str) -> str:
        """A card's section, verbatim and cited."""
        text = card.section(self.language, section)
        if not text:
            return ""
        title, source = card.title(self.language), card.source
        if self.runs and card.framework == "failure" and section in {"next", "not", "read"}:
            pieces = list(fitted(text, self.run, self.language, remarks=section == "not"))
            self.names.update(said.strip("`") for said, own in pieces if not own and said.startswith("`"))
            told = "".join(self.doc.quote(card.id, title, source, said) if own else said for said, own in pieces)
            return f"{told} {self.cite(card)}" if told else ""
        parts = [self.doc.quote(card.id, title, source, part) for part in text.split("\n\n")]
        return "\n\n".join(parts) + f" {self.cite(card)}"

    def short(self, card: Card) -> str:
        """A card's one line on what the number is, verbatim and cited."""
        return self.doc.quote(card.id, card.title(self.language), card.source, card.short(self.language))

    def gloss(self, metric: str) -> str:
        """A metric with its card's line and reference; empty where no card is known."""
        card = self.card(metric)
        if card is None:
            return ""
        lead = key(metric) + ("：" if self.language == "zh" else ": ")
        held = "" if not metric.startswith("eval_") or "eval" in card.keys[0] else self.say("gloss.held_out")
        return f"{lead}{self._fitted(card, metric)}{held} {self.cite(card)}"

    def _fitted(self, card: Card, metric: str) -> str:
        """A card's line; where it lists the mean, the largest and the smallest, the one that the key holds."""
        text = card.short(self.language)
        listed, words = _LISTED[self.language], _STATISTICS[self.language]
        part = next((word for word in reversed(re.split(r"[/_@]", metric)) if word in words), None)
        found = listed.search(text) if part is not None else None
        if found is None or part is None:
            return self.short(card)
        title, source = card.title(self.language), card.source
        pieces = (text[: found.start()], text[found.end() :])
        before, after = (self.doc.quote(card.id, title, source, piece) if piece else "" for piece in pieces)
        return before + words[part] + after

    def join(self, items: Iterable[str]) -> str:
        """A list in running text."""
        return ("、" if self.language == "zh" else ", ").join(items)

    # -- short cuts ------------------------------------------------------------------------------
    def say(self, phrase: str, /, **values: Any) -> str:
        """A phrase (see :meth:`Document.say`)."""
        return self.doc.say(phrase, **values)

    def setting(self, what: str, phrase: str) -> str:
        """A phrase about the setting of the log's own framework that does something; empty where none is known.

        A setting of another framework would be wrong advice, and where the framework is not known, so would any.
        """
        name = self.setting_of(what)
        gap = "" if self.language == "zh" else " "
        return gap + self.say(phrase, setting=name).strip() if name else ""

    def setting_of(self, what: str) -> str:
        """The name of a setting in the log's own framework; empty where none is known."""
        return _settings_named().get(self.run.framework or "", {}).get(what, "")

    def bound(self, change: Fact) -> str:
        """What noise alone may do to a change, 1.96 standard errors, as text tied to a fact of its own."""
        kind = self.kind_of(str(change.metric))
        limit = self.ledger.derived(
            f"noise_95/{change.metric}/{change.from_step}-{change.to_step}", 1.96 * (change.noise or 0.0),
            formula="1.96 × noise", inputs=[change], step=change.to_step,
        )  # fmt: skip
        return self.doc.show(limit, None, "points" if kind == "fraction" else kind)

    def value(self, metric: str, step: int) -> Fact | None:
        """A cell as a fact."""
        return self.ledger.value(metric, step, self.run)

    def levels(self, metric: str, trend: Fact) -> dict[str, str]:
        """Medians of the first and last third of a trend's points, as text; empty below nine points."""
        kind = self.kind_of(metric)
        shown = {}
        for name, which in (("early", "first"), ("late", "last")):
            fact = self.ledger.level(metric, trend, which, self.run)
            if fact is None:
                return {}
            shown[name] = self.doc.show(fact, None, kind)
        return shown

    def finding(self, check: Check) -> str:
        """Registers a rule's result as a finding; returns its sentence (with marks)."""
        from assistant.write.document import unmark

        facts = {name: self._level(name, fact) for name, fact in check.facts}
        sentence = self.say(check.phrase or f"finding.{check.rule}", **facts)
        found = check.diagnosis
        if found is not None and found.onset is not None and found.onset <= self.given[0].distinct_steps[0]:
            sentence = _BEFORE_IT.sub("", sentence)  # nothing lies before the first step
        self.findings.append(
            Finding(
                id=f"F{len(self.findings) + 1}", rule=check.rule, severity=check.severity, metrics=check.metrics,
                steps=check.steps, statement=unmark(sentence), evidence=tuple(f.id for _, f in check.facts),
                mode=found.mode if found else None, onset=found.onset if found else None,
                card=found.card if found else None,
                considered=tuple((other.id, other.ruled_out) for other in found.lookalikes) if found else (),
            )
        )  # fmt: skip
        return f"{sentence} {self.cite(self.resolver.library.get(found.card))}".strip() if found else sentence

    def _level(self, name: str, fact: Fact) -> Fact:
        """A diagnosis's fact, in per cent where it is a level of a share."""
        level = fact.kind == "derived" and fact.metric is not None and name.endswith(_LEVELS) and fact.unit is None
        return replace(fact, unit="fraction") if level and self.kind_of(str(fact.metric)) == "fraction" else fact

    def chart(self, title: str, metrics: Iterable[str]) -> None:
        """Attaches a line chart of some metrics; those with fewer than two points are left out."""
        series = []
        for metric in metrics:
            steps, values = self.run.series(metric)
            if len(steps) > 1:
                series.append(Series(self.given[0].id, metric, tuple(steps), tuple(values)))
        if series:
            self.charts.append(Chart(title, "line", tuple(series)))


def key(metric: str) -> str:
    """A metric key as it stands in text."""
    return f"`{metric}`"
