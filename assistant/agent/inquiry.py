"""What a model is asked about, and what happens while it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.agent.auditing import auditor_of, quotes_of
from assistant.agent.judging import Auditor
from assistant.knowledge import Finder, Resolver
from assistant.model import Answer, Run
from assistant.settings import Settings


@dataclass(frozen=True, slots=True)
class Event:
    """What happens while an answer is made.

    ``fact``: a fact's JSON; ``step``: a tool that the model used (``name``, ``arguments``, ``result``); ``delta``:
    Markdown that passed the check; ``answer``: the finished :class:`Answer`, which replaces what was sent; ``error``: a
    message, after which nothing comes.
    """

    kind: Literal["fact", "step", "delta", "answer", "error"]
    data: Any


@dataclass(frozen=True)
class Inquiry:
    """A question, and everything that is known without a model.

    Attributes:
        question: as typed.
        answer: the offline engine's.
        runs: those that the answer speaks of.
        resolver: from names to cards.
        settings: models, deadline, budget.
        auditor: makes the audit; called beside the first call of the model.
        finder: for the search tool.
        quotes: citation id → text of its card, which the model may quote.
        anonymize: mask names; the settings' wish where ``None``.
    """

    question: str
    answer: Answer
    runs: tuple[Run, ...]
    resolver: Resolver
    settings: Settings
    auditor: Callable[[], Auditor]
    finder: Finder | None = None
    quotes: dict[str, str] = field(default_factory=dict)
    anonymize: bool | None = None


def inquiry_of(
    answer: Answer, runs: Sequence[Run], resolver: Resolver, settings: Settings, *, finder: Finder | None = None,
    anonymize: bool | None = None,
) -> Inquiry:  # fmt: skip
    """What a model is asked, from the offline answer and the runs that were read."""
    told = {run["id"] for run in answer.runs}
    chosen = tuple(run for run in runs if run.id in told)
    quotes = quotes_of(answer, resolver)
    return Inquiry(
        question=answer.question, answer=answer, runs=chosen, resolver=resolver, settings=settings, finder=finder,
        auditor=lambda: auditor_of(answer, chosen, resolver, quotes), quotes=quotes, anonymize=anonymize,
    )  # fmt: skip


def wanted(answer: Answer, runs: Sequence[Run]) -> bool:
    """Whether a model can add anything: there is a log, and the question is one about it."""
    return bool(runs) and answer.problem is None and answer.verdict.code not in {"no_metrics", "out_of_scope"}
