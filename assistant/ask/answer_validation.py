"""What a validation says, what its statistics estimate, and what they do not."""

from __future__ import annotations

import math
import re

from assistant.analysis.diagnosis import role
from assistant.analysis.validation import (
    ValidationSet,
    never_solved_bound,
    population_error,
    problem_count,
    sampling_error,
    validation_sets,
)
from assistant.ask.context import Context, benchmark_sizes, is_validation, key
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark

_BEST_CARD = "verl/val/best@n"
MOST_COLUMNS = 6
BOOTSTRAP_DRAWS = 1000  # verl/trainer/ppo/metric_utils.py#bootstrap_metric, n_bootstrap


#: Asks how exact a score is, and whether it can be trusted.
_ERROR = re.compile(
    r"(?i)误差|置信|可信|能信|可靠|准不准|标准误|error bar|standard error|confiden|uncertain|trust"
    r"|how (?:exact|precise|accurate)|margin of error"
)
_TRUST = re.compile(r"(?i)可信|能信|可靠|trust|才一次|只有一次|only (?:one|a single)")


def _with_error(context: Context, step: int) -> str:
    """The latest score with the error that re-sampling the answers gives it; that there is none to derive."""
    tables = validation_sets(context.run, step)
    table = next((one for one in tables if one.variable == "acc"), tables[0] if tables else None)
    mean = None if table is None else _fact(context, table, "mean", step)
    if table is None or mean is None:
        return ""
    context.metrics.append(str(mean.metric))
    error = standard_error(context, table, step)
    if error is None or not isinstance(error.value, float):
        gap = "" if context.language == "zh" else " "
        return _summary(context, step) + gap + context.say("validation.no_error")
    level = context.ledger.derived("confidence_level", 0.95, formula="1 − 0.05", inputs=[], unit="fraction")
    half = context.ledger.derived(
        f"half interval/{table.source}", 1.96 * error.value, step=step, inputs=[error], formula="1.96 · SE"
    )
    return context.say(
        "validation.summary_error",
        step=step,
        source=table.source,
        metric=str(mean.metric),
        mean=mean,
        se=error,
        half=half,
        level=mark(level.id, "95%"),
    )


def main_accuracy(context: Context) -> Fact | None:
    """``mean@N`` of the main variable at the latest validation, as a fact."""
    for step in reversed(context.validation_steps):
        for table in validation_sets(context.run, step):
            metric = table.key("mean")
            if metric is not None:
                return context.value(metric, step)
        for metric in context.run.at(step):
            if metric.startswith("val/"):
                return context.value(metric, step)
    return None


def standard_error(context: Context, table: ValidationSet, step: int) -> Fact | None:
    """Re-sampling standard error of ``mean@N`` with the problem count that log and benchmark agree on."""
    problems = problem_count(context.run, table, step, benchmark_sizes())
    return sampling_error(context.ledger, table, step, problems)


def least_change(context: Context, table: ValidationSet, step: int) -> Fact | None:
    """Change of ``mean@N`` between two validations that re-sampling alone rarely exceeds: 1.96·√2·SE."""
    error = standard_error(context, table, step)
    if error is None or not isinstance(error.value, float):
        return None
    return context.ledger.derived(
        f"least_change/{table.source}", 1.96 * math.sqrt(2) * error.value, step=step, inputs=[error],
        formula="1.96 · √2 · SE",
    )  # fmt: skip


def validation(context: Context, step: int | None = None) -> Verdict:
    """The validation of a step (the latest by default); ``no_data`` where there is none."""
    steps = context.validation_steps
    if not steps:
        from assistant.ask.answer_evaluations import evaluations

        told = evaluations(context)
        if told is not None:
            return told
        if (losses := _losses(context)) is not None:
            return losses
        text = context.say("validation.none_at_all" if context.run.framework == "verl" else "validation.none_other")
        context.doc.paragraph(text)
        return Verdict("no_data", unmark(text))
    if step is None:
        step = steps[-1]
    if step not in steps:
        where = f"step {context.doc.step(step)} " if context.language == "zh" else f"at step {context.doc.step(step)}"
        text = context.say("validation.none", where=where, steps=steps)
        context.doc.paragraph(text)
        return Verdict("no_data", unmark(text))
    summary = (_with_error(context, step) if _ERROR.search(context.query.said) else "") or _summary(context, step)
    context.doc.paragraph(f"**{summary}**")
    if _TRUST.search(context.query.said) and len(steps) == 1:
        context.doc.paragraph(context.say("validation.only_one"))
    context.doc.paragraph(accuracy_gap(context, step))
    body(context, step, heading=False)
    if context.query.depth == "every":
        from assistant.ask.detail import every_metric

        every_metric(context, step)
    code = "answered" if context.query.intent == "validation" else "insufficient_data"
    return Verdict(code, unmark(summary))


def _losses(context: Context) -> Verdict | None:
    """The latest and the lowest held-out loss, where that is all that was validated; ``None`` where none is logged."""
    found = role(context.run, "held_out_loss")
    steps = () if found is None else tuple(int(step) for step in found.steps)
    metric = found.metrics[0] if found is not None and found.metrics else None
    if metric is None or not steps:
        return None
    facts = [fact for step in steps if (fact := context.value(metric, step)) is not None]
    finite = [fact for fact in facts if isinstance(fact.value, (int, float)) and math.isfinite(fact.value)]
    if not finite:
        return None
    low = min(finite, key=lambda fact: float(str(fact.value)))
    count = context.ledger.count("validations of the log", len(facts))
    text = context.say("validation.losses", metric=metric, n=count, first=facts[0], v=facts[-1], low=low)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    return Verdict("answered", unmark(text))


def accuracy_gap(context: Context, step: int) -> str:
    """Said where other validations log an accuracy and this one does not: the reward does not stand in for it."""
    if any(table.variable == "acc" for table in validation_sets(context.run, step)):
        return ""
    metric = next((m for m in context.run.metrics if is_validation(m) and "/acc/mean@" in m), None)
    if metric is None:
        return ""
    context.ledger.missing(metric, step)
    why = context.say("why.cut" if any(g.step == step for g in context.run.missing) else "why.absent")
    return context.say("validation.acc_missing", step=step, metric=metric, why=why)


def _summary(context: Context, step: int) -> str:
    tables = validation_sets(context.run, step)
    if tables:
        table = tables[0]
        facts = {kind: _fact(context, table, kind, step) for kind in ("mean", "best", "maj")}
        mean = facts["mean"]
        if mean is not None and facts["best"] is not None and facts["maj"] is not None and table.variable == "acc":
            context.metrics.extend(str(f.metric) for f in facts.values() if f is not None)
            return context.say(
                "validation.summary_acc", source=table.source, n=str(table.samples), n_best=str(table.samples),
                mean=mean, best=facts["best"], maj=facts["maj"],
            )  # fmt: skip
        if mean is not None:
            context.metrics.append(str(mean.metric))
            return context.say("validation.summary_mean", source=table.source, metric=str(mean.metric), mean=mean)
    fact = main_accuracy(context)
    metrics = [m for m in context.run.at(step) if m.startswith("val")]
    fact = context.value(metrics[0], step) if fact is None or fact.step != step else fact
    assert fact is not None
    context.metrics.append(str(fact.metric))
    source = str(fact.metric).split("/", 2)[-1]
    return context.say("validation.summary_mean", source=source, metric=str(fact.metric), mean=fact)


def _fact(context: Context, table: ValidationSet, kind: str, step: int, n: int | None = None) -> Fact | None:
    metric = table.key(kind, n)
    return None if metric is None else context.value(metric, step)


def body(context: Context, step: int, *, heading: bool = True, brief: bool = False) -> None:
    """Tables, the remarks on what the statistics are not, and what to compare next."""
    doc, say = context.doc, context.say
    if heading:
        doc.heading("section.validation", step=step)
    tables = validation_sets(context.run, step)
    for table in tables:
        if table.variable == "acc":
            _accuracy_table(context, table, step, brief)
    bullets = []
    accuracy = next((t for t in tables if t.variable == "acc"), None)
    if accuracy is not None:
        bullets.extend(_accuracy_notes(context, accuracy, step))
    for table in tables:
        if table.variable == "reward" or (
            table.variable == "score" and not any(t.variable == "reward" for t in tables)
        ):
            mean = _fact(context, table, "mean", step)
            own = [t for t in tables if t.source == table.source and t.variable == "acc"]
            right = _fact(context, own[0], "mean", step) if own else None
            if mean is not None and right is not None and right.value == mean.value:
                bullets.append(
                    say("validation.reward_is_acc", variable=key(table.variable), source=table.source, mean=mean)
                )
            elif mean is not None:
                bullets.append(say("validation.reward", variable=key(table.variable), n=str(table.samples), mean=mean))
    turns = [context.value(f"val-aux/num_turns/{part}", step) for part in ("mean", "min", "max")]
    if all(turn is not None for turn in turns):
        bullets.append(say("validation.turns", mean=turns[0], low=turns[1], high=turns[2]))
    rest = [m for m in context.run.at(step) if m.startswith("val/")]
    for metric in rest[:8]:
        fact = context.value(metric, step)
        if fact is not None:
            bullets.append(f"{key(metric)}: {doc.show(fact)}")
    if rest and step not in context.train_steps:
        context.metrics.extend(rest[:3])
    doc.bullets(bullets)
    if brief:
        return
    if accuracy is not None:
        doc.heading("section.not")
        notes = [say("validation.no_std", n=str(accuracy.samples))]
        if accuracy.key("best"):
            draws = context.ledger.constant("bootstrap_draws", BOOTSTRAP_DRAWS, _BEST_CARD)
            notes.append(say("validation.best_not_pass", n=str(accuracy.samples), draws=draws))
        doc.bullets(notes)
    if not context.train_steps or step < min(context.train_steps):
        doc.heading("section.next")
        lines = [say("validation.baseline", step=step)]
        if accuracy is not None:
            least = least_change(context, accuracy, step)
            compared = accuracy.key("mean")
            if least is not None and compared is not None:
                lines.append(say("validation.next", metric=compared, least=least))
        doc.bullets(lines)


def history(context: Context) -> None:
    """One table over the validations: accuracy and reward where they are logged, ``missing`` where they are not."""
    doc, say, run = context.doc, context.say, context.run
    steps = context.validation_steps
    stride = (len(steps) - 1) / (MOST_COLUMNS - 1)
    shown = steps if len(steps) <= MOST_COLUMNS else [steps[round(i * stride)] for i in range(MOST_COLUMNS)]
    keys: dict[str, None] = {}
    for step in steps:
        for table in validation_sets(run, step):
            kinds = (
                ("mean", "best", "maj") if table.variable == "acc" else ("mean",) if table.variable == "reward" else ()
            )
            keys.update(dict.fromkeys(k for kind in kinds if (k := table.key(kind)) is not None))
        keys.update(dict.fromkeys(m for m in run.at(step) if m.startswith("val/")))
    ordered = sorted(keys, key=lambda k: ("/acc/" not in k, list(keys).index(k)))[:8]
    rows = []
    for metric in ordered:
        cells = []
        for step in shown:
            fact = context.value(metric, step)
            if fact is None:
                context.ledger.missing(metric, step)
            cells.append(doc.show(fact) if fact is not None else say("validation.missing"))
        rows.append([key(metric), *cells])
        context.cite(context.card(metric))
    if rows:
        doc.heading("section.validations")
        doc.table([say("head.metric"), *(f"step {doc.step(step)}" for step in shown)], rows)


def _accuracy_table(context: Context, table: ValidationSet, step: int, brief: bool) -> None:
    doc, say, rows = context.doc, context.say, list[list[str]]()
    sizes = [table.samples] if brief else sorted({*table.sizes("best"), *table.sizes("maj")})
    order = [("mean", [table.samples]), ("best", sizes), ("maj", sizes), ("worst", [table.samples])]
    for kind, wanted in order:
        for n in wanted:
            fact = _fact(context, table, kind, step, n)
            if fact is not None:
                first = n == wanted[0]
                rows.append([key(str(fact.metric)), doc.show(fact), say(f"validation.est_{kind}") if first else ""])
                if kind in {"best", "maj", "worst", "mean"}:
                    card = context.card(str(fact.metric))
                    if card is not None:
                        context.cite(card)
    spread = table.key("std", stat="std")
    if spread is not None and not brief:
        fact = context.value(spread, step)
        if fact is not None:
            rows.append([key(spread), doc.show(fact, None, "number"), say("validation.est_std")])
            context.cite(context.card(spread))
    doc.table([say("head.statistic"), say("head.value"), say("head.estimates")], rows)


def _accuracy_notes(context: Context, table: ValidationSet, step: int) -> list[str]:
    say, lines = context.say, list[str]()
    mean = _fact(context, table, "mean", step)
    problems = problem_count(context.run, table, step, benchmark_sizes())
    if mean is not None and problems and isinstance(mean.value, (int, float)):
        ledger, n = context.ledger, table.samples
        samples = ledger.count("samples_per_problem", n, step=step)
        count = ledger.count(f"problems/{table.source}", problems)
        total = ledger.derived("validation_samples", problems * n, step=step, inputs=[count, samples], formula="P × N")
        right = ledger.derived(
            "right_answers", round(float(mean.value) * problems * n), step=step, inputs=[mean, total],
            formula="mean@N × P × N",
        )  # fmt: skip
        lines.append(say("validation.count", mean=mean, right=right, problems=count, samples=samples, total=total))
    error = standard_error(context, table, step)
    if error is not None:
        wide = population_error(context.ledger, table, step, problems)
        lines.append(say("validation.error", se=error))
        if wide is not None:
            lines.append(say("validation.error_new", se=wide))
    unsolved = never_solved_bound(context.ledger, table, step, problems)
    if unsolved is not None and problems:
        of = context.ledger.count(f"problems/{table.source}", problems)
        lines.append(say("validation.unsolved", v=unsolved, problems=of, n=str(table.samples)))
    return lines
