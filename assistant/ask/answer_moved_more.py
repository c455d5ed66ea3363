"""In which of several runs a metric moved more, from its first value to its last: "哪个涨得更多", "which fell more"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_by_run import counterpart
from assistant.ask.answer_runs import MOST_RUNS
from assistant.ask.context import Context, key
from assistant.ask.restated import WHICH_MOVED
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_FELL: Final = re.compile(r"(?i)降|跌|掉|减|f[ae]ll|drop|decreas|declin|lost")
_EITHER: Final = re.compile(r"(?i)变|chang|mov")


def moved_more(context: Context, keys: list[str]) -> Verdict | None:
    """The change of the first metric named in each run, and where it is largest in the direction asked for.

    Returns:
        The verdict; ``None`` (nothing written) where that is not asked, or fewer than two runs hold two values.
    """
    match = WHICH_MOVED.search(context.query.wording or context.query.said)
    if match is None or not keys or len(context.runs) < 2 or context.query.steps.kind not in {"none", "all", "last"}:
        return None
    word = match["zh"] or match["en"]
    way = "changed" if _EITHER.search(word) else "fell" if _FELL.search(word) else "rose"
    moves = _moves(context, keys[0])
    if len(moves) < 2:
        return None
    sign = {"changed": 0.0, "fell": -1.0, "rose": 1.0}[way]
    sizes = {name: abs(move.delta or 0.0) if not sign else sign * (move.delta or 0.0) for name, move in moves.items()}
    best = max(sizes, key=lambda name: sizes[name])
    if sizes[best] == min(sizes.values()):
        return None
    kind = context.kind_of(str(moves[best].metric))
    items = [
        context.say(
            "moved_runs.item", name=key(name), c=move,
            d=mark(move.id, signed(move.delta or 0.0, kind, language=context.language)),
        )
        for name, move in moves.items()
    ]  # fmt: skip
    listed = ("；" if context.language == "zh" else "; ").join(items)
    lead = {"changed": "moved_runs.changed", "fell": "moved_runs.fell", "rose": "moved_runs.rose"}
    none = {"changed": "moved_runs.changed", "fell": "moved_runs.none_fell", "rose": "moved_runs.none_rose"}
    phrase = lead[way] if sizes[best] > 0 else none[way]
    said = context.say(phrase, metric=keys[0], best=key(best), items=listed)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("by_run.caution"))
    context.metrics.append(keys[0])
    context.cite(context.card(keys[0]))
    alone = context.say("note.other_runs", n=str(len(context.runs)), name=context.runs[0].name)
    context.warnings = [warning for warning in context.warnings if warning != alone]
    context.query = replace(context.query, intent="compare", op=None, asked_op=None)
    return Verdict("inconclusive", unmark(said), "medium")


def _moves(context: Context, metric: str) -> dict[str, Fact]:
    """Each run's change from the first finite value to the last, by the run's name."""
    found = {}
    for run in context.runs[:MOST_RUNS]:
        own = counterpart(context, run, metric)
        steps, values = run.series(own) if own in run.columns else ((), ())
        held = [step for step, value in zip(steps, values, strict=True) if math.isfinite(value)]
        move = context.ledger.change(own, held[0], held[-1], run) if len(held) > 1 else None
        if move is not None and move.delta is not None:
            found[run.name] = move
    return found
