"""How many times as large a metric became: "by what factor did the length grow", "did the reward double"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.between_ends import ends
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import part_of, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import words_of
from assistant.ask.windows import windows_in
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent

#: What a question says a metric did: the factor that it must have reached at least (or at most).
_CLAIMED: Final = (
    (re.compile(r"(?i)\bdoubl\w*|翻(?:了)?(?:一)?[倍番]|翻倍"), 2.0),
    (re.compile(r"(?i)\btripl\w*"), 3.0),
    (re.compile(r"(?i)\bquadrupl\w*|翻(?:了)?两[倍番]"), 4.0),
    (re.compile(r"(?i)\bhalv\w*|减半|腰斩"), 0.5),
)
_CLAUSE: Final = re.compile(r"[,，;；。?？]|\b(?:and|but)\b")
#: A factor within this of the claimed one is that factor.
NEAR: Final = 0.05
MOST: Final = 3


def factor(context: Context) -> Verdict | None:
    """First and last value of each metric named (or those at two steps), and how many times the last is the first.

    ``None`` where no metric is named, or its first value is not positive.
    """
    said = normalised(context.query.wording or context.query.text)
    told: list[str] = []
    metrics: list[str] = []
    for metric in _asked_first(context, said):
        if (between := _of_windows(context, metric, said)) is not None:
            told.append(between)
            metrics.append(metric)
            continue
        change = _change(context, metric)
        if change is None:
            continue
        told.append(_sentence(context, metric, change, said))
        metrics.append(metric)
    if not told:
        return None
    context.doc.paragraph(f"**{told[0]}**")
    context.doc.bullets(told[1:])
    context.metrics.extend(metrics)
    context.cite(context.card(metrics[0]))
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(told[0]))


def _asked_first(context: Context, said: str) -> list[str]:
    """The metrics named, first those of the clause that asks for the factor."""
    clause = next((c for c in _CLAUSE.split(said) if any(words.search(c) for words, _ in _CLAIMED)), "")
    mentions = [m for m in context.query.mentions if m.key is not None]
    own = [str(m.key) for m in mentions if m.text and m.text in clause]
    return list(dict.fromkeys([*own, *central(named_keys(context))]))[:MOST]


def _of_windows(context: Context, metric: str, said: str) -> str | None:
    """How many times the mean over one window of steps is the mean over an earlier one; ``None``: no two are named."""
    found = windows_in(words_of(context), context.run, context.validation_steps, context.train_steps)
    if found is None:
        return None
    parts = [part_of(context, metric, Scope(first=first, last=last)) for first, last in found]
    if not all(len(part) for part in parts):
        return None
    early, late = (statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean") for part in parts)
    if not number(early) > 0 or number(late) < 0:
        return None
    ratio = number(late) / number(early)
    times = context.ledger.derived(
        f"factor of means of {metric}", ratio, inputs=[early, late], formula="mean of the later part / of the earlier"
    )
    share = context.ledger.derived(
        f"relative change of means of {metric}", ratio - 1, inputs=[early, late], unit="fraction",
        formula="mean of the later part / of the earlier − 1",
    )  # fmt: skip
    text = context.say(
        "factor.windows", metric=metric, a=shown(context, early, metric), b=shown(context, late, metric),
        over_a=parts[0].over, over_b=parts[1].over, times=times,
        share=mark(share.id, f"{'+' if ratio >= 1 else ''}{percent((ratio - 1) * 100)}%"),
    )  # fmt: skip
    return _claimed(context, metric, ratio, said) + text


def _change(context: Context, metric: str) -> Fact | None:
    text = words_of(context)
    part = part_of(context, metric, scope_in(text, context.train_steps))
    if len(part) < 2:
        return None
    first, last = ends(text, part, context.query.steps)
    change = context.ledger.change(metric, min(first, last), max(first, last))
    if change is None or change.ratio is None or not change.from_value or change.from_value < 0 or change.ratio < 0:
        return None
    return change


def _sentence(context: Context, metric: str, change: Fact, said: str) -> str:
    ratio = change.ratio or 0.0
    share = context.ledger.derived(
        f"relative change of {metric}/{change.from_step}-{change.to_step}", ratio - 1, inputs=[change],
        formula=f"{metric} at step {change.to_step} / at step {change.from_step} − 1", unit="fraction",
    )  # fmt: skip
    times = context.ledger.derived(
        f"factor of {metric}/{change.from_step}-{change.to_step}", ratio, inputs=[change],
        formula=f"{metric} at step {change.to_step} / at step {change.from_step}",
    )  # fmt: skip
    shown = mark(share.id, f"{'+' if ratio >= 1 else ''}{percent((ratio - 1) * 100)}%")
    text = context.say("factor.changed", metric=metric, c=change, times=times, share=shown)
    return _claimed(context, metric, ratio, said) + text


def _claimed(context: Context, metric: str, ratio: float, said: str) -> str:
    """Yes or no to what the question says that the metric did ("did it double"); empty where it says nothing."""
    claimed = next((value for words, value in _CLAIMED if words.search(said)), None)
    if claimed is None or metric != _asked_first(context, said)[0]:
        return ""
    reached = ratio >= claimed * (1 - NEAR) if claimed > 1 else ratio <= claimed * (1 + NEAR)
    gap = "" if context.language == "zh" else " "
    return context.say("factor.yes" if reached else "factor.no") + gap
