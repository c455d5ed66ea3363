"""How many responses a run has trained on, which epoch it is in, and quantities of which the log holds nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.analysis import derive
from assistant.analysis.forecast import STEP_TIMES, total_steps
from assistant.analysis.timing import layout_of, total_key
from assistant.ask import answer_clock
from assistant.ask.answer_hours import by_rate
from assistant.ask.answer_other import derived
from assistant.ask.answer_stage_sums import slowest_by_stages
from assistant.ask.answer_trend import health
from assistant.ask.context import EPOCHS, Context, key
from assistant.ask.part import cell, part_of, shown, statistic
from assistant.ask.parts import number
from assistant.ask.portions import portions_in
from assistant.ask.scope import Scope
from assistant.ask.subject import words_of
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.parsing.totals import LEFT, PACE
from assistant.write.document import unmark

_PROMPTS: Final = re.compile(r"(?i)prompt|题|问题|question|problem")
#: Keys that compare the probabilities of rollout engine and trainer, by framework.
_MISMATCH: Final = re.compile(
    r"(?i)rollout_probs_diff|rollout_actor_probs|rollout_corr/|logp_diff|train_rollout_logprob|sampling_logp"
    r"|gen_kl_error|policy_kl_error|token_mult_prob_error|mismatch|tis\b"
)
#: Of these keys the ones that tell most, the best first.
_MISMATCH_FIRST: Final = tuple(
    re.compile(rf"(?i){words}")
    for words in (r"rollout_corr/kl$", "k3_kl", "gen_kl_error", "probs_diff_mean", "logp_diff(?:erence)?(?:/|_)mean")
)
#: How near to its median a ratio lies at most of the steps that confirm it, and how many confirm it.
NEAR, MOST, LEAST = 0.02, 0.9, 10


def samples(context: Context) -> Verdict | None:
    """Trajectories (or prompts) trained on so far: those of a step, as the log implies them, times the steps."""
    name = "prompts_per_step" if _PROMPTS.search(context.query.said) else "trajectories_per_step"
    if context.query.steps.kind in {"single", "pair", "first", "last"}:
        return _of_those(context)
    held = [f for s in context.train_steps if (f := derive(context.ledger, name, s)) is not None]
    if not held:
        logged = any(m.key is not None and "/" in m.text for m in context.query.mentions)
        return None if logged else by_rate(context) or _of_those(context)
    steps = context.ledger.count("training_steps", len(context.train_steps))
    each = held[-1]
    if len({f.value for f in held}) == 1:
        total = context.ledger.derived(
            f"{name} × steps", int(number(each)) * len(context.train_steps), inputs=[each, steps],
            formula=f"{name} × training steps",
        )  # fmt: skip
        text = context.say(f"samples.{name}", total=total, each=each, n=steps)
    else:
        total = context.ledger.derived(
            f"sum of {name}", sum(int(number(f)) for f in held), inputs=held, formula=f"Σ {name}"
        )
        counted = context.ledger.count(f"steps with {name}", len(held))
        text = context.say(f"samples.{name}_varies", total=total, k=counted, n=steps)
    context.doc.paragraph(f"**{text}**")
    if len({f.value for f in held}) == 1 and len(held) < len(context.train_steps):
        counted = context.ledger.count(f"steps with {name}", len(held))
        context.doc.paragraph(context.say("samples.assumed", k=counted))
    return Verdict("answered", unmark(text))


def _of_those(context: Context) -> Verdict:
    """The batch of the steps asked about, or that it cannot be derived."""
    context.query = replace(context.query, topics=("batch",))
    return derived(context)


def epoch(context: Context) -> Verdict | None:
    """The latest value of the logged epoch."""
    metric = next((m for m in context.run.metrics if m in EPOCHS or m.endswith("/epoch")), None)
    if metric is None and context.run.step_axis.lower() in {"epoch", "epochs"}:
        return None  # its rows are counted by epochs
    if metric is None:
        return _without(context, "epoch")
    steps, _ = context.run.series(metric)
    last = context.value(metric, steps[-1])
    if last is None:
        return None
    text = context.say("epoch.now", metric=metric, v=last)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.query = replace(context.query, steps=replace(context.query.steps, kind="last", values=()))
    return Verdict("answered", unmark(text))


#: How large a card is, as people say it: "80G", "a 96GB card", "H100 80 GB".
_CARD_SIZE = re.compile(r"(?i)(?<![\d.])(?P<size>\d{1,3}(?:\.\d)?)\s?g(?:i?b)?\b")


def memory_left(context: Context) -> Verdict | None:
    """What memory is used, since the log does not hold what there is; ``None`` where it logs no memory."""
    keys = [m for m in context.run.metrics if re.search(r"(?i)gpu.*mem|cuda_mem|max_memory|mem.*(?:gb|gib)|vram", m)]
    keys = [m for m in keys if "cpu" not in m.lower()]
    reserved = [m for m in keys if "reserved" in m] or keys
    if not reserved or any(re.search(r"(?i)free|avail", m) for m in keys):
        return None
    facts = [f for s in context.run.series(reserved[0])[0] if (f := context.value(reserved[0], s)) is not None]
    high = max(facts, key=number)
    card = _CARD_SIZE.search(normalised(context.query.text))
    if card is None:
        text = context.say("memory.left", metric=reserved[0], last=facts[-1], high=high)
    else:
        size = context.ledger.constant("size of a card", float(card["size"]), "the question", "GiB")
        left = context.ledger.derived(
            "memory left", float(card["size"]) - number(high), inputs=[size, high],
            formula=f"size of a card − highest {reserved[0]}", unit="GiB",
        )  # fmt: skip
        phrase = "memory.left_of" if number(left) > 0 else "memory.left_none"
        shown = [context.doc.show(fact, None, context.kind_of(reserved[0])) for fact in (size, left)]
        text = context.say(phrase, metric=reserved[0], high=high, size=shown[0], left=shown[1])
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(reserved[0])
    context.doc.paragraph(context.gloss(reserved[0]))
    return Verdict("answered", unmark(text))


# -- what the log does not hold ----------------------------------------------------------------------------------------
def step_time_absent(context: Context) -> Verdict | None:
    """How long a step takes where only a key of its own tells; that the log times no step, and which metric would.

    ``None`` where the log times steps in one of the known ways, which have writers of their own.
    """
    layout = layout_of(context.run)
    if any(m.key is not None and not _SOME_TIME.search(m.key) for m in context.query.mentions):
        return None
    if (layout is not None and total_key(context.run, layout)) or any(m in context.run.columns for m in STEP_TIMES):
        return None
    if context.run.missing:
        return None  # a time may stand after the cut
    metric = next((m for m in context.run.metrics if OF_A_STEP.search(m)), None)
    if metric is not None:
        return _step_time(context, metric)
    if any(_SOME_TIME.search(m) for m in context.run.metrics):
        return None
    return answer_clock.step_on_average(context) or _at_pace(context) or _without(context, "step_time")


def _at_pace(context: Context) -> Verdict | None:
    """A step's time as the progress bar shows it, or as the time left printed beside the last row implies it."""
    extras, last = context.run.extras, max(context.run.distinct_steps)
    total = total_steps(context.run)
    if PACE in extras:
        pace = context.ledger.constant("seconds_per_step", extras[PACE][0], "the progress bar", unit="s")
        text = context.say("step_time.bar", v=pace)
    elif LEFT in extras and total is not None and total > last:
        left = context.ledger.constant("seconds_left", extras[LEFT][0], "the log", unit="s")
        pace = context.ledger.derived(
            "seconds_per_step", number(left) / (total - last), inputs=[left], unit="s",
            formula=f"seconds left / ({total} − {last} steps)",
        )  # fmt: skip
        steps = context.ledger.derived("steps_left", total - last, inputs=[], formula=f"{total} − {last}")
        text = context.say("step_time.printed", v=pace, left=left, n=steps, last=last)
    else:
        return None
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("step_time.not_each"))
    return Verdict("answered", unmark(text), "medium")


#: Keys of the time that a step took, in any trainer's spelling.
OF_A_STEP: Final = re.compile(
    r"(?i)(?:iter(?:ation)?|step)s?[_ /]?(?:time|duration|seconds|latency)"
    r"|time[_ /](?:per[_ ])?(?:step|iter)"
    r"|(?<![a-z])(?:s|secs?|seconds) ?/ ?(?:it|iter|iteration|step)\b"
    r"|E2E latency|step_avg|^train/time\(s\)$|^(?:time|dt)$"
)
_SOME_TIME: Final = re.compile(r"(?i)time|seconds|elapsed|duration|latency|/sec|fps|it/s|tps|throughput|step_avg")


#: A mean so many times the median is one of a few slow steps.
_PULLED: Final = 1.5


def _step_time(context: Context, metric: str) -> Verdict | None:
    parts = portions_in(words_of(context), context.train_steps) or [Scope()]
    if len(parts) > 1 or not parts[0].whole:
        return _in_parts(context, metric, parts)
    part = part_of(context, metric, Scope())
    if not len(part):
        return None
    mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    count = context.ledger.count("values", len(part), metric=metric)
    text = context.say(
        "steptime.lead", mean=shown(context, mean, metric), metric=metric, last=cell(context, part, len(part) - 1),
        low=low, high=high, n=count,
    )  # fmt: skip
    usual = statistic(context, part, "median", median(part.values), "median")
    if number(usual) > 0 and number(mean) > _PULLED * number(usual):
        text += ("" if context.language == "zh" else " ") + context.say(
            "steptime.pulled", usual=shown(context, usual, metric)
        )
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.gloss(metric))
    context.metrics.append(metric)
    return Verdict("answered", unmark(text))


def _in_parts(context: Context, metric: str, parts: Sequence[Scope]) -> Verdict | None:
    """A step's time in one part of the run, or in two: median and mean, as a few slow steps pull the mean up."""
    told = []
    for scope in parts:
        part = part_of(context, metric, scope)
        if not len(part):
            return None
        mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
        usual = statistic(context, part, "median", median(part.values), "median")
        texts = {"mean": shown(context, mean, metric), "usual": shown(context, usual, metric)}
        told.append(context.say("steptime.part", over=part.over, **texts))
    text = context.say("steptime.parts", metric=metric, listed=("；" if context.language == "zh" else "; ").join(told))
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.gloss(metric))
    context.metrics.append(metric)
    return Verdict("answered", unmark(text))


def slowest_step(context: Context) -> Verdict | None:
    """The step that took longest where only a key of its own times steps; ``None`` where one of the known ways does."""
    layout = layout_of(context.run)
    if any(m in context.run.columns for m in STEP_TIMES):
        return None
    metric = None if layout is None else total_key(context.run, layout)
    metric = metric or next((m for m in context.run.metrics if OF_A_STEP.search(m)), None)
    if any(m.key in context.run.columns and m.key != metric for m in context.query.mentions):
        return None  # "生成最慢的是哪步": of that stage
    part = None if metric is None else part_of(context, metric, Scope())
    if metric is None or part is None or not len(part):
        return slowest_by_stages(context)
    text = context.say(
        "calc.max", metric=metric, v=cell(context, part, part.values.index(max(part.values))), over=part.over
    )
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.query = replace(context.query, op="argmax", asked_op="argmax")
    return Verdict("answered", unmark(text))


def mismatch(context: Context) -> Verdict | None:
    """Whether rollout engine and trainer agree; where the log compares nothing of them, which setting would log it."""
    if any(m.key is not None and re.search(r"[/_]", m.text) for m in context.query.mentions):
        return None  # of a key that is named
    held = [m for words in _MISMATCH_FIRST for m in context.run.metrics if words.search(m)]
    if held:
        context.query = replace(context.query, intent="health")
        return health(context, held[:1])
    if any(_MISMATCH.search(m) for m in context.run.metrics):
        return None
    return _without(context, "mismatch" if context.run.framework in {"verl", None} else "mismatch_other")


def per_rank(context: Context) -> Verdict | None:
    """That the log holds nothing of single ranks; ``None`` where a key says otherwise."""
    if any(re.search(r"(?i)rank|worker|per_gpu|gpu_\d|device", m) for m in context.run.metrics):
        return None
    return _without(context, "per_rank")


#: Keys of an evaluation in any trainer's spelling: ``val_loss``, ``Val total_rewards_mean``, ``Validation Loss``.
_HELD_OUT = re.compile(
    r"(?i)(?:.{0,60}[-_/ .])?(?:val|valid|validation|eval|evaluation|test|dev)(?:[-_/ .]|$)"
    r"|(?:val|valid|test)(?=loss|acc)"
)


def evaluations_absent(context: Context) -> Verdict | None:
    """That the log holds no evaluation of any kind, and what it has instead."""
    if context.validation_steps or any(_HELD_OUT.match(m) for m in context.run.metrics):
        return None
    if any(m.key is not None for m in context.query.mentions):
        return None
    verdict = _without(context, "evaluation")
    stand_in = [
        m
        for m in ("rewards/accuracies", "reward", "mean_reward", "critic/score/mean", "loss", "train/loss")
        if m in context.run.columns
    ]
    if stand_in:
        context.doc.paragraph(context.say("without.evaluation_instead", names=context.join(map(key, stand_in[:2]))))
    return verdict


def _without(context: Context, name: str) -> Verdict:
    text = context.say(f"without.{name}")
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say(f"without.{name}_how"))
    return Verdict("no_data", unmark(text))


def penalty(context: Context) -> Verdict | None:
    """The KL coefficient: logged, else what loss ÷ KL comes out as where that is one number all along, else unknown.

    GRPO's loss with one update per batch is β × KL, since its ratio is one and group-centred advantages cancel (TRL,
    ``trl/trainer/grpo_trainer.py``).
    """
    run = context.run
    if any(re.search(r"(?i)kl(?:_[a-z]+)?_?coe?f|(?:^|[/_])beta$", m) for m in run.metrics):
        return None
    if run.framework == "TRL" and "loss" in run.columns and "kl" in run.columns and "reward" in run.columns:
        held = [
            (loss, kl) for s in run.series("kl")[0]
            if (loss := context.value("loss", s)) is not None and (kl := context.value("kl", s)) is not None
            and number(kl) > 0 and number(loss) > 0
        ]  # fmt: skip
        beta = _ratio(held)
        if beta is not None:
            inputs = [held[-1][0], held[-1][1]]
            fact = context.ledger.derived("beta", beta, inputs=inputs, formula="median of loss / kl")
            count = context.ledger.count("steps with loss and kl", len(held))
            text = context.say("without.beta_derived", v=context.doc.show(fact, None, "number"), n=count)
            context.doc.paragraph(f"**{text}**")
            context.metrics.extend(["loss", "kl"])
            return Verdict("answered", unmark(text), "medium")
    return _without(context, "beta")


def _ratio(held: Sequence[tuple[Fact, Fact]]) -> float | None:
    """Loss over KL, to two figures, where nearly all steps agree on it within what rounding of the loss allows."""
    if len(held) < LEAST:
        return None
    middle = median(number(loss) / number(kl) for loss, kl in held)
    value = float(f"{middle:.2g}")
    agree = [abs(number(loss) - value * number(kl)) <= NEAR * number(loss) + 5e-5 for loss, kl in held]
    return value if sum(agree) >= MOST * len(agree) else None
