"""Questions about a run that have a writer of their own: finished or not, cut lines, overfitting, when it broke.

Words and writers stand in ``run_questions.yaml``. A writer declines (``None``) where the log does not hold what it
needs; the question is then answered as if these words were not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast

from assistant import resources
from assistant.ask import worded
from assistant.ask.context import Context
from assistant.ask.query import Query
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.model.answer import Intent

_MEMBER = re.compile(r"(?<=[\w)]/)(?:mean|max|min|std|avg)(?![\w/])|(?<![\w/])time(?=/\w)")
_FIELDS = {"re", "unless", "writer", "intent", "advice"}
#: Kinds that name no metric; what was taken for one ("the run finished") is none.
_OF_THE_RUN = {
    "cut_lines", "missing_there",
    "time_left", "finished", "batch_changed", "penalty", "mismatch", "samples", "epoch", "validations",
    "safe_checkpoint", "tools_used", "saves", "per_rank", "steps_per_epoch", "steps_per_row",
    "steps_in_time", "gpu_hours", "card",
}  # fmt: skip
_INTENTS = {
    "lookup", "forecast", "bottleneck", "health", "explain", "trend", "define", "validation", "derive", "advice",
    "compare",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A kind of question; ``advice``: also where what is asked for was taken for advice."""

    name: str
    words: re.Pattern[str]
    unless: re.Pattern[str] | None
    writer: str
    intent: Intent
    advice: bool = False


@lru_cache(maxsize=1)
def kinds() -> tuple[Asked, ...]:
    """The kinds of ``run_questions.yaml``, in their order.

    Raises:
        KnowledgeError: an entry lacks a field, names an unknown one, or holds no regular expression.
    """
    path = Path(__file__).with_suffix(".yaml")
    found = []
    for name, entry in resources.yaml_table(path).items():
        worded.checked(path, name, entry, {"re", "writer", "intent"}, _FIELDS)
        if entry["intent"] not in _INTENTS:
            raise worded.malformed(path, name, entry)
        words, unless = worded.patterns(path, name, entry)
        found.append(
            Asked(name, words, unless, entry["writer"], cast("Intent", entry["intent"]), bool(entry.get("advice")))
        )
    return tuple(found)


def _asked(kind: Asked, text: str, query: Query) -> bool:
    """Whether a text holds a kind's words, and none that rule it out."""
    if query.intent == "advice" and not kind.advice:
        return False
    if kind.words.search(text) is None:
        return False
    return kind.unless is None or kind.unless.search(_without_members(text)) is None


@lru_cache(maxsize=256)
def _without_members(text: str) -> str:
    """A text whose keys have lost a member that is a word: the "mean" of ``critic/score/mean`` asks for no mean."""
    return _MEMBER.sub("·", text) if "/" in text else text


def kind_of(query: Query) -> str | None:
    """The first kind whose words a question holds; ``None`` where it holds those of none."""
    text = normalised(query.wording or query.text)
    return next((kind.name for kind in kinds() if _asked(kind, text, query)), None)


def found(name: str, text: str) -> re.Match[str] | None:
    """Where a text holds the words of a kind."""
    return next((kind.words.search(text) for kind in kinds() if kind.name == name), None)


def holds(name: str, text: str) -> bool:
    """Whether a text by itself holds a kind's words."""
    return any(kind.name == name and kind.words.search(text) is not None for kind in kinds())


def asks(name: str, query: Query) -> bool:
    """Whether a question holds a kind's words, and none that rule it out."""
    text = normalised(query.wording or query.text)
    return any(kind.name == name and _asked(kind, text, query) for kind in kinds())


def attempt(context: Context) -> Verdict | None:
    """Answers a question about the run; ``None`` (nothing written) where it is none of these kinds."""
    query = context.query
    if len(context.runs) != 1:
        return None
    text = normalised(query.wording or query.text)
    for kind in kinds():
        if not _asked(kind, text, query):
            continue
        about_run = kind.name in _OF_THE_RUN
        context.query = replace(query, intent=kind.intent, topics=(), mentions=() if about_run else query.mentions)
        module, _, function = kind.writer.partition(".")
        write = cast("Callable[[Context], Verdict | None]", getattr(import_module(f"assistant.ask.{module}"), function))
        verdict = write(context)
        if verdict is not None:
            context.settled, context.kind = True, kind.name
            return verdict
        context.query = query
    return None
