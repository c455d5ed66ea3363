"""Several benchmarks of one validation: hardest, easiest, all in order, their mean, format against accuracy."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.analysis.validation import validation_sets
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_HARD: Final = re.compile(
    r"(?i)最(?:难|低|差|弱|不好|糟)|\b(?:hardest|worst|lowest|weakest|poorest|most difficult|least)\b"
)
_EASY: Final = re.compile(r"(?i)最(?:简单|容易|高|好|强)|\b(?:easiest|best|highest|strongest|simplest)\b")
_MEAN: Final = re.compile(r"(?i)平均|均值|宏平均|\b(?:average|mean|overall|macro)\b")
#: Keys of a single number per benchmark: older verl, slime, OpenRLHF.
_PLAIN: Final = re.compile(r"(?:val/test_score|val/reward|eval)/(?P<source>[\w./ -]+?)")
#: What slime and others log of an evaluation beside its score.
_ASIDE: Final = re.compile(
    r"(?i)-truncated|response_len|length|tokens|time|steps?$|loss|entropy|ratio|_len\b|num_|repetition"
)
#: Variables of a validation, best first.
_SCORES: Final = ("acc", "score", "reward")


@dataclass(frozen=True)
class Validated:
    """What a validation says of several benchmarks.

    Attributes:
        step: of the validation.
        scores: the main score of each benchmark.
        formats: its format score, where one is logged.
    """

    step: int
    scores: Mapping[str, Fact]
    formats: Mapping[str, Fact]


def validated(context: Context) -> Validated | None:
    """The validation asked about, the latest by default; ``None`` where it holds fewer than two benchmarks."""
    slot = context.query.steps
    wanted = set(slot.values) if slot.kind in {"single", "pair"} else None
    for step in reversed(context.run.distinct_steps):
        if wanted is not None and step not in wanted:
            continue
        found = _tables(context, step) or _plain(context, step)
        if found is not None:
            return found
    return None


def _tables(context: Context, step: int) -> Validated | None:
    tables = validation_sets(context.run, step)
    for variable in _SCORES:
        scores = _means(context, step, [(t.source, t.key("mean")) for t in tables if t.variable == variable])
        if len(scores) > 1:
            formats = [(t.source, t.key("mean")) for t in tables if "format" in t.variable]
            return Validated(step, scores, _means(context, step, formats))
    return None


def _plain(context: Context, step: int) -> Validated | None:
    held = [(match["source"], m) for m in context.run.metrics
            if (match := _PLAIN.fullmatch(m)) is not None and not _ASIDE.search(m)]  # fmt: skip
    scores = _means(context, step, [(source, m) for source, m in held if "format" not in source])
    return Validated(step, scores, {}) if len(scores) > 1 else None


def _means(context: Context, step: int, keys: Sequence[tuple[str, str | None]]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for source, metric in keys:
        fact = None if metric is None else context.value(metric, step)
        if fact is not None and isinstance(fact.value, (int, float)) and math.isfinite(fact.value):
            found.setdefault(source, fact)
    return found


def benchmarks(context: Context) -> Verdict | None:
    """Which benchmark is hardest or easiest, or their mean; ``None`` where the log holds fewer than two."""
    found = validated(context)
    if found is None:
        return None
    said = normalised(context.query.wording or context.query.text)
    if _GAIN.search(said):
        return _gained(context, found)
    hard, easy = _HARD.search(said) is not None, _EASY.search(said) is not None
    ordered = sorted(found.scores.items(), key=lambda item: number(item[1]))
    say, lines = context.say, []
    count = context.ledger.count("benchmarks", len(ordered), step=found.step)
    if _MEAN.search(said):
        mean = context.ledger.derived(
            "mean over benchmarks", math.fsum(number(fact) for _, fact in ordered) / len(ordered), step=found.step,
            formula="sum of the scores / number of benchmarks", inputs=[fact for _, fact in ordered],
        )  # fmt: skip
        shown = context.doc.show(mean, None, context.kind_of(str(ordered[0][1].metric)))
        lines.append(say("benchmarks.mean", n=count, v=shown, step=found.step))
    if hard or not (easy or lines):
        lines.append(say("benchmarks.lowest", source=ordered[0][0], v=ordered[0][1], n=count, step=found.step))
    if easy:
        lines.append(say("benchmarks.highest", source=ordered[-1][0], v=ordered[-1][1], n=count, step=found.step))
    gap = "" if context.language == "zh" else " "
    text = gap.join(lines)
    context.doc.paragraph(f"**{text}**")
    if say("benchmarks.note") not in context.doc.blocks:  # a further question about the same benchmarks
        _table(context, found, ordered)
        context.doc.paragraph(say("benchmarks.note"))
    return _done(context, text, [str(fact.metric) for _, fact in ordered])


#: Asks by how much each rose, and not where it stands.
_GAIN: Final = re.compile(
    r"(?i)(?:提升|提高|进步|涨|升|改善|变化)(?:得|了)?最|最(?:大|多|快)的?(?:提升|进步|涨幅|改善)"
    r"|\b(?:improv|gain|ris|rose|grew|increas|chang)\w* (?:the )?most\b"
    r"|\b(?:biggest|largest|most) (?:gain|improvement|increase|rise)"
)


def _gained(context: Context, found: Validated) -> Verdict:
    """Which benchmark gained most from the first validation that holds it to the latest."""
    say, held = context.say, []
    for source, fact in found.scores.items():
        metric = str(fact.metric)
        cells = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
        if len(cells) > 1:
            held.append((number(cells[-1]) - number(cells[0]), source, cells[0], cells[-1]))
    if not held:
        text = say("benchmarks.one_only", step=found.step)
        context.doc.paragraph(f"**{text}**")
        return _done(context, text, [str(fact.metric) for fact in found.scores.values()])
    held.sort(key=lambda one: -one[0])
    rows = []
    texts = []
    for gain, source, a, b in held:
        fact = context.ledger.derived(f"gain of {source}", gain, inputs=[b, a], formula="last − first", unit="fraction")
        kind = context.kind_of(str(a.metric))
        shown = mark(fact.id, signed(gain, kind, language=context.language))
        texts.append((source, a, b, shown))
        rows.append([key(str(a.metric)), context.doc.show(a), context.doc.show(b), shown])
    source, a, b, shown = texts[0]
    count = context.ledger.count("benchmarks with two validations", len(held))
    name = "benchmarks.gained" if held[0][0] > 0 else "benchmarks.none_gained"
    text = say(name, source=source, a=a, b=b, d=shown, **({"n": count} if held[0][0] > 0 else {}))
    context.doc.paragraph(f"**{text}**")
    if len(rows) > 1:
        heads = [say("head.metric"), f"step {context.doc.step(a.step or 0)}", f"step {context.doc.step(b.step or 0)}"]
        context.doc.table([*heads, say("head.change")], rows)
    context.doc.paragraph(say("benchmarks.gained_note"))
    context.names.update(source for _, source, _, _ in held)
    return _done(context, text, [str(fact.metric) for fact in found.scores.values()])


def pair(context: Context) -> Verdict | None:
    """Which of two benchmarks named scores higher, and by how much; ``None`` where the question names no two."""
    found = validated(context)
    said = normalised(context.query.wording or context.query.text).lower()
    names = (
        [] if found is None else sorted((s for s in found.scores if _named(s, said)), key=lambda s: said.find(_end(s)))
    )
    if found is None or len(names) != 2:
        return None
    one, other = sorted(names, key=lambda name: -number(found.scores[name]))
    gap = context.ledger.derived(
        f"{one} − {other}", number(found.scores[one]) - number(found.scores[other]), step=found.step,
        formula="higher score − lower score", inputs=[found.scores[one], found.scores[other]],
    )  # fmt: skip
    shown = context.doc.show(gap, None, _gap_kind(context, found))
    text = context.say(
        "benchmarks.pair", high=one, low=other, a=found.scores[one], b=found.scores[other], gap=shown, step=found.step
    )
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("benchmarks.pair_note"))
    return _done(context, text, [str(found.scores[name].metric) for name in (one, other)])


def _end(source: str) -> str:
    return source.rpartition("/")[2].lower()


def _named(source: str, said: str) -> bool:
    """Whether a question names a benchmark: by the last part of its name."""
    return re.search(rf"(?<![a-z0-9]){re.escape(_end(source))}(?![a-z0-9])", said) is not None


def format_gap(context: Context) -> Verdict | None:
    """How far the format score lies from the accuracy, for each benchmark; ``None`` where not both are logged."""
    found = validated(context)
    both = [] if found is None else [source for source in found.scores if source in found.formats]
    if found is None or not both:
        return None
    gaps = {
        source: context.ledger.derived(
            f"format − score/{source}", number(found.formats[source]) - number(found.scores[source]), step=found.step,
            formula="format score − accuracy", inputs=[found.formats[source], found.scores[source]],
        )
        for source in both
    }  # fmt: skip
    ordered = sorted(both, key=lambda source: -number(gaps[source]))
    shown = {source: context.doc.show(fact, None, _gap_kind(context, found)) for source, fact in gaps.items()}
    parts = [
        context.say("benchmarks.gap_one", source=s, format=found.formats[s], score=found.scores[s], gap=shown[s])
        for s in ordered[:6]
    ]
    text = context.say("benchmarks.gap", listed=("；" if context.language == "zh" else "; ").join(parts))
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("benchmarks.gap_note"))
    return _done(context, text, [str(found.scores[source].metric) for source in ordered])


def _gap_kind(context: Context, found: Validated) -> str:
    kind = context.kind_of(str(next(iter(found.scores.values())).metric))
    return "points" if kind == "fraction" else kind


def _table(context: Context, found: Validated, ordered: Sequence[tuple[str, Fact]]) -> None:
    rows = []
    for source, fact in ordered:
        row = [source, key(str(fact.metric)), context.doc.show(fact)]
        if found.formats:
            row.append(context.doc.show(found.formats[source]) if source in found.formats else "—")
        rows.append(row)
    head = [context.say("benchmarks.head"), context.say("head.metric"), context.say("head.value")]
    context.doc.table([*head, *([context.say("benchmarks.head_format")] if found.formats else [])], rows)


def _done(context: Context, text: str, metrics: Sequence[str]) -> Verdict:
    context.names.update(metrics)
    context.metrics.extend(metrics[:4])
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(text))
