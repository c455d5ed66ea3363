"""Measures of one metric against another, or against the run's other clocks: which scatters more, in which epoch."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask.answer_overall import scatter
from assistant.ask.context import EPOCHS, Context
from assistant.ask.departures import all_checks
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import scope_in
from assistant.ask.subject import subject_of, words_of
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_LOW: Final = re.compile(
    r"(?i)最(?:低|小|短|差|少|快)|[触见探]底|谷底|\b(?:lowest|smallest|min(?:imum)?|least|shortest|fastest|bottom)"
)
#: Fewest values of each metric for a scatter.
LEAST: Final = 8
_MOST: Final = 4
_ALL: Final = re.compile(
    r"(?i)(?:记录|记|打印|包含|含|存|写|有)了?(?:哪些|什么)|(?:哪些|什么)(?:列|字段|指标)|\ball\b|\bwhat\b|\bwhich\b"
)
_MOST_LISTED: Final = 24
#: What people call a kind of metrics, and how its keys are spelt.
_CATEGORIES: Final = tuple(
    (re.compile(rf"(?i){said}"), re.compile(rf"(?i){spelt}"))
    for said, spelt in (
        (r"时间|耗时|用时|\btim(?:e|ing)s?\b|duration", r"(?:^|[/_])tim(?:e|ing)|_time|seconds"),
        (r"长度|\blengths?\b", "length"),
        (r"显存|内存|\bmemory\b", r"mem"),
        (r"奖励|得分|分数|\brewards?\b|\bscores?\b", r"reward|score"),
        (r"验证|评测|评估|\bvalidation|\beval", r"^val|^eval|^test"),
        (r"损失|\bloss(?:es)?\b", "loss"),
        (r"吞吐|速度|\bthroughput|\bspeed", r"throughput|mfu|tps|tgs|per_sec|fps"),
        (r"梯度|\bgradients?\b", "grad"),
        (r"熵|\bentropy", "entropy"),
        (r"散度|\bkl\b", r"(?:^|[/_])(?:ppo_|approx_?)?kl"),
        (r"优势|\badvantages?\b", "advantage"),
    )
)
_WORD: Final = re.compile(r"[a-z]{3,}")


def extreme_epoch(context: Context) -> Verdict | None:
    """The epoch in which a metric has its extreme; ``None`` without a metric or an epoch in the log."""
    clock = next((m for m in context.run.metrics if m in EPOCHS or m.endswith("/epoch")), None)
    found = subject_of(context)
    if clock is None or found is None or found.metric == clock:
        return None
    low = _LOW.search(found.text) is not None
    part = found.part
    place = part.values.index((min if low else max)(part.values))
    best = cell(context, part, place)
    at = context.value(clock, part.steps[place])
    if at is None:
        return None
    said = context.say(f"epoch.{'lowest' if low else 'highest'}", metric=found.metric, v=best, clock=clock, at=at)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op="argmin" if low else "argmax")
    return Verdict("answered", unmark(said))


def steadier(context: Context) -> Verdict | None:
    """Which of several metrics scatters more from step to step: as it stands, and against its own level."""
    keys = list(dict.fromkeys(central(named_keys(context))))[:_MOST]
    if len(keys) < 2 or len({mention.start for mention in context.query.mentions if mention.key in keys}) < 2:
        return None
    scope = scope_in(words_of(context), context.train_steps)
    parts = [part_of(context, metric, scope) for metric in keys]
    if any(len(part) < LEAST for part in parts):
        return None
    rows: list[tuple[str, Fact, Fact, Fact | None]] = []
    for part in parts:
        spread = statistic(context, part, "scatter", scatter(part.values), "sd of neighbouring differences / √2")
        level = statistic(context, part, "median", median(part.values), "median")
        rows.append((part.metric, spread, level, _relative(context, part, spread, level)))
    said = context.say("steady.same") if all(number(row[1]) == 0 for row in rows) else _verdict(context, rows)
    doc = context.doc
    doc.paragraph(f"**{said}**")
    head = [context.say(f"steady.column_{name}") for name in ("metric", "scatter", "level", "relative")]
    doc.table(
        head,
        [
            [
                f"`{metric}`",
                *(shown(context, fact, metric) for fact in (spread, level)),
                doc.show(part) if part else "—",
            ]
            for metric, spread, level, part in rows
        ],
    )
    doc.paragraph(context.say("noisy.how"))
    for part in parts:
        doc.paragraph(*remarks(context, part))
        context.chart(context.title(part.metric), [part.metric])
    context.metrics.extend(keys)
    return Verdict("answered", unmark(said))


def claimed(context: Context) -> Verdict | None:
    """Whether the log bears out that something improved: the two steps, or the ends, compared with their noise."""
    from assistant.ask.answer_compare import compare

    context.query = replace(context.query, op=None, asked_op=None)
    return compare(context)


def good_sign(context: Context) -> Verdict | None:
    """Whether what the question describes is good: the findings that touch it; ``None`` where there is none."""
    from assistant.ask.answers import answer

    named = set(central(named_keys(context)))
    roots = {name.rpartition("/")[0] or name for name in named} if len(named) <= _MOST else set()
    grave = [check for check in all_checks(context) if check.severity in {"critical", "warning"}]
    touched = any((metric.rpartition("/")[0] or metric) in roots for check in grave for metric in check.metrics)
    if not touched and not any(check.severity == "critical" for check in grave):
        return None
    context.query = replace(context.query, mentions=())
    return answer(context)


def metrics_about(context: Context) -> Verdict | None:
    """The metrics that a word stands for, each with its ends; ``None`` where the question names none of the log's."""
    keys = [name for name in dict.fromkeys(named_keys(context)) if name in context.run.columns]
    words = {part for mention in context.query.mentions for part in _WORD.findall(mention.text.lower())}
    asked = normalised(context.query.wording or context.query.text)
    kinds = [kind for said, kind in _CATEGORIES if said.search(asked)]
    keys += [
        name for name in context.run.metrics
        if name not in keys
        and (words & set(_WORD.findall(name.lower())) or any(kind.search(name) for kind in kinds))
    ]  # fmt: skip
    if not keys and not words and _ALL.search(asked):
        keys = list(context.run.metrics)
    if not keys:
        return None
    slot = context.query.steps
    if slot.kind in {"single", "last", "first"}:  # "which memory metrics are there, and how much at step 30"
        return _about_at(context, keys, slot.values[0] if slot.kind == "single" else None)
    count = context.ledger.count("metrics asked for", len(keys))
    said = context.say("about.metrics", n=count)
    context.doc.paragraph(f"**{said}**")
    rows = []
    for name in keys[:_MOST_LISTED]:
        steps = context.run.series(name)[0]
        first, last = context.value(name, steps[0]), context.value(name, steps[-1])
        if first is not None and last is not None:
            cells = [f"{context.doc.show(fact)} (step {context.doc.step(fact.step or 0)})" for fact in (first, last)]
            rows.append([f"`{name}`", context.title(name) if context.card(name) else "—", *cells])
    context.doc.table([context.say(f"about.column_{name}") for name in ("key", "title", "first", "last")], rows)
    context.metrics.extend(keys[:_MOST_LISTED])
    return Verdict("answered", unmark(said))


def _about_at(context: Context, keys: Sequence[str], step: int | None) -> Verdict | None:
    """The values of metrics at one step (the first or last that holds one where it has no number)."""
    if step is None:
        held = sorted({at for name in keys for at in context.run.series(name)[0]})
        step = held[0] if context.query.steps.kind == "first" else held[-1]
    facts = [(name, fact) for name in keys if (fact := context.value(name, step)) is not None]
    if not facts:
        return None
    shown = facts[:_MOST_LISTED]
    count = context.ledger.count("metrics asked for", len(keys))
    held_here = context.ledger.count("metrics with a value", len(facts), step=step)
    said = context.say("about.at", n=count, k=held_here, step=step)
    context.doc.paragraph(f"**{said}**")
    rows = [[f"`{name}`", context.title(name) if context.card(name) else "—", context.doc.show(fact)]
            for name, fact in shown]  # fmt: skip
    context.doc.table([context.say(name) for name in ("about.column_key", "about.column_title", "head.value")], rows)
    context.metrics.extend(name for name, _ in shown)
    return Verdict("answered", unmark(said))


def _verdict(context: Context, rows: Sequence[tuple[str, Fact, Fact, Fact | None]]) -> str:
    widest = max(rows, key=lambda row: number(row[1]))
    shares = {metric: share for metric, _, _, share in rows if share is not None}
    kinds = {context.kind_of(row[0]) for row in rows}
    most = shown(context, widest[1], widest[0])
    if len(shares) < len(rows):
        return context.say("steady.absolute" if len(kinds) == 1 else "steady.units", metric=widest[0], v=most)
    relative = max(shares, key=lambda metric: number(shares[metric]))
    share = context.doc.show(shares[relative])
    if len(kinds) > 1:
        return context.say("steady.relative", metric=relative, share=share)
    if relative == widest[0]:
        return context.say("steady.both", metric=relative, v=most, share=share)
    return context.say("steady.differ", metric=widest[0], v=most, other=relative, share=share)


def _relative(context: Context, part: Part, spread: Fact, level: Fact) -> Fact | None:
    """The scatter as a part of the metric's level; ``None`` where the level is not clear of zero."""
    middle = abs(number(level))
    signs = {value > 0 for value in part.values if value}
    if not math.isfinite(middle) or not middle or len(signs) > 1:
        return None
    return context.ledger.derived(
        f"scatter/|median| of {part.metric}", number(spread) / middle, inputs=[spread, level], unit="fraction",
        formula="scatter / |median|",
    )  # fmt: skip
