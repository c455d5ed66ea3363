"""Whether memory grows, which memory, and whether it will run out."""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis.checks import check_all
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.ask.telling import course_table
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

MOST_ROWS: Final = 8
#: Keys of memory: allocated, reserved, host; as frameworks spell them.
_MEMORY: Final = ("memory", "cuda_mem", "gpu_mem", "rss", "max_mem", "mem_")
#: Growth from the first to the last third up to which memory is as good as level.
LITTLE: Final = 0.03
#: A word for memory that names no key; one for that of GPUs alone; keys of the host's.
_PLAIN: Final = re.compile(r"(?i)[^/_]*(?:mem(?:ory)?|内存|显存|vram|oom)[^/_]*")
_OF_GPUS: Final = re.compile(r"(?i)显存|\bvram\b|\b(?:gpu|cuda|device) mem")
_OF_HOST: Final = re.compile(r"(?i)主机|\b(?:host|cpu|system) (?:mem|ram)|\bram\b")
_HOST: Final = re.compile(r"(?i)cpu|host|rss|ram(?![a-z])")


def memory(context: Context) -> Verdict:
    """Peaks and growth of memory; whether it will run out is said only where something grows."""
    say, doc = context.say, context.doc
    keys = _asked(context)
    if not keys:
        text = say("memory.none")
        doc.paragraph(f"**{text}**")
        return Verdict("insufficient_data", unmark(text))
    steps = context.train_steps or list(context.run.distinct_steps)
    checks = [
        c for c in check_all(context.ledger, steps)
        if c.rule.startswith("memory_growth") and any(m in keys for m in c.metrics)
    ]  # fmt: skip
    trends = {m: t for m in keys if (t := context.ledger.trend(m)) is not None}
    rising = [m for m, t in trends.items() if t.direction == "rising" and (t.n or 0) >= MIN_POINTS]
    grown = {m: fact for m in rising if (fact := _grown(context, m, trends[m])) is not None}
    little = {m: fact for m, fact in grown.items() if number(fact) <= LITTLE}
    rising = [m for m in rising if m not in little]
    count = context.ledger.count("steps with memory", max((t.n or 0) for t in trends.values()) if trends else 0)
    enough = any((t.n or 0) >= MIN_POINTS for t in trends.values())
    if checks:
        text = context.finding(checks[0])
    elif rising:
        names = [_with_growth(context, metric, grown.get(metric)) for metric in rising[:3]]
        text = say("memory.rising", names=context.join(names), n=count)
    elif little:
        most = max(little, key=lambda metric: number(little[metric]))
        phrase = "memory.little" if len(keys) > 1 else "memory.little_one"
        text = say(phrase, metric=most, share=little[most], n=count)
    elif enough:
        text = say("memory.flat", n=count)
    else:
        text = say("memory.few", n=count)
    doc.paragraph(f"**{text}**")
    course_table(context, keys[:MOST_ROWS], peak=True, least=1)
    notes = [say("memory.capacity")]
    if any(m.startswith("perf/max_memory") for m in keys):
        notes.append(say("memory.peak"))
    limit = context.value("response_length/clip_ratio", steps[-1])
    longest = context.value("response_length/max", steps[-1])
    if longest is not None and limit is not None:
        notes.append(say("memory.length", longest=longest, clip=limit))
    doc.bullets(notes)
    context.metrics.extend(keys[:4])
    for metric in keys[:2]:
        context.cite(context.card(metric))
    context.chart(context.title(keys[0]), keys[:3])
    calm = not rising and enough
    return Verdict("warning" if checks else "healthy" if calm else "insufficient_data", unmark(text), "medium")


def _asked(context: Context) -> list[str]:
    """The keys named; of a plain word, those of the memory that it means: GPUs', the host's, or any."""
    mentions = [m for m in context.query.mentions if m.key is not None]
    held = [m for m in context.run.metrics if _is_memory(context, m)]
    named = [str(m.key) for m in mentions]
    if any(not _PLAIN.fullmatch(m.text) for m in mentions if m.key in held):
        return named
    said = context.query.said
    gpus, host = _OF_GPUS.search(said) is not None, _OF_HOST.search(said) is not None
    if gpus != host and (part := [m for m in held if (_HOST.search(m) is not None) == host]):
        return part
    return held or named


def _with_growth(context: Context, metric: str, grown: Fact | None) -> str:
    return key(metric) if grown is None else context.say("memory.grown", metric=metric, share=grown)


def _grown(context: Context, metric: str, trend: Fact) -> Fact | None:
    """By how much of its level memory grew, from the first third's median to the last's, where both are known."""
    early, late = (context.ledger.level(metric, trend, which, context.run) for which in ("first", "last"))
    if early is None or late is None or number(early) <= 0:
        return None
    return context.ledger.derived(
        f"growth of {metric}", number(late) / number(early) - 1, inputs=[early, late], unit="fraction",
        formula="median of the last third / median of the first third − 1",
    )  # fmt: skip


def _is_memory(context: Context, metric: str) -> bool:
    card = context.card(metric)
    if card is not None:
        return card.category == "memory"
    return any(word in metric.lower() for word in _MEMORY)
