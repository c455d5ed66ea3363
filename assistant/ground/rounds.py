"""``第 12 轮``, ``最后 5 轮``: what Chinese calls a round is a step, where the log counts neither turns nor epochs."""

from __future__ import annotations

import re
from typing import Final

from assistant.analysis.keeping import kept_with_run
from assistant.model import Run

_ELSE: Final = re.compile(r"(?i)(?<![a-z])(?:turns?|epochs?|rounds?)(?![a-z])")
#: No rounds of training: 轮数, 轮对话, 多轮.
_ROUND: Final = re.compile(
    r"(?<=[\d一二两三四五六七八九十百第个几每单首末本该此前后上下那这各逐整 ])轮(?![数对交廓流番到])(次)?"
)


@kept_with_run
def _counts_rounds(run: Run) -> bool:
    return not any(_ELSE.search(key) for key in (*run.columns, run.step_axis))


def in_steps(run: Run, text: str) -> str:
    """A text with rounds spelt as steps, character for character, where they can be nothing else."""
    if "轮" not in text or not _counts_rounds(run):
        return text
    return _ROUND.sub(lambda m: "步次" if m[1] else "步", text)
