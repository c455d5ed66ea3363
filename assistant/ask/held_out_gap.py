"""How far a run stands apart on held-out data: a metric of training beside the same metric of validation."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from assistant.ask.concepts import spelt_out
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact

_HELD_OUT: Final = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "dev", "validate"})
_TRAINED: Final = frozenset({"train", "training", "trn"})
_GLUED: Final = re.compile(r"^(val|valid|test|train)(?=loss|acc)")
_SHARE: Final = re.compile(r"\b(?:acc|accuracy|accuracies|correct|f1|auc|iou|dice|precision|recall)\b")
_LOSS: Final = re.compile(r"\b(?:loss|nll|ce|mse|mae|rmse)\b")
#: From which difference of a share on, and from which multiple of a loss on, the two stand apart.
APART, TIMES = 0.1, 1.5


class Pair(NamedTuple):
    """A metric at the last row that holds it, on training and on held-out data."""

    train: Fact
    held_out: Fact
    share: bool
    apart: bool


def is_held_out(metric: str) -> bool:
    """Whether a key's name says that it is of held-out data, in any trainer's spelling."""
    return bool(_HELD_OUT & set(_GLUED.sub(r"\1 ", spelt_out(metric)).split()))


def pairs(context: Context) -> list[Pair]:
    """The metrics that are logged on both kinds of data, shares first; at the last row that has both."""
    sides: dict[tuple[str, ...], dict[bool, str]] = {}
    for key in context.run.metrics:
        words = _GLUED.sub(r"\1 ", spelt_out(key)).split()
        own = tuple(word for word in words if word not in _HELD_OUT | _TRAINED)
        if own and any(_SHARE.search(word) or _LOSS.search(word) for word in own):
            sides.setdefault(own, {}).setdefault(is_held_out(key), key)
    found = [pair for held in sides.values() if len(held) == 2 and (pair := _pair(context, held[False], held[True]))]
    return sorted(found, key=lambda pair: not pair.share)


def _pair(context: Context, train: str, held_out: str) -> Pair | None:
    """Both metrics at the last step that has both; ``None`` where they are no shares and no losses, or not finite."""
    common = sorted(set(context.run.series(train)[0]) & set(context.run.series(held_out)[0]))
    facts = [context.value(key, common[-1]) for key in (train, held_out)] if common else []
    if len(facts) < 2 or any(one is None or not isinstance(one.value, (int, float)) for one in facts):
        return None
    one, other = (fact for fact in facts if fact is not None)
    a, b = number(one), number(other)
    if not (math.isfinite(a) and math.isfinite(b)):
        return None
    share = _SHARE.search(spelt_out(held_out)) is not None
    scale = 100.0 if max(abs(a), abs(b)) > 1.5 else 1.0
    apart = a - b >= APART * scale if share else a > 0 and b >= TIMES * a
    return Pair(one, other, share, apart)


def sentence(context: Context, phrase: str = "gap.apart") -> str:
    """That the run does far better on what it is trained on, with the values; empty where it does not, or none tells.

    Args:
        context: of the answer.
        phrase: ``gap.apart``, or ``gap.beside`` behind a verdict on the course.
    """
    held = pairs(context)
    wide = [pair for pair in held if pair.apart]
    if not wide or (held[0].share and not held[0].apart):
        return ""
    said = context.join(
        [
            context.say("gap.pair", train=str(p.train.metric), a=p.train, val=str(p.held_out.metric), b=p.held_out)
            for p in wide[:2]
        ]
    )
    context.metrics.extend(str(fact.metric) for pair in wide[:2] for fact in (pair.train, pair.held_out))
    return context.say(phrase, said=said, step=wide[0].held_out.step or 0)
