"""That the log holds no such statistic of its validations: "pass@8 on math500?" where it has mean@1 alone."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context, is_validation, key
from assistant.model import Verdict
from assistant.write.document import unmark

#: Statistics over several answers to a problem, as people ask for them.
_NAME: Final = re.compile(
    r"(?i)(?<![\w/@-])(?P<kind>pass|best|maj|cons|mean|avg|worst)\s?@\s?(?P<k>\d{1,4})(?![\w/@.])"
)
_KEPT: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?P<kind>pass|best|maj|cons|worst|mean|avg|acc)(?:@|_at_)(?P<k>\d{1,4})(?!\d)"
)
#: How logs may spell what is asked for.
_ALIKE: Final = {
    "avg": ("avg", "mean"), "mean": ("mean", "avg"), "cons": ("cons", "maj"), "maj": ("maj", "cons"),
    "pass": ("pass", "best"), "best": ("best", "pass"),
}  # fmt: skip
_MEANING: Final = re.compile(
    r"(?i)什么(?:是|叫|意思)|是什么|含义|定义|区别|如果|应该|怎么|normal|\bgood\b|paper|论文|\b(?:if|should|could|would)\b"
    r"|\bwhat (?:is|are|does) (?:an? )?(?:the )?(?:pass|best|maj|cons|mean|avg|worst)@\d+\s*(?:\?|$|mean)"
    r"|\b(?:means?|meaning|define|definition|versus|vs|differ\w*|stand for|calculated|computed|same as|equals?)\b(?!@)"
    r"|\bhow (?:do|can|to)\b"
)
_NO_SCORE: Final = re.compile(r"(?i)time|second|loss|num_turns")
_REWARD: Final = re.compile(r"(?i)reward|奖励")
_MOST: Final = 8


def lacking(context: Context, text: str) -> str | None:
    """The sentence that says so, the rest written behind it; ``None`` where one of those named is logged, or none is.

    Args:
        context: of the answer, one run.
        text: the question, normalised.
    """
    if _MEANING.search(text):
        return None
    asked = {f"{m['kind'].lower()}@{m['k']}": (m["kind"].lower(), m["k"]) for m in _NAME.finditer(text)}
    held = [name for name in context.run.metrics if is_validation(name) or name.startswith(("val", "eval", "test"))]
    held = [name for name in held if not _NO_SCORE.search(name)]
    kept = [(m["kind"].lower(), m["k"]) for name in context.run.metrics for m in _KEPT.finditer(name)]
    absent = [
        name for name, (kind, k) in asked.items() if not any((one, k) in kept for one in _ALIKE.get(kind, (kind,)))
    ]
    if not absent or len(absent) < len(asked) or not held:
        return None
    named = list(dict.fromkeys(f"{kind}@{k}" for name in held for kind, k in _KEPT.findall(name)))
    shown = named[:_MOST] or held[:3]
    context.names.update({*absent, *shown})
    return context.say("at_k.none", name=context.join(map(key, absent)), listed=context.join(map(key, shown)))


def told(context: Context, text: str) -> Verdict:
    """Writes what :func:`lacking` says, with the nearest that the log has, and its first and last values."""
    said = lacking(context, text)
    assert said is not None
    context.doc.paragraph(f"**{said}**")
    metric = _nearest(context, text)
    steps = () if metric is None else context.run.series(metric)[0]
    if metric is not None and steps:
        first, last = context.value(metric, steps[0]), context.value(metric, steps[-1])
        if first is not None and last is not None:
            phrase = "at_k.has" if len(steps) == 1 else "at_k.from_to"
            context.doc.paragraph(context.say(phrase, metric=metric, a=first, v=last))
            context.metrics.append(metric)
    asked = [(m["kind"].lower(), m["k"]) for m in _NAME.finditer(text)]
    if ("pass", "1") in asked and metric is not None and "/mean@" in metric:
        context.doc.paragraph(context.say("at_k.pass_1", name=key(metric.rsplit("/", 1)[-1])))
        context.names.add(metric.rsplit("/", 1)[-1])
    return Verdict("no_data", unmark(said))


def _nearest(context: Context, text: str) -> str | None:
    """The mean over all samples of the set and the variable that the question names, else of the first set."""
    means = [name for name in context.run.metrics if is_validation(name) and re.search(r"/mean@\d+$", name)]
    means = [name for name in means if not _NO_SCORE.search(name)]
    lower = re.sub(r"[^a-z0-9]", "", text.lower())
    of_set = [name for name in means if re.sub(r"[^a-z0-9]", "", name.split("/")[1].lower()) in lower]
    means = of_set or means
    variable = "/reward/" if _REWARD.search(text) else "/acc/"
    return next((name for name in means if variable in name), means[0] if means else None)


__all__ = ["lacking", "told"]
