"""Sanity rules that a single step can break, and collapse patterns that a run can show.

A rule names what it saw; its sentence is the phrase ``finding.<rule>``. ``critical`` needs two independent signs.
Thresholds without a source are relative to the run itself; the sourced ones name their card.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from assistant.analysis.identities import derive
from assistant.analysis.ledger import Ledger
from assistant.analysis.timing import time_shares
from assistant.model import Fact, Run
from assistant.model.fact import Severity

#: Share of truncated responses from which AReaL's guide advises action (docs/en/best_practices/algo_perf.md).
TRUNCATION_SHARE = 0.05
#: Mean KL at which an update is usually stopped (OpenAI Spinning Up: target_kl "usually small, 0.01 or 0.05").
KL_STEP = 0.05
#: Differences of summed log-probabilities above which exp() leaves any trust region.
LOG_PROB_GAP = 10.0
RATIO_LIMIT = 100.0

#: Metrics that the rules read; a log that holds few of them is not vouched for by their silence.
READ_BY_RULES = (
    "actor/grad_norm", "actor/ppo_kl", "actor/entropy", "critic/score/min", "critic/advantages/min",
    "response_length/mean", "response_length/clip_ratio", "mean_ratio", "mean_log_prob_ref",
)  # fmt: skip
#: Keys on whose values a rule passes judgement by itself; the silence of the rules says nothing of any other.
JUDGED = (
    "actor/grad_norm", "grad_norm", "train/grad_norm", "actor/ppo_kl", "critic/score/", "critic/advantages/",
    "response_length/", "response/aborted_ratio", "mean_ratio", "mean_log_prob",
)  # fmt: skip
RANK = {"critical": 0, "warning": 1, "info": 2, "ok": 3}
_NOT_LOSS = ("timing", "perf/", "val-", "training/", "memory/", "time/")


@dataclass(frozen=True, slots=True)
class Check:
    """What a rule saw: facts by the name that its phrase uses."""

    rule: str
    severity: Severity
    metrics: tuple[str, ...]
    steps: tuple[int, ...]
    facts: tuple[tuple[str, Fact], ...]


def covered(run: Run) -> bool:
    """Whether the rules know enough of a log's keys for their silence to mean something."""
    return sum(metric in run.columns for metric in READ_BY_RULES) >= 3


def check_step(ledger: Ledger, step: int, run: Run | None = None) -> list[Check]:
    """Every rule that one step breaks, gravest first."""
    run = run or ledger.run
    assert run is not None
    found: list[Check] = []

    def fact(metric: str) -> tuple[Fact, float] | None:
        entry = ledger.value(metric, step, run)
        if entry is None or not isinstance(entry.value, (int, float)):
            return None
        return entry, float(entry.value)

    def add(rule: str, severity: Severity, **facts: Fact) -> None:
        metrics = tuple(dict.fromkeys(f.metric for f in facts.values() if f.metric))
        found.append(Check(rule, severity, metrics, (step,), tuple(facts.items())))

    broken = [m for m, c in run.at(step).items() if not math.isfinite(c.value) and not m.startswith(_NOT_LOSS)]
    if broken:
        first = ledger.value(broken[0], step, run)
        assert first is not None
        add("not_finite", "critical" if len(broken) > 1 else "warning", value=first)
    for metric in ("actor/grad_norm", "grad_norm", "train/grad_norm"):
        if (norm := fact(metric)) and norm[1] == 0:
            add("zero_gradient", "warning", value=norm[0])
    low, high = fact("critic/score/min"), fact("critic/score/max")
    if low and high and low[1] == high[1]:
        add("constant_reward", "warning", low=low[0], high=high[0])
    low, high = fact("critic/advantages/min"), fact("critic/advantages/max")
    if low and high and low[1] == 0 and high[1] == 0:
        add("zero_advantage", "warning", low=low[0], high=high[0])
    clipped = fact("response_length/clip_ratio")
    if clipped and clipped[1] > TRUNCATION_SHARE:
        limit = ledger.constant("truncation_share", TRUNCATION_SHARE, "verl/response_length/clip_ratio", "fraction")
        add("truncation", "warning", value=clipped[0], limit=limit)
    aborted = fact("response/aborted_ratio")
    if aborted and aborted[1] > 0:
        add("aborted", "warning", value=aborted[0])
    kl = fact("actor/ppo_kl")
    if kl and abs(kl[1]) > KL_STEP:
        limit = ledger.constant("kl_step", KL_STEP, "verl/actor/ppo_kl")
        add("large_step", "warning", value=kl[0], limit=limit)
    _ratio(ledger, run, step, fact, add)
    balance = derive(ledger, "imbalance_after", step, run)
    if balance is not None and isinstance(balance.value, float) and balance.value > 0.05:
        add("imbalance", "warning", value=balance)
    total = fact("timing_s/step")
    shares, rest = time_shares(ledger, step, run) if total else ([], None)
    if shares and rest is not None and total and isinstance(rest.value, float) and rest.value > 0.05 * total[1]:
        add("unaccounted", "info", rest=rest, total=total[0])
    return sorted(found, key=lambda c: RANK[c.severity])


def _ratio(ledger: Ledger, run: Run, step: int, fact, add) -> None:  # type: ignore[no-untyped-def]
    ratio = fact("mean_ratio")
    current, reference = fact("mean_log_prob_current"), fact("mean_log_prob_ref")
    gap = None
    if current and reference:
        gap = ledger.derived(
            "log_prob_gap", current[1] - reference[1], step=step, run=run,
            formula="mean_log_prob_current − mean_log_prob_ref", inputs=[current[0], reference[0]],
        )  # fmt: skip
    wide = gap is not None and isinstance(gap.value, float) and abs(gap.value) > LOG_PROB_GAP
    if ratio and not 1 / RATIO_LIMIT <= ratio[1] <= RATIO_LIMIT:
        if wide and gap is not None:
            add("exploding_ratio", "critical", ratio=ratio[0], gap=gap)
        else:
            add("odd_ratio", "warning", ratio=ratio[0])
    elif wide and gap is not None:
        add("log_prob_gap", "warning", gap=gap)


def check_run(ledger: Ledger, steps: list[int], run: Run | None = None) -> list[Check]:
    """Collapse patterns over the training steps of a run.

    ``length_collapse``: mean response length below a tenth of what it was at the first step; critical when another
    sign agrees: entropy below a tenth, the longest response below the first step's mean, or the raw score falling.
    """
    run = run or ledger.run
    assert run is not None
    metric = "response_length/mean"
    held = [s for s in steps if run.value(metric, s) is not None]
    if len(held) < 8:
        return _falling(ledger, run, steps)
    first, last = held[0], held[-1]
    change = ledger.change(metric, first, last, run)
    found = _falling(ledger, run, steps)
    if change is None or change.ratio is None or change.ratio > 0.1:
        return found
    signs = [change]
    entropy = ledger.change("actor/entropy", first, last, run)
    if entropy is not None and entropy.ratio is not None and entropy.ratio < 0.1:
        signs.append(entropy)
    longest = ledger.value("response_length/max", last, run)
    early = run.value(metric, first)
    if longest is not None and early is not None and isinstance(longest.value, (int, float)) and longest.value < early:
        signs.append(longest)
    score = ledger.trend("critic/score/mean", held, run)
    if score is not None and score.direction == "falling":
        signs.append(score)
    severity: Severity = "critical" if len(signs) > 1 else "warning"
    more = tuple((f"sign{i}", sign) for i, sign in enumerate(signs[1:], 1))
    return [Check("length_collapse", severity, (metric,), (first, last), (("change", change), *more)), *found]


def _falling(ledger: Ledger, run: Run, steps: list[int]) -> list[Check]:
    """Raw score or the main validation metric falling over the run."""
    found = []
    main = next(
        (m for m in run.metrics if m.startswith("val-") and "/acc/mean@" in m and len(run.series(m)[0]) > 4), None
    )
    main = main or next((m for m in run.metrics if m.startswith("val-") and "/mean@" in m), None)
    for rule, metric in (("score_falling", "critic/score/mean"), ("validation_falling", main)):
        trend = None if metric is None else ledger.trend(metric, None if rule == "validation_falling" else steps, run)
        if metric is None or trend is None or trend.direction != "falling" or trend.first_step is None:
            continue
        first, last = (ledger.value(metric, s or 0, run) for s in (trend.first_step, trend.last_step))
        if first is not None and last is not None:
            facts = (("trend", trend), ("first", first), ("last", last))
            found.append(Check(rule, "warning", (metric,), (trend.first_step, trend.last_step or 0), facts))
    return found


def check_all(ledger: Ledger, steps: list[int], run: Run | None = None) -> list[Check]:
    """Rules over the run, then per step; a rule that fires at many steps is reported once, at the latest."""
    found = check_run(ledger, steps, run)
    seen: dict[str, Check] = {}
    for step in steps:
        for check in check_step(ledger, step, run):
            earlier = seen.get(check.rule)
            if earlier is None or RANK[check.severity] <= RANK[earlier.severity]:
                steps_so_far = earlier.steps if earlier is not None else ()
                seen[check.rule] = replace(check, steps=(*steps_so_far, step))
    kept = [c for c in seen.values() if _lasting(c, steps)]
    return sorted([*found, *kept], key=lambda c: RANK[c.severity])


def _lasting(check: Check, steps: list[int]) -> bool:
    """Whether a rule's firing says something about the run: grave, recent, or at a fifth of its steps or more."""
    grave = check.severity == "critical" or check.rule == "not_finite"
    return grave or steps[-1] in check.steps or len(check.steps) >= 0.2 * len(steps)
