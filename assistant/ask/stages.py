"""The stages of a step that a question names, by their keys or in plain words ("生成和更新各占多少")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.analysis.timing import layout_of, row_of_total, stage_keys, total_key
from assistant.ask.context import Context
from assistant.ask.intents import is_stage
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import number
from assistant.ask.stage_words import NAMES, leaf
from assistant.ask.subject import words_of
from assistant.model import Fact


@dataclass(frozen=True, slots=True)
class Timed:
    """Steps at which a log times the whole step, or all its stages.

    Attributes:
        whole: the key of the whole step; ``None``: the sum of the stages stands for it.
        totals: seconds of each step, as facts, by step.
    """

    whole: str | None
    totals: dict[int, Fact]


def all_stages(context: Context) -> tuple[str, ...]:
    """The keys of the log's stages, nested ones left out."""
    layout = layout_of(context.run)
    found = () if layout is None else stage_keys(context.run, layout)
    return found or tuple(m for m in context.run.metrics if is_stage(m) and m.count("/") == 1)


def stages_in(context: Context) -> list[str]:
    """The stages that a question means: keys that it names first, then those of its words."""
    known = all_stages(context)
    named = [key for key in central(named_keys(context)) if key in known or is_stage(key)]
    found = [keys[0] for keys in _worded(context) if not set(keys) & set(named)]
    return [*named, *(key for key in dict.fromkeys(found) if key not in named)]


def _worded(context: Context) -> list[list[str]]:
    """The keys of each stage that a question's plain words mean, in its order."""
    text, held, known = words_of(context), words("stages"), all_stages(context)
    found: list[tuple[int, list[str]]] = []
    for name in NAMES:
        match = held[name].search(text)
        keys = [key for key in known if match and held[f"{name}_keys"].match(leaf(key))]
        if match is not None and keys:
            found.append((match.start(), keys))
    return [keys for _, keys in sorted(found)]


def part_of_step(context: Context) -> str | None:
    """The one stage in plain words, where what is named beside it is the time of the step, or all its parts at once."""
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    named, worded = set(central(named_keys(context))), _worded(context)
    of_step = whole is not None and (named == {whole} or named >= {whole, *all_stages(context)})
    return worded[0][0] if of_step and len(worded) == 1 and worded[0][0] != whole else None


def totals(context: Context) -> Timed | None:
    """What each step took; the sum of its stages where the log has no total; ``None`` where neither is there."""
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    if whole is not None:
        steps = context.run.distinct_steps
        rows = {s: None if layout is None else row_of_total(context.run, layout, whole, s) for s in steps}
        held = {s: fact for s, row in rows.items() if row is not None and (fact := finite(context, whole, row))}
        return Timed(whole, held) if held else None
    stages = all_stages(context)
    if len(stages) < 2:
        return None
    found = {}
    for step in context.run.series(stages[0])[0]:
        cells = [fact for key in stages if (fact := finite(context, key, step)) is not None]
        if len(cells) == len(stages):
            found[step] = context.ledger.derived(
                "sum of stages", math.fsum(map(number, cells)), inputs=cells, step=step, unit="s",
                formula="Σ of the stages logged",
            )  # fmt: skip
    return Timed(None, found) if found else None


def finite(context: Context, key: str, step: int) -> Fact | None:
    """A stage's time at a step, where it is a finite number."""
    fact = context.value(key, step)
    if fact is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value) or fact.value < 0:
        return None
    return fact


def mean_of(context: Context, name: str, facts: Sequence[Fact], unit: str) -> Fact:
    """The mean of facts, as a fact."""
    return context.ledger.derived(
        f"mean of {name}", math.fsum(map(number, facts)) / len(facts), inputs=facts, formula=f"mean of {name}",
        unit=unit,
    )  # fmt: skip
