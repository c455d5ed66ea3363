"""What a value stands for whose key names its unit as a power of ten."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context

_SCALED: Final = re.compile(r"\((1e-?\d{1,2})\)$")


def in_full(context: Context) -> None:
    """What a value stands for whose key names its unit as a power of ten: ``actor/lr(1e-4)`` at 0.01 is 1e-06."""
    for metric in list(dict.fromkeys(context.metrics))[:2] if context.runs else []:
        unit = _SCALED.search(metric)
        steps = context.run.series(metric)[0] if unit is not None and metric in context.run.columns else []
        fact = context.value(metric, steps[-1]) if steps else None
        if unit is None or fact is None or not isinstance(fact.value, (int, float)) or not fact.value:
            continue
        full = fact.value * float(unit[1])
        plain = context.ledger.derived(
            f"{metric} in full", full, inputs=[fact], step=fact.step, formula=f"value × {unit[1]}"
        )
        context.names.add(unit[1])
        context.doc.paragraph(context.say("note.scaled", metric=metric, unit=unit[1], v=fact, plain=plain))
