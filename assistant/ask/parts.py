"""Parts that several answers share: the setup that a log implies, time, changes with their noise, gaps."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.analysis import derive, derive_all, time_shares
from assistant.analysis.held_out import held_out
from assistant.analysis.noise import TOO_WIDE
from assistant.analysis.outside import outside_keys
from assistant.analysis.timing import layout_of, total_key
from assistant.ask.context import Context, key
from assistant.ask.schedules import is_setting
from assistant.ask.validation_errors import as_validated
from assistant.model import Fact

#: Metrics that carry a run, in the order in which they are shown.
HEADLINES = (
    "critic/score/mean", "critic/rewards/mean", "reward", "mean_reward", "actor/entropy", "actor/ppo_kl",
    "actor/kl_loss", "actor/pg_loss", "actor/pg_clipfrac", "actor/grad_norm", "actor/lr", "critic/advantages/mean",
    "critic/vf_loss", "critic/vf_explained_var", "loss", "train/loss", "policy_loss", "kl", "entropy", "grad_norm",
    "response_length/mean", "response_length/clip_ratio", "num_turns/mean", "timing_s/step", "perf/throughput",
)  # fmt: skip

#: Share of a step below which a stage is small, and from how many stages on small ones are told together.
SMALL_SHARE, MANY_STAGES = 0.001, 8
_EVERY_TIME = re.compile(
    r"(?i)\b(?:all|every|each|full|complete)\b|所有|全部|每(?:个|一)|逐|各(?:个)?(?:阶段|环节)|完整"
)

_LOSS = re.compile(r"(?i)loss|perplexity|\bppl\b|nll")
#: Keys that count or schedule rather than measure.
_COUNTERS = {
    "epoch",
    "num_tokens",
    "learning_rate",
    "lr",
    "step_time",
    "episode",
    "total_steps",
    "percentage",
    "elapsed_time",
}


def headlines(context: Context, step: int) -> list[str]:
    """The main metrics that a step holds; rewards are left out where they equal the scores."""
    held = [m for m in HEADLINES if context.run.value(m, step) is not None]
    if "critic/score/mean" in held and "critic/rewards/mean" in held:
        kl = derive(context.ledger, "kl_in_reward", step)
        if kl is not None and kl.value is False:
            held.remove("critic/rewards/mean")
    if len(held) < 6:
        others = [m for m in context.run.at(step) if m not in held and not m.startswith(("training/", "val"))]
        held += [m for m in others if m not in _COUNTERS][:12]
    return held


def setup_lines(context: Context, step: int) -> list[str]:
    """What kind of run it is, as far as this step implies it."""
    facts = derive_all(context.ledger, step)
    say, lines = context.say, list[str]()
    if "n_gpus" in facts:
        lines.append(say("setup.gpus", gpus=facts["n_gpus"]))
    if "prompts_per_step" in facts:
        size = facts["group_size"]
        top = top_advantage(context, size)
        lines.append(
            say(
                "setup.batch", batch=facts["trajectories_per_step"], prompts=facts["prompts_per_step"], group=size,
                top=top if top is not None else size,
            )
        )  # fmt: skip
    elif "trajectories_per_step" in facts:
        lines.append(say("setup.batch_only", batch=facts["trajectories_per_step"]))
    if "critic_present" in facts:
        critic = facts["critic_present"]
        lines.append(note(context, critic, say("setup.critic" if critic.value else "setup.no_critic")))
    if "kl_in_reward" in facts:
        kl = facts["kl_in_reward"]
        lines.append(note(context, kl, say("setup.kl_reward" if kl.value else "setup.no_kl_reward")))
    rate = context.value("perf/throughput", step)
    if "cluster_throughput" in facts and rate is not None:
        lines.append(say("setup.throughput", per_gpu=as_rate(context, rate), cluster=facts["cluster_throughput"]))
    if "imbalance_before" in facts and "imbalance_after" in facts and "excess_tokens" in facts:
        after = facts["imbalance_after"]
        if isinstance(after.value, float) and after.value <= 0.05:
            before, excess = facts["imbalance_before"], facts["excess_tokens"]
            lines.append(note(context, after, say("setup.balance", excess=excess, before=before)))
    if "response_token_share" in facts:
        lines.append(say("setup.response_share", share=facts["response_token_share"]))
    return lines


def number(fact: Fact | None) -> float:
    """A fact's value as a number, zero where it has none."""
    value = None if fact is None else fact.value
    return float(value) if isinstance(value, (int, float)) else 0.0


def as_rate(context: Context, fact: Fact) -> str:
    """A throughput with its unit."""
    return context.doc.show(fact, None, "rate")


def note(context: Context, fact: Fact, text: str) -> str:
    """Text that states a fact without a number: the fact is kept in the answer by an empty mark."""
    from assistant.write.document import mark

    return mark(fact.id, "") + text


def top_advantage(context: Context, group: Fact) -> Fact | None:
    """The cell from which a group size was derived."""
    for fact_id in group.inputs or ():
        fact = context.ledger.get(fact_id)
        if fact is not None and fact.name == "largest_abs_advantage":
            return fact
    return None


@dataclass(frozen=True, slots=True)
class Timed:
    """Where a step's time goes: shares by stage, largest first, the remainder, and the whole in seconds."""

    step: int
    shares: tuple[Fact, ...]
    rest: Fact | None
    total: Fact


def timed(context: Context, step: int, *, back: bool = True) -> Timed | None:
    """A step's time; of the step before (``back``) where this one's whole time is not printed yet (ROLL's lags)."""
    steps = [s for s in context.run.distinct_steps if s <= step]
    for at in [step, *(steps[-2:-1] if back else [])]:
        shares, rest = time_shares(context.ledger, at)
        total = context.ledger.get((shares[0].inputs or ("", ""))[1]) if shares else None
        if total is not None:
            return Timed(at, tuple(shares), rest, total)
    return None


def unnamed_share(context: Context, found: Timed) -> Fact | None:
    """The share of a step's time that belongs to no logged stage; ``None`` where stages do not make up the whole."""
    rest, total = found.rest, found.total
    if rest is None or not isinstance(rest.value, float) or not isinstance(total.value, (int, float)):
        return None
    return context.ledger.share(
        "unaccounted_time", str(total.metric), found.step, rest.value / total.value, inputs=[rest, total]
    )


def time_part(context: Context, step: int) -> bool:
    """Heading, table of stages, remainder and tail; ``False`` (nothing written) if the log has no times."""
    found = timed(context, step)
    if found is None:
        return False
    step, shares, rest, total = found.step, found.shares, found.rest, found.total
    doc, say = context.doc, context.say
    doc.heading("section.time")
    doc.paragraph(say("time.lead", total=doc.show(total, None, "seconds")))
    held = [(share, cell) for share in shares if (cell := context.value(str(share.name), step)) is not None]
    small = [cell for share, cell in held if number(share) < SMALL_SHARE]
    brief = len(held) > MANY_STAGES and len(small) > 1 and _EVERY_TIME.search(context.query.said) is None
    rows = [
        [key(str(share.name)), doc.show(cell, None, "seconds"), doc.show(share)] for share, cell in held
        if not brief or number(share) >= SMALL_SHARE
    ]  # fmt: skip
    doc.table([say("head.stage"), say("head.time"), say("head.share")], rows)
    lines = []
    if brief:
        few = context.ledger.derived(
            "small stages", math.fsum(map(number, small)), unit="s", step=step, inputs=small, formula="Σ small stages"
        )
        count = context.ledger.count("small stages", len(small), step=step)
        limit = context.ledger.constant("small share", SMALL_SHARE, "the answer", unit="fraction")
        lines.append(say("time.small", n=count, v=few, limit=doc.show(limit, None, "fraction")))
    unnamed = unnamed_share(context, found)
    if rest is not None and unnamed is not None:
        large = number(unnamed) > 0.05
        lines.append(say("time.rest_large", rest=rest, share=unnamed) if large else say("time.rest", rest=rest))
    from assistant.ask.answer_tail import AGENT_LOOP, in_flight, tool_waits

    lines.append(in_flight(context, step))
    if context.value(f"{AGENT_LOOP}generate_sequences/mean", step) is not None:
        lines.append(say("time.nested"))
    lines.append(tool_waits(context, step))
    doc.paragraph(*lines)
    return True


def validation_time(context: Context) -> tuple[str, float]:
    """What validations took beside the training steps, as a sentence, and their share of the whole.

    Empty where the log does not time them, or where their time is part of the steps'.
    """
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    beside = outside_keys(context.run)
    metric = next((name for name in beside if re.search(r"val|test", name)), None)
    if whole is None or metric is None:
        return "", 0.0
    sums = []
    for name in (metric, whole, *(name for name in beside if name != metric)):
        held = [f for s in context.run.series(name)[0] if (f := context.value(name, s)) is not None]
        held = [f for f in held if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
        count = context.ledger.count("values", len(held), metric=name)
        total = context.ledger.derived(
            f"sum({name})", math.fsum(number(f) for f in held), formula=f"Σ {name}", inputs=[*held, count], unit="s"
        )
        sums.append((count, total))
    count, spent = sums[0]
    part = number(spent) / math.fsum(number(one) for _, one in sums)
    share = context.ledger.derived(
        f"share({metric})",
        part,
        formula=f"Σ {metric} / (" + " + ".join(f"Σ {name}" for name in (whole, *beside)) + ")",
        inputs=[one for _, one in sums],
        unit="fraction",
    )
    return context.say("time.validation", metric=metric, n=count, total=spent, share=share), part


def change_table(context: Context, metrics: Sequence[str], first: int, second: int) -> list[Fact]:
    """Table of metrics at two steps with change and noise, and the note that says what the noise is.

    Returns:
        The change facts shown.
    """
    doc, say = context.doc, context.say
    rows, changes = [], list[Fact]()
    for metric in metrics:
        change = context.ledger.change(metric, first, second)
        if change is None:
            continue
        change = as_validated(context, change)
        changes.append(change)
        relative = doc.show(change, "rel")
        moved = doc.show(change, "delta") + ("" if "—" in relative else f" ({relative})")
        rows.append(
            [key(metric), doc.show(change, "from"), doc.show(change, "to"), moved, noise_text(context, change),
             verdict_text(context, change)]
        )  # fmt: skip
    doc.table(
        [say("head.metric"), say("head.at_step", step=first), say("head.at_step", step=second), say("head.change"),
         say("head.noise"), say("head.reading")],
        rows,
    )  # fmt: skip
    if changes:
        measured = [change for change in changes if not is_setting(str(change.metric))] or changes
        bases = {change.noise_basis for change in measured}
        if all(held_out(str(change.metric)) for change in measured):
            told = bool(bases & {"resampling", "share_bound"})
            if told or bases == {None}:
                loss = any(_LOSS.search(str(change.metric)) for change in measured)
                unknown = "noise.note_same_data" if loss else "noise.note_validation_unknown"
                doc.paragraph(say("noise.note_validation" if told else unknown))
                return changes
        batches = (derive(context.ledger, "prompts_per_step", step) for step in (second, first))
        prompts = next((batch for batch in batches if batch is not None), None)
        wide = [say("noise.note_wide")] if TOO_WIDE in bases else []
        if bases & {"residual", "autocorrelated", TOO_WIDE}:
            drawn = prompts if bases & {"bound", "fraction_bound"} else None
            doc.paragraph(
                say("noise.note_residual"), *([say("noise.note_drawn", prompts=drawn)] if drawn else []), *wide
            )
        elif prompts is not None:
            doc.paragraph(say("noise.note_bound", prompts=prompts))
        else:
            doc.paragraph(say("noise.note_bound_unknown"))
    return changes


def noise_text(context: Context, change: Fact) -> str:
    """A change's noise for a table cell; upper bounds carry ≤."""
    if change.noise is None:
        return context.say("noise.none")
    shown = context.doc.show(change, "noise")
    bound = change.noise_basis in {"bound", "fraction_bound", "autocorrelated", "share_bound"}
    return context.say("noise.at_most", noise=shown) if bound else shown


def verdict_text(context: Context, change: Fact) -> str:
    """Whether a change exceeds its noise, for a table cell."""
    if change.delta == 0:
        return context.say("noise.same")
    if change.significant is None:
        return context.say("noise.set" if is_setting(str(change.metric)) else "noise.unknown")
    return context.say("noise.yes" if change.significant else "noise.no")


def change_remarks(context: Context, first: int, second: int) -> list[str]:
    """Sentences on changes that careless readers get wrong: loss sign, tiny KL, reward within noise."""
    ledger, say, lines = context.ledger, context.say, list[str]()
    reward = ledger.change("critic/score/mean", first, second) or ledger.change("critic/rewards/mean", first, second)
    if reward is not None:
        if reward.significant:
            lines.append(say("change.reward_signal", r=reward))
        elif reward.noise is not None:
            lines.append(say("change.reward_noise", r=reward, limit=context.bound(reward)))
        else:
            wide = reward.noise_basis == TOO_WIDE
            lines.append(say("change.reward_wide" if wide else "change.reward_unknown", r=reward))
    loss, advantage = (
        ledger.change("actor/pg_loss", first, second),
        ledger.change("critic/advantages/mean", first, second),
    )
    if loss is not None and advantage is not None:
        flipped = (loss.from_value or 0) * (loss.to_value or 0) < 0
        lines.append(
            say("change.pg_loss_sign", pg=loss, adv=advantage) if flipped else say("change.pg_loss_same", adv=advantage)
        )
    kl = ledger.change("actor/ppo_kl", first, second)
    if kl is not None and kl.delta and max(abs(kl.from_value or 0), abs(kl.to_value or 0)) < 0.01:
        lines.append(say("change.kl", kl=kl))
    return lines


def missing_row(context: Context, step: int) -> Fact:
    """The cut of a step's row as a fact; the step must have one."""
    gaps = [gap for gap in context.run.missing if gap.step == step]
    gap = next((g for g in gaps if g.limit), gaps[0])
    return context.ledger.add(
        ("missing-row", step), kind="missing", run=context.run.id, step=step, line=gap.line, limit=gap.limit,
        reason=f"line cut at {gap.limit} characters" if gap.limit else "line cut", name="metrics after the cut",
    )  # fmt: skip


#: More rows than these that were cut at the same length are told in one line.
_CUT_ALIKE = 3


def missing_lines(context: Context, steps: Sequence[int]) -> list[str]:
    """One line a cut row: where, why, and how many metrics are not there; one for all where many are cut alike."""
    lines = []
    if (alike := _cut_alike(context, steps)) is not None:
        return [alike]
    for step in steps:
        gaps = [gap for gap in context.run.missing if gap.step == step]
        names = Counter(gap.metric for gap in gaps if gap.metric)
        if not gaps:
            continue
        fact = missing_row(context, step)
        gap = next((g for g in gaps if g.limit), gaps[0])
        count = context.ledger.count("missing_metrics", len(names), step=step)
        phrase = "missing.cut" if gap.limit else "missing.cut_unknown"
        if gap.limit and not names:
            lines.append(context.say("missing.cut_unnamed", missing=fact))
            continue
        lines.append(context.say(phrase, missing=fact, count=count))
    return lines


def _cut_alike(context: Context, steps: Sequence[int]) -> str | None:
    """Many rows that were cut at the same length and lost metrics that are known, in one line."""
    gaps = {step: [gap for gap in context.run.missing if gap.step == step] for step in steps}
    cut = [step for step in steps if gaps[step]]
    limits = {gap.limit for step in cut for gap in gaps[step] if gap.metric or gap.limit}
    lost = {step: len({gap.metric for gap in gaps[step] if gap.metric}) for step in cut}
    if len(cut) <= _CUT_ALIKE or len(limits) != 1 or None in limits or 0 in lost.values():
        return None
    few, many = min(cut, key=lost.__getitem__), max(cut, key=lost.__getitem__)
    fields = {
        name: context.ledger.count("missing_metrics", lost[step], step=step)
        for name, step in (("count", few), ("most", many))
    }
    rows = [missing_row(context, step) for step in cut]
    n = context.ledger.count("cut rows", len(cut))
    phrase = "missing.cut_alike" if lost[few] == lost[many] else "missing.cut_alike_range"
    return context.say(phrase, n=n, first=rows[0], last=rows[-1], **fields)
