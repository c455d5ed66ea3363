"""Follow-ups that ask the same of another part of the run: "之前呢", "and after that?", "前 20 步呢"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from assistant.ask.blanking import blanked, without_names
from assistant.ask.lexicon import words
from assistant.ask.portions import rest_of
from assistant.ask.query import Query
from assistant.ask.scope import Scope, scope_in
from assistant.model import Run, StepSlot

#: The longest such follow-up.
_LONGEST: Final = 30


def other_part(own: Query, before: Query, text: str, run: Run) -> Query | None:
    """The question before, asked of the part on the other side of its bound; ``None`` where that is not asked.

    Args:
        own: what the follow-up says by itself.
        before: the question before.
        text: the follow-up, normalised.
        run: the log.
    """
    steps = run.distinct_steps
    if (
        own.mentions
        or own.threshold is not None
        or len(text) > _LONGEST
        or words("portions")["fluff"].sub("", text)
        or not steps
    ):
        return None
    if (swapped := _swapped(before, text)) is not None:
        return replace(
            before, text=own.text, wording=swapped, language=own.language, follows="slots", guessed=False, op=None,
            asked_op=None,
        )  # fmt: skip
    if before.steps.kind != "range" or not before.mentions or words("portions")["one_step"].search(text):
        return None
    low, high = before.steps.values
    if (low <= steps[0]) == (high >= steps[-1]):
        return None  # all of the run, or a part with two other sides
    part = Scope(first=None if low <= steps[0] else low, last=None if high >= steps[-1] else high)
    other = rest_of(part, text)
    if other is None:
        return None
    first = steps[0] if other.first is None else other.first
    last = steps[-1] if other.last is None else other.last
    if first > last:
        return None
    wording = before.wording or before.text
    spans = scope_in(without_names(wording, before.mentions), list(steps)).spans
    part_told = f"从 step {first} 到 {last}" if own.language == "zh" else f"from step {first} to {last}"
    said = f"{blanked(wording, spans)} ({part_told})"
    return replace(
        before, text=own.text, wording=said, language=own.language, steps=StepSlot("range", (first, last)),
        all_steps=(first, last), step_marks=(), follows="slots", guessed=False,
    )  # fmt: skip


def _swapped(before: Query, text: str) -> str | None:
    """The question before with the other side of the breakdown that it names ("崩之前…" then "之后呢")."""
    wording = before.wording or before.text
    for kind in ("nan", "broken"):
        match = words("breakdowns")[kind].search(wording)
        if match is None:
            continue
        side = next(name for name in ("before", "en_before", "after", "en_after") if match[name])
        wanted = words("portions")["later" if "before" in side else "earlier"]
        if wanted.search(text):
            other = {"before": "之后", "after": "之前", "en_before": "after", "en_after": "before"}[side]
            return wording[: match.start(side)] + other + wording[match.end(side) :]
    return None
