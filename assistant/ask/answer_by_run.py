"""One metric over several runs: a line for each, highest first where a ranking is asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.analysis.diagnosis import role
from assistant.ask.answer_runs import MOST_RUNS, about
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.part import part_of
from assistant.ask.parts import number
from assistant.ask.scope import Scope, scope_in
from assistant.ask.subject import words_of
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Run, Verdict
from assistant.write.document import unmark

MOST_METRICS = 3
_RATES = ("timing_s/", "perf/", "time/", "timing/", "step_time", "system/tps", "train_speed")
_ROLES = ("val_accuracy", "score_mean", "reward_mean", "policy_entropy", "grad_norm", "ref_kl", "old_kl",
          "response_length_mean", "training_loss", "held_out_loss")  # fmt: skip
#: Words for an extreme that a run reached at some step.
_EVER = re.compile(
    r"(?i)峰值|曾|达到|最高点|最低点|最(?:大|小)值|最[大小高低]的?\s*(?=[A-Za-z_/]{3})|\b(?:peak|ever|reach\w*|max(?:imum)?|min(?:imum)?|hit)\b"
)
#: Each run's own extreme is asked for, and not which of the runs lies higher.
_OWN = re.compile(
    r"(?i)\b(?:of|in|for|by|from|at|per) (?:each|both|either|every)\b|\beach (?:run|one|of|log|file)\b|\bboth\b"
    r"|\b(?:their|its) (?:own|respective)\b|\brespectively\b|各自|各(?:个|次|份)?\s*(?:run|日志|文件)|每(?:个|次|份)"
    r"|分别"
    r"|(?:两|三)(?:个|次|份|边)[^,，。]{0,24}(?:各|都)"
)
#: How many times one is the other.
_FACTOR = re.compile(r"(?i)[几多少]\s*倍|倍(?:数)?是|\btimes\b|\bfactor\b|\bratio\b|\bfold\b")
_OPS = {"max": "max", "argmax": "max", "min": "min", "argmin": "min", "mean": "mean"}


@dataclass(frozen=True, slots=True)
class Line:
    """What one run holds of a metric; fields are ``None`` where it holds none."""

    run: Run
    asked: Fact | None
    first: Fact | None
    last: Fact | None
    mean: Fact | None


def by_run(context: Context, keys: list[str]) -> Verdict:
    """The values of some metrics in each run: at the step named, by the operation named, else the last ones."""
    doc = context.doc
    slot = len(doc.blocks)
    doc.blocks.append("")
    texts = []
    scope = _scope(context)
    how, name = _how(context, scope)
    how, within = _over(context, scope, how)
    for metric in keys[:MOST_METRICS]:
        lines = [_line(context, run, metric, name, within) for run in context.runs[:MOST_RUNS]]
        texts.append(_summary(context, metric, lines, how))
        _table(context, metric, lines, name, how if within else "")
        context.metrics.append(metric)
        context.cite(context.card(metric))
    doc.blocks[slot] = f"**{texts[0]}**" + "".join(f"\n\n- {text}" for text in texts[1:])
    doc.bullets(_broken(context))
    doc.paragraph(context.say("by_run.caution"))
    _not_one(context)
    return Verdict("inconclusive", unmark(texts[0]), "medium")


def trends(context: Context, keys: list[str]) -> Verdict:
    """How a metric moved in each run, a sentence a run; the verdict is the first run's direction."""
    metric, code, texts = keys[0], "inconclusive", []
    for place, run in enumerate(context.runs[:MOST_RUNS]):
        one = about(context, run)
        trend = one.ledger.trend(metric, None, run) if metric in run.columns else None
        name = key(run.name)
        if trend is None:
            texts.append(context.say("by_run.named", name=name, said=context.say("by_run.absent")))
            continue
        texts.append(context.say("by_run.named", name=name, said=trend_sentence(one, metric, trend)))
        code = (trend.direction or code) if place == 0 else code
    context.doc.bullets(texts)
    _table(context, metric, [_line(context, run, metric, "last") for run in context.runs[:MOST_RUNS]], "last")
    context.doc.paragraph(context.say("by_run.caution"))
    context.metrics.append(metric)
    context.cite(context.card(metric))
    _not_one(context)
    return Verdict(code, unmark(texts[0]), "medium")


def _broken(context: Context) -> list[str]:
    """The gravest critical finding of each run that has one: what its values have to be read with."""
    lines = []
    for run in context.runs[:MOST_RUNS]:
        one = about(context, run)
        grave = [c for c in all_checks(one) if c.severity == "critical"]
        lines += [context.say("runs.finding", name=run.name, first=one.finding(check)) for check in grave[:1]]
    return lines


def _not_one(context: Context) -> None:
    """Takes back the remark that the answer is about the first run alone."""
    alone = context.say("note.other_runs", n=str(len(context.runs)), name=context.runs[0].name)
    context.warnings = [warning for warning in context.warnings if warning != alone]


def own_values(context: Context, keys: list[str]) -> None:
    """Each run's first and last value and mean of some metrics, as tables."""
    context.doc.paragraph(context.say("by_run.each"))
    for metric in keys[:MOST_METRICS]:
        _table(context, metric, [_line(context, run, metric, "last") for run in context.runs[:MOST_RUNS]], "last")


def _how(context: Context, scope: Scope) -> tuple[str, str]:
    """What is compared: how the sentence says it, and the name of the choice."""
    slot, op = context.query.steps, context.query.op
    if not scope.whole:
        name = _OPS.get(op or "", "mean")
        return context.say(f"by_run.how_{name}"), name
    if slot.kind == "single":
        return context.say("by_run.how_step", step=slot.values[0]), "step"
    if op == "mean" and (extreme := context.query.asked_op) in {"max", "min"} and _EVER.search(context.query.said):
        op = extreme  # "the max grad_norm of A and B"
    if op in {"max", "min"} and slot.kind == "last":
        op = None
    if op in {"max", "min"} and not (
        _EVER.search(context.query.said) or _OWN.search(context.query.said)
    ):  # "which run is fastest": of all it did
        timed = all(m.key is not None and m.key.startswith(_RATES) for m in context.query.mentions)
        name = "mean" if timed else "last"
        return context.say(f"by_run.how_{name}"), name
    if op in _OPS:
        return context.say(f"by_run.how_{_OPS[op]}"), _OPS[op]
    name = "first" if slot.kind == "first" else "last"
    return context.say(f"by_run.how_{name}"), name


def _scope(context: Context) -> Scope:
    """The part of each run that is asked about; the whole where one step, or none, is named."""
    slot = context.query.steps
    if slot.kind not in {"range", "last_n", "first", "none", "all", "single"}:
        return Scope()
    scope = scope_in(words_of(context), context.train_steps)
    if not scope.whole or slot.kind not in {"range", "last_n"}:
        return scope
    if slot.kind == "last_n":  # carried from an earlier turn
        return Scope(latest=int(slot.values[0]))
    return Scope(first=int(slot.values[0]), last=int(slot.values[-1]))


def _over(context: Context, scope: Scope, how: str) -> tuple[str, Scope | None]:
    """What is compared with the part of the runs that it is taken over, and that part; ``None``: all of them."""
    if scope.whole or scope.without:
        return how, None
    if scope.latest > 1:
        count = context.ledger.count("last values asked for", scope.latest)
        return context.say("by_run.over_last", how=how, n=count), scope
    if scope.latest:
        return how, None
    if scope.first is not None and scope.last is not None:
        return context.say("by_run.over_range", how=how, first=scope.first, last=scope.last), scope
    if scope.first is not None:
        return context.say("by_run.over_from", how=how, first=scope.first), scope
    return context.say("by_run.over_until", how=how, last=scope.last), scope


def counterpart(context: Context, run: Run, metric: str) -> str:
    """The key under which a run holds a metric: the same, or the one of the same role (another number of samples)."""
    if metric in run.columns:
        return metric
    for name in _ROLES:
        first = next((held for other in context.runs if (held := role(other, name)) and metric in held.metrics), None)
        own = role(run, name)
        if first is not None and own is not None and own.spelling.plain:
            return own.metrics[0]
    return metric


def _line(context: Context, run: Run, metric: str, name: str, scope: Scope | None = None) -> Line:
    one = about(context, run)
    metric = counterpart(context, run, metric)
    steps: Sequence[int] = run.series(metric)[0] if metric in run.columns else []
    if scope is not None and steps:
        steps = part_of(one, metric, scope).steps
    held = [f for s in steps if (f := one.value(metric, s)) is not None and math.isfinite(number(f))]
    if not held:
        return Line(run, None, None, None, None)
    over = "" if scope is None else f"/{held[0].step}-{held[-1].step}"
    mean = context.ledger.derived(
        f"mean({metric}){over}", math.fsum(number(f) for f in held) / len(held), formula=f"mean of {metric}",
        inputs=held, run=run,
    )  # fmt: skip
    if name == "step":
        asked = next((f for f in held if f.step == context.query.steps.values[0]), None)
    elif name == "mean":
        asked = mean
    elif name in {"max", "min"}:
        asked = (max if name == "max" else min)(held, key=number)
    else:
        asked = held[0] if name == "first" else held[-1]
    return Line(run, asked, held[0], held[-1], mean)


def _summary(context: Context, metric: str, lines: list[Line], how: str) -> str:
    say, kind = context.say, context.kind_of(metric)
    there = sorted((line for line in lines if line.asked is not None), key=lambda line: -number(line.asked))
    if not there:
        return say("by_run.none", metric=metric)
    top, low = (context.doc.show(line.asked, None, kind) for line in (there[0], there[-1]) if line.asked is not None)
    names = {"best": key(there[0].run.name), "least": key(there[-1].run.name)}
    if len(there) == 1:
        return say("by_run.only", metric=metric, name=names["best"], top=top)
    if number(there[0].asked) == number(there[-1].asked):
        return say("by_run.same", metric=metric, how=how, top=top)
    text = say("by_run.lead", metric=metric, how=how, top=top, low=low, **names)
    if len(lines) == 2 and lines[0].asked is not None and lines[1].asked is not None:
        moved = number(lines[1].asked) - number(lines[0].asked)
        apart = context.ledger.derived(
            f"difference of {metric}", abs(moved), inputs=[lines[0].asked, lines[1].asked],
            formula="|second run − first run|",
        )  # fmt: skip
        shown = context.doc.show(apart, None, "points" if kind == "fraction" else kind)
        gap = "" if context.language == "zh" else " "
        side = "above" if moved > 0 else "below"
        text += gap + say(f"by_run.{side}", a=key(lines[0].run.name), b=key(lines[1].run.name), d=shown)
        if _FACTOR.search(context.query.said) and there[0].asked is not None and there[-1].asked is not None:
            text += gap + _ratio(context, metric, (there[0].asked, there[-1].asked), names)
    return text


def _ratio(context: Context, metric: str, ends: tuple[Fact, Fact], names: dict[str, str]) -> str:
    """How many times the lower value the higher is; nothing where that says nothing."""
    top, low = ends
    if number(low) <= 0:
        return ""
    value = context.ledger.derived(
        f"ratio of {metric}", number(top) / number(low), inputs=[top, low], formula="higher / lower"
    )
    shown = context.doc.show(value, None, "number")
    return context.say("by_run.ratio", a=names["best"], b=names["least"], r=shown)


def ill(context: Context, keys: list[str]) -> Verdict:
    """In which of the runs a metric went wrong: the gravest finding about it in each."""
    metric, found = keys[0], list[tuple[Run, str, str]]()
    for run in context.runs[:MOST_RUNS]:
        one = about(context, run)
        own = counterpart(context, run, metric)
        grave = [c for c in all_checks(one) if c.severity in {"critical", "warning"} and own in c.metrics]
        found += [(run, str(grave[0].severity), one.finding(grave[0]))] if grave else []
    if found:
        names = context.join(key(run.name) for run, _, _ in found)
        text = context.say("by_run.ill", metric=metric, names=names, first=found[0][2])
    else:
        text = context.say("by_run.none_ill", metric=metric, n=context.ledger.count("runs", len(context.runs)))
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets([context.say("runs.finding", name=run.name, first=said) for run, _, said in found[1:]])
    own_values(context, [metric])
    _not_one(context)
    context.metrics.append(metric)
    context.cite(context.card(metric))
    code = "healthy" if not found else "critical" if any(grave == "critical" for _, grave, _ in found) else "warning"
    return Verdict(code, unmark(text), "medium")


def _table(context: Context, metric: str, lines: list[Line], name: str, over: str = "") -> None:
    doc, say, kind = context.doc, context.say, context.kind_of(metric)
    ranked = sorted(lines, key=lambda line: (line.asked is None, -number(line.asked)))

    def cell(fact: Fact | None) -> str:
        if fact is None:
            return say("by_run.absent")
        at = "" if fact.step is None else f" (step {doc.step(fact.step)})"
        return doc.show(fact, None, kind) + at

    extra = name not in {"first", "last", "mean"}
    head = [say("runs.head_run")]
    if extra and over:
        head.append(over)
    elif extra:
        head.append(f"step {doc.step(context.query.steps.values[0])}" if name == "step" else say(f"by_run.head_{name}"))
    head += [say(f"by_run.head_{part}") for part in ("first", "last", "mean")]
    if over:  # first, last and mean are of that part
        doc.paragraph(say("by_run.of_part", how=over))
    rows = []
    for line in ranked:
        cells = [cell(line.first), cell(line.last), "—" if line.mean is None else doc.show(line.mean, None, kind)]
        held = counterpart(context, line.run, metric)
        shown = key(line.run.name) + ("" if held == metric else f" {key(held)}")
        rows.append([shown, *([cell(line.asked)] if extra else []), *cells])
    doc.paragraph(f"{key(metric)}")
    doc.table(head, rows)
