"""A change that the user states and the log does not hold: what it would mean, given the log's own errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assistant.analysis.diagnosis import role
from assistant.analysis.validation import ValidationSet, population_error, problem_count, validation_sets
from assistant.ask import answer_validation, naming
from assistant.ask.answer_compare import judge_with_trend
from assistant.ask.context import Context, benchmark_sizes, is_validation, key
from assistant.ask.parts import number
from assistant.ask.stated import Claim, claim_in, sides_in
from assistant.ask.validation_errors import with_error
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed


def stated(context: Context) -> Verdict:
    """Whether a stated change would be more than noise; said to be the user's figures, not the log's."""
    claim = claim_in(context.query.said)
    assert claim is not None
    crossing = _crossing(context, claim)
    if crossing is not None:
        return _two_quantities(context, *crossing)
    found = _table(context)
    if found is not None and max(abs(claim.first), abs(claim.second)) > 1 and _is_share(context, found[0]):
        claim = claim.in_per_cent()
    first, second = (
        context.ledger.constant(f"stated_{name}", value, "the question", "fraction" if abs(value) <= 1 else None)
        for name, value in (("before", claim.first), ("after", claim.second))
    )
    if found is None:
        text = context.say("claim.no_error", a=_show(context, claim, 0, first), b=_show(context, claim, 1, second))
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(context.say("claim.what_shows"))
        return Verdict("inconclusive", unmark(text), "low")
    table, step = found
    metric = table.key("mean")
    assert metric is not None
    context.metrics.append(metric)
    context.cite(context.card(metric))
    held = _held(context, metric, claim)
    if held is not None:
        return _in_the_log(context, metric, table, *held)
    return _conditional(context, claim, (first, second), table, step)


def sides(context: Context) -> Verdict | None:
    """That a validation's number and a training reward are two quantities; ``None`` where the log lacks either."""
    claim = sides_in(normalised(context.query.wording or context.query.text))
    crossing = None if claim is None else _crossing(context, claim)
    return None if crossing is None else _two_quantities(context, *crossing)


def _is_share(context: Context, table: ValidationSet) -> bool:
    values = context.run.series(str(table.key("mean")))[1]
    return all(abs(value) <= 1 for value in values)


def _show(context: Context, claim: Claim, place: int, fact: Fact) -> str:
    """A stated value as the user typed it, tied to its fact."""
    text = claim.texts[place]
    return mark(fact.id, text)


def _table(context: Context) -> tuple[ValidationSet, int] | None:
    """The validation that a stated accuracy belongs to, and the latest step at which its error can be told."""
    words = context.query.said.lower()
    for step in reversed(context.validation_steps):
        for table in validation_sets(context.run, step):
            if table.variable != "acc" or table.key("mean") is None:
                continue
            named = table.source.lower() in words or not any(
                other.source.lower() in words for other in validation_sets(context.run, step)
            )
            if named and answer_validation.standard_error(context, table, step) is not None:
                return table, step
    return None


def _held(context: Context, metric: str, claim: Claim) -> tuple[int, int] | None:
    """Steps at which the log holds both stated values, to the digits stated."""
    steps: list[int] = []
    for text, value in zip(claim.texts, (claim.first, claim.second), strict=True):
        digits = len(text.rstrip("%").partition(".")[2]) + (2 if text.endswith("%") else 0)
        near = [s for s, v in zip(*context.run.series(metric), strict=True) if abs(v - value) <= 0.501 * 10**-digits]
        if not near:
            return None
        later = [s for s in near if steps and s > steps[0]]
        steps.append(later[-1] if later else near[0])
    return (steps[0], steps[1]) if steps[0] != steps[1] else None


def _cell_with(context: Context, text: str, value: float, names: Sequence[str]) -> Fact | None:
    """The cell of some metrics that equals a stated value to the digits stated; the latest of several."""
    digits = len(text.rstrip("%").partition(".")[2]) + (2 if text.endswith("%") else 0)
    for name in names:
        near = [s for s, v in zip(*context.run.series(name), strict=True) if abs(v - value) <= 0.501 * 10**-digits]
        if near:
            return context.value(name, near[-1])
    return None


def _crossing(context: Context, claim: Claim) -> tuple[Fact, Fact] | None:
    """The two cells of a claim that takes a validation's accuracy and a training reward for one quantity."""
    validation = [m for m in context.run.metrics if is_validation(m) and "/mean@" in m]
    held = (role(context.run, name) for name in ("score_mean", "reward_mean"))
    training = [metric for found in held if found is not None for metric in found.metrics]
    pairs = ((validation, training), (training, validation))
    for names in pairs:
        cells = [
            _cell_with(context, text, value, name)
            for text, value, name in zip(claim.texts, (claim.first, claim.second), names, strict=True)
        ]
        alone = [
            _cell_with(context, text, value, name) is None
            for text, value, name in zip(claim.texts, (claim.first, claim.second), reversed(names), strict=True)
        ]
        if cells[0] is not None and cells[1] is not None and any(alone):
            return cells[0], cells[1]
    return None


def _two_quantities(context: Context, a: Fact, b: Fact) -> Verdict:
    """That the stated pair is no change at all: two different quantities, each with its place in the log."""
    text = context.say("claim.crossing", a=a, b=b, ma=str(a.metric), mb=str(b.metric))
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets([context.say(f"val_train.{name}") for name in ("problems", "scale", "sampling")])
    context.doc.paragraph(context.say("val_train.can"))
    context.metrics.extend([str(a.metric), str(b.metric)])
    for fact in (a, b):
        context.cite(context.card(str(fact.metric)))
    return Verdict("not_comparable", unmark(text))


def _in_the_log(context: Context, metric: str, table: ValidationSet, a: int, b: int) -> Verdict:
    change = context.ledger.change(metric, min(a, b), max(a, b))
    assert change is not None
    code, sentence = judge_with_trend(context, with_error(context, change, table))
    context.doc.paragraph(f"**{sentence}**")
    context.doc.bullets([context.say("claim.in_log", a=a, b=b), context.say("claim.same_problems")])
    return Verdict(code, unmark(sentence), "medium")


def _conditional(context: Context, claim: Claim, facts: tuple[Fact, Fact], table: ValidationSet, step: int) -> Verdict:
    ledger, say, doc = context.ledger, context.say, context.doc
    error = answer_validation.standard_error(context, table, step)
    assert error is not None
    assert isinstance(error.value, float)
    problems = problem_count(context.run, table, step, benchmark_sizes())
    delta = claim.second - claim.first
    moved = ledger.derived(
        "stated_change", delta, inputs=facts, formula="stated_after − stated_before", unit="fraction"
    )  # fmt: skip
    spread = ledger.derived(
        "se_difference", math.sqrt(2) * error.value, inputs=[error], formula="√2 · SE", unit="fraction"
    )
    z = ledger.derived("z", delta / number(spread), inputs=[moved, spread], formula="change / SE")
    p = ledger.derived(
        "p_value",
        math.erfc(abs(number(z)) / math.sqrt(2)),
        inputs=[z],
        formula="2·(1 − Φ(|z|))",
    )
    half = 1.96 * number(spread)
    low, high = (
        ledger.derived(
            name, delta + side * half, inputs=[moved, spread], formula=f"change {sign} 1.96 · SE", unit="fraction"
        )
        for name, side, sign in (("interval_low", -1, "−"), ("interval_high", 1, "+"))
    )
    beyond = abs(number(z)) > 1.96
    shown = {"a": _show(context, claim, 0, facts[0]), "b": _show(context, claim, 1, facts[1])}
    text = say(
        "claim.beyond" if beyond else "claim.within", **shown, z=z, source=table.source, se=spread,
        moved=_points(context, moved),
    )  # fmt: skip
    doc.paragraph(f"**{text}**")
    lines = [say("claim.whose", **shown) + _log_says(context, table, claim)]
    level = ledger.derived("confidence_level", 0.95, formula="1 − 0.05", inputs=[], unit="fraction")
    lines.append(
        say("claim.error", se=error, spread=spread, step=step, n=str(table.samples), low=_points(context, low),
            high=_points(context, high), p=p, level=mark(level.id, "95%"))
    )  # fmt: skip
    wide = population_error(ledger, table, step, problems)
    if wide is not None and isinstance(wide.value, float):
        bound = ledger.derived(
            "se_new_difference", math.sqrt(2) * wide.value, inputs=[wide], formula="√2 · SE_new", unit="fraction"
        )
        lines.append(say("claim.general", se=bound))
    else:
        lines.append(say("claim.same_problems"))
    if len(context.validation_steps) > 2:
        lines.append(say("claim.many", n=ledger.count("validations", len(context.validation_steps))))
    lines.append(say("claim.not_in_log"))
    doc.bullets(lines)
    doc.paragraph(say("claim.what_shows"))
    return Verdict("inconclusive", unmark(text), "medium")


def _points(context: Context, fact: Fact) -> str:
    value = fact.value if isinstance(fact.value, float) else 0.0
    return mark(fact.id, signed(value, "fraction", language=context.language))


def _log_says(context: Context, table: ValidationSet, claim: Claim) -> str:
    """What the log holds of the metric, beside the stated figures; cut lines named."""
    metric = str(table.key("mean"))
    held = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    gap = "" if context.language == "zh" else " "
    shown = context.join(context.say("define.here_item", v=fact) for fact in held[-4:])
    text = gap + context.say("claim.log_holds", metric=key(metric), values=shown)
    cut = [s for s in context.validation_steps if context.run.value(metric, s) is None]
    lost = [s for s in cut if any(g.step == s for g in context.run.missing)]
    for step in lost[:3]:
        context.ledger.missing(metric, step)
    return text + (gap + context.say("claim.log_cut", steps=naming.steps_text(context, lost)) if lost else "")
