"""What held-out figures say: why they are better than training's, if they are, and which epoch they speak for."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask import held_out_gap, outcomes
from assistant.ask.answer_overfit import LEAST, evaluation_loss, training_loss
from assistant.ask.context import Context
from assistant.ask.naming import named_keys
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_HELD: Final = r"(?:\bval(?:id\w*)?\b|\bval_?\w+|\btest\b|\beval\w*|\bheld[- ]out\b|验证集?|测试集?|评估)"
_TRAINED: Final = r"(?:\btrain\w*|训练集?)"
_BETTER: Final = r"(?:\blower\b|\bless\b|\bsmaller\b|\bbelow\b|\bbetter\b|小于|低于|(?:更|还要?)(?:低|小|好)|好于|优于)"
_ASKED: Final = re.compile(
    rf"(?is){_HELD}.{{0,60}}?{_BETTER}.{{0,30}}?{_TRAINED}|{_HELD}.{{0,30}}?(?:比|than).{{0,30}}?{_TRAINED}.{{0,20}}?"
    rf"(?:低|小|好)|{_TRAINED}.{{0,60}}?(?:\bhigher\b|\blarger\b|\bgreater\b|\babove\b|大于|高于|更高|更大).{{0,30}}?{_HELD}"
)
_WHY: Final = re.compile(
    r"(?i)\bwhy\b|\bhow come\b|\bnormal\b|\bright\b|\bcan\b|\bcorrect\b|\bbug\b|\bwrong\b|为什么|正常|对吗|怎么会"
)
_ACCURACY: Final = re.compile(r"(?i)^(?:val|valid|validation|eval|test)[-_/ ]+(?P<name>acc|accuracy|[\w]*_accuracy)$")
_POOR: Final = re.compile(
    r"(?i)(?:\bval(?:id\w*)?\b|\bval_?\w+|\btest\b|\beval\w*|\bheld[- ]out\b|验证集?|测试集?|评估).{0,40}?"
    r"(?:\blow(?:er)?\b|\bpoor\w*|\bbad\b|\bworse\b|很?低|太?差|不好|上不去)"
)
_OF_A_STEP: Final = re.compile(
    r"(?i)\b(?:which|what) (?:epoch|step|one)\b|\bwhen\b|哪(?:一)?(?:个|步|轮)|第几|什么时候"
)
_LONGEST: Final = 2000
_LOSS_ASKED: Final = re.compile(r"(?i)\bloss(?:es)?\b|_loss\b|损失")


def attempt(context: Context) -> Verdict | None:
    """The answer to "why is the validation loss lower than the training loss"; ``None`` for any other question."""
    said = context.query.said
    if len(context.runs) != 1 or len(said) > _LONGEST or not _WHY.search(said):
        return None
    if not _ASKED.search(said):
        return _poor(context) if _POOR.search(said) and not _OF_A_STEP.search(said) else None
    pairs = [told for one in _pairs(context) if (told := _last(context, *one)) is not None]
    if not pairs:
        return None
    held, trained, better = pairs[0]
    phrase = "held.better" if better else "held.worse"
    text = context.say(phrase, held=held.metric, trained=trained.metric, v=held, t=trained, step=held.step)
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets(
        [context.say("held.beside", held=a.metric, trained=b.metric, v=a, t=b, step=a.step) for a, b, _ in pairs[1:]]
    )
    if better:
        context.doc.paragraph(context.say("held.look"))
    context.metrics.extend(str(fact.metric) for pair in pairs for fact in pair[:2])
    context.settled = True
    context.query = replace(context.query, intent="explain", op=None, asked_op=None, threshold=None)
    return Verdict("answered", unmark(text), "medium")


def _poor(context: Context) -> Verdict | None:
    """Why held-out figures are poor, where those of training are far better; ``None`` where they are not."""
    if context.query.steps.kind not in {"none", "all", "last"} or not (text := held_out_gap.sentence(context)):
        return None
    context.doc.paragraph(f"**{text}**")
    context.settled = True
    context.query = replace(context.query, intent="explain", op=None, asked_op=None, threshold=None)
    return Verdict("warning", unmark(text), "medium")


def best_epoch(context: Context) -> Verdict | None:
    """The epoch that the held-out figure speaks for; ``None`` where there is none, or another metric is named."""
    found = outcomes.validated(context.run)
    if found is None or not found.spelling.plain:
        return None
    metric = found.metrics[0]
    if set(named_keys(context)) - {metric}:
        return None
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(held) < LEAST:
        return None
    lower = outcomes.is_loss(found)
    best = (min if lower else max)(held, key=number)
    side = "lowest" if lower else "highest"
    phrase = f"held.last_{side}" if best is held[-1] else f"advice.checkpoint_{side}"
    text = context.say(phrase, metric=metric, best=best, last=held[-1])
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    context.settled = True
    return Verdict("answered", unmark(text), "medium")


def _pairs(context: Context) -> list[tuple[str, str, bool]]:
    """Held-out keys with those of training, and whether less is better; the loss first unless accuracy is asked."""
    found = []
    held, trained = evaluation_loss(context), training_loss(context)
    if held is not None and trained is not None:
        found.append((held, trained, True))
    lower = {name.lower(): name for name in context.run.metrics}
    for metric in context.run.metrics:
        told = _ACCURACY.match(metric)
        beside = None if told is None else lower.get(told["name"].lower(), lower.get(f"train_{told['name'].lower()}"))
        if beside is not None:
            found.append((metric, beside, False))
    return found if _LOSS_ASKED.search(context.query.said) else sorted(found, key=lambda pair: pair[2])


def _last(context: Context, held: str, trained: str, less: bool) -> tuple[Fact, Fact, bool] | None:
    """The last values of a pair at one step, and whether the held-out one is better."""
    both = set(context.run.series(held)[0]) & set(context.run.series(trained)[0])
    if not both:
        return None
    a, b = context.value(held, max(both)), context.value(trained, max(both))
    if a is None or b is None or number(a) == number(b):
        return None
    return a, b, (number(a) < number(b)) == less
