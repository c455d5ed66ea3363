"""One falsehood put into a true sentence, of a named kind, and really false of the run."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from evals.faithfulness.fields import METRICS, RUNS, Part, Scene, Written, named, write
from evals.faithfulness.names import absent, roles
from evals.faithfulness.shown import NUMBER, OTHER_UNIT, places, redigited, said

SIGNED: Final = frozenset({"pg_loss", "ppo_kl", "reward", "score"})
"""Roles whose values take either sign, so that a lost sign is a likely slip."""
STEPS: Final = ("s", "t", "u")
RANGE: Final = frozenset({"到", "至", "与", "和", "～", "–", "-"})
"""What stands between the bounds of a range in Chinese."""
SIMILAR: Final = 0.03
"""Steps whose value lies within this share of a metric's range of its extreme are no false place of the extreme."""


def falsehoods(true: Written, rng: random.Random) -> Iterator[tuple[str, Written]]:
    """All one-place falsifications of a true sentence: (kind, text), each false beyond dispute.

    Its claims are false place by place; two bounds that are exchanged say the same (:func:`same_range`).
    """
    for kind, changed in _candidates(true, rng):
        if changed.text != true.text and (not changed.true() if kind == "hallucinated" else changed.false()):
            yield kind, changed


def _candidates(true: Written, rng: random.Random) -> Iterator[tuple[str, Written]]:
    for place in true.claims():
        part = true.pieces[place]
        if part.what == "word":
            others = [word for word in part.text.split("/") if word != true.texts[place]]
            yield part.tag, _with(true, place, rng.choice(others))
        elif part.text == "step":
            yield from _other_step(true, place, rng)
        else:
            yield from _numbers(true, place, rng)
    yield from _swaps(true)
    for variable in sorted({part.text for part in true.pieces if part.what == "variable"}):
        if variable in METRICS:
            yield from _other_metric(true, variable, rng)
        elif variable in STEPS:
            yield from _renamed_step(true, variable, rng)
        elif variable == RUNS[0]:
            yield from _other_run(true)


def _with(true: Written, place: int, text: str) -> Written:
    return replace(true, texts=(*true.texts[:place], text, *true.texts[place + 1 :]))


def _numbers(true: Written, place: int, rng: random.Random) -> Iterator[tuple[str, Written]]:
    part, literal = true.pieces[place], true.texts[place].strip()
    number, decimals, commas = places(literal)
    if number == 0:
        return
    others = _redigited(number, decimals, rng, whole=bool(part.tag) or decimals == 0)
    if part.tag == "derived":
        others = iter(rng.sample([number * 2, number / 2, number * 4], 3))
    for digits in others:
        changed = _with(true, place, redigited(literal, _form(digits, decimals, commas)))
        if changed.false():
            yield part.tag or "value", changed
            break
    if not part.tag and not (decimals == 0 and number < 10):
        shifted = number * 10 if rng.random() < 0.5 else number / 10
        places_ = max(0, decimals - 1) if shifted > number else min(decimals + 1, 8)
        yield "decimal", _with(true, place, redigited(literal, _form(shifted, places_, commas)))
    found = NUMBER.fullmatch(literal)
    assert found is not None
    if found["sign"]:
        change = bool(part.tag) or any("+" in text for text in true.texts)  # a change without a sign says neither
        flipped = "-" if found["sign"] == "+" else "+" if change else ""
        yield "sign", _with(true, place, flipped + literal[1:])
    elif (
        not part.tag
        and not part.claim.startswith("abs(")
        and {role.name for role in true.scene.metrics.values()} & SIGNED
    ):
        yield "sign", _with(true, place, "-" + literal)
    unit = found["unit"] or ""
    if unit in OTHER_UNIT:
        yield "unit", _with(true, place, literal[: found.start("unit")] + OTHER_UNIT[unit])
    elif unit == "%":  # the fraction with the sign of the percentage
        yield "unit", _with(true, place, redigited(literal, _form(number / 100, decimals + 2, commas)))
    elif not unit and decimals >= 2 and number < 1 and not found["exponent"] and _fraction(true):
        yield "unit", _with(true, place, literal + "%")
    if not part.tag and decimals >= 2 and not found["exponent"] and not unit and len(str(number).replace(".", "")) < 7:
        invented = redigited(literal, f"{number:f}" + "".join(rng.choice("12345678") for _ in range(5)))
        value = true.scene.value(part.claim)
        if value is not None and abs(said(invented).value - value) > 20 * said(invented).half:
            yield "precision", replace(_with(true, place, invented), slack=0.0)


def _fraction(true: Written) -> bool:
    """Whether the metrics spoken of are ones that people also give in percent."""
    return bool({role.unit for role in true.scene.metrics.values()} & {"fraction", "reward", "accuracy"})


def _redigited(number: Decimal, decimals: int, rng: random.Random, *, whole: bool) -> Iterator[Decimal]:
    """Other numbers of the same form: a digit off, two digits exchanged, some more or less."""
    unit = Decimal(1).scaleb(-decimals)
    found: list[Decimal] = []
    digits = str(int(number / unit))
    for place in range(len(digits)):
        delta = rng.choice([-4, -3, -2, 2, 3, 4])
        found.append(number + delta * unit * 10**place)
    for place in range(len(digits) - 1):
        exchanged = [*digits]
        exchanged[place], exchanged[place + 1] = exchanged[place + 1], exchanged[place]
        found.append(Decimal("".join(exchanged)) * unit)
    if whole:
        found += [number + rng.choice([-3, -2, 2, 3]) * unit, number * 2, number + unit * (1 + int(number / unit) // 3)]
    found = [other for other in found if 0 < other < 2 * number + 5 * unit and other != number]
    rng.shuffle(found)
    yield from (other for other in found if abs(other - number) < 3 * number)


def _form(number: Decimal, decimals: int, commas: bool) -> str:
    return f"{number:,.{decimals}f}" if commas else f"{number:.{decimals}f}"


def _other_step(true: Written, place: int, rng: random.Random) -> Iterator[tuple[str, Written]]:
    """Another step in the place of one that a computation gave: where an extreme lies, when a bound was passed."""
    part, scene = true.pieces[place], true.scene
    metric = scene.values.get("m")
    if metric is None:
        able = [int(step) for step in scene.runs[""].frame.index]
    else:
        series = scene.runs[""].series(str(metric))
        near = SIMILAR * float(series.max() - series.min())
        own = float(series.get(int(true.texts[place]), float("nan")))
        able = [int(step) for step, value in series.items() if not abs(float(value) - own) <= near]
    if able:
        yield part.tag or "step", _with(true, place, str(rng.choice(able)))


def _swaps(true: Written) -> Iterator[tuple[str, Written]]:
    numbers = [place for place in true.claims() if true.pieces[place].what == "number"]
    for first, second in pairwise(numbers):
        a, b = true.pieces[first], true.pieces[second]
        if a.tag != b.tag or not _alike(true.texts[first], true.texts[second]):
            continue
        texts = [*true.texts]
        texts[first], texts[second] = texts[second], texts[first]
        same = _metric_of(a) == _metric_of(b)
        yield "swapped" if same else "metric", replace(true, texts=tuple(texts))


def same_range(true: Written, changed: Written) -> bool:
    """Whether the two bounds of a range are exchanged: between 0.7 and 0.2 is between 0.2 and 0.7."""
    places = [at for at, (one, other) in enumerate(zip(true.texts, changed.texts, strict=True)) if one != other]
    if len(places) != 2 or [changed.texts[at] for at in places] != [true.texts[at] for at in reversed(places)]:
        return False
    before, after = "".join(true.texts[: places[0]]), "".join(true.texts[places[1] + 1 :])
    within = "".join(true.texts[places[0] + 1 : places[1]]).strip()
    english = re.search(r"\bbetween\s*$", before, re.IGNORECASE) and within == "and"
    return bool(english or (within in RANGE and re.match(r"\s*之间", after)))


def _alike(first: str, second: str) -> bool:
    a, b = NUMBER.fullmatch(first.strip()), NUMBER.fullmatch(second.strip())
    return bool(a and b and a["unit"] == b["unit"])


def _metric_of(part: Part) -> str:
    return part.claim.partition("(")[2].partition(",")[0]


def _changed(true: Written, values: dict[str, Any], rng: random.Random, metrics: Any = None) -> Written:
    """The sentence with variables shown (and meant) differently; its numbers and words stay."""
    scene = Scene(true.scene.runs, {**true.scene.values, **values}, metrics or true.scene.metrics)
    texts = [*true.texts]
    for place, part in enumerate(true.pieces):
        if part.what == "variable" and part.text in values:
            texts[place] = named(part, scene, true.language, rng)
    return replace(true, texts=tuple(texts), scene=scene)


def _other_metric(true: Written, variable: str, rng: random.Random) -> Iterator[tuple[str, Written]]:
    own = true.scene.runs[""]
    taken = {*true.scene.metrics.values()}
    meant = {str(true.scene.values[variable]), *true.scene.metrics[variable].others(own)}
    able = [role for role in roles().values() if role not in taken and role.key(own) and role.key(own) not in meant]
    like = [role for role in able if role.unit == true.scene.metrics[variable].unit] or able
    for role in rng.sample(like, min(3, len(like))):
        changed = _changed(true, {variable: role.key(own)}, rng, {**true.scene.metrics, variable: role})
        if changed.false():
            yield "metric", changed
            break
    made_up = [one for one in absent() if one.is_absent(own)]
    if made_up:
        one = rng.choice(made_up)
        changed = _changed(true, {variable: one.key}, rng)
        texts = [*changed.texts]
        for place, part in enumerate(true.pieces):
            if part.what == "variable" and part.text == variable:
                code = texts[place].startswith("`") or part.style == "code"
                word = one.words[true.language]
                word = word[:1].upper() + word[1:] if part.style == "Name" else word
                texts[place] = f"`{one.key}`" if code else one.key if "/" in texts[place] else word
        yield "hallucinated", replace(changed, texts=tuple(texts))


def _renamed_step(true: Written, variable: str, rng: random.Random) -> Iterator[tuple[str, Written]]:
    own = true.scene.runs[""]
    able = {int(step) for step in own.frame.index}
    for metric in true.scene.metrics:
        able &= {int(step) for step in own.series(str(true.scene.values[metric])).index}
    able -= {true.scene.values.get(name) for name in STEPS}
    for step in rng.sample(sorted(able), min(4, len(able))):
        changed = _changed(true, {variable: step}, rng)
        if changed.false():
            yield "step", changed
            return


def _other_run(true: Written) -> Iterator[tuple[str, Written]]:
    a, b = RUNS
    swapped = {**true.scene.runs, a: true.scene.runs[b], b: true.scene.runs[a]}
    values = {**true.scene.values, a: true.scene.values[b], b: true.scene.values[a]}
    texts = [
        str(values[part.text]) if part.what == "variable" and part.text in RUNS else text
        for part, text in zip(true.pieces, true.texts, strict=True)
    ]
    yield "run", replace(true, texts=tuple(texts), scene=Scene(swapped, values, true.scene.metrics))


def stated(kind: str, text: str, true: Written, rng: random.Random) -> Written | None:
    """A falsehood that the template itself gives, written out; ``None`` where it is not false of this scene."""
    written = write(text, true.scene, true.language, rng)
    if written is None:
        return None
    return written if written.false() else None
