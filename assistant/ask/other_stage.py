"""Follow-ups that ask the same of another stage, its share or its time: "那训练呢", "and the weight sync?"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.analysis.timing import layout_of, stage_keys
from assistant.ask.lexicon import words
from assistant.ask.logged import STEP_TIME, TIMED, as_mention
from assistant.ask.query import Query
from assistant.ask.stage_words import NAMES, leaf
from assistant.knowledge import Resolver
from assistant.model import Run

#: The longest such follow-up.
_LONGEST: Final = 40
_ABOUT: Final = re.compile(
    r"(?i)^\W*(?:那么?|其中|里面|当中|and|then|of which|what about|how about|the|\s)*(?P<what>.*?)"
    r"(?:的)?(?:呢|吗)?[?？!。.\s]*$"
)
_SHARE: Final = {"zh": "占多少", "en": "share of the step"}
#: Stages whose bare name is that of nothing else: "gen 呢" after the score of a step. "Reward" and "critic" are others.
_BY_NAME: Final = ("gen", "ref", "log_prob", "weights")


def other_stage(own: Query, before: Query, text: str, run: Run, resolver: Resolver) -> Query | None:
    """The share or time asked for before, of the stage that a few words name; ``None`` where that is not asked.

    Args:
        own: what the follow-up says by itself.
        before: the question before.
        text: the follow-up, normalised.
        run: the log.
        resolver: from names to cards.
    """
    shared = before.intent == "bottleneck" and "share" in before.topics
    timed = before.intent == "lookup" and before.op is None
    timed = timed and all(m.key in STEP_TIME or (m.key or "").startswith(TIMED) for m in before.mentions)
    named = before.intent == "lookup" and before.op is None and before.threshold is None and not own.mentions
    if not (shared or timed or named) or not before.mentions or len(text) > _LONGEST:
        return None
    if any(mention.key is not None for mention in own.mentions) or own.steps.kind != "none":
        return None
    layout, about = layout_of(run), _ABOUT.match(text)
    if layout is None or about is None or not about["what"].strip():
        return None
    what = about["what"].strip()
    stages, held = stage_keys(run, layout), words("stages")
    for name in NAMES if shared or timed else _BY_NAME:
        # The words of a stage may need what is asked of it behind them.
        if not any(held[name].search(said) for said in (what, f"{what}占", f"{what}耗时")):
            continue
        keys = [key for key in stages if held[f"{name}_keys"].match(leaf(key))]
        if keys:
            said = f"{keys[0]} {_SHARE[own.language]}" if shared else own.wording or own.text
            return replace(
                before, text=own.text, wording=said, language=own.language,
                mentions=(as_mention(run, resolver, keys[0], 0, len(keys[0]), keys[0]),), follows="slots",
                guessed=False,
            )  # fmt: skip
    return None


__all__ = ["other_stage"]
