"""The parts of a reward at the steps asked for: which is largest there, and whether they add up to the whole."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask import answer_reward_parts
from assistant.ask.answer_reward_parts import by_course, finite, parts_of, spoken_of
from assistant.ask.context import Context, key
from assistant.ask.outcomes import rewarded
from assistant.ask.parts import number
from assistant.ask.wording import seamed
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_SUM: Final = re.compile(
    r"(?i)\bsum(?:s|med)?\b|\badd(?:s|ed|ing)? up\b|\b(?:add|total) to\b|\bequals?\b|\bin total\b|\btogether\b"
    r"|加起来|加在一起|之和|总和|相加|合计|等于"
)
_PARTS: Final = re.compile(
    r"(?i)\b(?:reward )?(?:components?|parts|functions|funcs|terms)\b|\brewards\b"
    r"|分项|各项|奖励函数|(?:各个?|几个|[两三四五六]个)\s*(?:奖励|reward)"
)
_REWARD: Final = re.compile("(?i)reward|奖励")
#: How far the sum of printed parts may be from the printed whole.
_ROUNDED: Final = 2e-3


def attempt(context: Context) -> Verdict | None:
    """Answers what is asked of the parts of a reward: at some step, of their sum, and over the run.

    Returns:
        The verdict; ``None`` (nothing written) for any other question, and for a log without parts.
    """
    return _of_some_step(context) or answer_reward_parts.attempt(context)


def _of_some_step(context: Context) -> Verdict | None:
    if len(context.runs) != 1 or (context.query.intent in {"advice", "define", "health"} and not _asks_sum(context)):
        return None
    steps = _steps(context)
    if _asks_sum(context) and (parts := parts_of(context)):
        return _sum_at(context, parts, steps[0]) if steps else _sums(context, parts)
    low = spoken_of(seamed(context.query.wording or context.query.text))
    if low is None or not steps or not (parts := parts_of(context)):
        return None
    return _ranked_at(context, parts, steps[0], low=low)


def _asks_sum(context: Context) -> bool:
    said = seamed(context.query.wording or context.query.text)
    return all(words.search(said) is not None for words in (_SUM, _PARTS, _REWARD))


def _steps(context: Context) -> list[int]:
    """The one step that a question names."""
    slot, held = context.query.steps, list(context.run.distinct_steps)
    if slot.kind == "single":
        return [step for step in slot.values if step in held]
    return held[-1:] if slot.kind == "last" else held[:1] if slot.kind == "first" else []


def _whole(context: Context) -> str | None:
    found = rewarded(context.run)
    return found.metrics[0] if found is not None and found.spelling.plain else None


def _cells(context: Context, parts: list[str], step: int) -> list[Fact]:
    return [fact for name in parts if (fact := context.value(name, step)) is not None and finite(fact)]


def _added(context: Context, cells: list[Fact], step: int) -> Fact:
    return context.ledger.derived(
        "sum of the reward's parts", math.fsum(map(number, cells)), inputs=cells, step=step, formula="Σ parts"
    )


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= _ROUNDED * max(1.0, abs(b))


def _sum_at(context: Context, parts: list[str], step: int) -> Verdict | None:
    """The sum of the parts at a step beside the whole there."""
    cells, name = _cells(context, parts, step), _whole(context)
    total = None if name is None else context.value(name, step)
    if len(cells) < len(parts):
        return None
    added = _added(context, cells, step)
    values = {"n": context.ledger.count("parts of the reward", len(cells)), "step": step, "sum": added}
    if total is None or name is None or not finite(total):
        said = context.say("parts.sum", **values)
    else:
        told = "parts.sum_equal" if _close(number(added), number(total)) else "parts.sum_apart"
        said = context.say(told, whole=name, w=total, **values)
    return _told(context, said, cells, [name] if name else [])


def _sums(context: Context, parts: list[str]) -> Verdict | None:
    """At how many steps the parts add up to the whole, and where they are furthest from it."""
    name = _whole(context)
    if name is None:
        return None
    found = []
    for step in context.run.series(name)[0]:
        cells, total = _cells(context, parts, step), context.value(name, step)
        if total is not None and finite(total) and len(cells) == len(parts):
            found.append((step, math.fsum(map(number, cells)) - number(total), cells, total))
    if not found:
        return None
    same = sum(_close(number(total) + gap, number(total)) for _, gap, _, total in found)
    step, _, cells, total = max(found, key=lambda one: abs(one[1]))
    values = {
        "n": context.ledger.count("parts of the reward", len(parts)), "whole": name,
        "k": context.ledger.count("steps at which they add up", same),
        "m": context.ledger.count("steps with all parts", len(found)),
    }  # fmt: skip
    if same == len(found):
        said = context.say("parts.sums_equal", **values)
    else:
        said = context.say("parts.sums_apart", step=step, sum=_added(context, cells, step), w=total, **values)
    return _told(context, said, [], [name])


def _ranked_at(context: Context, parts: list[str], step: int, *, low: bool) -> Verdict | None:
    """The largest (or the smallest) part at a step, and its share where the parts add up to the whole."""
    cells, name = _cells(context, parts, step), _whole(context)
    if len(cells) < 2:
        return None
    cells.sort(key=number, reverse=not low)
    total = None if name is None else context.value(name, step)
    side, top = "lowest" if low else "highest", [str(cell.metric) for cell in cells if cell.value == cells[0].value]
    if len(top) > 1:
        names = context.join([key(one) for one in top])
        return _told(context, context.say(f"parts.{side}_tied", names=names, v=cells[0], step=step), cells, [])
    said = context.say(f"parts.{side}_at", metric=top[0], v=cells[0], step=step)
    whole = total is not None and finite(total) and _close(math.fsum(map(number, cells)), number(total))
    if total is not None and name is not None and whole and all(number(cell) >= 0 for cell in cells) and number(total):
        share = context.ledger.derived(
            f"share of {cells[0].metric} in {name} at {step}", number(cells[0]) / number(total),
            inputs=[cells[0], total], formula="part / whole", step=step, unit="fraction",
        )  # fmt: skip
        gap = "" if context.language == "zh" else " "
        said += gap + context.say("parts.share_at", share=share, whole=name, w=total)
    return _told(context, said, cells, [name] if name else [], scale=not whole)


def _told(context: Context, said: str, cells: list[Fact], whole: list[str], *, scale: bool = False) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    if cells:
        rows = [[key(str(cell.metric)), context.doc.show(cell)] for cell in cells]
        context.doc.table([context.say("head.metric"), context.say("head.value")], rows)
    context.doc.paragraph(context.say("parts.scale") if scale else "")
    context.metrics.extend([*whole, *(str(cell.metric) for cell in cells)])
    context.settled = True
    context.query = replace(context.query, intent="lookup", topics=())
    return Verdict("answered", unmark(said))


__all__ = ["attempt", "by_course"]
