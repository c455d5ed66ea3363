"""What stands around an answer: the run that it is about, and its first sentence alone where one sentence is wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.model import Run, Verdict

_ONE_SENTENCE: Final = re.compile(
    r"(?i)[一1]\s*(?:句|行)话?(?:就(?:行|好|够))?"
    r"|(?:只|就)(?:要|给|说|看)(?:我)?(?:个)?结论|结论(?:就(?:行|好|够|可以)|即可)|直接(?:给|说)(?:我)?(?:个)?结论"
    r"|\b(?:just|only) (?:give me )?the (?:conclusion|verdict|bottom line)\b"
    r"|\b(?:one|a single) (?:short )?(?:sentence|line|liner)\b|\bone-liner\b"
)
_LEAD: Final = "**"


def one_sentence(context: Context) -> None:
    """Leaves the first sentence alone, where a question wants no more."""
    if context.query.depth != "brief" or not _ONE_SENTENCE.search(context.query.text):
        return
    blocks = context.doc.blocks
    first = next((place for place, block in enumerate(blocks) if block.startswith(_LEAD)), None)
    if first is not None:
        blocks[:] = [blocks[first]]


def of_run(context: Context, verdict: Verdict, runs: Sequence[Run]) -> Verdict:
    """Names the run where an answer is about one of several."""
    if len(runs) < 2 or len(context.runs) != 1 or not context.doc.blocks:
        return verdict
    lead = context.say("note.of_run", name=context.run.name)
    blocks = context.doc.blocks
    first = next((place for place, block in enumerate(blocks) if block), 0)
    if context.run.name in blocks[first]:
        return verdict
    if blocks[first].startswith(_LEAD):
        blocks[first] = f"{_LEAD}{lead}{blocks[first].removeprefix(_LEAD)}"
    else:
        blocks.insert(first, f"{_LEAD}{lead.rstrip()}{_LEAD}")
    summary = verdict.summary if context.run.name in verdict.summary else f"{lead}{verdict.summary}"
    return replace(verdict, summary=summary)
