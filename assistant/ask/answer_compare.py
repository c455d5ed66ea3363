"""Compare two steps: validation with validation, training with training, never one with the other."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from assistant.analysis.compare import compare_runs, compare_windows
from assistant.analysis.compare_rules import rules
from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.held_out import held_out
from assistant.analysis.noise import TOO_WIDE
from assistant.analysis.validation import validation_sets
from assistant.ask import answer_faster, answer_validation, outcomes
from assistant.ask.compared_way import HIGHER, other_way
from assistant.ask.comparing import knowledge_of, tell
from assistant.ask.context import Context, is_validation, key
from assistant.ask.intents import is_stage
from assistant.ask.naming import absent, central, named_keys
from assistant.ask.parts import change_remarks, change_table, headlines, noise_text
from assistant.ask.schedules import is_schedule, schedule_sentence
from assistant.ask.slower_since import jumped_between
from assistant.ask.validation_errors import as_validated, with_error
from assistant.ask.windows import windows_in
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import unmark

_SURE = 0.05
_PLAIN_MEMORY = re.compile(r"(?i)memory|mem|内存(?:占用)?|memory usage")
#: Asks which of two is higher, rather than whether they are higher than before.
_WHICH_IS = re.compile(r"(?i)\bwhich(?: one| of (?:the|these|them|those)(?: two)?)? (?:is|are|was|were)\b|哪个更|谁更")
#: Two things set against each other, rather than each against its past.
_VERSUS = re.compile(
    r"(?i)\bvs\.?\b|\bversus\b|\bgap\b|difference between|compare[ds]? (?:to|with)|\band\b|差距|差多少|区别"
    r"|差别|差异|相差"
    r"|(?:和|跟|与|同|比).{1,24}(?:比|差|高|低|大|小|关系)|对比|比较"
)
#: Statistics of one quantity that are named side by side.
_LISTED = re.compile(
    r"(?i)\bmean\b.{0,8}\b(?:max|min)|\b(?:max|min)\w*\b.{0,8}\bmean\b|(?:平均|均值).{0,4}最[大小长短高低]"
    r"|最[大小长短高低]值?.{0,4}(?:平均|均值)|\bmax\w*.{0,8}\bmin|\bmin\w*.{0,8}\bmax"
)
#: Basis of a noise that is the most a share's sampling can do.
REWARDS = ("critic/score", "critic/rewards", "reward", "mean_reward")


def compare(context: Context) -> Verdict:
    """Verdict on two steps; the pair is what the question names, completed from the log.

    Two runs are compared with each other, unless the question names steps.
    """
    if len(context.runs) == 2 and not context.query.all_steps and context.query.steps.kind in {"none", "all"}:
        return _runs(context)
    keys = central(named_keys(context))
    found = windows_of(context)
    if found is not None:
        return _windows(context, keys, *found)
    whole = context.query.steps.kind in {"none", "all", "single", "last", "first"} and len(context.query.all_steps) < 2
    of_past = HIGHER.search(context.query.said) and not _WHICH_IS.search(context.query.said)
    if len(keys) > 1 and whole and _VERSUS.search(context.query.said) and not of_past:
        from assistant.ask.answer_pairs import versus

        return versus(context, keys[:4])
    named_steps = [step for step in dict.fromkeys(context.query.all_steps) if step in context.run.distinct_steps]
    if len(named_steps) > 2 and keys and context.query.steps.kind == "pair":
        from assistant.ask.answer_lookup import lookup

        context.query = replace(context.query, intent="lookup", op=None)
        return lookup(context)  # each of them, rather than two of three
    pair = _pair(context)
    if pair is None:
        only = context.run.distinct_steps[0]
        text = context.say("compare.one_step", a=only)
        context.doc.paragraph(f"**{text}**")
        return Verdict("not_comparable", unmark(text))
    first, second = pair
    if context.query.steps.kind in {"first", "last"}:  # "the first against the last"
        context.query = replace(context.query, steps=StepSlot("pair", pair))
    named = _named(context, first, second)
    if named:
        return metrics(context, named, first, second)
    lost = _lost(context, first, second)
    if lost is not None:
        return lost
    both_validated = {first, second} <= set(context.validation_steps)
    both_trained = {first, second} <= set(context.train_steps)
    if both_validated:
        return _validations(context, first, second, also_training=both_trained)
    if both_trained:
        return _differing(context, first, second) or _training(context, first, second)
    return _not_comparable(context, first, second)


def _differing(context: Context, first: int, second: int) -> Verdict | None:
    """Two training steps of which is asked what differs: that first, then the comparison; ``None``: not asked."""
    from assistant.ask.answer_changed import DIFFERS, largest

    lead = largest(context, first, second) if DIFFERS.search(context.query.said) else ""
    if not lead:
        return None
    context.doc.paragraph(f"**{lead}**")
    verdict = _training(context, first, second)
    return replace(verdict, summary=unmark(lead))


def _runs(context: Context) -> Verdict:
    """Verdict on two runs, over the range that both covered; named metrics alone where the question names some."""
    a, b = context.runs
    alone = context.say("note.other_runs", n=str(len(context.runs)), name=a.name)
    context.warnings = [warning for warning in context.warnings if warning != alone]
    keys = [m.key for m in context.query.mentions if m.key is not None and m.key in a.columns]
    result = compare_runs(context.ledger, a, b, metrics=keys or None, **knowledge_of(context, a, b))
    lead, slot = answer_faster.which(context, result), len(context.doc.blocks)
    verdict = tell(context, result)
    if lead:
        context.doc.blocks[slot] = f"**{lead}**"
        verdict = replace(verdict, summary=unmark(lead))
    if keys:
        from assistant.ask.answer_by_run import own_values

        own_values(context, keys)
    return verdict


def code_of_runs(context: Context, keys: list[str]) -> str:
    """Verdict on two runs by some metrics, nothing written."""
    a, b = context.runs
    held = [m for m in keys if m in a.columns]
    return compare_runs(context.ledger, a, b, metrics=held or None, **knowledge_of(context, a, b)).verdict


def windows_of(context: Context) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The two windows of steps that the question names, if it does."""
    keys = [key for key in central(named_keys(context)) if is_validation(key) or key.startswith("eval")]
    validated = context.run.series(keys[0])[0] if keys else context.validation_steps
    return windows_in(context.query.wording or context.query.text, context.run, validated, context.train_steps)


def _windows(context: Context, keys: list[str], a: tuple[int, int], b: tuple[int, int]) -> Verdict:
    """Means over two windows of steps; named metrics alone where the question names some."""
    knowledge = knowledge_of(context, context.run, context.run)
    result = compare_windows(context.ledger, a, b, metrics=keys or None, **knowledge)
    verdict = tell(context, result)
    if keys:
        context.metrics[:] = keys
    return verdict


def _pair(context: Context) -> tuple[int, int] | None:
    steps = list(context.run.distinct_steps)
    named = [s for s in context.query.all_steps if s in steps]
    ends = context.query.steps.kind == "pair" and set(named) == {steps[0], steps[-1]} and bool(context.query.mentions)
    if ends and any(m.key and context.run.value(m.key, steps[0]) is None for m in context.query.mentions):
        named = []
    ends = context.query.steps.kind == "pair" and [at for at, _ in context.query.step_marks] == [0, 1]
    if (
        ends and not context.query.mentions and len(context.validation_steps) > 1
    ):  # "the final against the initial model"
        return context.validation_steps[0], context.validation_steps[-1]
    if len(named) >= 2:
        low, high = sorted(named[:2])
        return low, high
    if len(steps) < 2:
        return None
    slot = context.query.steps
    keys = [m.key for m in context.query.mentions if m.key is not None]
    if keys and not named:  # the ends of the metric's own series
        held = [s for s, v in zip(*context.run.series(keys[0]), strict=True) if math.isfinite(v)]
        if slot.kind == "last_n" and slot.values and slot.values[0] > 1:  # "over the last three evals"
            held = held[-slot.values[0] :]
        if len(held) > 1:
            return held[0], held[-1]
    if named:
        other = steps[-1] if named[0] != steps[-1] else steps[0]
        low, high = sorted((named[0], other))
        return low, high
    if slot.kind == "last_n" and slot.values and 2 <= slot.values[0] <= len(steps):
        return steps[-slot.values[0]], steps[-1]
    if len(context.validation_steps) > 1:
        return context.validation_steps[0], context.validation_steps[-1]
    if len(context.train_steps) > 1 and context.query.mentions:
        return context.train_steps[0], context.train_steps[-1]
    return steps[0], steps[-1]


def _named(context: Context, first: int, second: int) -> list[str]:
    """Keys that the question names and both steps hold."""
    keys: list[str] = []
    for mention in context.query.mentions:
        if mention.key is not None:
            keys.append(mention.key)
        elif mention.card is not None and not mention.specific:
            keys.extend(metric for metric in context.run.metrics if context.card(metric) is mention.card)
    run = context.run
    held = [m for m in dict.fromkeys(keys) if run.value(m, first) is not None and run.value(m, second) is not None]
    if _LISTED.search(context.query.said):
        return held
    means = [m for m in held if m.endswith("/mean") or not m.endswith(("/max", "/min"))]
    return means or held


def _lost(context: Context, first: int, second: int) -> Verdict | None:
    """That what the question names cannot be compared, where it was lost with a cut line: other metrics were not asked
    for.
    """
    run, texts = context.run, []
    for metric in central(named_keys(context))[:3]:
        gone = [step for step in (first, second) if run.missing_at(metric, step) is not None]
        if not gone:
            return None
        texts += [absent(context, metric, [step]) for step in gone]
        there = [fact for step in (first, second) if (fact := context.value(metric, step)) is not None]
        texts += [context.say("lookup.one", metric=metric, v=fact) for fact in there]
        context.metrics.append(metric)
    if not texts:
        return None
    head = context.say("compare.lost", a=first, b=second)
    context.doc.paragraph(f"**{head}**")
    context.doc.bullets(texts)
    return Verdict("not_comparable", unmark(f"{head} {texts[0]}"))


def _not_comparable(context: Context, first: int, second: int) -> Verdict:
    doc, say = context.doc, context.say
    validated = first if first in context.validation_steps else second
    trained = second if validated == first else first
    tables = validation_sets(context.run, validated) if validated in context.validation_steps else []
    if not tables or trained not in context.train_steps:
        text = say("compare.nothing_shared", a=first, b=second)
        doc.paragraph(f"**{text}**")
        return Verdict("not_comparable", unmark(text))
    table = tables[0]
    summary = say("compare.not_comparable", val=validated, train=trained, source=table.source)
    doc.paragraph(f"**{summary}**")
    metric = table.key("mean") or next(iter(table.keys.values()))
    accuracy = context.value(metric, validated)
    reward = context.value("critic/rewards/mean", trained) or context.value("critic/score/mean", trained)
    assert accuracy is not None
    context.metrics.append(metric)
    lines = []
    if reward is not None:
        context.metrics.append(str(reward.metric))
        lines.append(say("compare.not_comparable_body", acc=metric, a=accuracy, b=reward))
    turns = context.value("val-aux/num_turns/mean", validated), context.value("num_turns/mean", trained)
    if turns[0] is not None and turns[1] is not None:
        lines.append(say("compare.turns", a=turns[0], b=turns[1]))
    lines.append(say("compare.can", acc=metric, val=validated, a=accuracy, train=trained))
    least = answer_validation.least_change(context, table, validated)
    if least is not None:
        lines.append(say("compare.wait", acc=metric, least=least))
    else:
        lines.append(say("compare.wait_plain", acc=metric))
    doc.bullets(lines)
    for name in (metric, str(reward.metric) if reward else ""):
        context.cite(context.card(name) if name else None)
    earlier = [s for s in context.train_steps if s < trained]
    if earlier:
        doc.heading("section.changes_to", a=earlier[-1], b=trained)
        change_table(context, headlines(context, trained)[:6], earlier[-1], trained)
        doc.bullets(change_remarks(context, earlier[-1], trained)[:1])
    return Verdict("not_comparable", unmark(summary))


def _training(context: Context, first: int, second: int) -> Verdict:
    doc = context.doc
    slot = len(doc.blocks)
    doc.blocks.append("")
    changes = change_table(context, headlines(context, second), first, second)
    reward = next((c for c in changes if _is_reward(str(c.metric))), None)
    decisive = reward or next((c for c in changes if context.card(str(c.metric)) is not None), None)
    decisive = decisive or next(iter(changes), None)
    if decisive is None:
        text = context.say("compare.nothing_shared", a=first, b=second)
        doc.blocks[slot] = f"**{text}**"
        return Verdict("not_comparable", unmark(text))
    code, summary = judge(context, decisive)
    doc.blocks[slot] = f"**{summary}**"
    doc.bullets(change_remarks(context, first, second))
    if len(changes) > 1 and any(change.significant for change in changes):
        looks = context.ledger.count("metrics_compared", len(changes), step=second)
        doc.paragraph(context.say("compare.multiple_looks", n=looks))
    context.metrics.extend(str(c.metric) for c in changes[:6])
    context.cite(context.card(str(decisive.metric)))
    return Verdict(code, unmark(summary), "medium")


def _validations(context: Context, first: int, second: int, *, also_training: bool) -> Verdict:
    doc, say = context.doc, context.say
    tables = {(t.source, t.variable): t for t in validation_sets(context.run, second)}
    shared = [t for t in validation_sets(context.run, first) if (t.source, t.variable) in tables]
    changes: list[Fact] = []
    for table in shared:
        metric = table.key("mean")
        if metric is None:
            continue
        change = context.ledger.change(metric, first, second)
        if change is not None:
            changes.append(with_error(context, change, table))
    if not changes:
        for metric in context.run.at(second):
            if is_validation(metric) and (change := context.ledger.change(metric, first, second)) is not None:
                changes.append(as_validated(context, change))
    if not changes:
        return _training(context, first, second) if also_training else _not_comparable(context, first, second)
    gap = answer_validation.accuracy_gap(context, second)
    code, summary = judge_with_trend(context, changes[0])
    doc.paragraph(f"**{summary}**")
    doc.paragraph(gap)
    rows = []
    for change in changes[:12]:
        rows.append(
            [
                key(str(change.metric)),
                doc.show(change, "from"),
                doc.show(change, "to"),
                doc.show(change, "delta"),
            ]
        )
    doc.table(
        [say("head.metric"), say("head.at_step", step=first), say("head.at_step", step=second), say("head.change")],
        rows,
    )
    context.metrics.extend(str(c.metric) for c in changes[:4])
    context.cite(context.card(str(changes[0].metric)))
    if also_training:
        doc.heading("section.changes_to", a=first, b=second)
        trained = change_table(context, headlines(context, second), first, second)
        doc.bullets(change_remarks(context, first, second)[:1])
        context.metrics.extend(str(c.metric) for c in trained[:4])
    return Verdict(code, unmark(summary), "medium")


def _is_reward(metric: str) -> bool:
    return not is_stage(metric) and (metric.startswith(REWARDS) or "reward" in metric.lower())


def metrics(context: Context, keys: list[str], first: int, second: int) -> Verdict:
    """Named metrics at two steps; the sentence is the first one's, ``mixed`` where they disagree."""
    doc = context.doc
    if keys and all(is_schedule(metric) for metric in keys):
        return _schedules(context, keys[:12], first, second)
    slot = len(doc.blocks)
    doc.blocks.append("")
    plain = [m for m in context.query.mentions if _PLAIN_MEMORY.fullmatch(m.text)]
    if plain:  # "memory" may be any of them: all are shown
        keys = list(dict.fromkeys([*keys, *(m for m in context.run.metrics if "memory" in m or "cuda_mem" in m)]))
    changes = change_table(context, keys[:12], first, second)
    context.metrics.extend(keys[:12])
    if not changes:
        text = context.say("compare.nothing_shared", a=first, b=second)
        doc.blocks[slot] = f"**{text}**"
        return Verdict("not_comparable", unmark(text))
    verdicts = [judge_with_trend(context, change) for change in changes]
    turned = other_way(context, changes[0])
    verdicts[0] = (verdicts[0][0], turned + verdicts[0][1])
    doc.blocks[slot] = f"**{verdicts[0][1]}**"
    remarks = [r for r in change_remarks(context, first, second) if any(key(m) in unmark(r) for m in keys)]
    remarks += jumped_between(context, [c for c in changes if is_stage(str(c.metric)) and c.significant], first, second)
    if any((_is_reward(m) or "score" in m) and not (is_validation(m) or held_out(m)) for m in keys):
        remarks.append(context.say("compare.reward_caveat"))
    doc.bullets(remarks)
    for metric in keys[:3]:
        context.cite(context.card(metric))
    codes = {code for code, _ in verdicts}
    parts = all(is_stage(metric) for metric in keys[1:])  # of one step, whose whole time decides
    mixed = {"improved", "regressed"} <= codes and not (keys[0] in STEP_TIMES and parts)
    code = "mixed" if mixed else verdicts[0][0]
    return Verdict(code, unmark(verdicts[0][1]), "medium")


def _schedules(context: Context, keys: list[str], first: int, second: int) -> Verdict:
    """Learning rates at two steps: they are set, so that no noise is told of them."""
    texts, moved = [], False
    for metric in keys:
        change = context.ledger.change(metric, first, second)
        if change is None:
            continue
        context.metrics.append(metric)
        values = {"metric": metric, "c": change, "a": first, "b": second}
        moved = moved or change.delta != 0
        if change.delta == 0:
            texts.append(context.say("compare.unchanged", **values))
        elif change.from_value and isinstance(change.ratio, (int, float)) and change.ratio > 0:
            up = change.ratio >= 1
            fact = context.ledger.derived(
                f"{metric} at step {second} over step {first}", change.ratio, inputs=[change],
                formula="later / earlier", unit=None if up else "fraction",
            )  # fmt: skip
            texts.append(context.say(f"compare.schedule_{'up' if up else 'down'}", times=fact, **values))
        else:
            texts.append(context.say("compare.schedule", **values))
        if (course := schedule_sentence(context, metric)) is not None:
            texts.append(course)
    if not texts:
        text = context.say("compare.nothing_shared", a=first, b=second)
        context.doc.paragraph(f"**{text}**")
        return Verdict("not_comparable", unmark(text))
    context.doc.paragraph(f"**{texts[0]}**")
    context.doc.paragraph(*texts[1:], context.say("compare.set") if moved else "")
    context.cite(context.card(keys[0]))
    return Verdict("inconclusive" if moved else "unchanged", unmark(texts[0]), "high")


def judge_with_trend(context: Context, change: Fact) -> tuple[str, str]:
    """As :func:`judge`; where two points do not settle it, a trend over the points between them may."""
    code, summary = judge(context, change)
    metric, first, second = str(change.metric), change.from_step or 0, change.to_step or 0
    steps = [s for s in context.run.series(metric)[0] if first <= s <= second]
    trend = context.ledger.trend(metric, steps)
    drift = {"rising": 1, "falling": -1}.get(trend.direction or "") if trend is not None else None
    direction = _direction(context, metric)
    if code != "inconclusive" or not drift or trend is None or direction not in {"higher_better", "lower_better"}:
        return code, summary
    if (trend.p_value or 1) >= _SURE or drift * (change.delta or 0) <= 0:
        return code, summary
    better = (drift > 0) == (direction == "higher_better")
    way = "up" if drift > 0 else "down"
    code = "improved" if better else "regressed"
    phrase = f"compare.{code}_trend"
    word = context.say(f"compare.way_{way}")
    return code, context.say(phrase, metric=metric, c=change, t=trend, a=first, b=second, way=word)


def _neutral(context: Context, change: Fact) -> str:
    """A change of a metric with no better direction: whether it is beyond noise, and that it is no good or bad."""
    say, metric, first, last = context.say, str(change.metric), change.from_step or 0, change.to_step or 0
    values = {"metric": metric, "c": change, "a": first, "b": last}
    if change.significant is None:
        return say("compare.neutral", **values)
    if change.significant:
        return say("compare.neutral_beyond", **values)
    trend = context.ledger.trend(metric, [s for s in context.run.series(metric)[0] if first <= s <= last])
    drift = {"rising": 1, "falling": -1}.get(trend.direction or "") if trend is not None else None
    if trend is None or not drift or (trend.p_value or 1) >= _SURE or drift * (change.delta or 0) <= 0:
        return say("compare.neutral_within", **values)
    return say("compare.neutral_trend", t=trend, way=say(f"compare.way_{'up' if drift > 0 else 'down'}"), **values)


def judge(context: Context, change: Fact) -> tuple[str, str]:
    """Verdict code and sentence (with marks) for one change, by the direction on its card."""
    say, metric = context.say, str(change.metric)
    steps = {"a": change.from_step, "b": change.to_step}
    if change.delta == 0:
        return "unchanged", say("compare.unchanged", metric=metric, c=change, **steps)
    direction = _direction(context, metric)
    if direction not in {"higher_better", "lower_better"}:
        return "inconclusive", _neutral(context, change)
    if change.significant is None:
        unknown = "compare.too_wide" if change.noise_basis == TOO_WIDE else "compare.noise_unknown"
        return "inconclusive", say(unknown, metric=metric, c=change, **steps)
    if not change.significant:
        noise = "compare.within_scatter" if held_out(metric) else "compare.within_noise"
        return "inconclusive", say(noise, metric=metric, c=change, limit=context.bound(change), **steps)
    if abs(change.delta or 0) <= _of_no_matter(change):
        return "unchanged", say("compare.no_matter", metric=metric, c=change, **steps)
    better = ((change.delta or 0) > 0) == (direction == "higher_better")
    code = "improved" if better else "regressed"
    return code, say(f"compare.{code}", metric=metric, c=change, noise=noise_text(context, change), **steps)


SAME = 1e-4
"""A change of less than this part of a metric's size is none to the digits that anyone reads."""


def _of_no_matter(change: Fact) -> float:
    """Up to which size a change is no better and no worse, however surely it is beyond the noise."""
    ends = [abs(float(v)) for v in (change.from_value, change.to_value) if isinstance(v, (int, float))]
    least: float = rules().least(str(change.metric))
    return max(least, SAME * max(ends, default=0.0))


def _direction(context: Context, metric: str) -> str:
    return outcomes.direction(context, metric)
