"""Whether a run overfits: its evaluation loss against its training loss, or what is missing to tell."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

from assistant.ask import held_out_gap
from assistant.ask.context import Context
from assistant.ask.naming import named_keys
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_EVAL = re.compile(
    r"(?i)^(?:val|eval|valid|validation|test|dev|held_?out)[-_/ ]+(?:.*[-_/ ])?(?:loss|nll|ce)(?:/mean)?$"
)
_TRAIN = (
    "train loss",
    "train_loss",
    "train/loss",
    "training_loss",
    "training loss",
    "train/loss/mean",
    "loss",
    "lm loss",
    "lm_loss",
    "reduced_train_loss",
)
#: Evaluations of other frameworks by what they are called; more of them is better.
_EVALUATED = re.compile(
    r"(?i)(?:val|eval|valid|validation|test)[-_/ ](?:.*[-_/ ])?(?:acc|accuracy|correct|score|reward|pass)"
)
_SHARE = re.compile(r"(?i)acc|correct|pass")
#: Fewest evaluations, and fewest since the lowest, that can show a turn.
LEAST, SINCE = 3, 3
#: So few validations that one below the best may be the beginning of a turn.
FEW = 4
#: How many lines an evaluation stands on, at least, where lines carry its value on.
CARRIED = 2
#: From which multiple of the lowest evaluation loss on one or two later ones show the beginning of a turn.
FAR = 1.1
#: A rise of the evaluation loss counts from so many usual moves between two evaluations on.
MOVES = 3.0


def evaluation_loss(context: Context) -> str | None:
    """The key of the loss on held-out data, the one most often logged; ``None`` where there is none."""
    found = [name for name in context.run.metrics if _EVAL.match(name)]
    return max(found, key=lambda name: len(context.run.series(name)[0]), default=None)


def training_loss(context: Context) -> str | None:
    """The key of the training loss, the one evaluated beside the held-out loss before the running one."""
    lower = {name.lower(): name for name in context.run.metrics}
    return next((lower[name] for name in _TRAIN if name in lower), None)


def overfitting(context: Context) -> Verdict | None:
    """Whether the evaluation loss turned up while the training loss fell.

    Returns:
        The verdict; ``None`` (nothing written) where the log validates otherwise, by an accuracy or a score.
    """
    held_out, train = evaluation_loss(context), training_loss(context)
    validated = context.validation_steps or any(
        re.match(r"(?i)(?:val|eval|test)[-_/ ]", m) for m in context.run.metrics
    )
    if held_out is None:
        return _validated(context) if validated else _unknown(context, train)
    context.metrics.extend(name for name in (train, held_out) if name)
    every = _cells(context, held_out)
    evaluated = _carried(every, 0 if train is None else len(_cells(context, train)))
    if (
        len(evaluated) == 1 < len(every)
        and number(every[0]) == 0
        and any(_EVALUATED.match(m) for m in context.run.metrics)
    ):
        del context.metrics[-2 if train else -1 :]  # a loss of zero throughout measures nothing: what is scored does
        return _validated(context)
    if len(evaluated) == 1 < len(every):
        return _repeated(context, held_out, train, every)
    if len(evaluated) < LEAST:
        count = context.ledger.count("evaluations", len(evaluated), metric=held_out)
        if apart := held_out_gap.sentence(context):
            context.doc.paragraph(f"**{apart}**")
            context.doc.paragraph(context.say("gap.few", n=count))
            return Verdict("warning", unmark(apart), "medium")
        text = context.say("run.overfit_few", eval=held_out, n=count)
        context.doc.paragraph(f"**{text}**")
        context.chart(context.title(held_out), [held_out])
        return Verdict("insufficient_data", unmark(text), "low")
    low = min(evaluated, key=number)
    place, last = evaluated.index(low), evaluated[-1]
    ends = None if train is None else _beside(context, train, low, last)
    since = len(evaluated) - 1 - place
    verdict, phrase = _judged(evaluated, place, ends)
    if phrase == "run.overfit_no" and ends is not None and _turning(evaluated, place, ends):
        verdict, phrase = "warning", "run.overfit_turning"
    fields = {"eval": held_out, "low": low, "last": last}
    if phrase in {"run.overfit_yes", "run.overfit_both", "run.overfit_turning"} and ends is not None:
        text = context.say(phrase, train=train, t_low=ends[0], t_last=ends[1], **fields)
    elif phrase == "run.overfit_flat":
        text = context.say(
            phrase, n=context.ledger.count("evaluations since the lowest", since, metric=held_out), **fields
        )
    else:
        text = context.say(phrase, **fields)
    context.doc.paragraph(f"**{text}**")
    if ends is not None and train is not None:
        if phrase in {"run.overfit_no", "run.overfit_flat"}:
            first = _cells(context, train)[0]
            context.doc.paragraph(context.say("run.overfit_trained", train=train, t_low=first, t_last=ends[1]))
            context.doc.paragraph(held_out_gap.sentence(context, "gap.beside"))
        start = _beside(context, train, evaluated[0], last)
        if phrase == "run.overfit_yes" and start is not None:
            gaps = {"a": (low, ends[0]), "b": (last, ends[1])}
            shown = {f"{name}_gap": _gap(context, held_out, train, one, other) for name, (one, other) in gaps.items()}
            context.doc.paragraph(context.say("run.overfit_gap", a=low, b=last, low=low, **shown))
    for name in dict.fromkeys(name for name in (held_out, train) if name):
        context.doc.paragraph(context.gloss(name))
    context.chart(context.title(held_out), [name for name in (held_out, train) if name])
    return Verdict(verdict, unmark(text), "medium")


def _carried(evaluated: list[Fact], rows: int) -> list[Fact]:
    """Evaluations without the repeats of lines that carry the last value on until the next evaluation."""
    if len(evaluated) < max(rows, 2):
        return evaluated
    new = [one for at, one in enumerate(evaluated) if not at or number(one) != number(evaluated[at - 1])]
    return new if CARRIED * len(new) <= len(evaluated) else evaluated


def _repeated(context: Context, held_out: str, train: str | None, every: list[Fact]) -> Verdict:
    """One evaluation whose value every line repeats: it shows no turn, whatever its distance to the training loss."""
    count = context.ledger.count("lines with the evaluation", len(every), metric=held_out)
    text = context.say("run.overfit_repeated", eval=held_out, v=every[-1], n=count)
    beside = None if train is None else _beside(context, train, every[-1], every[-1])
    context.doc.paragraph(f"**{text}**")
    if train is not None and beside is not None:
        gap = _gap(context, held_out, train, every[-1], beside[1])
        context.doc.paragraph(context.say("run.overfit_apart", train=train, t=beside[1], gap=gap))
    context.doc.paragraph(context.gloss(held_out))
    context.chart(context.title(held_out), [name for name in (held_out, train) if name])
    return Verdict("insufficient_data", unmark(text), "low")


def beside(context: Context) -> None:
    """Adds that it overfits, where the loss on held-out data rises and the training loss falls."""
    held_out, train = evaluation_loss(context), training_loss(context)
    if held_out is None or train is None or context.metrics[:1] != [held_out]:
        return
    evaluated = _carried(_cells(context, held_out), len(_cells(context, train)))
    if len(evaluated) < LEAST:
        return
    low = min(evaluated, key=number)
    ends = _beside(context, train, low, evaluated[-1])
    trend = context.ledger.trend(held_out)
    rose = trend is not None and trend.direction == "rising" and low is not evaluated[-1]
    told = any(f"`{train}`" in block for block in context.doc.blocks)
    if not rose or told or ends is None or number(ends[1]) >= number(ends[0]):
        return
    context.doc.paragraph(context.say("run.overfit_beside", train=train, t_low=ends[0], t_last=ends[1], low=low))


def _judged(evaluated: list[Fact], place: int, ends: tuple[Fact, Fact] | None) -> tuple[str, str]:
    """The verdict's code and phrase, from the evaluations (``place``: the lowest) and the training loss beside them."""
    values = [number(f) for f in evaluated]
    since = len(values) - 1 - place
    moves = sorted(abs(b - a) for a, b in zip(values[place:], values[place + 1 :], strict=False))
    usual = moves[len(moves) // 2] if moves else 0.0
    after = values[place:]
    climbs = sum(b > a for a, b in itertools.pairwise(after))
    # It counts as a rise if most evaluations since the lowest went up, and the sum is worth several usual moves.
    risen = since >= SINCE and values[-1] - values[place] >= MOVES * usual * 0.999 and climbs > 0.6 * since
    risen = risen and min(values[-SINCE:]) > values[place] + usual
    if not risen:
        return ("healthy", "run.overfit_no") if since <= SINCE - 1 else ("insufficient_data", "run.overfit_flat")
    if ends is None:
        return "warning", "run.overfit_no_train"
    return ("warning", "run.overfit_yes") if number(ends[1]) < number(ends[0]) else ("warning", "run.overfit_both")


def _turning(evaluated: list[Fact], place: int, ends: tuple[Fact, Fact]) -> bool:
    """Whether the few evaluations since the lowest went up each time, and far, while the training loss fell."""
    after = [number(fact) for fact in evaluated[place:]]
    climbs = len(after) > 1 and all(b > a for a, b in itertools.pairwise(after))
    return climbs and after[0] > 0 and after[-1] >= FAR * after[0] and number(ends[1]) < number(ends[0])


def _validated(context: Context) -> Verdict | None:
    """Of a run that is validated by an accuracy or a score: whether that turned down while training got better."""
    from assistant.ask.answer_validation import main_accuracy
    from assistant.ask.outcomes import trained

    latest = main_accuracy(context)
    named = sorted((m for m in context.run.metrics if _EVALUATED.match(m)), key=lambda m: _SHARE.search(m) is None)
    metric = latest.metric if latest is not None else next(iter(named), None)
    if metric is None:
        return None
    say = context.say
    held = _cells(context, metric)
    context.metrics.append(metric)
    count = context.ledger.count("validations", len(held), metric=metric)
    if len(held) < LEAST:
        text = say("run.overfit_val_few", val=metric, n=count)
        context.doc.paragraph(f"**{text}**")
        return Verdict("insufficient_data", unmark(text), "low")
    best = max(held, key=number)
    mirrored = [replace(fact, value=-number(fact)) for fact in held]
    code, phrase = _judged(mirrored, held.index(best), None)
    reward = trained(context.run)
    train = None if reward is None else reward.metrics[0]
    ends = None if train is None else _beside(context, train, best, held[-1])
    fields = {"val": metric, "best": best, "last": held[-1]}
    few = len(held) <= FEW and held[-1] is not best  # too few for "has not kept falling" to say much
    turned = few and ends is not None and number(ends[1]) > number(ends[0])
    if phrase != "run.overfit_no_train" and turned and ends is not None and train is not None:
        text = say("run.overfit_val_may", train=train, t_low=ends[0], t_last=ends[1], n=count, **fields)
        code = "insufficient_data"
    elif phrase != "run.overfit_no_train":
        text, code = say("run.overfit_val_no", n=count, **fields), "healthy"
    elif ends is not None and train is not None and number(ends[1]) >= number(ends[0]):
        text = say("run.overfit_val_yes", train=train, t_low=ends[0], t_last=ends[1], **fields)
    else:
        text = say("run.overfit_val_down", **fields)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(say("run.overfit_rl"))
    context.doc.paragraph(context.gloss(metric))
    context.chart(context.title(metric), [metric])
    return Verdict(code, unmark(text), "medium")


def _cells(context: Context, metric: str) -> list[Fact]:
    facts = [context.value(metric, step) for step in context.run.series(metric)[0]]
    return [f for f in facts if f is not None and isinstance(f.value, (int, float)) and math.isfinite(f.value)]


def _beside(context: Context, train: str, low: Fact, last: Fact) -> tuple[Fact, Fact] | None:
    """The training loss at two evaluations: there, or at the last step before that holds one."""
    cells = _cells(context, train)
    found = []
    for one in (low, last):
        before = [f for f in cells if (f.step or 0) <= (one.step or 0)]
        if not before:
            return None
        found.append(before[-1])
    return found[0], found[1]


def _gap(context: Context, held_out: str, train: str, one: Fact, other: Fact) -> str:
    fact = context.ledger.derived(
        f"{held_out} minus {train}",
        number(one) - number(other),
        inputs=[one, other],
        formula=f"{held_out} − {train}",
        step=one.step,
    )
    return mark(fact.id, signed(number(fact), context.kind_of(held_out), language=context.language))


def _unknown(context: Context, train: str | None) -> Verdict:
    text = context.say("run.overfit_unknown")
    context.doc.paragraph(f"**{text}**")
    cells = [] if train is None else _cells(context, train)
    if train is not None and len(cells) > 1:
        context.metrics.append(train)
        context.doc.paragraph(context.say("run.overfit_train", train=train, first=cells[0], last=cells[-1]))
        context.chart(context.title(train), [train])
    context.names.add('eval_strategy="steps"')
    context.doc.paragraph(context.say("run.overfit_need"))
    return Verdict("insufficient_data", unmark(text), "medium")


def eval_loss_absent(context: Context) -> Verdict | None:
    """That the log holds no loss on held-out data, where one is asked for; ``None`` where it does."""
    train = training_loss(context)
    meant = named_keys(context)
    if evaluation_loss(context) is not None or train is None or any(k != train for k in meant):
        return None
    if any(re.match(r"(?i)(?:val|eval|valid|test|dev)[-_/ ].*loss", m) for m in context.run.metrics):
        return None
    text = context.say("run.no_eval_loss", train=train)
    context.doc.paragraph(f"**{text}**")
    context.ledger.missing("eval_loss", context.run.distinct_steps[-1])
    return Verdict("no_data", unmark(text))
