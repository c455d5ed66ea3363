"""Other fair readings of a question, as short questions of their own."""

from __future__ import annotations

import re

from assistant.ask.query import Query
from assistant.model import Run

MOST = 3
#: Words that may mean several keys, with the keys in the order in which they are offered.
_SEVERAL = (
    (re.compile(r"(?i)(?<![\w/])kl(?![\w/])"), ("actor/ppo_kl", "actor/kl_loss", "kl", "actor/reward_kl_penalty")),
    (re.compile(r"(?i)\bclip|截断"), ("response_length/clip_ratio", "actor/pg_clipfrac")),
    (re.compile(r"(?i)(?<![\w/])(?:loss|损失)(?![\w/])"), ("actor/pg_loss", "actor/kl_loss", "critic/vf_loss")),
    (re.compile(r"(?i)\breward|奖励"), ("critic/rewards/mean", "critic/score/mean", "eval_reward")),
    (
        re.compile(r"(?i)memory|显存|内存"),
        ("perf/max_memory_allocated_gb", "perf/max_memory_reserved_gb", "perf/cpu_memory_used_gb"),
    ),
)
_ASK = {
    "zh": {"lookup": "{key} 是多少", "trend": "{key} 的趋势", "health": "{key} 正常吗", "define": "{key} 是什么意思"},
    "en": {
        "lookup": "what is the value of {key}", "trend": "trend of {key}", "health": "is {key} normal",
        "define": "what does {key} mean",
    },
}  # fmt: skip


def alternatives(query: Query, text: str, run: Run | None) -> tuple[str, ...]:
    """Questions that the same words may have meant: another metric of the name, another thing asked of it."""
    if run is None or query.intent == "out_of_scope" or not query.mentions:
        return ()
    asks = _ASK["zh" if query.language == "zh" else "en"]
    intent = query.intent if query.intent in asks else "lookup"
    meant = {m.key for m in query.mentions}
    found: list[str] = []
    for words, keys in _SEVERAL:
        named = [m for m in query.mentions if m.key in keys and "/" not in m.text and "_" not in m.text]
        if named and words.search(text):
            found += [asks[intent].format(key=key) for key in keys if key in run.columns and key not in meant]
    if query.guessed:
        key = next((m.key for m in query.mentions if m.key is not None), None)
        if key is not None:
            found += [wording.format(key=key) for name, wording in asks.items() if name != query.intent]
    return tuple(dict.fromkeys(found))[:MOST]
