"""What is understood of a question, and what a conversation carries on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from assistant.ask.wording import as_said
from assistant.knowledge import Mentioned
from assistant.model import Slots, StepSlot
from assistant.model.answer import Intent, Op

Depth = Literal["brief", "normal", "detailed", "every"]


@dataclass(frozen=True, slots=True)
class Told:
    """One metric that an answer told: at one step (``first`` is ``last``), over a part of the run, or (None) all.

    Attributes:
        metric: key.
        first: step.
        last: step.
        statistic: of a part, what was told of it; ``max`` or ``min`` of a step that is one; else ``value``.
    """

    metric: str
    first: int | None = None
    last: int | None = None
    statistic: str = "value"

    @property
    def alone(self) -> bool:
        """Whether it is the value of one step."""
        return self.first is not None and self.first == self.last

    @property
    def steps(self) -> tuple[int, ...]:
        """Its step, or the first and the last; none for the whole run."""
        if self.first is None or self.last is None:
            return ()
        return (self.first,) if self.alone else (self.first, self.last)

    @property
    def of_two(self) -> bool:
        """Whether it is two values rather than a statistic of a part."""
        return self.statistic == "value" and not self.alone


@dataclass(frozen=True, slots=True)
class Query:
    """What was understood.

    Attributes:
        text: the question, as typed.
        language: language of the answer.
        intent: what is asked.
        mentions: metrics named, with their cards.
        steps: steps named.
        all_steps: every single step number named, in order (``did step 2 improve on step 0``: 2, 0).
        op: operation on a metric, if any.
        topics: quantities and matters asked for, by the names of ``topics`` in ``patterns.yaml``.
        depth: how much to say.
        threshold: number compared with (``超过 0.05``), and whether above or below.
        step_marks: where in the question each step stands, as (position, step).
        guessed: no pattern told what is asked; the intent is the usual one for such a question.
        wording: the text that says what is asked: the question, or, where a follow-up only says "in English" or
            "shorter", the question before it.
        follows: what a follow-up changes of the question before: ``language``, ``depth``, ``why``, ``slots``,
            ``lasting``; empty for a question of its own.
        runs: the runs named, by their place; empty where none is.
        alternatives: other fair readings, each as a short question of its own.
        asked_op: the operation that the words name, metric or not.
        more_ops: operations asked for beside ``op`` ("max and min").
        not_finite: values that are no finite number are asked for ("how many steps have NaN").
        asked_op: the operation as asked, for the slots, where a writer takes another course.
        earlier: the step of the question before, where this one asked the same of another step.
        beside: the metrics of the question before, where this one asked the same of others.
        line: the steps that the same was asked of, one after the other, this one's last.
        other_part: the part of the run of the question before, where this one asked the same of another part.
        recalled: the values told before that this question leans on, oldest first.
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
    wording: str = ""
    follows: str = ""
    runs: tuple[int, ...] = ()
    alternatives: tuple[str, ...] = ()
    asked_op: Op | None = None
    more_ops: tuple[Op, ...] = ()
    not_finite: bool = False
    earlier: int | None = None
    beside: tuple[Mentioned, ...] = ()
    line: tuple[int, ...] = ()
    other_part: StepSlot | None = None
    recalled: tuple[Told, ...] = ()

    @property
    def said(self) -> str:
        """The question as typed, its words as the patterns know them: what writers look for words in."""
        return as_said(self.text)

    def slots(self, metrics: Sequence[str]) -> Slots:
        """The contract's slots."""
        return Slots(tuple(dict.fromkeys(metrics)), self.steps, self.op or self.asked_op)


@dataclass(frozen=True, slots=True)
class State:
    """What a conversation carries from one question to the next.

    Attributes:
        intent: of the last question.
        mentions: metrics of the last question.
        steps: steps of the last question.
        language: of the last answer.
        depth: of the last answer.
        query: the last question as understood, follow-ups resolved.
        step: the one step that the last answer named (``which step was best?`` → 62), for "that step".
        told: the few steps whose values the last answer told, for "those three steps".
        cells: what the latest turns told, the last one's last, for "which of the three".
    """

    intent: Intent | None = None
    mentions: tuple[Mentioned, ...] = ()
    steps: StepSlot = field(default_factory=StepSlot)
    language: str | None = None
    depth: Depth = "normal"
    query: Query | None = None
    step: int | None = None
    told: tuple[int, ...] = ()
    cells: tuple[Told, ...] = ()
