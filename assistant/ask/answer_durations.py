"""Where time goes in a log that times groups of work: ``rollouts/total_duration_avg_s`` over its parts' durations."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_TOTAL: Final = re.compile(r"(?P<group>.{1,120})/total_duration_avg_s")
_PART: Final = re.compile(r"(?P<group>.{1,120})/(?P<name>[^/]{1,80})/duration_avg_s")
MOST_PARTS: Final = 6


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    total: Fact
    parts: tuple[Fact, ...]


def grouped(context: Context, step: int) -> Verdict | None:
    """The parts of each group and what no part of it holds; ``None`` where no group is timed with its parts."""
    groups = _groups(context, step)
    if not groups:
        return None
    said = words_of(context).lower()
    groups.sort(key=lambda one: (not _named(one, said), -number(one.total)))
    lines = [_told(context, group) for group in groups]
    context.doc.paragraph(f"**{lines[0]}**")
    context.doc.bullets(lines[1:])
    if len(groups) > 1:
        context.doc.paragraph(context.say("durations.apart"))
    context.metrics.extend(str(fact.metric) for fact in (groups[0].total, *groups[0].parts[:2]))
    return Verdict("answered", unmark(lines[0]), "medium")


def _groups(context: Context, step: int) -> list[_Group]:
    found = []
    for metric in context.run.metrics:
        match = _TOTAL.fullmatch(metric)
        total = None if match is None else context.value(metric, step)
        if match is None or total is None or not _is_time(total):
            continue
        parts = []
        for other in context.run.metrics:
            part = _PART.fullmatch(other)
            fact = context.value(other, step) if part is not None and part["group"] == match["group"] else None
            if fact is not None and _is_time(fact):
                parts.append(fact)
        if parts and number(total) > 0:
            found.append(_Group(match["group"], total, tuple(sorted(parts, key=number, reverse=True))))
    return found


def _is_time(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value) and fact.value >= 0


def _named(group: _Group, said: str) -> bool:
    """Whether a question names a group by a word of its name: "training" for ``continuous_training``."""
    return any(word[:5] in said for word in re.findall(r"[a-z]{5,}", group.name.rpartition("/")[2].lower()))


def _told(context: Context, group: _Group) -> str:
    say, ledger = context.say, context.ledger
    parts = []
    for fact in group.parts[:MOST_PARTS]:
        match = _PART.fullmatch(str(fact.metric))
        name = str(fact.metric) if match is None else match["name"]
        context.names.add(name)
        share = ledger.derived(
            f"{fact.metric} / {group.total.metric}", number(fact) / number(group.total), inputs=[fact, group.total],
            formula="part / total of its group", step=fact.step,
        )  # fmt: skip
        parts.append(say("durations.part", name=name, v=fact, share=context.doc.show(share, None, "fraction")))
    rest = number(group.total) - math.fsum(number(fact) for fact in group.parts)
    text = say("durations.group", metric=str(group.total.metric), v=group.total, parts=context.join(parts))
    if rest <= 0.01 * number(group.total):
        return text
    left = ledger.derived(
        f"rest of {group.total.metric}", rest, unit="s", inputs=[group.total, *group.parts],
        formula="total − sum of its parts", step=group.total.step,
    )  # fmt: skip
    of_all = ledger.derived(
        f"share of the rest of {group.total.metric}", rest / number(group.total), inputs=[left, group.total],
        formula="rest / total", step=group.total.step,
    )  # fmt: skip
    gap = "" if context.language == "zh" else " "
    return text + gap + say(
        "durations.rest", v=context.doc.show(left, None, "seconds"), share=context.doc.show(of_all, None, "fraction")
    )  # fmt: skip
