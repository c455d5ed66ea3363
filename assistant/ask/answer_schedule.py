"""What the logged learning rate shows of its schedule: warm-up, plateau, decay, and from and until which step."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.schedules import is_schedule
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: A difference of neighbours below this share of the peak is rounding, and no rise or fall.
ROUNDING = 1e-6
_FORMS = (("linear", re.compile(r"(?i)线性|直线|\blinear")), ("cosine", re.compile(r"(?i)余弦|\bcosine|\bcos\b")))
_PHASES = re.compile(r"(?i)warm|预热|decay|anneal|衰减|退火|schedul|调度|cosine|余弦|linear|线性")


def schedule(context: Context) -> Verdict | None:
    """The course of the learning rate, or that the log holds none; ``None`` for fewer than two values of it."""
    if any(m.key is not None for m in context.query.mentions) and not _PHASES.search(context.query.said):
        return None  # "is the lr constant?": whether it changed is asked, of a key that is named
    own = [m.key for m in context.query.mentions if m.key is not None and is_schedule(m.key)]
    rates = [*own, *(m for m in context.run.metrics if is_schedule(m))]
    metric = next((m for m in rates if m in context.run.columns), None)
    if metric is None:
        text = context.say("warmup.no_rate")
        context.doc.paragraph(f"**{text}**")
        return Verdict("inconclusive", unmark(text))
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(held) < 2:
        return None
    context.metrics.append(metric)
    count = context.ledger.count("values", len(held), metric=metric)
    text = context.say(f"warmup.{_course(held)}", metric=metric, n=count, **_places(held))
    form, shape = _shape(context, held)
    named = [name for name, words in _FORMS if words.search(context.query.said)]
    asked = named[0] if named else ""
    if asked and shape:  # "is it linear": that first; "linear or cosine" asks for no yes
        course, gap = text, "" if context.language == "zh" else " "
        text = shape if len(named) > 1 else context.say("warmup.yes" if asked == form else "warmup.no") + gap + shape
        shape = course
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(shape if asked or form != "neither" else "")
    if (held[0].step or 0) > 1:
        context.doc.paragraph(context.say("warmup.before", first=held[0].step or 0))
    context.doc.paragraph(context.gloss(metric))
    context.chart(context.title(metric), [metric])
    return Verdict(_direction(held), unmark(text))


#: The decay is a line (half a cosine) where no value is further from it than this share of the fall.
NEAR = 0.02
DISTINCT = 12
"""Fewest different values that tell a form."""


def _shape(context: Context, held: list[Fact]) -> tuple[str, str]:
    """``linear``, ``cosine`` or ``neither``, and that as a sentence; empty where too few values tell it."""
    sizes = [number(f) for f in held]
    start = _top(sizes)[1]
    part, values = held[start:], sizes[start:]
    fall = values[0] - values[-1]
    if len(set(values)) < DISTINCT or fall <= 0:
        return "", ""  # printed too coarsely to tell
    first, last = part[0].step or 0, part[-1].step or 0
    ways = [((fact.step or 0) - first) / (last - first) for fact in part]
    off = {
        "linear": max(abs(v - (values[0] - fall * way)) for v, way in zip(values, ways, strict=True)),
        "cosine": max(
            abs(v - (values[-1] + fall * (1 + math.cos(math.pi * way)) / 2))
            for v, way in zip(values, ways, strict=True)
        ),
    }
    best = min(off, key=lambda name: off[name])
    if off[best] > NEAR * fall:
        return "neither", context.say("warmup.shape_neither")
    if max(off.values()) <= NEAR * fall:
        return "", ""  # a short piece of either
    worst = context.ledger.derived(
        f"largest distance from a {best} decay", off[best] / fall, inputs=[part[0], part[-1]], unit="fraction",
        formula=f"max |value − {best} decay| / fall",
    )  # fmt: skip
    return best, context.say(f"warmup.shape_{best}", d=worst)


def _course(held: list[Fact]) -> str:
    sizes = [number(f) for f in held]
    slack = ROUNDING * max(abs(v) for v in sizes)
    top = max(sizes)
    if top - min(sizes) <= slack:
        return "constant"
    first, last = _top(sizes)
    rises = all(b >= a - slack for a, b in pairwise(sizes[: first + 1]))
    falls = all(b <= a + slack for a, b in pairwise(sizes[last:]))
    if not (rises and falls):
        return "other"
    if first == 0:
        return "decay" if last == 0 else "held_decay"
    if first == len(sizes) - 1:
        return "rising"
    return "held" if last == len(sizes) - 1 else "peak"


def _top(sizes: list[float]) -> tuple[int, int]:
    """First and last place of the plateau that begins with the largest value."""
    slack = ROUNDING * max(abs(v) for v in sizes)
    first = sizes.index(max(sizes))
    last = first
    while last + 1 < len(sizes) and sizes[last + 1] >= sizes[first] - slack:
        last += 1
    return first, last


def _places(held: list[Fact]) -> dict[str, Fact]:
    first, last = _top([number(f) for f in held])
    low = min(held, key=number)
    return {"first": held[0], "last": held[-1], "top": held[first], "end": held[last], "low": low}


def _direction(held: list[Fact]) -> str:
    course = _course(held)
    if course == "constant":
        return "flat"
    moved = number(held[-1]) - number(held[0])
    return {"rising": "rising", "decay": "falling", "held_decay": "falling"}.get(course) or (
        "fluctuating" if course in {"peak", "other"} else "rising" if moved > 0 else "falling"
    )
