"""Settings that a log gives away: on-policy or not, the length limit, the framework that printed it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from assistant.analysis.diagnosis import role
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.model import Fact, Run, Verdict
from assistant.write.document import unmark

#: Keys of the longest response and of the share that reached the limit, as frameworks spell them.
_LONGEST = (
    ("response_length/max", "response_length/clip_ratio"),
    ("completions/max_length", "completions/clipped_ratio"),
    ("token/response_length/max", "token/total_response_length/clip"),
    ("rollout/response_len/max", "rollout/truncated_ratio"),
)


_HOW_MANY = re.compile(
    r"(?i)(?:多少|几)\s*(?:次|个|步|轮)|\bhow many\b|\bnumber of (?:updates|mini-?batch|gradient|epochs)"
    r"|mini-?batch(?:es)? ?(?:数|count)"
)


# -- on-policy ---------------------------------------------------------------------------------------------------------
def on_policy(context: Context) -> Verdict:
    """Whether each batch is used for one update: the KL to the old policy and the clip fraction are then exactly zero.

    With one update a step the ratio is one throughout, so that ``ppo_kl`` and ``pg_clipfrac`` are 0 by arithmetic
    (verl/trainer/ppo/core_algos.py#compute_policy_loss_vanilla).
    """
    doc, say = context.doc, context.say
    found = [one for name in ("old_kl", "clip_fraction") if (one := role(context.run, name)) is not None]
    keys = [one.metrics[0] for one in found if one.spelling.plain]
    if not keys:
        text = say("onpolicy.unknown")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    facts = {name: finite(context, name) for name in keys}
    named = [m.key for m in context.query.mentions if m.key in keys]
    context.metrics.extend(named or keys[:1])
    zero = [name for name, held in facts.items() if held and all(fact.value == 0 for fact in held)]
    moved = [name for name, held in facts.items() if any(fact.value != 0 for fact in held)]
    moved.sort(key=lambda name: name == keys[0] and len(keys) > 1)  # a clip fraction is zero by arithmetic, a KL rounds
    if moved:
        held = facts[moved[0]]
        first = next(fact for fact in held if fact.value != 0)
        count = context.ledger.count("values not zero", sum(f.value != 0 for f in held), metric=moved[0])
        text = say(
            "onpolicy.off", metric=moved[0], v=first, n=count,
            of=context.ledger.count("values", len(held), metric=moved[0]),
        )  # fmt: skip
    elif zero:
        held = facts[zero[0]]
        count = context.ledger.count("values", len(held), metric=zero[0])
        text = say("onpolicy.on", names=context.join(map(key, zero)), v=held[-1], n=count)
    else:
        text = say("onpolicy.unknown")
    if _HOW_MANY.search(context.query.said):
        context.names.update({"ppo_mini_batch_size", "ppo_epochs"})
        doc.paragraph(f"**{say('onpolicy.how_many')}**")
    doc.paragraph(f"**{text}**")
    doc.bullets([_range(context, name, held) for name, held in facts.items() if len({f.value for f in held}) > 1])
    doc.paragraph(say("onpolicy.note"))
    for name in keys:
        context.cite(context.card(name))
    return Verdict("answered", unmark(text), "medium")


def finite(context: Context, metric: str) -> list[Fact]:
    """A metric's values that are finite numbers, in order."""
    facts = (context.value(metric, step) for step in context.run.series(metric)[0])
    return [f for f in facts if f is not None and isinstance(f.value, (int, float)) and math.isfinite(f.value)]


def _range(context: Context, metric: str, held: Sequence[Fact]) -> str:
    low, high = (pick(held, key=number) for pick in (min, max))
    return context.say("onpolicy.range", metric=metric, low=low, high=high, last=held[-1])


# -- the length limit --------------------------------------------------------------------------------------------------
def longest_and_cut(run: Run) -> tuple[str, str] | None:
    """The keys of a run's longest response and of the share that was cut (which may not be logged)."""
    return next((names for names in _LONGEST if names[0] in run.columns), None)


def length_limit(context: Context) -> Verdict:
    """The largest length, which is the limit where responses were cut at it; else only a bound from below."""
    doc, say = context.doc, context.say
    pair = longest_and_cut(context.run)
    if pair is None:
        text = say("cap.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    longest, clipped = pair
    held = finite(context, longest)
    if not held:
        text = say("cap.none")
        doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    top = max(held, key=number)
    there = [fact for fact in held if fact.value == top.value]
    cut = [
        value for fact in there if (value := context.value(clipped, fact.step or 0)) is not None and number(value) > 0
    ]
    values = {
        "metric": longest, "v": top, "n": context.ledger.count("steps at the largest length", len(there)),
        "of": context.ledger.count("values", len(held), metric=longest),
    }  # fmt: skip
    if cut:
        text = say("cap.limit", **values)
    elif len(there) > 1:
        text = say("cap.probable", **values)
    else:
        text = say("cap.below" if clipped in context.run.columns else "cap.seen", **values)
    doc.paragraph(f"**{text}**")
    if cut:
        doc.bullets([say("cap.clipped", metric=clipped, v=cut[-1])])
    doc.paragraph(say("cap.note"))
    context.metrics.append(longest)
    context.cite(context.card(longest))
    return Verdict("answered", unmark(text), "medium")


# -- the framework -----------------------------------------------------------------------------------------------------
def framework(context: Context) -> Verdict:
    """Which framework printed the log, by its keys."""
    name = context.run.framework
    if name is None:
        text = context.say("framework.unknown", form=context.run.format)
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    shown = context.join(key(metric) for metric in context.run.metrics[:3])
    text = context.say("framework.known", name=name, keys=shown)
    context.doc.paragraph(f"**{text}**")
    return Verdict("answered", unmark(text))
