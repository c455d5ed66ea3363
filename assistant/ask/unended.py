"""That no episode has ended where a mean over episodes is no number."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.parts import number

_OF_EPISODES: Final = re.compile(r"(?i)episod|ep_(?:rew|len)|eprew|eplen|\breturn\b|reward")
#: Counts of episodes, this interval's before those of the run.
_COUNTED: Final = (
    re.compile(r"(?i)(?:.*/)?(?:num_)?episodes?_(?:this_iter|this_epoch|finished|done)$|(?:.*/)?n/ep$"),
    re.compile(r"(?i)(?:.*/)?(?:num_)?episodes?(?:_total|_lifetime| total)?$|(?:.*/)?total[_ ]episodes?$"),
)


def no_episode(context: Context, metric: str, step: int) -> str:
    """Why a metric of episodes is no number at a step: their count is zero there; empty where it is not so."""
    if not _OF_EPISODES.search(metric):
        return ""
    for counted in _COUNTED:
        for name in context.run.metrics:
            fact = context.value(name, step) if counted.match(name) else None
            if fact is not None and isinstance(fact.value, (int, float)) and number(fact) == 0:
                context.metrics.append(name)
                return context.say("nan.no_episode", count=key(name), n=fact)
    return ""
