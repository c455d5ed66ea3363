"""Follow-ups that set the step asked about before against another one, or ask which of the last two is more."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.differing import one_step
from assistant.ask.query import Query
from assistant.model import Run, StepSlot

#: The longest such follow-up.
_LONGEST: Final = 40
_AGAINST: Final = re.compile(
    r"(?i)^\W*(?:那|那么|and|but)?\s*(?:(?:和|跟|与|同|比起|比|相比|对比|较)(?:于)?.{1,14}(?:比|相比|对比|呢)|(?:vs\.?|versus)(?=\s)"
    r"|compared? (?:to|with)\b)"
)
#: Which of two is more.
WHICH: Final = re.compile(
    r"(?i)^\W*(?:那|所以|so|and|then)?\W*(?:(?:这|那)?(?:两|俩)?(?:个|步|次)?(?:里|中)?\s*(?:哪|which)\s*(?:一)?(?:个|步|次|边|one|step)?\s*"
    r"(?:is|was|are|were|的|比较|更|要)?\s*(?:[高低大小好慢快长短多少]|higher|lower|bigger|larger|smaller|better|slower|faster|longer"
    r"|shorter)(?:一?(?:点|些))?)(?:的|呢|啊)?\W*$"
)
_TRAINED: Final = re.compile(
    r"(?i)^\W*(?:那|那么|and|what about|how about)?\s*(?:the )?(?:train(?:ing)?|训练)(?:集|的|上)*\s*(?:呢|\W)*$"
)
_SPREAD: Final = re.compile(
    r"(?i)^\W*(?:那|那么|and|what about|how about)?\s*(?:the |its |它?的)?\s*(?:std|标准差|方差)(?:呢|\W)*$"
)
_VALIDATED: Final = re.compile(r"^(?:val|eval|test)[-_/]")
_OUTCOMES: Final = (
    "critic/rewards/mean", "critic/score/mean", "rollout/raw_reward", "train/reward", "reward", "rewards/mean",
)  # fmt: skip
_APART: Final = re.compile(
    r"(?i)^\W*(?:那|那么|它|and|so)?\s*(?:(?:和|跟|与|同).{1,40}(?:有)?(?:什么|啥|哪些|何)?(?:的)?(?:区别|差别|不同|不一样)"
    r"|how (?:is|does) (?:it|that) differ\w* from\b|(?:what(?:'s| is) the )?difference (?:to|from|with)\b)"
)
_ENDS: Final = {"first", "last"}


def set_against(own: Query, before: Query, text: str, run: Run) -> Query | None:
    """The comparison that a few words ask for after one of its two sides was told.

    Args:
        own: what the follow-up says by itself.
        before: the question before it.
        text: the follow-up, normalised.
        run: the log.

    Returns:
        The question that holds both sides; ``None`` where no such comparison is asked for.
    """
    if len(text) > _LONGEST or not before.mentions or own.threshold is not None or own.runs:
        return None
    if own.mentions and own.mentions != before.mentions:
        if before.intent == own.intent == "define" and _APART.search(text):
            return replace(own, mentions=(*before.mentions, *own.mentions), follows="slots")
        return None
    asked = replace(
        before, text=own.text, wording=own.wording or own.text, language=own.language, intent="compare", op=None,
        asked_op=None, threshold=None, follows="slots", guessed=False, topics=(),
    )  # fmt: skip
    if before.op is None and _AGAINST.search(text) and own.steps.kind in {"single", *_ENDS}:
        here, there = one_step(before, run), one_step(replace(own, mentions=before.mentions), run)
        if here is not None and there is not None and here != there:
            return _of_two(asked, there, here)
    if own.steps.kind == "none" and WHICH.search(text):
        here = one_step(before, run)
        if before.earlier is not None and here is not None and before.earlier != here:
            return _of_two(asked, before.earlier, here)
        if before.beside:
            return replace(asked, intent="lookup", mentions=(*before.beside, *before.mentions))
    return None


def _of_two(asked: Query, first: int, second: int) -> Query:
    return replace(
        asked, steps=StepSlot("pair", tuple(sorted((first, second)))), all_steps=(first, second),
        step_marks=((0, first), (1, second)),
    )  # fmt: skip


def of_another_kind(before: Query, text: str, run: Run) -> str | None:
    """The key that "train 呢" after a validation, or "std 呢" after a mean, asks for."""
    key = next((mention.key for mention in before.mentions if mention.key in run.columns), None)
    if key is None:
        return None
    if _TRAINED.search(text) and _VALIDATED.match(key):
        return next((name for name in _OUTCOMES if name in run.columns), None)
    if _SPREAD.search(text):
        head, _, leaf = key.rpartition("/")
        names = (f"{key}_std", f"{key}/std", f"{head}/std" if leaf == "mean" else "", re.sub(r"mean", "std", key))
        return next((name for name in names if name in run.columns and name != key), None)
    return None
