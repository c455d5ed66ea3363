"""What differs most between two steps, and which of several metrics changed more over the run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import headlines, number
from assistant.ask.stages import mean_of
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent

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
_FELL: Final = re.compile(
    r"(?i)[降跌掉减缩]|变[小低短少]|\b(?:f[ae]ll(?:s|en|ing)?|drop\w*|decreas\w*|declin\w*|shr[aiu]nk\w*|go(?:es|ing)?"
    r" down|went down|gone down|come down|came down|lost)\b"
)
_ROSE: Final = re.compile(
    r"(?i)[涨升增]|变[大高长多]|\b(?:r[io]s(?:e|es|en|ing)|rose|grow\w*|grew|increas\w*|climb\w*|go(?:es|ing)? up"
    r"|went up|gone up|gained?)\b"
)
_NEITHER: Final = re.compile(r"(?i)\bneither\b|\bnone of\b|都(?:没|未|不)|谁(?:也|都)(?:没|未|不)")
_PERCENT: Final = re.compile(r"(?i)百分|%|％|\bper ?cent|幅度")
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


@dataclass(frozen=True, slots=True)
class _Moved:
    """A metric and its values at the ends of the stretch asked about; the log of the factor between them."""

    metric: str
    before: Fact
    after: Fact

    @property
    def way(self) -> float:
        """Above 0 where it rose, below where it fell; its size is that of the factor."""
        return math.log(number(self.after) / number(self.before))


def changed_more(context: Context) -> Verdict | None:
    """Which of the metrics named changed (rose, fell) more, against its own size, from the start of the run to its end,
    to the step named, or between the two steps named."""
    found = _moves(context)
    if found is None:
        return None
    way = _way(context)
    found.sort(key=lambda one: -abs(one.way) if way is None else -one.way if way else one.way)
    top = found[0]
    items = context.join(_item(context, one) for one in found)
    if way is None:
        text = context.say("changed.more", metric=top.metric, items=items)
    elif (top.way > 0) == way and top.way:
        text = context.say("changed.rose_more" if way else "changed.fell_more", metric=top.metric, items=items)
    else:
        text = context.say("changed.none_rose" if way else "changed.none_fell", items=items)
    return _told(context, found, text)


def both_moved(context: Context) -> Verdict | None:
    """Whether all of the metrics named went the way that is asked (or none, for "neither"); ``None`` for another."""
    way, found = _way(context), _moves(context)
    if way is None or found is None:
        return None
    so = [one for one in found if one.way and (one.way > 0) == way]
    none = _NEITHER.search(words_of(context)) is not None
    items = context.join(_item(context, one) for one in found)
    side = "rose" if way else "fell"
    if not so or len(so) == len(found):
        name = f"changed.all_{side}" if so else f"changed.not_one_{side}"
        text = context.say(name, yes=_yes(context, bool(so) != none), items=items)
    else:
        names = context.join(key(one.metric) for one in so)
        text = context.say(f"changed.some_{side}", no=_yes(context, False), names=names, items=items)
    return _told(context, found, text)


def _yes(context: Context, so: bool) -> str:
    return context.say("larger.yes" if so else "larger.no") + ("" if context.language == "zh" else " ")


def _way(context: Context) -> bool | None:
    """Whether a rise is asked about; ``None`` where neither a rise nor a fall is, or both are."""
    text = words_of(context)
    up, down = _ROSE.search(text) is not None, _FELL.search(text) is not None
    return None if up == down else up


def _moves(context: Context) -> list[_Moved] | None:
    """The ends of each metric named over the stretch asked about; ``None`` where there are none to compare."""
    keys = central(named_keys(context))
    slot = context.query.steps
    if not 2 <= len(keys) <= MOST + 1 or slot.kind not in {"none", "all", "pair", "single", "range"}:
        return None
    steps = tuple(slot.values) if slot.kind in {"pair", "range"} else ()
    if slot.kind == "single":  # "by step 3": from the first step that holds a value
        held = [s for metric in keys for s in context.run.series(metric)[0][:1]]
        steps = (max(held), slot.values[0]) if held else ()
        if len(steps) < 2 or steps[0] >= steps[1]:
            return None
    found = [(metric, _ends(context, metric, steps)) for metric in keys]
    return None if any(ends is None for _, ends in found) else [_Moved(name, *ends) for name, ends in found if ends]


def _item(context: Context, one: _Moved) -> str:
    """A metric's two values, and the factor (or the per cent, where asked for) between them."""
    kind = context.kind_of(one.metric)
    a, b = (context.doc.show(fact, None, kind) for fact in (one.before, one.after))
    if _PERCENT.search(context.query.said):
        share = context.ledger.derived(
            f"relative change of {one.metric}", number(one.after) / number(one.before) - 1,
            inputs=[one.before, one.after], formula="later / earlier − 1", unit="fraction",
        )  # fmt: skip
        size = round(number(share) * 100, 9)
        shown = mark(share.id, f"{'+' if size > 0 else ''}{percent(size)}%")
        return context.say("changed.by_percent", metric=one.metric, a=a, b=b, share=shown)
    over, under = (one.after, one.before) if one.way >= 0 else (one.before, one.after)
    times = context.ledger.derived(
        f"factor of {one.metric}", number(over) / number(under), inputs=[over, under], formula="larger / smaller end"
    )
    name = "changed.by_up" if one.way >= 0 else "changed.by_down"
    return context.say(name, metric=one.metric, a=a, b=b, times=times)


def _told(context: Context, found: Sequence[_Moved], text: str) -> Verdict:
    steps = [fact.step for one in found for fact in (one.before, one.after)]
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("changed.where_steps" if all(steps) else "changed.where_ends"))
    keys = [one.metric for one in found]
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
