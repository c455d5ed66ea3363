"""How far two statistics of one validation are apart: pass@16 against maj@16, best@8 against mean@8."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_two import gap_shown, gaps
from assistant.ask.context import Context, key
from assistant.ask.naming import absent, steps_text
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_STATISTIC: Final = re.compile(r"(?i)(?<![a-z])(pass|best|maj|majority|mean|avg|worst)\s*@\s*(\d{1,4})")
_UNNUMBERED: Final = re.compile(
    r"(?i)(?<![a-z/_])(pass|best|maj|majority|mean|avg|worst|平均|均值)(?![a-z/_])(?:\s*@\s*(?:(\d{1,4})|[kn](?![a-z])))?"
)
_SAMPLES: Final = re.compile(r"/(?:best|maj|mean)@(\d{1,4})(?:/mean)?$")
_TWO: Final = 2
_NORMAL: Final = re.compile(r"(?i)正常|合理|要紧|离谱|\b(?:normal|expected|fine|ok(?:ay)?|worr\w*|reasonable)\b")
#: pass@k is logged as the mean over resampled sets of k of their best answer (verl ``process_validation_metrics``).
_LOGGED: Final = {"pass": "best", "majority": "maj", "avg": "mean", "平均": "mean", "均值": "mean"}


def statistics_apart(context: Context) -> Verdict | None:
    """The two statistics named at the latest step with both, and their difference; what the log lacks of them is said.

    Returns:
        The verdict; ``None`` (nothing written) where not two statistics of one validation are named, or none is logged.
    """
    text = normalised(context.query.wording or context.query.text)
    asked = list(dict.fromkeys((m[1].lower(), m[2]) for m in _STATISTIC.finditer(text)))
    if len(asked) != _TWO and (most := _most_samples(context)):  # "avg against maj": of as many as are logged
        asked = list(dict.fromkeys((m[1].lower(), m[2] or most) for m in _UNNUMBERED.finditer(text)))
    if len(asked) != _TWO or context.query.steps.kind in {"pair", "range"}:
        return None
    found = [_keys(context, _LOGGED.get(name, name), number, text) for name, number in asked]
    common = [(a, b) for a in found[0] for b in found[1] if a.split("/")[1:3] == b.split("/")[1:3]]
    names = [f"{name}@{number}" for name, number in asked]
    context.names.update(names)
    if not common:
        return _lacking(context, names, found)
    a, b = common[0]
    context.metrics.extend([a, b])
    there = set(context.run.series(b)[0])
    steps = [s for s in context.run.series(a)[0] if s in there]
    if context.query.steps.kind == "single":
        wanted = context.query.steps.values[0]
        if wanted not in steps:
            said = absent(context, a if context.run.value(a, wanted) is None else b, [wanted])
            context.doc.paragraph(f"**{said}**")
            return Verdict("no_data", unmark(said))
        steps = [wanted]
    differences = gaps(context, a, b, steps)
    if not differences:
        said = context.say("calc.no_common", a=a, b=b)
        context.doc.paragraph(f"**{said}**")
        return Verdict("no_data", unmark(said))
    last = differences[-1]
    at = last.step or 0
    said = context.say(
        "calc.gap", step=at, a=a, b=b, va=context.value(a, at), vb=context.value(b, at),
        d=gap_shown(context, last, a),
    )  # fmt: skip
    context.doc.paragraph(f"**{said}**")
    if _NORMAL.search(text) and {"best", "pass"} & {name for name, _ in asked}:
        context.names.update({"best@n", "mean@n"})
        context.doc.paragraph(context.say("stats.apart_by_nature"))
        context.query = replace(context.query, intent="define")
    if "pass" in {name for name, _ in asked}:
        context.doc.paragraph(context.say("stats.pass_is_best"))
    context.doc.paragraph(context.say("stats.only_steps", steps=steps_text(context, steps)))
    context.cite(context.card(a))
    context.cite(context.card(b))
    return Verdict("answered", unmark(said))


def _most_samples(context: Context) -> str:
    """The largest number of answers over which the log takes a validation's statistics; empty where it tells none."""
    found = [int(m[1]) for key in context.run.metrics if key.startswith("val") and (m := _SAMPLES.search(key))]
    return str(max(found)) if found else ""


def _keys(context: Context, statistic: str, number: str, text: str) -> list[str]:
    """The log's keys of a statistic: accuracies first, of the data set that the question names."""
    ends = (f"/{statistic}@{number}", f"/{statistic}@{number}/mean")
    keys = [m for m in context.run.metrics if m.startswith("val") and m.endswith(ends)]
    lower = re.sub(r"[^a-z0-9]", "", text.lower())

    def order(metric: str) -> tuple[bool, bool, bool]:
        parts = metric.split("/")
        source = re.sub(r"[^a-z0-9]", "", parts[1].lower()) if len(parts) > 1 else ""
        short = re.sub(r"20(?=\d\d)", "", source)
        named = bool(source) and (source in lower or short in lower)
        return not named, "/acc/" not in metric, not metric.startswith("val-core")

    return sorted(keys, key=order)


def _lacking(context: Context, names: list[str], found: list[list[str]]) -> Verdict | None:
    held = [keys[0] for keys in found if keys]
    if not held:
        return None
    absent = next(name for name, keys in zip(names, found, strict=True) if not keys) if len(held) == 1 else names[0]
    said = context.say("stats.lacking", name=absent, other=key(held[0]))
    context.doc.paragraph(f"**{said}**")
    steps = context.run.series(held[0])[0]
    fact = context.value(held[0], steps[-1])
    context.metrics.append(held[0])
    if fact is not None:
        context.doc.paragraph(context.say("lookup.one", metric=held[0], v=fact))
    return Verdict("no_data", unmark(said))
