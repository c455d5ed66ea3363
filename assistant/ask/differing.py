"""Follow-ups about how far the last two answers are apart: of two steps, two metrics, two runs, or of the ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ask.query import Query
from assistant.knowledge import Mentioned
from assistant.model import Run, StepSlot

#: How far two steps asked about one after the other are apart.
_DIFFERENCE: Final = re.compile(
    r"(?i)差(?:多少|了多少|几|距|值)|相差|[降涨跌升变高低掉][了出]?(?:多少|几倍|几个点|多大)|变化(?:多大|多少|了多少)"
    r"|(?:两|俩)(?:个|步|者).{0,6}(?:差|比|变)|\b(?:difference|delta|gap)\b|by how much|how (?:much|far) apart"
    r"|how (?:much|big)\b.{0,20}\b(?:change|drop|gain|jump|rise|fall|grow)\b"
    r"|how much (?:higher|lower|more|less|better|worse)"
)
#: "How far apart are they", after a highest or a lowest value.
_APART: Final = re.compile(
    r"(?i)(?:这|那)?(?:两|俩)(?:个|者|步)|(?:它们|他们)|^差|相差|差距"
    r"|\b(?:apart|between (?:them|the two)|gap|they|the two|both)\b"
)
_MOVED: Final = re.compile(
    r"(?i)[降涨跌升掉变](?:了|过)(?:多少|几|多大)|how (?:much|far|big)\b.{0,20}\b(?:change|move|drop|gain|jump"
    r"|rise|fall|fell|grow|rose)"
)
OVER_THE_RUN: Final = re.compile(
    r"(?i)变过|有变|变没变|一直|始终|全程|从头|\bever (?:change|vary|move)|\bconstant\b|\bthroughout\b|the whole time"
)
"""Words of a follow-up that is about the whole run, whatever step was asked about before."""
SINCE_THEN: Final = re.compile(
    r"(?i)(?:之后|以后|后来|接着|从那(?:以|之)?后).{0,8}(?:掉|降|涨|升|跌|变|稳|恢复|回)"
    r"|\b(?:since then|after (?:that|it)|afterwards?)\b.{0,24}\b(?:drop|fall|fell|rise|rose|hold|held|chang"
    r"|decay|stay|recover|get)"
    r"|\b(?:drop|fall|rise|hold|chang|decay|stay|recover)\w*\b.{0,16}\b(?:since then|after (?:that|it)|afterwards?)\b"
    r"|^\W*(?:那|那么|and|then)?\s*(?:(?:从那)?(?:之后|以后)|后来|再往?后|再后来|afterwards?|since then)"
    r"(?:呢|怎么?样|如何|什么样|的走势)?\W*$"
)
_VALIDATED: Final = re.compile(r"(?:val|eval|test)[-_/]")


def one_step(query: Query, run: Run) -> int | None:
    """The one step that a question is about, the last and the first among them."""
    if query.steps.kind == "single":
        return query.steps.values[0]
    steps = logged(query.mentions, run)
    if query.steps.kind not in {"first", "last"} or not steps:
        return None
    return steps[0 if query.steps.kind == "first" else -1]


def logged(mentions: Sequence[Mentioned], run: Run) -> tuple[int, ...]:
    """The steps that hold the metric talked of: "the one before" of a validation is the validation before."""
    key = next((mention.key for mention in mentions if mention.key in run.columns), None)
    return run.distinct_steps if key is None else tuple(run.series(key)[0])


def differing(own: Query, before: Query, text: str, runs: Sequence[Run]) -> Query | None:
    """ "How big is the difference?" after the same was asked of two steps, metrics or runs, one after the other.

    Args:
        own: what the follow-up says by itself.
        before: the question before it.
        text: the follow-up, normalised.
        runs: the runs.

    Returns:
        The question that compares the two; ``None`` where no difference is asked for, or there are no two.
    """
    if own.threshold or own.steps.kind != "none" or not _DIFFERENCE.search(text) or own.runs or not before.mentions:
        return None
    if own.mentions and own.mentions != before.mentions:
        return None
    if before.op in {"max", "min", "argmax", "argmin"} and _APART.search(text):
        wording = "最高和最低差多少" if own.language == "zh" else "difference between the highest and the lowest"
        return replace(
            before, text=own.text, wording=wording, language=own.language, op=None, asked_op=None, intent="lookup",
            steps=StepSlot(), all_steps=(), step_marks=(), follows="slots", guessed=False,
        )  # fmt: skip
    asked = replace(
        before, text=own.text, wording=own.wording or own.text, language=own.language, intent="compare", op=None,
        asked_op=None, threshold=None, follows="slots", guessed=False,
    )  # fmt: skip
    step = one_step(before, runs[0])
    if step is not None and before.earlier is not None:
        pair = (before.earlier, step)
        return replace(
            asked, steps=StepSlot("pair", tuple(sorted(pair))), all_steps=pair, step_marks=((0, pair[0]), (1, step))
        )
    if len(runs) > 1 and len(before.runs) == 1 and before.follows:
        return replace(asked, runs=())
    if before.beside and not own.mentions:
        trained = [bool(_VALIDATED.match(m.key or "")) for m in (*before.beside, *before.mentions)]
        topics = ("val_train",) if len(set(trained)) > 1 else ()
        return replace(
            asked, intent="compare" if topics else "lookup", mentions=(*before.beside, *before.mentions), topics=topics
        )
    if step is not None and before.steps.kind in {"first", "last"} and _MOVED.search(text):
        return replace(asked, steps=StepSlot(), all_steps=(), step_marks=())  # from the first to the last
    return None
