"""Which of two runs is faster: a step, a token, and a token of one GPU."""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis import derive
from assistant.analysis.compare_model import Comparison
from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact, Run

_ASKS: Final = re.compile(r"(?i)快|慢|\bfaster\b|\bfastest\b|\bslower\b|\bslowest\b|\bquicker\b|\bspeed\b")


def which(context: Context, result: Comparison) -> str:
    """Which run's steps are faster, and which does a token faster where their tokens differ; empty: not asked."""
    row = next((row for row in result.rows if row.metric in STEP_TIMES), None)
    if row is None or _ASKS.search(context.query.said) is None or row.change.delta is None:
        return ""
    names = (_name(result.a.run), _name(result.b.run))
    change, delta = row.change, row.change.delta
    told = {
        "fast": names[1 if delta < 0 else 0], "slow": names[0 if delta < 0 else 1],
        "v": context.doc.show(change, "to" if delta < 0 else "from"),
        "other": context.doc.show(change, "from" if delta < 0 else "to"),
    }  # fmt: skip
    lines = [context.say("faster.step" if row.significant else "faster.no_step", metric=row.metric, **told)]
    each = next((reason.values for reason in result.reasons if reason.code == "time_per_token"), None)
    if each is not None and isinstance(each["a"], Fact) and isinstance(each["b"], Fact):
        pair = (each["a"], each["b"])
        same = (number(pair[0]) < number(pair[1])) == (delta > 0)
        lines.append(_told(context, "faster.token_too" if same else "faster.token", pair, names))
        cards = [_gpus(context, side.run) for side in (result.a, result.b)]
        if cards[0] is not None and cards[1] is not None and cards[0].value != cards[1].value:
            spent = [
                context.ledger.derived(
                    "gpu_ms_per_token", number(one) * number(card), inputs=[one, card], run=side.run,
                    step=side.last, formula="ms per token × GPUs",
                )
                for one, card, side in zip(pair, cards, (result.a, result.b), strict=True)
            ]  # fmt: skip
            lines.append(_told(context, "faster.gpu", (spent[0], spent[1]), names, gpus=(cards[0], cards[1])))
    return ("" if context.language == "zh" else " ").join(lines)


def _told(
    context: Context, phrase: str, pair: tuple[Fact, Fact], names: tuple[str, str],
    gpus: tuple[Fact, Fact] | None = None,
) -> str:  # fmt: skip
    order = (0, 1) if number(pair[0]) <= number(pair[1]) else (1, 0)
    ratio = number(pair[order[1]]) / number(pair[order[0]])
    times = context.ledger.derived(f"{phrase} ratio", ratio, inputs=[*pair], formula="slower / faster")
    values = {"fast": names[order[0]], "v": pair[order[0]], "other": pair[order[1]], "times": times}
    if gpus is not None:
        values |= {"n": gpus[order[0]], "m": gpus[order[1]]}
    return context.say(phrase, **values)


def _gpus(context: Context, run: Run) -> Fact | None:
    """The GPUs of a run, where the steps that show them agree."""
    found = [fact for step in run.distinct_steps[:20] if (fact := derive(context.ledger, "n_gpus", step, run))]
    return found[0] if found and len({fact.value for fact in found}) == 1 else None


def _name(run: Run) -> str:
    return f"`{run.name}`"
