"""Why a quantity stands at zero, is constant or does not rise: what the log shows of each cause that could be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.series import series
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.causes import State, Weighed, all_asked, asks_why, in_state, keys_for, quantity_of, weigh
from assistant.ask.context import Context, is_validation, key
from assistant.ask.naming import central, named_keys
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.model.answer import Intent
from assistant.write.document import unmark

#: Where a question names no metric ("stuck at 0?"): the quantities that may be meant, first that stands so.
_MEANT: Final = ("reward", "loss", "grad_norm", "ref_kl")
_BESIDE: Final = ("loss", "grad_norm", "reward", "reward_std", "zero_std_share", "ref_kl", "truncated", "lr")
#: States whose words may stand beside those of another: "where does it come from, when the advantage is 0".
_BESIDE_ANOTHER: Final = frozenset({"nonzero", "chance"})
#: What a question for one state may be about, the first that the metric shows.
_MEANT_BY: Final[dict[State, tuple[State, ...]]] = {
    "small": ("small", "zero"),
    "zero": ("zero", "small"),
    "constant": ("chance", "zero", "constant"),
}
#: States that a question need not name to be about them, and at how many rows of a metric they stand throughout.
_THROUGHOUT: Final[tuple[State, ...]] = ("chance", "zero")
_FEWEST: Final = 3
_STEP_ZERO: Final = re.compile(r"(?i)(?:step|row|iteration|epoch|第|记录)\s*[:#]?\s*0(?![\w.])")
#: Asks what to look at, and not for the cause alone.
_WHAT_FIRST: Final = re.compile(
    r"(?i)\b(?:look|check|start|try|change|fix)(?: at)? first\b|\bfirst (?:thing|suspect)\b"
    r"|先(?:查|看|改|排查)|从哪(?:里|儿)?[^,，。?]{0,4}查|接下来(?:怎么|咋)|下一步"
)
_MOST_STEPS: Final = 5
_MOST_OTHERS: Final = 3


def attempt(context: Context) -> Verdict | None:
    """The answer to "why is the loss zero" and its like; ``None`` (nothing written) where the question is another.

    A state that the log does not show is left to what checks a question's premise.
    """
    query = context.query
    limited = query.threshold is not None and query.threshold[1] != 0
    if len(context.runs) != 1 or query.op not in {None, "first_crossing", "count"} or limited:
        return None
    for state in all_asked(query.said):
        verdict = _of_state(context, state)
        if verdict is not None:
            return verdict
        if state not in _BESIDE_ANOTHER:
            return None
    return None if all_asked(query.said) or not asks_why(query.said) else _implied(context)


def _implied(context: Context) -> Verdict | None:
    """Whether a metric that stands at zero, or at the loss of a policy without preference, throughout is as it should
    be; ``None`` where none of those named does.
    """
    for metric in central(named_keys(context)):
        quantity = quantity_of(context.run, metric)
        for state in _THROUGHOUT if quantity is not None and not is_validation(metric) else ():
            at = in_state(context.run, metric, state)
            if at is None or len(at) < _FEWEST or len(at) < len(context.run.series(metric)[0]):
                continue
            found = weigh(context.run, metric, str(quantity), state, at)
            if any(one.seen == "shown" for one in found):
                return _write(context, metric, state, at, found)
    return None


def _of_state(context: Context, state: State) -> Verdict | None:
    """The answer for one state that the question may mean."""
    chosen = _meant(context, state)
    if chosen is None:
        return None
    metric, quantity, at, state = chosen
    if state == "flat":
        trend = context.ledger.trend(metric)
        if trend is None:
            return None
        if trend.direction == "rising":
            still = _still(context, metric)
            if still is None:
                return None
            at = still
    if state == "rising":
        trend = context.ledger.trend(metric)
        if trend is None or trend.direction != "rising":
            return None
    found = weigh(context.run, metric, quantity, state, at)
    if not any(one.seen == "shown" for one in found) and state != "flat":
        found = found if any(one.keys for one in found) else []
    if not found:
        return None
    return _write(context, metric, state, at, found)


def weighed_flat(context: Context, metric: str) -> list[str]:
    """What the log shows and denies of the causes of a metric that does not rise, a line each."""
    quantity, at = quantity_of(context.run, metric), in_state(context.run, metric, "flat")
    if quantity is None or at is None:
        return []
    found = weigh(context.run, metric, quantity, "flat", at)
    steps = [int(step) for step in series(context.run, metric).steps[at]]
    return [*(_told(context, one, steps) for one in found if one.seen == "shown"), *_ruled_out(context, found, steps)]


def _still(context: Context, metric: str) -> NDArray[np.intp] | None:
    """Points after the end of a rise that went over into a level; ``None`` where it goes on."""
    detail = context.ledger.trend_detail(metric)
    if detail is None or detail.form != "ramp" or len(detail.knots) < 3:
        return None
    after = np.flatnonzero(series(context.run, metric).steps > detail.knots[2][0])
    return after if len(after) >= MIN_POINTS else None


def _meant(context: Context, state: State) -> tuple[str, str, NDArray[np.intp], State] | None:
    """The metric asked about, what it holds, and its points in the state asked about."""
    run, slot, steps = context.run, context.query.steps, None
    if slot.kind == "single" and slot.values[0] in run.distinct_steps:
        steps = slot.values if slot.values[0] or _STEP_ZERO.search(context.query.said) else None
    named = [metric for metric in central(named_keys(context)) if not is_validation(metric)]
    if not named and any(mention.key or mention.card for mention in context.query.mentions):
        return None
    whole = [metric for quantity in _MEANT for metric in keys_for(run, quantity)[:1]]
    for metric in named or (whole if state in {"zero", "constant"} else []):
        quantity = quantity_of(run, metric)
        if quantity is None:
            continue
        for stands in _MEANT_BY.get(state, (state,)):
            at = in_state(run, metric, stands, steps)
            if at is not None and (named or len(at) == len(run.series(metric)[0])):
                return metric, quantity, at, stands
    return None


def _write(context: Context, metric: str, state: State, at: NDArray[np.intp], found: list[Weighed]) -> Verdict:
    doc, say, run = context.doc, context.say, context.run
    blank = "" if context.language == "zh" else " "
    points = series(run, metric)
    steps = [int(step) for step in points.steps[at]]
    stands = _stands(context, metric, state, steps)
    shown: list[Weighed] = []
    for one in found:
        if one.seen == "shown" and one.cause.card not in {other.cause.card for other in shown}:
            shown.append(one)
    few = state == "flat" and len(steps) < MIN_POINTS
    texts = {one.cause.name: _told(context, one, steps) for one in shown}
    why = texts[shown[0].cause.name] if shown else "" if few else say("cause.nothing_shown")
    lead = f"{stands}{blank}{why}".rstrip()
    doc.paragraph(f"**{lead}**")
    lines = [say("cause.also", says=texts[one.cause.name]) for one in shown[1:]]
    lines += _ruled_out(context, found, steps)
    lacking = [name for one in found if one.seen == "open" for name in one.lacking]
    names = [say(f"cause.quantity_{name}") for name in dict.fromkeys(lacking)]
    if not shown and names:
        lines.append(say("cause.gap", listed=context.join(names)))
    doc.bullets(lines)
    _table(context, metric, steps)
    doc.paragraph(*[say(f"cause.next_{one.cause.name}") for one in shown[:1] if _has_next(context, one)])
    card = context.resolver.library.get(shown[0].cause.card) if shown else None
    if card is not None:
        doc.paragraph(context.quote(card, "not"))
    context.metrics.append(metric)
    context.metrics.extend(name for one in shown for name in one.keys)
    context.settled = True
    advised = context.query.intent == "advice" or _WHAT_FIRST.search(context.query.said) is not None
    kept: Intent = "advice" if advised else "explain"
    context.query = replace(context.query, intent=kept, op=None, asked_op=None, threshold=None)
    odd = any(one.cause.weight == "odd" for one in shown)
    enough = len(context.train_steps) >= MIN_POINTS
    expected = bool(shown) and all(one.cause.weight == "expected" for one in shown)
    code = "warning" if odd else "healthy" if expected and enough else "insufficient_data"
    return Verdict(code, unmark(lead), "medium")


def _stands(context: Context, metric: str, state: State, steps: list[int]) -> str:
    """How the metric stands, as the log has it."""
    say, run = context.say, context.run
    held = [step for step in run.series(metric)[0] if context.value(metric, step) is not None]
    count = context.ledger.count("values", len(held), metric=metric)
    facts = [fact for step in steps if (fact := context.value(metric, step)) is not None]
    if len(facts) == 1 and state not in {"flat", "rising"} and (context.query.steps.kind == "single" or len(held) == 1):
        return say("cause.zero_one", metric=metric, step=steps[0], v=facts[0])
    if state in {"flat", "rising"}:
        trend = context.ledger.trend(metric)
        assert trend is not None
        if (trend.n or 0) < MIN_POINTS:
            return say("cause.flat_few", metric=metric, n=count, a=facts[0], b=facts[-1])
        return trend_sentence(context, metric, trend)
    if state == "zero" and len(facts) < len(held):
        some = context.ledger.count("values that are zero", len(facts), metric=metric)
        listed = context.doc.show(steps[:8]) + ("…" if len(steps) > 8 else "")
        return say("cause.zero_some", metric=metric, n=count, k=some, steps=listed)
    if state == "zero":
        return say("cause.zero_all", metric=metric, n=count)
    if state == "constant":
        return say("cause.constant_all", metric=metric, n=count, v=facts[0])
    if state == "negative":
        every = [fact for step in held if (fact := context.value(metric, step)) is not None]
        low, high = _ends(every)
        below = context.ledger.count("values below zero", len(facts), metric=metric)
        return say("sign.range", metric=metric, low=low, high=high, n=count, k=below)
    low, high = _ends(facts)
    if state == "chance" and low.value == high.value:
        return say("cause.constant_all", metric=metric, n=count, v=low)
    if state in {"nonzero", "chance"}:
        return say("cause.range_all", metric=metric, low=low, high=high)
    return say("cause.small_all", metric=metric, low=low, high=high)


def _ends(facts: list[Fact]) -> tuple[Fact, Fact]:
    finite = sorted(facts, key=lambda fact: float(fact.value) if isinstance(fact.value, (int, float)) else 0.0)
    return finite[0], finite[-1]


def _evidence(context: Context, keys: tuple[str, ...], steps: list[int]) -> str:
    """Values of what decides a cause, over the steps asked about."""
    said = []
    for metric in dict.fromkeys(keys):
        facts = [fact for step in steps if (fact := context.value(metric, step)) is not None]
        if not facts:
            continue
        low, high = _ends(facts)
        same = len(facts) == 1 or low.value == high.value or all(fact.value != fact.value for fact in facts)
        said.append(
            context.say("cause.value", metric=metric, v=low)
            if same
            else context.say("cause.range", metric=metric, low=low, high=high)
        )
    return context.join(said)


def _told(context: Context, one: Weighed, steps: list[int]) -> str:
    return context.say(f"cause.{one.cause.name}", evidence=_evidence(context, one.keys, steps))


def _ruled_out(context: Context, found: list[Weighed], steps: list[int]) -> list[str]:
    """Causes that a value of the log denies, each with that value."""
    lines = []
    for one in found:
        name = f"cause.not_{one.cause.name}"
        if one.seen == "denied" and one.keys and name in context.doc.phrases:
            says = context.say(name, evidence=_evidence(context, one.keys, steps))
            lines.append(context.say("cause.not", says=says))
    return list(dict.fromkeys(lines))[:_MOST_OTHERS]


def _has_next(context: Context, one: Weighed) -> bool:
    return f"cause.next_{one.cause.name}" in context.doc.phrases


def _table(context: Context, metric: str, steps: list[int]) -> None:
    """The metric and what stands beside it, at the first and last of the steps asked about."""
    doc, say, run = context.doc, context.say, context.run
    names = [metric, *(held for quantity in _BESIDE for held in keys_for(run, quantity)[:1])]
    shown = steps if len(steps) <= _MOST_STEPS else [*steps[: _MOST_STEPS - 2], *steps[-2:]]
    rows = []
    for name in dict.fromkeys(names):
        cells = [context.value(name, step) for step in shown]
        if any(cell is not None for cell in cells):
            rows.append([key(name), *("—" if cell is None else doc.show(cell) for cell in cells)])
    word = "step " if not doc.rows else "记录 " if context.language == "zh" else "row "
    doc.table([say("head.metric"), *(word + doc.step(step) for step in shown)], rows)


__all__ = ["attempt", "weighed_flat"]
