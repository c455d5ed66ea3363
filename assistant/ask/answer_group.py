"""All metrics of one group of keys at a step: "最后一步 critic 相关的指标", "every timing_s value of step 9"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context, is_validation
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_WORD: Final = re.compile(r"(?i)(?<![\w/.@-])[a-z][a-z0-9_-]*(?![\w@.-])")
#: Words of keys that name no matter.
_NONE: Final = frozenset(
    {"step", "steps", "mean", "max", "min", "std", "sum", "all", "time", "val", "train", "training", "last", "first"}
    | {"metric", "metrics", "value", "values", "key", "keys", "list", "show", "at", "of", "and", "the", "in"}
)
#: Fewest keys of a group, and the most that are listed.
LEAST, MOST = 2, 40


def _worded(names: Sequence[str]) -> dict[str, list[str]]:
    """Keys by the words that they consist of, those of validations left out."""
    held: dict[str, list[str]] = {}
    for name in names:
        if not is_validation(name):
            for word in set(re.split(r"[^a-z0-9]+", name.lower())) - _NONE - {""}:
                held.setdefault(word, []).append(name)
    return held


def _asked(text: str) -> list[str]:
    """The words of a text that may name a group, neighbours joined as keys join them first ("clip ratios")."""
    single = [word.group().lower() for word in _WORD.finditer(text)]
    pairs = [f"{a}_{b.removesuffix('s')}" for a, b in itertools.pairwise(single)]
    return [*pairs, *single]


def group_values(context: Context) -> Verdict | None:
    """The values of every key of the groups named at the step named, the last by default; ``None`` for no group."""
    run, query = context.run, context.query
    heads: dict[str, list[str]] = {}
    for name in run.metrics:
        if "/" in name:
            heads.setdefault(name.split("/", 1)[0].lower(), []).append(name)
    asked = _asked(normalised(query.wording or query.text))
    groups = [word for word in dict.fromkeys(asked) if len(heads.get(word, ())) >= LEAST]
    groups = groups[:1] if groups and "_" in groups[0] else groups  # "clip ratios" are no ratios of another group
    worded = not groups
    if worded:  # "all that has to do with KL": keys with that word in them
        heads = _worded(run.metrics)
        groups = [word for word in dict.fromkeys(asked) if LEAST <= len(heads.get(word, ())) <= MOST]
    if len(groups) != 1 or query.steps.kind not in {"none", "all", "single", "last", "first"}:
        return None
    if any(m.key is not None and m.end > m.start and "/" in m.text.rstrip("/*") for m in query.mentions):
        return None
    keys = heads[groups[0]]
    held = sorted({step for name in keys for step in run.series(name)[0]})
    if query.steps.kind == "single":
        step = query.steps.values[0]
    else:
        step = held[0] if query.steps.kind == "first" else held[-1]
    facts = [fact for name in keys if (fact := context.value(name, step)) is not None]
    if not facts:
        return None
    count = context.ledger.count("metrics of the group", len(facts), step=step)
    phrase = "group.of_word" if worded else "group.values" if len(facts) <= MOST else "group.first_values"
    least = context.ledger.count("metrics listed", min(len(facts), MOST), step=step)
    shown = {} if phrase != "group.first_values" else {"k": least}
    said = context.say(phrase, group=groups[0], step=step, n=count, **shown)
    context.names.update({f"{groups[0]}/", groups[0]})
    context.doc.paragraph(f"**{said}**")
    rows = []
    for fact in facts[:MOST]:
        name = str(fact.metric)
        rows.append([f"`{name}`", context.doc.show(fact), context.title(name) if context.card(name) else "—"])
    heads_of = [context.say(phrase) for phrase in ("head.metric", "head.value", "about.column_title")]
    context.doc.table(heads_of, rows)
    context.metrics.extend(str(fact.metric) for fact in facts[:MOST])
    context.query = replace(query, mentions=())
    return Verdict("answered", unmark(said))
