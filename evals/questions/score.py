"""Whether an answer is what a question's entry expects: one check a field, and figures over many."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from evals.questions.entries import says
from evals.questions.expected import Question

CLOSE: Final = 1e-6
"""Relative difference up to which a fact's value is the expected one."""
CATEGORY: Final = "category"
"""Kind of the entries that name a category (memory, timings): any metric may stand beside the expected ones."""
FEW: Final = 3
"""Up to this many expected metrics, an unrelated one besides is a mistake."""
WIDE: Final = frozenset(
    {"actor", "critic", "perf", "timing_s", "timing_per_token_ms", "training", "rollout_corr", "time", "system", "val"}
)
"""First components that say nothing about being related."""
WHOLE: Final = frozenset({"none", "all"})
NUMBER: Final = re.compile(r"(?<![\w.])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+−]?\d+)?(?:\s*%)?(?![\d])")
KEY: Final = re.compile(r"`[^`\n]*[A-Za-z][^`\n]*`")


@dataclass(frozen=True)
class Result:
    """One judged answer; a check that the entry does not ask for is None.

    Attributes:
        question: the entry.
        seconds: that the last turn took.
        wrong: what was wrong, one line each, for the list of misses.
        claims: forbidden claims that stand in the text.
        unsupported: numbers that no fact supports.
    """

    question: Question
    seconds: float
    intent: bool
    language: bool
    slots: bool | None = None
    verdict: bool | None = None
    wrong: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    unsupported: int = 0

    @property
    def whole(self) -> bool:
        """Whether everything is as expected."""
        return not self.wrong


@dataclass
class Figures:
    """Counts over results."""

    n: int = 0
    intent: int = 0
    language: int = 0
    slots: int = 0
    slots_n: int = 0
    verdict: int = 0
    verdict_n: int = 0
    whole: int = 0
    claims: int = 0
    unsupported: int = 0
    seconds: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        """The smallest time that at least ``share`` of the answers do not exceed (nearest rank), in seconds."""
        ordered = sorted(self.seconds)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def judge(question: Question, answer: Mapping[str, Any], seconds: float = 0.0) -> Result:
    """Checks an answer object (the contract's JSON) against an entry."""
    wrong: list[str] = []

    def check(good: bool, complaint: str) -> bool:
        if not good:
            wrong.append(complaint)
        return good

    code = answer["verdict"]["code"]
    text = f"{answer['verdict'].get('summary') or ''}\n{answer['answer']}"
    intent = check(answer["intent"] in question.intents, f"intent {answer['intent']}")
    slots: bool | None = None
    if question.has_slots:
        complaints = slot_complaints(question, answer["slots"])
        slots = not complaints
        wrong.extend(complaints)
    verdict = check(code in question.verdicts, f"verdict {code}") if question.verdicts else None
    language = check(answer["language"] in question.languages, f"language {answer['language']}")
    for fact in question.facts:
        check(holds(fact, answer["facts"], text), f"lacks {dict(fact)}")
    claims = tuple(found.group() for pattern in question.forbidden if (found := pattern.search(text)))
    for claim in claims:
        wrong.append(f"claims “{claim.strip()}”")
    unsupported = len(answer["grounding"]["unsupported"])
    return Result(question, seconds, intent, language, slots, verdict, tuple(wrong), claims, unsupported)


def failed(question: Question, error: Exception, seconds: float = 0.0) -> Result:
    """The result where there is no answer: everything asked for is wrong."""
    return Result(
        question,
        seconds,
        False,
        False,
        False if question.has_slots else None,
        False if question.verdicts else None,
        (f"raised {type(error).__name__}: {error}",),
    )


def slot_complaints(question: Question, slots: Mapping[str, Any]) -> list[str]:
    """What is wrong with the slots.

    Expected metrics must be among the answered ones; with at most three expected, no unrelated one may stand beside
    them, unless the question is about a category. ``none`` and ``all`` are one thing for steps: no step is named, and
    the whole run is meant. ``last`` is also ``last_n`` of one, and a pair has no order.
    """
    complaints = []
    answered = [str(metric) for metric in slots.get("metrics") or ()]
    if question.metrics is not None:
        lacking = [accepted[0] for accepted in question.metrics if not set(accepted) & set(answered)]
        if lacking:
            complaints.append(f"metrics {answered}, not {lacking}")
        elif 0 < len(question.metrics) <= FEW and question.kind != CATEGORY:
            meant = [key for accepted in question.metrics for key in accepted]
            extra = [key for key in answered if not any(related(key, other) for other in meant)]
            if extra:
                complaints.append(f"metrics besides: {extra}")
    steps = slots.get("steps") or {}
    if question.steps and not any(_steps_agree(expected, steps) for expected in question.steps):
        complaints.append(f"steps {steps.get('kind')} {list(steps.get('values') or ())}")
    if question.ops and slots.get("op") not in question.ops:
        complaints.append(f"op {slots.get('op')}")
    return complaints


def _steps_agree(expected: tuple[str, tuple[int, ...] | None], steps: Mapping[str, Any]) -> bool:
    kind, values = expected
    answered, numbers = str(steps.get("kind")), tuple(steps.get("values") or ())
    if kind in WHOLE:
        return answered in WHOLE
    if kind == "last" and answered == "last_n":
        return numbers == (1,)
    if kind == "pair" and values is not None:
        numbers, values = tuple(sorted(numbers)), tuple(sorted(values))
    return kind == answered and (values is None or values == numbers)


def related(one: str, other: str) -> bool:
    """Whether two keys are one quantity's statistics: the same key, or siblings under a telling parent."""
    if one == other:
        return True
    parents = [key.rsplit("/", 1)[0] if "/" in key else "" for key in (one, other)]
    if all(key.startswith("val") for key in (one, other)):  # val-core/aime_2025/acc/…: one data source, one variable
        parents = ["/".join(key.split("/")[1:3]) for key in (one, other)]
    plain = [parent.replace("_non_aborted", "") for parent in parents]
    return plain[0] == plain[1] and bool(plain[0]) and plain[0] not in WIDE


def holds(fact: Mapping[str, Any], facts: Sequence[Mapping[str, Any]], text: str) -> bool:
    """Whether an expected fact stands among the answer's facts, or an expected text or number in its text."""
    if "says" in fact:
        return says(KEY.sub(" ", text), float(fact["says"]))
    if "text" in fact:
        wanted = fact["text"]
        return any(
            has_text(str(item), text) for item in ([wanted] if isinstance(wanted, str | int | float) else wanted)
        )
    if "name" in fact:
        return any(known.get("name") == fact["name"] and _close(known.get("value"), fact["value"]) for known in facts)
    metrics = [fact["metric"]] if isinstance(fact["metric"], str) else fact["metric"]
    for known in facts:
        if known.get("metric") not in metrics or ("run" in fact and known.get("run") != fact["run"]):
            continue
        for at, value in (("step", "value"), ("from_step", "from"), ("to_step", "to")):
            if ("step" not in fact or known.get(at) == fact["step"]) and _close(known.get(value), fact["value"]):
                return True
    return False


def _close(value: Any, expected: Any) -> bool:
    if isinstance(expected, str) or isinstance(value, str) or value is None:
        return bool(value == expected)
    return math.isclose(float(value), float(expected), rel_tol=CLOSE, abs_tol=1e-12)


def numbers(text: str) -> list[tuple[Decimal, Decimal]]:
    """Numbers of a text outside of metric keys: value and unit of the last digit; a percent sign is not applied."""
    found = []
    for match in NUMBER.finditer(KEY.sub(" ", text)):
        shown = match.group()
        value = Decimal(shown.rstrip("%").strip().replace(",", "").replace("−", "-"))
        exponent = value.as_tuple().exponent
        found.append((value, Decimal(1).scaleb(int(exponent))))
    return found


def has_text(wanted: str, text: str) -> bool:
    """Whether a word stands in the text, whatever its case, or a number, at the precision wanted or finer."""
    plain = wanted.replace(",", "").strip()
    if not re.fullmatch(r"-?\d+(\.\d+)?", plain):
        return wanted.lower() in text.lower()
    number = Decimal(plain)
    last = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return any(
        shown == number or (unit <= last < 1 and abs(shown - number) <= last / 2) for shown, unit in numbers(text)
    )


def figures(results: Iterable[Result], by: Callable[[Result], str]) -> dict[str, Figures]:
    """Counts for each value of ``by``, and over all under ``all``."""
    counted: dict[str, Figures] = {}
    for result in results:
        for name in (by(result), "all"):
            row = counted.setdefault(name, Figures())
            row.n += 1
            row.intent += result.intent
            row.language += result.language
            row.slots += bool(result.slots)
            row.slots_n += result.slots is not None
            row.verdict += bool(result.verdict)
            row.verdict_n += result.verdict is not None
            row.whole += result.whole
            row.claims += bool(result.claims)
            row.unsupported += result.unsupported
            row.seconds.append(result.seconds)
    return counted


def table(counted: Mapping[str, Figures], first: str) -> str:
    """A Markdown table of figures; ``all`` is the last row."""
    head = [first, "questions", "intent", "slots", "verdict", "language of the answer", "whole answer",
            "with a forbidden claim", "unsupported numbers", "p50 s", "p99 s"]  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    for name in [*sorted(name for name in counted if name != "all"), *(["all"] if "all" in counted else [])]:
        row = counted[name]
        cells = [
            name, str(row.n), _share(row.intent, row.n), _share(row.slots, row.slots_n),
            _share(row.verdict, row.verdict_n), _share(row.language, row.n), _share(row.whole, row.n),
            str(row.claims), str(row.unsupported),
            f"{row.quantile(0.5):.3f}", f"{row.quantile(0.99):.3f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "—"
