"""That the log holds no such statistic of its validations: "pass@8 on math500?" where it has mean@1 alone."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context, is_validation, key
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_NAME: Final = re.compile(r"(?i)(?<![\w/])(?P<kind>pass|best|maj|cons|mean|avg|worst)@(?P<k>\d{1,4})(?![\w/])")
#: Names of one statistic.
_ALIKE: Final = {"avg": ("avg", "mean"), "mean": ("mean", "avg"), "cons": ("cons", "maj"), "maj": ("maj", "cons")}
_MOST: Final = 8


def not_logged(context: Context) -> Verdict | None:
    """The statistics that there are; ``None`` where every one that is named is logged, or there is no validation."""
    held = [metric for metric in context.run.metrics if is_validation(metric)]
    if not any("@" in metric for metric in held):
        return None
    asked = {
        match.group().lower(): match
        for match in _NAME.finditer(normalised(context.query.wording or context.query.text))
    }
    lacking = [name for name, match in asked.items() if not _logged(held, match)]
    if not lacking or len(lacking) < len(asked):
        return None
    named = list(
        dict.fromkeys(
            f"{m['kind'].lower()}@{m['k']}" for metric in held for m in _NAME.finditer(metric.replace("/", " "))
        )
    )
    context.names.update({*lacking, *named})
    core = [metric for metric in held if metric.startswith("val-core/")] or held
    text = context.say(
        "at_k.none", name=key(lacking[0]), listed=context.join(key(name) for name in named[:_MOST])
    )  # fmt: skip
    context.doc.paragraph(f"**{text}**")
    steps = context.run.series(core[0])[0]
    last = context.value(core[0], steps[-1]) if steps else None
    if last is not None:
        context.doc.paragraph(context.say("at_k.has", metric=core[0], v=last))
        context.metrics.append(core[0])
    match = asked[lacking[0]]
    if match["kind"].lower() == "pass" and any(f"best@{match['k']}/" in metric for metric in held):
        context.doc.paragraph(context.say("at_k.best", name=key(f"best@{match['k']}")))
    return Verdict("no_data", unmark(text))


def _logged(held: list[str], match: re.Match[str]) -> bool:
    names = _ALIKE.get(match["kind"].lower(), (match["kind"].lower(),))
    return any(re.search(rf"(?<!\w){name}@{match['k']}(?!\d)", metric.lower()) for name in names for metric in held)


__all__ = ["not_logged"]
