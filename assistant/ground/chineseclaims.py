"""What a Chinese sentence in plain form claims, sign after sign (:mod:`assistant.ground.wholechinese`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.chinesereading import (
    FIRST,
    LAST,
    Claimed,
    Held,
    Reading,
    Unclear,
    add_value,
    add_way,
    ends_of,
    first_of,
    foresee,
    listed_in,
    name_of,
    pair_of,
    place_of,
)  # fmt: skip
from assistant.ground.lexicon import Named

_HANDLERS: Final[list[tuple[re.Pattern[str], Callable[[Reading, str], None]]]] = []


def _reads(pattern: str) -> Callable[[Callable[[Reading, str], None]], Callable[[Reading, str], None]]:
    def kept(handler: Callable[[Reading, str], None]) -> Callable[[Reading, str], None]:
        _HANDLERS.append((re.compile(pattern), handler))
        return handler

    return kept


def claims_of(
    text: str, held: Sequence[Held], names: Sequence[Named] = (), before: Sequence[int] = ()
) -> list[Claimed]:
    """The claims of a sentence in plain form.

    Args:
        text: its signs.
        held: what each stands for.
        names: the metric of the sentence before, where this one names none.
        before: the step of the sentence before, or its two.

    Raises:
        Unclear: where the signs are in no known order, or which steps are meant is not told.
    """
    reading = Reading(held, names=[*names])
    foresee(reading, before)
    reading.share = "(Y)" in text
    at = 0
    while at < len(text):
        for pattern, handler in _HANDLERS:
            if match := pattern.match(text, at):
                handler(reading, match.group())
                at = match.end()
                break
        else:
            raise Unclear(text[at:])
    return reading.found


# -- the signs, those that say most first -------------------------------------------------------------
@_reads(r"(?:从|由|自)?P(?:到|至|→|~|-)P")
def _from_to(reading: Reading, text: str) -> None:
    one, two = reading.take().thing, reading.take().thing
    reading.pair, reading.listed, reading.against = (one, two), (), None


@_reads(r"P(?:(?:和|、|,)P)+(?=:?[NR=Q,])")
def _several(reading: Reading, text: str) -> None:
    places = [reading.take().thing for _ in range(text.count("P"))]
    reading.listed, reading.places = tuple(first_of(p) for p in places), []
    reading.pair = (places[0], places[-1]) if len(places) == 2 else None


@_reads(r"(?:从|由|自)?R")
def _range(reading: Reading, text: str) -> None:
    place = reading.take().thing
    reading.pair, reading.against, reading.places = ends_of(place), None, []
    reading.listed = listed_in(place)


@_reads(r"Y")
def _as_share(reading: Reading, text: str) -> None:
    reading.share = True


@_reads(r"H")
def _over_all(reading: Reading, text: str) -> None:
    reading.pair, reading.against = (FIRST, LAST), None


@_reads(r"N(?:和N)+S[=:]?Q")
def _summed(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing for _ in range(text.count("N"))]
    reading.names, q = [*reading.group], reading.take().thing
    if q.unit in {"%", "ratio", "factor", "pp"} or q.sign:
        raise Unclear("no sum")
    reading.found.append(Claimed("sum", tuple(reading.group), (place_of(reading),), q))


@_reads(r"NS[=:]?Q")
def _total(reading: Reading, text: str) -> None:
    name, q = reading.take().thing, reading.take().thing
    reading.names.append(name)
    if reading.pair is None or reading.places or q.sign or q.unit in {"%", "ratio", "factor", "pp"}:
        raise Unclear("a sum over no stretch")
    reading.found.append(Claimed("total", (name,), reading.pair, q))


@_reads(r"S?O[=:]?Q")
def _part_of_step(reading: Reading, text: str) -> None:
    q = reading.take().thing
    if q.unit != "%" or not reading.names:
        raise Unclear("no share")
    names = tuple(reading.group) if len(reading.group) > 1 else (name_of(reading),)
    reading.found.append(Claimed("share", names, (place_of(reading),), q))


@_reads(r"UN")
def _most(reading: Reading, text: str) -> None:
    name = reading.take().thing
    reading.names.append(name)
    reading.found.append(Claimed("most", (name,), (place_of(reading),)))


@_reads(r"NL")
def _then(reading: Reading, text: str) -> None:
    before, name = name_of(reading), reading.take().thing
    reading.names.append(name)
    reading.found.append(Claimed("more", (before, name), (place_of(reading),), None, 1))


@_reads(r"N(?:和|、|/)N(?=[PR,]*F)")
def _each(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing, reading.take().thing]


@_reads(r"F?WQ[和、,]WQ(?=$|[,;.)])")
def _each_by(reading: Reading, text: str) -> None:
    one, q, two, r = (reading.take() for _ in range(4))
    if len(reading.group) != 2:
        raise Unclear("not of two metrics")
    for name, way, number in zip(reading.group, (one, two), (q.thing, r.thing), strict=True):
        reading.names.append(name)
        add_way(reading, way, pair_of(reading))
        reading.found.append(Claimed("moved", (name,), pair_of(reading), number, way.sense, way.pace))


@_reads(r"EP")
def _which_step(reading: Reading, text: str) -> None:
    way, place = reading.held[reading.at], reading.held[reading.at + 1].thing
    reading.at += 2
    told = [h.thing for h in reading.held if h.sign == "P"] + [*(reading.pair or ())]
    others = {first_of(p): p for p in told if first_of(p) != first_of(place)}
    if len(others) != 1:
        raise Unclear("of one step, or of more than two")
    add_way(reading, Held("W", way.sense, way.pace), (next(iter(others.values())), place))


@_reads(r"BMW[=]?Q?")
def _than_mean(reading: Reading, text: str) -> None:
    way = reading.take()
    at, name = (place_of(reading),), name_of(reading)
    reading.found.append(Claimed("over mean", (name,), at, None, way.sense, way.pace))
    if "Q" in text:
        reading.found.append(Claimed("off mean", (name,), at, reading.take().thing))


@_reads(r"BP(?:\(Q\)|,)?")
def _compared_with(reading: Reading, text: str) -> None:
    reading.against = reading.take().thing
    if "Q" in text:
        add_value(reading, name_of(reading), reading.against, reading.take().thing)


@_reads(r"N(?:和|、|/)N(?:之)?(?==?Q[和、,]Q)")
def _both(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing, reading.take().thing]


@_reads(r"=?Q(?:[和、,]Q)+(?=$|[,;.)])")
def _values(reading: Reading, text: str) -> None:
    numbers = [reading.take().thing for _ in range(text.count("Q"))]
    if len(reading.group) == len(numbers):
        for name, q in zip(reading.group, numbers, strict=True):
            add_value(reading, name, place_of(reading), q)
        reading.names = [*reading.group]
    elif len(reading.listed) == len(numbers):
        for step, q in zip(reading.listed, numbers, strict=True):
            add_value(reading, name_of(reading), step, q)
    else:
        raise Unclear("not as many numbers as steps")


@_reads(r"\(Q、Q\)")
def _against(reading: Reading, text: str) -> None:
    one, two = reading.take().thing, reading.take().thing
    if len(reading.group) == 2:
        for name, q in zip(reading.group, (one, two), strict=True):
            add_value(reading, name, place_of(reading), q)
        return
    first, second = pair_of(reading) if reading.against is None else pair_of(reading)[::-1]
    add_value(reading, name_of(reading), first, one)
    add_value(reading, name_of(reading), second, two)


@_reads(r"[=从由]*Q(?:→|到|至|T)Q")
def _went(reading: Reading, text: str) -> None:
    one = reading.take().thing
    way = reading.take() if "T" in text else None
    two = reading.take().thing
    pair = pair_of(reading)
    add_value(reading, name_of(reading), pair[0], one)
    add_value(reading, name_of(reading), pair[1], two)
    if way is not None:
        add_way(reading, way, pair)


@_reads(r"=PQ")
def _of_another(reading: Reading, text: str) -> None:
    base, q = reading.take().thing, reading.take().thing
    if q.unit not in {"ratio", "factor", "%"}:
        raise Unclear("a value of another step")
    others = [p for p in (*reading.places, *(reading.pair or ())) if p != base]
    if not others:
        raise Unclear("no other step")
    reading.found.append(Claimed("over", (name_of(reading),), (others[-1], base), q))


@_reads(r"PTQ")
def _at_to(reading: Reading, text: str) -> None:
    place, way, q = reading.take().thing, reading.take(), reading.take().thing
    before = reading.places[-1] if reading.places else reading.pair[1] if reading.pair else None
    if reading.pair is not None and place in reading.pair:
        before = next(p for p in reading.pair if p != place)
    if before is None or before == place:
        raise Unclear("from no step")
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    add_way(reading, way, (before, place))


@_reads(r"PN?W(?:\(Q\))?(?=$|[,;、。)])")
def _level(reading: Reading, text: str) -> None:
    place = reading.take().thing
    if "N" in text:
        reading.names.append(reading.take().thing)
    way = reading.take()
    told = [h.thing for h in reading.held if h.sign == "P"]
    others = {first_of(p): p for p in told if first_of(p) != first_of(place)}
    reading.places.append(place)
    if not way.level and "Q" not in text and reading.against is not None:
        add_way(reading, way, pair_of(reading))
        return
    if not way.level or len(others) != 1:
        raise Unclear("against no other step")
    if "Q" in text:
        add_value(reading, name_of(reading), place, reading.take().thing)
    add_way(reading, way, (next(iter(others.values())), place))


@_reads(r"(?:从|由|自)?P(?:[=:]?Q(?!\(P)|\(Q\))")
def _at(reading: Reading, text: str) -> None:
    place, q = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)


@_reads(r"=?Q\(P\)")
def _of_step(reading: Reading, text: str) -> None:
    q, place = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)


@_reads(r"TPQ")
def _to_step(reading: Reading, text: str) -> None:
    way, place, q = reading.take(), reading.take().thing, reading.take().thing
    later = [h.thing for h in reading.held[reading.at :] if h.sign == "P"]
    before = reading.places[-1] if reading.places else later[0] if later else None
    if before is None or before == place:
        raise Unclear("from no step")
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    add_way(reading, way, (before, place))


@_reads(r"TQ")
def _to(reading: Reading, text: str) -> None:
    way, q = reading.take(), reading.take().thing
    if reading.pair is not None and not reading.places:
        pair = pair_of(reading)
    elif reading.places and reading.pair is not None and reading.places[-1] in reading.pair:
        other = next(p for p in reading.pair if p != reading.places[-1])
        pair = (other, reading.places[-1])
    elif len(reading.places) > 1:
        pair = (reading.places[-2], reading.places[-1])
    else:
        raise Unclear("from no step")
    add_value(reading, name_of(reading), pair[1], q)
    add_way(reading, way, pair)


@_reads(r"[AZ]W[,、和]?[AZ]W")
def _former_latter(reading: Reading, text: str) -> None:
    one, two = reading.take(), reading.take()
    if len({first_of(at) for _, at in reading.told}) < 2 and reading.told:
        raise Unclear("of one step")
    former, latter = (one, two) if text.startswith("A") else (two, one)
    pair = reading.listed or reading.pair or ()
    if len(pair) != 2 or text[0] == text.rstrip("W")[-1]:
        raise Unclear("no two sides")
    add_way(reading, replace(former), (pair[1], pair[0]))
    add_way(reading, latter, pair)


@_reads(r"[AZ]W")
def _which(reading: Reading, text: str) -> None:
    way = reading.take()
    if len(reading.told) == 2:
        (one, first), (two, second) = reading.told
    elif not reading.told and len(reading.listed or reading.pair or ()) == 2:
        (one, first), (two, second) = ((name_of(reading), p) for p in reading.listed or reading.pair or ())
    else:
        raise Unclear("no two told")
    if text.startswith("A"):
        (one, first), (two, second) = (two, second), (one, first)
    if one is two or one.keys == two.keys:
        reading.found.append(Claimed("way", (two,), (first, second), None, way.sense, way.pace))
    elif first_of(first) == first_of(second):
        reading.found.append(Claimed("more", (two, one), (first,), None, way.sense, way.pace))
    else:
        raise Unclear("two metrics at two steps")


@_reads(r"N(?:=?Q|\(Q\))?GN(?:=?Q(?!、)|\(Q\))?")
def _more_than(reading: Reading, text: str) -> None:
    place = place_of(reading)
    one = reading.take().thing
    if "Q" in text.partition("G")[0]:
        add_value(reading, one, place, reading.take().thing)
    way, two = reading.take(), reading.take().thing
    if "Q" in text.partition("G")[2]:
        add_value(reading, two, place, reading.take().thing)
    reading.names += [one, two]
    reading.group = [one, two]
    reading.found.append(Claimed("more", (one, two), (place,), None, way.sense, way.pace))


@_reads(r"P[IJ](?:=?Q|\(Q\))")
def _extreme_at(reading: Reading, text: str) -> None:
    place, q = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    reading.found.append(Claimed("extreme", (name_of(reading),), (place,), None, 1 if "I" in text else -1))


@_reads(r"[IJ]=?Q\(P\)|[IJ]\(Q,P\)")
def _extreme_of(reading: Reading, text: str) -> None:
    q, place = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    reading.found.append(Claimed("extreme", (name_of(reading),), (place,), None, 1 if "I" in text else -1))


@_reads(r"GP")
def _than_step(reading: Reading, text: str) -> None:
    way, place = reading.take(), reading.take().thing
    add_way(reading, way, (place, place_of(reading)))
    reading.against = place


@_reads(r"NBNW=?Q?")
def _more_by(reading: Reading, text: str) -> None:
    one, two, way = reading.take().thing, reading.take().thing, reading.take()
    place = place_of(reading)
    reading.names += [one, two]
    reading.found.append(Claimed("more", (one, two), (place,), None, way.sense, way.pace))
    if "Q" in text:
        reading.found.append(Claimed("apart", (one, two), (place,), reading.take().thing))


@_reads(r"N(?:和|/|与)NX[=:]?Q:Q")
def _one_to(reading: Reading, text: str) -> None:
    one, two, q, unit = (reading.take().thing for _ in range(4))
    if unit.number != 1 or q.unit not in {"", "ratio"}:
        raise Unclear("no ratio to one")
    reading.names += [one, two]
    reading.found.append(Claimed("times", (one, two), (place_of(reading),), replace(q, unit="ratio")))


@_reads(r"=N=?Q|N/N=?Q|N(?:和|/)NX[=:]?Q")
def _times(reading: Reading, text: str) -> None:
    if text.startswith("="):
        one, two, q = name_of(reading), reading.take().thing, reading.take().thing
    else:
        one, two, q = reading.take().thing, reading.take().thing, reading.take().thing
    if q.unit not in {"ratio", "factor", "%", ""} or (q.unit == "" and text.startswith("=")):
        raise Unclear("no ratio")
    reading.names.append(two)
    reading.found.append(Claimed("times", (one, two), (place_of(reading),), q))


@_reads(r"W(?:[=:]?Q(?!\(P\)|→|、|到|T|P)|\(Q\))")
def _by(reading: Reading, text: str) -> None:
    if reading.share:
        raise Unclear("a change of a share")
    way, q = reading.take(), reading.take().thing
    pair = pair_of(reading)
    if "(" in text and not (q.sign or q.unit in {"%", "pp", "ratio", "factor"}):
        raise Unclear("a value or a change")
    if q.sign and (q.sign == "+") != (way.sense > 0):
        raise Unclear("a sign against its word")
    add_way(reading, way, pair)
    reading.found.append(Claimed("moved", (name_of(reading),), pair, q, way.sense, way.pace))


@_reads(r"W")
def _went_so(reading: Reading, text: str) -> None:
    if reading.pair == (FIRST, LAST) and not any(h.sign == "Q" for h in reading.held):
        raise Unclear("a trend")
    add_way(reading, reading.take(), pair_of(reading))


@_reads(r"V[=:]?[(]?Q[)]?")
def _changed(reading: Reading, text: str) -> None:
    if reading.share:
        raise Unclear("a change of a share")
    reading.found.append(Claimed("signed", (name_of(reading),), pair_of(reading), reading.take().thing))


@_reads(r"D[=:]?Q")
def _differs(reading: Reading, text: str) -> None:
    if reading.share or len({n.keys for n, _ in reading.told}) > 1:
        raise Unclear("of two metrics")
    q = reading.take().thing
    pair = reading.pair if reading.pair is not None and reading.against is None and not q.sign else pair_of(reading)
    reading.found.append(Claimed("signed" if q.sign else "moved", (name_of(reading),), pair, q))


@_reads(r"=?Q")
def _is(reading: Reading, text: str) -> None:
    q = reading.take().thing
    if q.sign == "+" or (text == "Q" and q.unit == "%" and reading.told):
        pair = pair_of(reading)
        if q.sign != "+":
            raise Unclear("a share or a change")
        reading.found.append(Claimed("signed", (name_of(reading),), pair, q))
        return
    if q.sign == "-" and reading.told and reading.pair is not None:
        raise Unclear("a value or a change")
    if q.unit in {"ratio", "factor"}:
        raise Unclear("a factor of what")
    add_value(reading, name_of(reading), place_of(reading), q)


@_reads(r"N")
def _named(reading: Reading, text: str) -> None:
    reading.names.append(reading.take().thing)


@_reads(r"(?:从|由|自|到|至)?P")
def _placed(reading: Reading, text: str) -> None:
    reading.places.append(reading.take().thing)


@_reads(r"\(")
def _opens(reading: Reading, text: str) -> None:
    reading.aside = [*reading.places]


@_reads(r"\)")
def _closes(reading: Reading, text: str) -> None:
    if reading.aside:  # what a bracket adds is not what the sentence goes on with
        reading.places = [*(p for p in reading.places if p not in reading.aside), *reading.aside]
    reading.aside = []


@_reads(r"[,;:.、=→]")
def _joint(reading: Reading, text: str) -> None:
    pass
