"""Which step used most tokens, and whether any answer was cut: questions in words for one key of the log."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_lookup import lookup
from assistant.ask.context import Context
from assistant.ask.logged import as_mention
from assistant.ask.parts import number
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.model.answer import Op

_TOKENS: Final = ("perf/total_num_tokens", "global_seqlen/mean", "system/total_tokens", "total_tokens")
_CUT: Final = (
    "response_length/clip_ratio",
    "completions/clipped_ratio",
    "response/clip_ratio",
    "completions/clip_ratio",
)
_OF_PROMPTS: Final = re.compile(r"(?i)prompt|提示")
_LEAST: Final = re.compile(r"(?i)最少|\b(?:least|fewest)\b")


def most_tokens(context: Context) -> Verdict | None:
    """The step with most (fewest) tokens; ``None`` where the log counts none by step."""
    key = next((name for name in _TOKENS if name in context.run.columns), None)
    if key is None:
        return None
    text = normalised(context.query.wording or context.query.text)
    op: Op = "argmin" if _LEAST.search(text) else "argmax"
    context.query = replace(
        context.query, mentions=(as_mention(context.run, context.resolver, key, 0, 0, key),), op=op, asked_op=op,
    )  # fmt: skip
    return lookup(context)


def any_cut(context: Context) -> Verdict | None:
    """Whether answers were cut at the step named, and how many of the batch; ``None`` where the log does not tell."""
    text = normalised(context.query.wording or context.query.text)
    names = ("prompt_length/clip_ratio",) if _OF_PROMPTS.search(text) else _CUT
    key = next((name for name in names if name in context.run.columns), None)
    if key is None or context.query.steps.kind not in {"single", "last", "first"}:
        return None
    mention = as_mention(context.run, context.resolver, key, 0, 0, key)
    context.query = replace(context.query, mentions=(mention,), op=None, asked_op=None, threshold=None)
    place = len(context.doc.blocks)
    verdict = lookup(context)
    slot = context.query.steps
    steps = context.run.series(key)[0]
    step = slot.values[0] if slot.kind == "single" else steps[-1 if slot.kind == "last" else 0]
    fact = context.value(key, step)
    if fact is not None and verdict.code == "answered" and len(context.doc.blocks) > place:
        said = context.say("any_cut.yes" if number(fact) > 0 else "any_cut.no")
        gap = "" if context.language == "zh" else " "
        context.doc.blocks[place] = f"**{said}{gap}{context.doc.blocks[place].removeprefix('**')}"
        verdict = replace(verdict, summary=f"{said}{gap}{verdict.summary}")
    return verdict
