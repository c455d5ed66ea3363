"""What is left of a step without the stages that a question names: "neither generation nor update"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_speedup import timed_steps
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.stages import Timed, all_stages, finite, mean_of, stages_in, totals
from assistant.ask.wording import normalised
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import unmark

_INTENTS: Final = {"lookup", "compare", "bottleneck", "define", "explain", "derive", "trend", "forecast"}
_MOST_STAGES: Final = 6
_MOST_STEPS: Final = 4
#: Asks for steps, and not for a stage.
_OF_STEPS: Final = re.compile(
    r"(?i)哪(?:一|几|些)?个?\s*(?:步|steps?)|\b(?:which|what) steps?\b|为什么|为啥|\bwhy\b|\bif\b|如果"
)


def attempt(context: Context) -> Verdict | None:
    """The time of a step outside the stages named, and its share; ``None`` (nothing written) for another question."""
    query, held = context.query, words("stages")
    if len(context.runs) != 1 or query.intent not in _INTENTS or query.threshold is not None:
        return None
    text = normalised(query.wording or query.text)
    most = held["outside_most"].search(text) is not None and not _OF_STEPS.search(text)
    asked = most or (held["asks"].search(text) is not None and not held["outside_else"].search(text))
    if not asked or not held["outside"].search(text):
        return None
    timed = totals(context)
    if timed is None or timed.whole is None:
        return None
    stages = [one for one in stages_in(context)[:_MOST_STAGES] if one != timed.whole and "/agent_loop/" not in one]
    if not stages:
        return None
    if query.steps.kind in {"none", "all"} and len(query.all_steps) == 1:  # "step 12 不算 gen" leaves out no step
        context.query = replace(query, steps=StepSlot("single", query.all_steps))
    named = timed_steps(context, stages[0], timed)
    steps = [step for step in named if all(finite(context, one, step) is not None for one in stages)]
    rests = {step: left for step in steps if (left := _left(context, stages, step, timed)) is not None}
    if not rests:
        context.query = query
        return None
    said = _largest(context, stages, max(rests), timed) if most else _said(context, stages, rests, timed)
    if not said:
        context.query = query
        return None
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(stages)
    for stage in stages:
        context.cite(context.card(stage))
    context.settled = True
    context.query = replace(context.query, intent="bottleneck", op=None, asked_op=None, topics=())
    return Verdict("answered", unmark(said))


def _left(context: Context, stages: list[str], step: int, timed: Timed) -> Fact | None:
    """The seconds of a step outside the stages; ``None`` where they add up to more than the step."""
    cells = [fact for one in stages if (fact := finite(context, one, step)) is not None]
    total = timed.totals[step]
    left = number(total) - math.fsum(map(number, cells))
    if left < 0:
        return None
    return context.ledger.derived(
        f"time outside {', '.join(stages)}", left, inputs=[total, *cells], step=step, unit="s",
        formula=" - ".join([str(timed.whole), *stages]),
    )  # fmt: skip


def _share(context: Context, left: Fact, total: Fact) -> Fact:
    return context.ledger.derived(
        f"share of {left.name}", number(left) / number(total), inputs=[left, total], step=left.step, unit="fraction",
        formula=f"({left.formula}) / {total.metric}",
    )  # fmt: skip


def _largest(context: Context, stages: list[str], step: int, timed: Timed) -> str:
    """The stage that takes most of a step beside those left out; empty where the log times no other."""
    cells = [cell for one in all_stages(context) if one not in stages and (cell := finite(context, one, step))]
    cells = [cell for cell in cells if cell.metric != timed.whole]
    if not cells:
        return ""
    top = max(cells, key=number)
    share = context.ledger.share(
        str(top.metric), str(timed.whole), step, number(top) / number(timed.totals[step]),
        inputs=[top, timed.totals[step]],
    )  # fmt: skip
    context.metrics.append(str(top.metric))
    return context.say(
        "rest.largest", names=context.join(map(key, stages)), stage=key(str(top.metric)), share=share,
        v=context.doc.show(top, None, "seconds"), total=context.doc.show(timed.totals[step], None, "seconds"),
    )  # fmt: skip


def _said(context: Context, stages: list[str], rests: dict[int, Fact], timed: Timed) -> str:
    names = context.join(map(key, stages))
    shares = {step: _share(context, left, timed.totals[step]) for step, left in rests.items()}
    pointed = context.query.steps.kind in {"single", "pair", "first", "last"}
    told = list(rests) if pointed and len(rests) <= _MOST_STEPS else [max(rests)]
    texts = [
        context.say(
            "rest.step", names=names, step=step, v=context.doc.show(rests[step], None, "seconds"), share=shares[step],
            total=context.doc.show(timed.totals[step], None, "seconds"),
            parts=context.join(
                context.doc.show(cell, None, "seconds") for one in stages if (cell := finite(context, one, step))
            ),
        )
        for step in told
    ]  # fmt: skip
    if not pointed and len(rests) > 1:
        mean = mean_of(context, f"time outside {', '.join(stages)}", list(rests.values()), "s")
        part = mean_of(context, f"share outside {', '.join(stages)}", list(shares.values()), "fraction")
        count = context.ledger.count("steps with all these stages", len(rests))
        texts.append(context.say("rest.mean", v=context.doc.show(mean, None, "seconds"), share=part, n=count))
    return ("" if context.language == "zh" else " ").join(texts)
