"""What differs most between two steps, and which of several metrics changed more over the run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import headlines, number
from assistant.ask.stages import mean_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Asks what differs, and not which of the two is better.
DIFFERS: Final = re.compile(
    r"(?i)差在(?:哪|什么)|(?:哪里|哪儿|哪些|什么|有啥|有什么)(?:地方)?(?:不同|不一样|差别|区别|变化|变了)"
    r"|变了(?:什么|哪些|啥)"
    r"|\bwhat(?:'s| is| are| has| have)? (?:the )?(?:differ\w*|chang\w*)|\bwhat (?:differs|changed)\b"
    r"|\bdifferences? between\b|\b(?:biggest|largest|greatest|main) (?:movers?|changes?|jumps?|moves?|differences?)\b"
    r"|\b(?:what|which)\b.{0,24}\b(?:moved|jumped|changed|shifted)\b"
    r"|(?:变化|变动|改变|波动|差别|差异)(?:得)?最[大多]|(?:哪些|什么|啥|哪几个)(?:指标|metrics?)?[^,，。?]{0,4}(?:炸|飙|爆|崩|跳|暴[涨跌]|动了|变了|异动)"
)
#: Larger over smaller value from which a change is told as one of the largest; how many are told.
LARGE, MOST = 1.5, 3
#: Part of the values at each end whose mean stands for it.
END: Final = 5


def largest(context: Context, first: int, second: int) -> str:
    """The changes between two steps that are largest against the values themselves, as a sentence; empty: none is."""
    found: list[tuple[float, Fact]] = []
    beyond: list[Fact] = []
    for metric in headlines(context, second):
        change = context.ledger.change(metric, first, second)
        if change is None:
            continue
        if change.significant:
            beyond.append(change)
        before, after = (abs(float(value or 0)) for value in (change.from_value, change.to_value))
        same = (change.from_value or 0) * (change.to_value or 0) > 0  # a change of sign has no factor
        if same and math.isfinite(before) and math.isfinite(after):
            found.append((abs(math.log(after / before)), change))
    found = [one for one in sorted(found, key=lambda pair: -pair[0]) if one[0] >= math.log(LARGE)][:MOST]
    if not found:
        return ""
    items = [
        context.say(
            "changed.item", metric=str(fact.metric), a=context.doc.show(fact, "from"), b=context.doc.show(fact, "to")
        )
        for _, fact in found
    ]
    text = context.say("changed.largest", first=first, second=second, items=context.join(items))
    gap = "" if context.language == "zh" else " "
    names = context.join(key(str(fact.metric)) for fact in beyond[:MOST])
    return text + gap + (context.say("changed.beyond", names=names) if beyond else context.say("changed.none_beyond"))


def changed_more(context: Context) -> Verdict | None:
    """Which of the metrics named changed more, against its own size, from the start of the run to its end."""
    keys = central(named_keys(context))
    slot = context.query.steps
    if not 2 <= len(keys) <= MOST + 1 or slot.kind not in {"none", "all", "pair"}:
        return None
    found: list[tuple[float, str, Fact, Fact]] = []
    for metric in keys:
        ends = _ends(context, metric, slot.values if slot.kind == "pair" else ())
        if ends is None:
            return None
        found.append((abs(math.log(number(ends[1]) / number(ends[0]))), metric, *ends))
    found.sort(key=lambda one: -one[0])
    items = []
    for _, metric, before, after in found:
        up = number(after) >= number(before)
        over, under = (after, before) if up else (before, after)
        times = context.ledger.derived(
            f"factor of {metric}", number(over) / number(under), inputs=[over, under], formula="larger / smaller end"
        )
        kind = context.kind_of(metric)
        a, b = (context.doc.show(fact, None, kind) for fact in (before, after))
        items.append(context.say("changed.by_up" if up else "changed.by_down", metric=metric, a=a, b=b, times=times))
    where = "changed.where_steps" if slot.kind == "pair" else "changed.where_ends"
    text = context.say("changed.more", metric=found[0][1], items=context.join(items))
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say(where))
    context.metrics.extend(keys)
    for metric in keys[:2]:
        context.cite(context.card(metric))
    context.chart(context.title(keys[0]), keys[:2])
    return Verdict("not_comparable", unmark(text), "medium")


def _ends(context: Context, metric: str, steps: Sequence[int]) -> tuple[Fact, Fact] | None:
    """The means of the first and the last few values, or the values of two steps; ``None`` where one is not above 0."""
    cells = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    cells = [f for f in cells if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if steps:
        held = [fact for step in sorted(steps) for fact in cells if fact.step == step]
        ends = (held[0], held[-1]) if len(held) == 2 else None
    elif len(cells) < 2:
        ends = None
    else:
        few = min(END, len(cells) // 2)
        if few == 1:
            ends = cells[0], cells[-1]
        else:
            ends = (
                mean_of(context, f"{metric} over the first {few}", cells[:few], ""),
                mean_of(context, f"{metric} over the last {few}", cells[-few:], ""),
            )
    return ends if ends is not None and all(number(fact) > 0 for fact in ends) else None
