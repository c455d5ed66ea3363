"""What a writer for one run says of each of several: "which one has NaN?", "GPUs of both"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from assistant.ask.answer_runs import MOST_RUNS, about
from assistant.ask.context import Context, key
from assistant.model import Verdict
from assistant.write.document import unmark

#: Topics of one log, told of each where there are several.
TOLD_OF_EACH: Final = frozenset({"nan", "restarts", "gaps", "interval", "onpolicy", "cap", "framework", "memory"})
#: The graver first: the verdict over all runs is that of the gravest.
_GRAVEST: Final = ("critical", "warning", "answered", "insufficient_data", "no_data", "inconclusive", "healthy")


def each_run(context: Context, write: Callable[[Context], Verdict | None]) -> Verdict | None:
    """The writer's answer for every run, each under its name; ``None`` (nothing written) where it has none for two."""
    doc, query = context.doc, context.query
    told: list[tuple[str, Verdict, list[str]]] = []
    metrics = list[str]()
    for run in context.runs[:MOST_RUNS]:
        one = about(context, run)
        one.query = query
        start = len(doc.blocks)
        verdict = write(one)
        blocks = doc.blocks[start:]
        del doc.blocks[start:]
        if verdict is not None and blocks:
            told.append((key(run.name), verdict, blocks))
            metrics += one.metrics
            query = replace(query, intent=one.query.intent)
    if len(told) < 2:
        return None
    context.query = query
    for name, _, blocks in told:
        doc.blocks.append(f"**{context.say('runs.of_one', name=name, said=blocks[0].strip('*'))}**")
        doc.blocks.extend(blocks[1:])
    context.metrics.extend(dict.fromkeys(metrics))
    context.settled = True
    alone = context.say("note.other_runs", n=str(len(context.runs)), name=context.runs[0].name)
    context.warnings = [warning for warning in context.warnings if warning != alone]
    gap = "" if context.language == "zh" else " "
    summary = gap.join(context.say("runs.of_one", name=name, said=verdict.summary) for name, verdict, _ in told)
    codes = [verdict.code for _, verdict, _ in told]
    code = next((code for code in _GRAVEST if code in codes), codes[0])
    return Verdict(code, unmark(summary), min((v.confidence for _, v, _ in told), key=_CERTAIN.index))


_CERTAIN: Final = ("low", "medium", "high")
