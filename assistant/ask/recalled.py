"""Follow-ups that lean on the values told in the turns before: which is higher, how far from it, times so many.

What an answer told is kept as a metric, the steps and the statistic, so that it can be looked up again; the words stand
in ``recalled.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from assistant.ask.antecedents import MOST_KEPT
from assistant.ask.lexicon import words
from assistant.ask.logged import as_mention
from assistant.ask.query import Query, State, Told
from assistant.ask.set_against import WHICH
from assistant.knowledge import Resolver
from assistant.model import Run, StepSlot

#: Longer follow-ups say themselves what they mean.
_LONGEST: Final = 60
Kind = Literal["which", "later", "sooner", "moved", "gap", "between", "times", "unit"]
_SIDES: Final = ("mean", "median", "max", "min", "first", "last")
_NAMES: Final = {
    "mean": ("平均值", "mean"), "median": ("中位数", "median"), "std": ("标准差", "standard deviation"),
    "max": ("最大值", "maximum"), "min": ("最小值", "minimum"),
}  # fmt: skip
_NUMBERS: Final = {"two": 2, "three": 3, "four": 4}
_COUNTS: Final = {**_NUMBERS, "两": 2, "俩": 2, "三": 3, "四": 4}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a follow-up asks of the values told.

    Attributes:
        kind: what it asks.
        sides: of ``gap``, what is set against what: ``told``, ``step:N`` or the name of a statistic.
        number: of ``times``, the factor; of ``gap``, the per cent within which; else how many values are meant, 0: all.
        unit: of ``times`` and ``unit``, the unit asked for.
    """

    kind: Kind
    sides: tuple[str, str] = ("told", "told")
    number: float = 0.0
    unit: str = ""


def asked(text: str) -> Asked | None:
    """What a follow-up asks of the values told; ``None`` where it asks for none of that."""
    held = words("recalled")
    if (times := held["times"].search(text)) is not None:
        return Asked("times", number=float(times["n"]), unit=_unit(text))
    if held["unit_asked"].search(text) and _unit(text) and not held["of_all"].search(text):
        return Asked("unit", unit=_unit(text))
    if held["between"].fullmatch(text.strip()):
        return Asked("between")
    if held["which"].search(text):
        count = next((float(n) for name, n in _NUMBERS.items() if held[name].search(text)), 0.0)
        if held["moved"].search(text):
            return Asked("moved", number=count)
        if held["later"].search(text) or held["sooner"].search(text):
            return Asked("later" if held["later"].search(text) else "sooner", number=count)
        return Asked("which", number=count) if held["high"].search(text) or held["low"].search(text) else None
    if held["gap"].search(text) and (sides := _sides(text)) is not None:
        within = re.search(r"(\d+(?:\.\d+)?) ?(?:%|percent)", text)
        return Asked("gap", sides, float(within[1]) if within else 0.0)
    return None


def _unit(text: str) -> str:
    return next(
        (name for name in ("hours", "minutes", "milliseconds", "seconds") if words("recalled")[name].search(text)), ""
    )


def _sides(text: str) -> tuple[str, str] | None:
    """What stands before and behind "than"; the side that is not said is what was told. One of them must be that."""
    than = words("recalled")["than"].search(text)
    if than is None:
        return None
    before, behind = _side(text[: than.start()]), _side(text[than.end() :])
    if behind is None:
        return None
    before = before or "told"
    return (before, behind) if "told" in {before, behind} and before != behind else None


def _side(text: str) -> str | None:
    held = words("recalled")
    if (step := held["step"].search(text)) is not None:
        return f"step:{step['step']}"
    named = next((name for name in _SIDES if held[name].search(text)), None)
    if named is not None:
        return named
    return "told" if held["it"].search(text) else None


def leaned(own: Query, text: str, state: State, run: Run, resolver: Resolver) -> Query | None:
    """A follow-up with the values that it leans on; ``None`` where it leans on none.

    Args:
        own: what it says by itself.
        text: the follow-up, normalised.
        state: what the conversation carries.
        run: the log.
        resolver: from names to cards.
    """
    lately = [one for one in state.cells if one.metric in run.columns]
    if not lately or len(text) > _LONGEST or own.runs:
        return None
    named = {m.key for m in own.mentions if m.key is not None and m.end > m.start and m.text and m.text in text}
    if (at := _all_at(own, text, lately, run, resolver)) is not None and not named:
        return at
    found = asked(text)
    if found is None or (named and named != {lately[-1].metric}):
        return None
    if named and found.kind not in {"gap", "times"}:
        return None
    meant = _meant(found, lately)
    plainly = len(meant) == 2 and {one.statistic for one in meant} == {"value"}
    if not meant or (found.kind == "which" and plainly and WHICH.search(text)):
        return None  # two steps are compared with their noise
    keys = list(dict.fromkeys(one.metric for one in meant))
    mentions = tuple(as_mention(run, resolver, key, 0, 0, key) for key in keys)
    return replace(
        own, mentions=mentions, intent="lookup", op=None, asked_op=None, topics=(), threshold=None, follows="slots",
        guessed=False, recalled=tuple(meant), wording=text,
    )  # fmt: skip


def _meant(found: Asked, lately: Sequence[Told]) -> list[Told]:
    """The values that a follow-up is about, oldest first; none where they do not go together."""
    if found.kind in {"gap", "times", "unit"}:
        return [] if lately[-1].of_two else [lately[-1]]
    if found.kind == "moved":
        keys = list(dict.fromkeys(one.metric for one in reversed(lately)))[: int(found.number) or len(lately)]
        kept = [next(one for one in reversed(lately) if one.metric == key) for key in keys]
        return kept[::-1] if len(kept) > 1 else []
    kept = list(dict.fromkeys(lately))[-int(found.number or (2 if found.kind == "between" else 0)) or None :]
    kept = kept if found.number else [one for one in kept if one.metric == kept[-1].metric]
    if found.kind in {"later", "sooner"}:
        kept = [one for one in kept if one.alone]
    if found.number and len(kept) != found.number:
        return []
    return kept if len(kept) > 1 and not any(one.of_two for one in kept) else []


def _all_at(own: Query, text: str, lately: Sequence[Told], run: Run, resolver: Resolver) -> Query | None:
    """ "Same three at 400": the metrics told before, at a step."""
    match = words("recalled")["all_at"].search(text)
    if match is None:
        return None
    said = (match["zh"] or match["en"] or "").lower()
    count = {"两": 2, "俩": 2, "two": 2, "三": 3, "three": 3, "四": 4, "four": 4}.get(
        said, int(said) if said.isdigit() else 0
    )
    keys = list(dict.fromkeys(one.metric for one in reversed(lately)))[: count or MOST_KEPT][::-1]
    number = re.search(r"(?<![\d.])(\d{1,7})(?![\d.%])", text[match.end() :])
    if len(keys) < 2 or (count and len(keys) != count) or number is None:
        return None
    step = int(number[1])
    return replace(
        own, mentions=tuple(as_mention(run, resolver, key, 0, 0, key) for key in keys), intent="lookup", op=None,
        asked_op=None, steps=StepSlot("single", (step,)), all_steps=(step,), topics=(), guessed=False, follows="slots",
    )  # fmt: skip


def part_before(text: str, state: State, run: Run, language: str) -> str | None:
    """ "And the 10 before that", as a question of its own; ``None`` where a follow-up asks for no such part."""
    held, last = words("recalled"), state.cells[-1] if state.cells else None
    if (beside := _around(text, last, run, language)) is not None:
        return beside
    match = held["preceding"].search(text) if len(text) <= _LONGEST else None
    if match is None or last is None or last.metric not in run.columns:
        return None
    if len(last.steps) != 2 or last.statistic not in _NAMES or held["fluff"].sub("", text.replace(match[0], " ", 1)):
        return None
    steps = list(run.series(last.metric)[0])
    count = int(next((group for group in match.groups() if group), 0))
    if not count:
        return None  # all that lies before
    earlier = [step for step in steps if step < last.steps[0]][-count:]
    if not earlier:
        return None
    zh, en = _NAMES[last.statistic]
    if language == "zh":
        return f"{last.metric} step {earlier[0]} 到 {earlier[-1]} 的{zh}"
    return f"{en} of {last.metric} over steps {earlier[0]} to {earlier[-1]}"


def _around(text: str, last: Told | None, run: Run, language: str) -> str | None:
    """ "And the mean of the 5 before and the 5 after?" of a step that was told, as two parts set beside each other."""
    match = words("recalled")["around"].search(text) if len(text) <= _LONGEST else None
    if match is None or last is None or not last.alone or last.metric not in run.columns:
        return None
    count, at = int(next(g for g in match.groups() if g)), last.steps[0]
    steps = list(run.series(last.metric)[0])
    before, behind = [s for s in steps if s < at][-count:], [s for s in steps if s > at][:count]
    if not before or not behind:
        return None
    a, b = (f"step {part[0]} 到 {part[-1]}" for part in (before, behind))
    if language == "zh":
        return f"{last.metric} {a} 的平均值和 {b} 的平均值"
    return f"mean of {last.metric} over {a.replace(' 到 ', ' to ')} vs {b.replace(' 到 ', ' to ')}"
