"""Questions with a plain answer of their own: NaN, is it learning, may these two be compared."""

from __future__ import annotations

import math
import re

from assistant.analysis.checks import Check, check_all
from assistant.analysis.diagnosis import RoleSeries, role
from assistant.analysis.trend import MIN_POINTS
from assistant.ask import answer_validation, outcomes
from assistant.ask.context import Context, is_validation, key
from assistant.ask.departures import all_checks
from assistant.ask.findings import remedy, told
from assistant.ask.in_between import largest_move
from assistant.ask.in_order_words import left_its_level
from assistant.ask.naming import named_keys
from assistant.ask.parts import missing_lines, number
from assistant.ask.telling import course_table, trend_sentence
from assistant.ask.unended import no_episode
from assistant.model import Fact, Verdict
from assistant.write.document import marked_ids, unmark

MOST_ROWS = 8
#: Fewest values of an outcome that did not move at all.
LEAST_STILL = 3
#: Share of a rise by which a fall in between is told.
FALLEN = 0.25


# -- NaN and infinities ------------------------------------------------------------------------------------------------
def not_finite(context: Context) -> Verdict:
    """Every value that is no finite number; where there is none, how many were looked at."""
    run, say, doc = context.run, context.say, context.doc
    total, found = 0, []
    for metric in run.metrics:
        cells = run.cells(metric)
        total += len(cells)
        bad = [cell.step for cell in cells if not math.isfinite(cell.value)]
        if bad:
            found.append((metric, bad))
    cells_fact = context.ledger.count("values in the log", total)
    metrics = context.ledger.count("metrics in the log", len(run.metrics))
    if not found:
        text = say("nan.none", cells=cells_fact, metrics=metrics)
        doc.paragraph(f"**{text}**")
        lost = sorted({gap.step for gap in run.missing if gap.step is not None})
        doc.bullets(missing_lines(context, lost)[:3])
        return Verdict("healthy", unmark(text))
    found.sort(key=lambda pair: pair[1][0])
    asked = set(named_keys(context)) & set(run.columns) if context.query.mentions else set()
    if asked and not any(metric in asked for metric, _ in found):
        return _finite_named(context, [metric for metric in named_keys(context) if metric in asked], found)
    named = [pair for pair in found if pair[0] in asked]
    if named and len(asked) == 1:
        return _not_finite_one(context, *named[0], others=len(found) - 1)
    first = context.value(found[0][0], found[0][1][0])
    assert first is not None
    number = context.ledger.count("metrics not finite", len(found))
    text = say("nan.some", k=number, v=first, metric=found[0][0], metrics=metrics)
    if why := no_episode(context, found[0][0], found[0][1][0]):
        text = f"{text}{'' if context.language == 'zh' else ' '}{why}"
    doc.paragraph(f"**{text}**")
    rows = []
    for metric, bad in found[:MOST_ROWS]:
        fact = context.value(metric, bad[0])
        many = context.ledger.count("steps not finite", len(bad), metric=metric)
        rows.append([key(metric), doc.step(bad[0]), "" if fact is None else doc.show(fact), doc.show(many)])
    doc.table([say("head.metric"), say("nan.head_first"), say("head.value"), say("nan.head_steps")], rows)
    checks = [c for c in check_all(context.ledger, context.train_steps) if c.rule == "not_finite"]
    for check in checks[:1]:
        context.finding(check)
    doc.paragraph(say("nan.statistic" if _only_statistics(checks) else "nan.means"))
    context.metrics.extend(metric for metric, _ in found[:MOST_ROWS])
    return Verdict(_nan_code(checks), unmark(text))


def _only_statistics(checks: list[Check]) -> bool:
    """Whether no loss, gradient or reward is among what is not finite."""
    return bool(checks) and all(check.severity == "info" for check in checks)


def _nan_code(checks: list[Check], default: str = "warning") -> str:
    if checks and checks[0].severity == "critical":
        return "critical"
    return "healthy" if _only_statistics(checks) else default


def _finite_named(context: Context, named: list[str], found: list[tuple[str, list[int]]]) -> Verdict:
    """That the metrics a question names are finite throughout, and which others are not."""
    say, run = context.say, context.run
    count = context.ledger.count("values", sum(len(run.cells(metric)) for metric in named))
    text = say("supposed.finite_of", names=context.join(map(key, named)), n=count)
    context.doc.paragraph(f"**{text}**")
    lines = []
    for metric, bad in found[:3]:
        many = context.ledger.count("steps not finite", len(bad), metric=metric)
        lines.append(say("nan.elsewhere", metric=metric, v=context.value(metric, bad[0]), k=many))
    context.doc.bullets(lines)
    checks = [c for c in check_all(context.ledger, context.train_steps) if c.rule == "not_finite"]
    if _only_statistics(checks):
        context.doc.paragraph(say("nan.statistic"))
    context.metrics.extend(named)
    return Verdict(_nan_code(checks, "healthy"), unmark(text))


def _not_finite_one(context: Context, metric: str, bad: list[int], *, others: int) -> Verdict:
    """Where the one metric that a question names is no finite number: first, how often, the last value before."""
    say, run = context.say, context.run
    first = context.value(metric, bad[0])
    many = context.ledger.count("steps not finite", len(bad), metric=metric)
    whole = context.ledger.count("values", len(run.cells(metric)), metric=metric)
    lone = len(run.cells(metric)) == 1
    text = say("nan.only", metric=metric, v=first) if lone else say("nan.one", metric=metric, v=first, k=many, n=whole)
    if why := no_episode(context, metric, bad[0]):
        text = f"{text}{'' if context.language == 'zh' else ' '}{why}"
    after = [s for s in run.series(metric)[0] if s > bad[-1]]
    if after and (back := context.value(metric, after[0])) is not None:  # it did not stay so
        text = f"{text}{'' if context.language == 'zh' else ' '}{say('nan.again', v=back)}"
    context.doc.paragraph(f"**{text}**")
    before = [s for s in run.series(metric)[0] if s < bad[0]]
    lines = [] if not before else [say("nan.before", v=context.value(metric, before[-1]))]
    if others:
        lines.append(say("nan.others", k=context.ledger.count("other metrics not finite", others)))
    context.doc.paragraph(*lines)
    checks = [c for c in check_all(context.ledger, context.train_steps) if c.rule == "not_finite"]
    for check in checks[:1]:
        context.finding(check)
    if _only_statistics(checks):
        context.doc.paragraph(say("nan.statistic"))
    context.metrics.append(metric)
    return Verdict(_nan_code(checks), unmark(text))


#: Words for the value network, and the explained variance from which it is of use.
_CRITIC = re.compile(r"(?i)\bcritic\b|价值(?:网络|函数|模型|头)|\bvalue (?:network|function|model|head|net)\b")
_LEARNS = re.compile(r"(?i)学|收敛|\b(?:learn|converg)\w*")
EXPLAINS = 0.5


def critic_learns(context: Context) -> Verdict | None:
    """Whether the value network learns, by its explained variance, else its loss.

    ``None`` (nothing written) where that is not asked, or the log holds neither.
    """
    say, doc = context.say, context.doc
    if not (_CRITIC.search(context.query.said) and _LEARNS.search(context.query.said)):
        return None
    found = [one for name in ("value_explained", "value_loss") if (one := role(context.run, name)) is not None]
    keys = [one.metrics[0] for one in found if one.spelling.plain]
    trends = {name: trend for name in keys if (trend := context.ledger.trend(name)) is not None}
    if not trends:
        return None
    main, trend = next(iter(trends.items()))
    ends = [context.value(main, step or 0) for step in (trend.first_step, trend.last_step)]
    if found[0].role == "value_explained" and main == found[0].metrics[0]:
        late = context.ledger.level(main, trend, "last", context.run) or ends[1]
        state = "up" if number(late) >= EXPLAINS else "down" if number(late) <= 0 else "partly"
    else:
        state = {"falling": "up", "rising": "down"}.get(trend.direction or "", "partly")
    few = all((one.n or 0) < MIN_POINTS for one in trends.values())
    state = "few" if few else state
    text = say(f"learning.critic_{state}", metric=main, first=ends[0] or "", last=ends[1] or "")
    doc.paragraph(f"**{text}**")
    lines = [trend_sentence(context, name, one) for name, one in trends.items()]
    doc.bullets([line + tail_of(context, name, line) for (name, _), line in zip(trends.items(), lines, strict=True)])
    policy = role(context.run, "val_accuracy") or role(context.run, "score_mean") or role(context.run, "reward_mean")
    moved = None if policy is None else context.ledger.trend(policy.metrics[0])
    if policy is not None and moved is not None and policy.spelling.plain:
        doc.paragraph(say("learning.critic_policy", said=progress(context, policy.metrics[0], moved)[1]))
        context.cite(context.card(policy.metrics[0]))
    context.metrics.extend(trends)
    for name in trends:
        context.cite(context.card(name))
    context.chart(context.title(main), list(trends))
    code = "insufficient_data" if few else {"up": "healthy", "down": "warning"}.get(state, "insufficient_data")
    return Verdict(code, unmark(text), "medium")


# -- is it learning ----------------------------------------------------------------------------------------------------
def learning(context: Context) -> Verdict:
    """Validation first, then the training reward; both with how sure they are."""
    say, doc, run = context.say, context.doc, context.run
    of_critic = critic_learns(context)
    if of_critic is not None:
        return of_critic
    score, validation = outcomes.trained(run), outcomes.validated(run)
    if score is None and validation is None:
        text = say("learning.nothing")
        doc.paragraph(f"**{text}**")
        return Verdict("insufficient_data", unmark(text), "low")
    verdicts, sentences = [], []
    for found in (validation, score):
        if found is None or not found.spelling.plain:
            continue
        metric = found.metrics[0]
        trend = context.ledger.trend(metric)
        if trend is None:
            continue
        context.metrics.append(metric)
        context.cite(context.card(metric))
        state, sentence = progress(context, metric, trend)
        if outcomes.is_loss(found):
            state = {"up": "down", "down": "up"}.get(state, state) if not is_validation(metric) else state
        verdicts.append((found is validation, state))
        sentences.append(sentence)
    decided = next((state for main, state in verdicts if main and state != "few"), None)
    state = decided or next((s for main, s in verdicts if not main), "few")
    loss = score is not None and score.role == "training_loss"
    by = (
        "validation"
        if decided is not None
        else "none"
        if not verdicts or verdicts[-1][0]
        else "loss"
        if loss
        else "reward"
    )
    text = say(f"learning.{state}_{by}" if by != "none" else "learning.few")
    turned = _turned(context, validation) if state == "flat" and decided is not None else ""
    text = turned or text
    still = _still(context, score.metrics[0]) if score is not None and not validation and score.spelling.plain else None
    if still is not None:
        text, state = say("learning.still", metric=str(still[0].metric), v=still[0], n=still[1]), "down"
    settled = _converged(context, validation, score) if _CONVERGED.search(context.query.said) else ""
    if settled and still is None:
        text = settled + ("" if context.language == "zh" else " ") + text
    doc.paragraph(f"**{text}**")
    doc.bullets(sentences if still is None else [])
    grave = [check for check in all_checks(context) if check.severity in {"critical", "warning"}]
    for one in told(context, grave[:1]):
        doc.paragraph(say("health.elsewhere", first=one.sentence))
    moved = [found for name in ("policy_entropy", "old_kl", "ref_kl", "grad_norm", "response_length_mean")
             if (found := role(run, name)) is not None and found.spelling.plain]  # fmt: skip
    if any(len(found) > 1 for found in moved):
        doc.paragraph(say("learning.beside"))
        course_table(context, [found.metrics[0] for found in moved])
    notes = []
    if validation is None:
        named = {what: context.setting(what, "setting.named") for what in ("validate", "baseline")}
        notes.append(say("learning.no_validation", **named))
    elif len(validation) < 2 and len(context.validation_steps) < 2:
        notes.append(say("learning.one_validation"))
    if not loss and role(run, "value_loss") is None and outcomes.of_prompts(run):  # said of losses of the GRPO family
        notes.append(say("learning.not"))
    doc.bullets(notes)
    context.chart(say("section.signals"), context.metrics[:2])
    code = {"up": "healthy", "down": "warning"}.get(state, "insufficient_data")
    if state == "flat" and decided is not None:
        code = "warning"
    if code != "warning" and grave:  # what it learns may be to please the grader
        code = "warning"
    return Verdict(code, unmark(text), "medium" if by == "validation" else "low")


def _turned(context: Context, validation: RoleSeries | None) -> str:
    """That validation got better and then fell, so that its ends do not show it; empty where it did not."""
    if validation is None or not validation.spelling.plain or outcomes.is_loss(validation):
        return ""
    metric = validation.metrics[0]
    steps, values = context.run.series(metric)
    held = [(s, float(v)) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    fall = largest_move(context, metric, [s for s, _ in held], [v for _, v in held], up=False)
    before = [] if fall is None else [(s, v) for s, v in held if s <= (fall.start.step or 0)]
    rise = largest_move(context, metric, [s for s, _ in before], [v for _, v in before], up=True)
    if rise is None or fall is None:
        return ""
    last = context.value(metric, held[-1][0])
    return context.say("learning.turned", metric=metric, a=rise.start, b=rise.end, c=fall.end, v=last)


#: Asks whether the run has converged, which is more than that it learns.
_CONVERGED = re.compile(r"(?i)收敛|\bconverge[ds]?\b|\bplateaued\b|饱和|到头了")


def _converged(context: Context, *outcome: RoleSeries | None) -> str:
    """Whether the last third of what shows learning still moves; empty where no outcome is plain."""
    found = next((one for one in outcome if one is not None and one.spelling.plain and len(one) > 1), None)
    if found is None:
        return ""
    metric = found.metrics[0]
    steps = context.run.series(metric)[0]
    late = steps[-max(MIN_POINTS, len(steps) // 3) :]
    trend = context.ledger.trend(metric, late) if len(steps) > MIN_POINTS else None
    if trend is None:
        return context.say("learning.converged_few", metric=metric, n=context.ledger.count("values", len(steps)))
    ends = {"first": context.value(metric, late[0]), "last": context.value(metric, late[-1])}
    way = {"rising": "moving", "falling": "moving"}.get(trend.direction or "", "level")
    return context.say(f"learning.converged_{way}", metric=metric, n=trend.n, **ends)


def _still(context: Context, metric: str) -> tuple[Fact, Fact] | None:
    """The value of a metric that was the same each time, three times at least, and how often."""
    steps, values = context.run.series(metric)
    fact = context.value(metric, steps[-1]) if len(values) >= LEAST_STILL and len(set(values)) == 1 else None
    return None if fact is None else (fact, context.ledger.count("values", len(values), metric=metric))


def progress(context: Context, metric: str, trend: Fact) -> tuple[str, str]:
    """``up``, ``down``, ``flat`` or ``few`` for the better, and the sentence."""
    first, last = trend.first_step or 0, trend.last_step or 0
    if trend.n == 1:
        return "few", trend_sentence(context, metric, trend)
    if is_validation(metric) or (trend.n or 0) < MIN_POINTS:
        from assistant.ask.answer_compare import judge_with_trend
        from assistant.ask.validation_errors import as_validated

        change = context.ledger.change(metric, first, last)
        if change is not None:
            change = as_validated(context, change)
            code, sentence = judge_with_trend(context, change)
            enough = (trend.n or 0) >= MIN_POINTS
            state = {"improved": "up", "regressed": "down"}.get(code, "flat" if enough else "few")
            return state, sentence + (_between(context, change) if state == "up" else "")
    level = {1: "up", -1: "down"}.get(left_its_level(context, metric, trend), "flat")
    state = {"rising": "up", "falling": "down"}.get(trend.direction or "", level)
    if (trend.n or 0) < MIN_POINTS:
        state = "few"
    return state, trend_sentence(context, metric, trend)


def _between(context: Context, change: Fact) -> str:
    """Where a metric that got better was better still in between: the best value, and how far it fell after it."""
    metric = str(change.metric)
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    held = [f for f in held if (change.from_step or 0) <= (f.step or 0) <= (change.to_step or 0)]
    sign = 1 if (change.delta or 0) > 0 else -1
    if len(held) < 3:
        return ""
    best = max(held, key=lambda fact: sign * number(fact))
    after = [f for f in held if (f.step or 0) > (best.step or 0)]
    least = max(1.96 * (change.noise or 0), FALLEN * abs(change.delta or 0))
    if not after:
        return ""
    worst = min(after, key=lambda fact: sign * number(fact))
    if abs(number(best) - number(worst)) <= least:
        return ""
    gap = "" if context.language == "zh" else " "
    return gap + context.say("compare.between", best=best, worst=worst)


# -- training up, validation not ---------------------------------------------------------------------------------------
_MOVES = re.compile(
    r"(?i)涨|跌|掉|升|降|不动|没动|走平|变好|变差|过拟合|脱节|背离|\b(?:up|down|ris\w+|rose|fall\w*|fell|drop\w*|improv\w*|flat|overfit\w*"
    r"|increas\w*|decreas\w*|diverg\w*|grow\w*|climb\w*|worse|better|stuck|stall\w*|plateau\w*)\b"
    r"|走势|趋势|方向|步调|同步|一致|吻合|\b(?:agree|in sync|track|follow|consistent|go together|in step)\w*"
)


_AGREES = re.compile(
    r"(?i)走势|趋势|方向|步调|同步|一致|吻合|\b(?:agree|in sync|track|follow|consistent|go together|in step)\w*"
)


def _apart(context: Context, validation: str, training: str) -> Verdict:
    """Whether training and validation part ways: the course of each, and what the rules make of it."""
    say, doc = context.say, context.doc
    facts = {name: context.ledger.trend(name) for name in (validation, training)}
    states = {name: progress(context, name, fact) for name, fact in facts.items() if fact is not None}
    for name, (state, sentence) in list(states.items()):
        if name.endswith("loss"):
            states[name] = ({"up": "down", "down": "up"}.get(state, state), sentence)
    down, up = states[validation][0], states[training][0]
    case = (
        "apart" if up == "up" and down == "down" else "stalled" if up == "up" and down in {"flat", "few"}
        else "together" if up == "up" and down == "up" else "other"
    )  # fmt: skip
    text = say(
        f"apart.{case}_agree"
        if case in {"apart", "together"} and _AGREES.search(context.query.said)
        else f"apart.{case}"
    )
    doc.paragraph(f"**{text}**")
    doc.bullets([states[name][1] + tail_of(context, name, states[name][1]) for name in (validation, training)])
    grave = [c for c in all_checks(context) if c.severity in {"critical", "warning"}]
    related = [c for c in grave if {validation, training} & set(c.metrics)] or grave
    for one in told(context, related[:1]):
        doc.bullets([one.whole(context.language)])
        doc.paragraph(remedy(context, one))
    doc.paragraph(say("apart.level"))
    context.metrics.extend([validation, training])
    for name in (validation, training):
        context.cite(context.card(name))
    context.chart(say("section.signals"), [validation, training])
    code = {"apart": "regressed", "stalled": "inconclusive", "together": "improved"}.get(case)
    code = code or {"down": "regressed", "up": "improved"}.get(down, "inconclusive")
    return Verdict(code, unmark(text), "medium")


def tail_of(context: Context, metric: str, said: str = "") -> str:
    """The lowest, highest and latest value of a metric, as a sentence led by a blank where the language has one.

    Args:
        context: of the answer.
        metric: key.
        said: the sentence before it; what it names is not named again.
    """
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(held) < 2:
        return ""
    known, values = set[int | None](), set[object]()
    for one in (context.ledger.get(name) for name in marked_ids(said)):
        if one is not None and one.metric == metric and one.kind == "value":
            known.add(one.step)
            values.add(one.value)
        elif one is not None and one.metric == metric and one.kind == "change":
            known |= {one.from_step, one.to_step}
            values |= {one.from_value, one.to_value}
    parts = []
    for name, fact in (("low", min(held, key=number)), ("high", max(held, key=number)), ("last", held[-1])):
        if fact.step not in known and (name == "last" or fact.value not in values):
            known.add(fact.step)
            parts.append(context.say(f"advice.{name}", v=fact))
    gap = "" if context.language == "zh" else " "
    joined = ("，" if context.language == "zh" else ", ").join(parts)
    return gap + context.say("advice.range", parts=joined) if parts else ""


#: Diagnoses that training and validation part ways.
_PART_WAYS = frozenset({"reward_hacking", "overfitting", "overfitting_suspected", "held_out_loss_rises",
                        "plateau_without_accuracy"})  # fmt: skip


# -- validation against training ---------------------------------------------------------------------------------------
def validation_against_training(context: Context) -> Verdict:
    """Why a validation's accuracy and a training step's reward are not compared; both values, and what can be."""
    say, doc = context.say, context.doc
    if _MOVES.search(context.query.said):
        wanted = (("val_accuracy", "held_out_loss"), ("score_mean", "reward_mean", "plain_reward", "training_loss"))
        firsts = [next((r for n in names if (r := role(context.run, n)) is not None), None) for names in wanted]
        found = [held for held in firsts if held is not None]
        if len(found) == 2 and all(one.spelling.plain and len(one) >= MIN_POINTS for one in found):
            return _apart(context, found[0].metrics[0], found[1].metrics[0])
    accuracy = answer_validation.main_accuracy(context)
    score = role(context.run, "score_mean") or role(context.run, "reward_mean") or role(context.run, "plain_reward")
    reward = None if score is None else score.fact(context.ledger, int(score.steps[-1]))
    apart = [one for one in all_checks(context) if one.rule in _PART_WAYS and one.severity in {"critical", "warning"}]
    text = say("val_train.apart", first=context.finding(apart[0])) if apart else say("val_train.verdict")
    doc.paragraph(f"**{text}**")
    lines = []
    if accuracy is not None and reward is not None:
        lines.append(
            say("val_train.values", metric=str(accuracy.metric), a=accuracy, other=str(reward.metric), b=reward)
        )
        context.metrics.extend([str(accuracy.metric), str(reward.metric)])
    lines += [say(f"val_train.{name}") for name in ("problems", "scale", "sampling")]
    if len(context.validation_steps) < 2:
        lines.append(say("val_train.few"))
    doc.bullets(lines)
    doc.paragraph(say("val_train.can"))
    for fact in (accuracy, reward):
        if fact is not None and fact.metric:
            context.cite(context.card(fact.metric))
    return Verdict("not_comparable", unmark(text))
