"""What stands out in a log: rules that a step breaks, failure modes of a run, and scores that fall.

A check names what it saw; its sentence is the phrase ``finding.<rule>``. ``critical`` needs two independent signs. The
rules are data: :mod:`assistant.analysis.diagnosis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final
from weakref import WeakKeyDictionary

from assistant.analysis.consequences import SINCE, with_consequences
from assistant.analysis.diagnosis import Diagnosis, diagnose, role
from assistant.analysis.diagnosis.single import CENTRAL, Broken, broken
from assistant.analysis.identities import derive
from assistant.analysis.ledger import Ledger
from assistant.analysis.spikes import told_spikes
from assistant.analysis.timing import time_shares
from assistant.model import Fact, Run
from assistant.model.fact import Severity

#: Roles that the rules read; a log that holds few of them is not vouched for by their silence.
READ_BY_RULES: Final = (
    "grad_norm", "old_kl", "ref_kl", "policy_entropy", "clip_fraction", "score_mean", "score_min", "advantage_min",
    "zero_std_share", "response_length_mean", "truncated_share", "ratio_mean", "reference_log_prob_gap",
)  # fmt: skip
#: How many of them a log must hold for that.
ENOUGH_ROLES: Final = 3
#: Keys on whose values a rule passes judgement by itself; the silence of the rules says nothing of any other.
JUDGED: Final = (
    "actor/grad_norm", "grad_norm", "train/grad_norm", "actor/ppo_kl", "actor/entropy", "actor/kl_loss",
    "actor/pg_clipfrac", "critic/score/", "critic/advantages/", "critic/entropy/", "response_length/",
    "response/aborted_ratio", "token/response_length/", "completions/", "frac_reward_zero_std",
    "mean_ratio", "mean_log_prob", "rollout_corr/",
)  # fmt: skip
RANK: Final[dict[str, int]] = {"critical": 0, "warning": 1, "info": 2, "ok": 3}
#: How much more than the mean the fullest rank may hold, and what share of a step may belong to no stage.
LEFT_OVER: Final = 0.05
#: A loss of this size does not become exactly zero at its next value by learning.
FAR_FROM_ZERO: Final = 0.05


#: Rules of a single step that are told with the steps at which they hold, where they hold at several.
OFTEN: Final = ("zero_gradient", "constant_reward", "alike_groups", "no_mixed_groups", "zero_advantage")
#: The rule on NaN and infinities: what counts is where they began.
NOT_FINITE = "not_finite"
#: The phrase of values that are not finite where nothing that is optimised is among them.
STATISTIC = "finding.not_finite_statistic"
#: The rule on a loss that is zero from one value to the next.
LOSS_GONE = "loss_gone"


@dataclass(frozen=True, slots=True)
class Check:
    """What a rule saw: facts by the name that its phrase uses, and the diagnosis it stands for, if it does."""

    rule: str
    severity: Severity
    metrics: tuple[str, ...]
    steps: tuple[int, ...]
    facts: tuple[tuple[str, Fact], ...]
    diagnosis: Diagnosis | None = None
    phrase: str = ""
    """What tells it, where that is not ``finding.<rule>``."""


def covered(run: Run) -> bool:
    """Whether the rules know enough of a log's keys for their silence to mean something."""
    return sum(role(run, name) is not None for name in READ_BY_RULES) >= ENOUGH_ROLES


def check_step(ledger: Ledger, step: int, run: Run | None = None) -> list[Check]:
    """Every rule that one step breaks, gravest first."""
    run = _run(ledger, run)
    held = [one for one in broken(run) if step in one.severity]
    told = {one.rule for one in diagnose(ledger, run)} if any(one.unless_found for one in held) else set()
    found = [_of_step(ledger, run, one, (step,)) for one in held if not told & set(one.unless_found)]
    found += _spikes(ledger, run, {step}, {metric for check in found for metric in check.metrics})
    return sorted([*found, *_arithmetic(ledger, run, step)], key=lambda check: RANK[check.severity])


def check_run(ledger: Ledger, steps: Sequence[int], run: Run | None = None) -> list[Check]:
    """Failure modes that some steps of a run are consistent with, and scores that fall over them."""
    run = _run(ledger, run)
    return _over_run(ledger, run, steps, diagnose(ledger, run, steps=_read(run, steps)))


def _over_run(ledger: Ledger, run: Run, steps: Sequence[int], found: Sequence[Diagnosis]) -> list[Check]:
    single = {one.rule for one in broken(run)}
    modes = [_of_run(one) for one in found if one.rule not in single]
    said = {metric for check in modes for metric in check.metrics}
    further = [*_gone_to_zero(ledger, run, steps), *_falling(ledger, run, steps)]
    return [*modes, *(check for check in further if not said & set(check.metrics))]


def check_all(ledger: Ledger, steps: Sequence[int], run: Run | None = None) -> list[Check]:
    """Rules over the run, then per step; a rule that fires at many steps is reported once, at the gravest, latest.

    Kept as long as the ledger, so that asking again costs nothing.
    """
    run = _run(ledger, run)
    kept = _KEPT.setdefault(ledger, {})
    key = (run.id, tuple(steps))
    if key not in kept:
        kept[key] = tuple(_all(ledger, steps, run))
    return list(kept[key])


_KEPT: WeakKeyDictionary[Ledger, dict[tuple[str, tuple[int, ...]], tuple[Check, ...]]] = WeakKeyDictionary()


def _all(ledger: Ledger, steps: Sequence[int], run: Run) -> list[Check]:
    diagnoses = diagnose(ledger, run, steps=_read(run, steps))
    single = {one.rule for one in broken(run)}
    named = {one.mode for one in diagnoses if one.rule not in single}
    rules = {one.rule for one in diagnoses}
    found = _over_run(ledger, run, steps, diagnoses)
    wanted = set(steps)
    for one in broken(run):
        fired = tuple(step for step in one.severity if step in wanted)
        if fired and one.rule == NOT_FINITE:
            # Another rule of the same failure mode tells it, but for the reward.
            kept = [
                part
                for part in _by_key(one, fired)
                if _lasting(one, part, steps) and (one.mode not in named or CENTRAL.search(_key(one, part)))
            ]
            found += [_of_step(ledger, run, one, part) for part in kept]
            continue
        if fired and one.mode not in named and not rules & set(one.unless_found) and _lasting(one, fired, steps):
            found.append(_of_step(ledger, run, one, fired))
    found += _spikes(ledger, run, wanted, {metric for check in found for metric in check.metrics})
    if steps:
        found += _arithmetic(ledger, run, steps[-1])
    return sorted(with_consequences(ledger, run, found), key=lambda check: RANK[check.severity])


def _spikes(ledger: Ledger, run: Run, wanted: set[int], told: set[str]) -> list[Check]:
    return [
        Check(one.rule, one.severity, (one.metric,), one.steps, one.facts)
        for one in told_spikes(ledger, run, wanted, told)
    ]


def _run(ledger: Ledger, run: Run | None) -> Run:
    chosen = run or ledger.run
    if chosen is None:
        raise LookupError("this ledger has no run")
    return chosen


def _read(run: Run, steps: Sequence[int]) -> Sequence[int]:
    """The steps that a diagnosis reads: those asked for, and validations that stand alone between them."""
    if not steps:
        return steps
    return [step for step in run.distinct_steps if steps[0] <= step <= steps[-1] or step < min(steps)]


def _of_run(one: Diagnosis) -> Check:
    return Check(one.rule, one.severity, one.metrics, one.steps, one.facts, one)


def _key(one: Broken, steps: Sequence[int]) -> str:
    return "" if one.keys is None else one.keys[steps[0]][0]


def _by_key(one: Broken, fired: Sequence[int]) -> list[tuple[int, ...]]:
    """Steps of values that are not finite, apart for keys that are so at other steps.

    The gravest key of the first step tells all its steps; keys that are not finite only where it is go without saying.
    """
    assert one.keys is not None
    keys, parts, left = one.keys, [], list(fired)
    while left:
        key = keys[left[0]][0]
        part = tuple(step for step in left if key in keys[step])
        parts.append(part)
        left = [step for step in left if step not in set(part)]
    return parts


def _of_step(ledger: Ledger, run: Run, one: Broken, steps: tuple[int, ...]) -> Check:
    """A single-step rule at the gravest of some steps (the latest of equals; of values not finite, the first)."""
    first = one.rule == NOT_FINITE
    shown = min(steps if first else reversed(steps), key=lambda step: 0 if first else RANK[one.severity[step]])
    facts = one.facts(ledger, run, shown)
    if first:
        metric = next((fact.metric for _, fact in facts if fact.metric), None)
        count = ledger.count("not_finite_steps", len(steps), metric=metric, first_step=steps[0], last_step=steps[-1])
        facts = (*facts, ("count", count))
    metrics = tuple(dict.fromkeys(fact.metric for _, fact in facts if fact.metric))
    severity = min((one.severity[step] for step in steps), key=lambda level: RANK[level])
    phrase = ""
    if first and severity == "info":
        phrase = STATISTIC
    elif first and severity == "critical" and _to_the_end(run, metrics, steps):
        phrase = SINCE
    elif one.rule in OFTEN and len(steps) > 1:
        began = one.facts(ledger, run, steps[0])
        count = ledger.count(f"steps/{one.rule}", len(steps), first_step=steps[0], last_step=steps[-1])
        facts = (*facts, ("count", count), *(("first", fact) for _, fact in began[:1]))
        phrase = f"finding.{one.rule}_{'since' if _to_the_end(run, metrics, steps) else 'often'}"
    return Check(one.rule, severity, metrics, steps, facts, phrase=phrase)


def _to_the_end(run: Run, metrics: Sequence[str], steps: Sequence[int]) -> bool:
    """Whether a metric has no other value from the first of several steps on."""
    held = [step for metric in metrics[:1] for step in run.series(metric)[0] if step >= steps[0]]
    return len(held) > 1 and set(held) <= set(steps)


def _lasting(one: Broken, fired: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether a rule's firing says something about the run: grave, recent, or at a fifth of its steps or more."""
    grave = one.alone and any(one.severity[step] != "info" for step in fired)
    return grave or steps[-1] in fired or len(fired) >= 0.2 * len(steps)


def _arithmetic(ledger: Ledger, run: Run, step: int) -> list[Check]:
    """What a step's sums show: ranks that remain uneven, time that belongs to no stage."""
    found = []
    balance = derive(ledger, "imbalance_after", step, run)
    if balance is not None and isinstance(balance.value, float) and balance.value > LEFT_OVER:
        found.append(Check("imbalance", "warning", (), (step,), (("value", balance),)))
    total = ledger.value("timing_s/step", step, run)
    if total is not None and isinstance(total.value, (int, float)):
        shares, rest = time_shares(ledger, step, run)
        large = rest is not None and isinstance(rest.value, float) and rest.value > LEFT_OVER * total.value
        if shares and rest is not None and large:
            metrics = ("timing_s/step",)
            found.append(Check("unaccounted", "info", metrics, (step,), (("rest", rest), ("total", total))))
    return found


def _gone_to_zero(ledger: Ledger, run: Run, steps: Sequence[int]) -> list[Check]:
    """A loss of token prediction or of preferences that is exactly zero from some step on, right after values far off.

    A loss that learning brings down passes through small values first.
    """
    held = role(run, "training_loss")
    rewarded = any(role(run, name) is not None for name in ("score_mean", "reward_mean", "advantage_mean"))
    if held is None or not held.spelling.plain or rewarded:
        return []
    metric, wanted = held.metrics[0], set(steps)
    values = [(step, value) for step, value in zip(*run.series(metric), strict=True) if step in wanted]
    zeros = len(list(takewhile(lambda pair: pair[1] == 0, reversed(values))))
    if not zeros or zeros == len(values) or not abs(values[-zeros - 1][1]) >= FAR_FROM_ZERO:
        return []
    before = ledger.value(metric, values[-zeros - 1][0], run)
    first = ledger.value(metric, values[-zeros][0], run)
    if before is None or first is None:
        return []
    count = ledger.count("zero_values", zeros, metric=metric, first_step=first.step, last_step=values[-1][0])
    facts = (("before", before), ("first", first), ("count", count))
    return [Check(LOSS_GONE, "warning", (metric,), tuple(step for step, _ in values[-zeros:]), facts)]


def _falling(ledger: Ledger, run: Run, steps: Sequence[int]) -> list[Check]:
    """Raw score or the main validation metric falling over the run."""
    found = []
    main = role(run, "val_accuracy")
    score = role(run, "score_mean")
    pairs = [("score_falling", score, steps), ("validation_falling", main, None)]
    for rule, held, wanted in pairs:
        if held is None or not held.spelling.plain:
            continue
        metric = held.metrics[0]
        trend = ledger.trend(metric, wanted, run)
        if trend is None or trend.direction != "falling" or trend.first_step is None or trend.last_step is None:
            continue
        first, last = (ledger.value(metric, step, run) for step in (trend.first_step, trend.last_step))
        if first is not None and last is not None:
            facts = (("trend", trend), ("first", first), ("last", last))
            found.append(Check(rule, "warning", (metric,), (trend.first_step, trend.last_step), facts))
    return found
