"""Which values a metric can have at all: what its card says, or what its name says where there is no card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.analysis.series import series
from assistant.ask.context import Context, is_validation
from assistant.model import Fact

#: Upper bound of what may be printed in per cent.
PER_CENT = 100.0
#: Names of shares, which lie between none and all; and of what is counted or measured from zero.
_SHARE = re.compile(
    r"(?:^|[/_.@ -])(?:acc|accuracy|pass@?\d*|exact_match|win_?rate|success_?rate|clip_?frac(?:tion)?|clip_?ratio"
    r"|\w*_(?:share|fraction|frac|acc|accuracy))(?:$|[/_.@ -])",
    re.IGNORECASE,
)
_FROM_ZERO = re.compile(
    r"entropy|(?:^|[/_. ])(?:\w*length|len|grad_norm|perplexity|ppl|std)(?:$|[/_. ])", re.IGNORECASE
)


def possible(context: Context, metric: str) -> tuple[float | None, float | None]:
    """Least and largest possible value; ``None`` where nothing bounds it.

    A name is a weaker witness than a card (an accuracy may be printed in per cent): whoever uses the bounds drops those
    that the log's own values break.
    """
    card = None if is_validation(metric) else context.card(metric)
    bounds = None if card is None else card.bounds_of(metric)
    if bounds:
        low, high = bounds
        values = series(context.run, metric).values
        # A card that allows for per cents; what was never above one is a share.
        return low, 1.0 if high == PER_CENT and len(values) and values.max() <= 1 else high
    if _SHARE.search(metric):
        return 0.0, 1.0
    return (0.0, None) if _FROM_ZERO.search(metric) else (None, None)


def unmeasured(context: Context, metric: str) -> float | None:
    """What the log prints where nothing was measured yet (nanoGPT's ``mfu`` of -100 before the fifth iteration).

    Such values enter no average and no extreme; ``None`` where the metric has none.
    """
    card = None if is_validation(metric) else context.card(metric)
    return None if card is None else card.unmeasured


def unmeasured_remark(context: Context, metric: str, held: Sequence[Fact]) -> list[str]:
    """That some of the values at hand stand for what was not measured and were left out; empty where none are."""
    empty = unmeasured(context, metric)
    found = [fact for fact in held if empty is not None and fact.value == empty]
    if not found:
        return []
    count = context.ledger.count("values not measured", len(found), metric=metric)
    return [context.say("lookup.unmeasured", metric=metric, k=count, v=found[0])]
