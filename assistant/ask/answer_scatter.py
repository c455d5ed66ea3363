"""Whether a metric scatters much, by its step-to-step scatter as a share of its level: "波动大吗", "is it noisy"."""

from __future__ import annotations

from statistics import median
from typing import Final

from assistant.ask.answer_overall import scatter
from assistant.ask.context import Context
from assistant.ask.part import remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.subject import subject_of
from assistant.model import Verdict
from assistant.write.document import unmark

#: Fewest values of which a scatter is told, and the shares of the level up to which it is small, and some.
_LEAST: Final = 6
_SMALL: Final = 0.05
_SOME: Final = 0.2


def spread(context: Context) -> Verdict | None:
    """How large the scatter is; ``None`` where no single metric is named, or it has too few values."""
    found = subject_of(context, least=_LEAST, several=True)
    if found is None:
        return None
    part = found.part
    own = statistic(context, part, "scatter", scatter(part.values), "sd of neighbouring differences / √2")
    level = statistic(context, part, "median", median(part.values), "median")
    values = {
        "metric": found.metric, "sd": shown(context, own, found.metric), "level": shown(context, level, found.metric),
        "over": part.over,
    }  # fmt: skip
    if abs(number(level)) <= number(own):  # about zero: no share of a level
        said = context.say("scatter.none" if not number(own) else "scatter.about_zero", **values)
    else:
        share = context.ledger.derived(
            f"relative scatter of {found.metric}", number(own) / abs(number(level)), inputs=[own, level],
            formula="scatter / |median|", unit="fraction",
        )  # fmt: skip
        size = number(share)
        name = "none" if not number(own) else "small" if size <= _SMALL else "some" if size <= _SOME else "large"
        said = context.say(f"scatter.{name}", **values, **({} if name == "none" else {"share": share}))
    context.doc.paragraph(f"**{said}**")
    limits = {
        name: context.ledger.constant(f"{name} scatter", share, "the product", "fraction")
        for name, share in (("small", _SMALL), ("large", _SOME))
    }
    context.doc.paragraph(context.say("scatter.how", **limits), *remarks(context, part))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    trend = context.ledger.trend(found.metric, list(part.steps))
    return Verdict((None if trend is None else trend.direction) or "inconclusive", unmark(said))
