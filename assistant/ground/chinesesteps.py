"""Signs of Chinese sentences that tell a metric's values at steps, and what it did between them."""

from __future__ import annotations

from dataclasses import replace

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
    listed_in,
    name_of,
    pair_of,
    place_of,
    reads,
)  # fmt: skip


@reads(r"(?:从|由|自)?P(?:到|至|→|~|-)P")
def _from_to(reading: Reading, text: str) -> None:
    one, two = reading.take().thing, reading.take().thing
    reading.pair, reading.listed, reading.against = (one, two), (), None


@reads(r"P(?:(?:和|、|,)P)+(?=:?[NR=Q,])")
def _several(reading: Reading, text: str) -> None:
    places = [reading.take().thing for _ in range(text.count("P"))]
    reading.listed, reading.places = tuple(first_of(p) for p in places), []
    reading.pair = (places[0], places[-1]) if len(places) == 2 else None


@reads(r"(?:从|由|自)?R")
def _range(reading: Reading, text: str) -> None:
    place = reading.take().thing
    reading.pair, reading.against, reading.places = ends_of(place), None, []
    reading.listed = listed_in(place)


@reads(r"EP")
def _which_step(reading: Reading, text: str) -> None:
    way, place = reading.held[reading.at], reading.held[reading.at + 1].thing
    reading.at += 2
    told = [h.thing for h in reading.held if h.sign == "P"] + [*(reading.pair or ())]
    others = {first_of(p): p for p in told if first_of(p) != first_of(place)}
    if not others:
        raise Unclear("of one step")
    for other in others.values():
        add_way(reading, Held("W", way.sense, way.pace), (other, place))


@reads(r"BP(?:\(Q\)|=?Q(?=W|,?P|,?N)|,)?")
def _compared_with(reading: Reading, text: str) -> None:
    reading.against = reading.take().thing
    if "Q" in text:
        add_value(reading, name_of(reading), reading.against, reading.take().thing)


@reads(r"N(?:和|、|/)N(?:之)?(?==?Q[和、,]Q)")
def _both(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing, reading.take().thing]


@reads(r"=?Q(?:[和、,]Q)+(?=$|[,;.)])")
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


@reads(r"\(Q、Q\)")
def _against(reading: Reading, text: str) -> None:
    one, two = reading.take().thing, reading.take().thing
    if len(reading.group) == 2:
        for name, q in zip(reading.group, (one, two), strict=True):
            add_value(reading, name, place_of(reading), q)
        return
    first, second = pair_of(reading) if reading.against is None else pair_of(reading)[::-1]
    add_value(reading, name_of(reading), first, one)
    add_value(reading, name_of(reading), second, two)


@reads(r"[=从由]*Q(?:→|到|至|T)Q")
def _went(reading: Reading, text: str) -> None:
    one = reading.take().thing
    way = reading.take() if "T" in text else None
    two = reading.take().thing
    pair = pair_of(reading)
    add_value(reading, name_of(reading), pair[0], one)
    add_value(reading, name_of(reading), pair[1], two)
    if way is not None:
        add_way(reading, way, pair)


@reads(r"=PQ")
def _of_another(reading: Reading, text: str) -> None:
    base, q = reading.take().thing, reading.take().thing
    if q.unit not in {"ratio", "factor", "%"}:
        raise Unclear("a value of another step")
    others = [p for p in (*reading.places, *(reading.pair or ())) if p != base]
    if not others:
        raise Unclear("no other step")
    reading.found.append(Claimed("over", (name_of(reading),), (others[-1], base), q))


@reads(r"PTQ")
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


@reads(r"PN?W(?:\(Q\))?(?=$|[,;:、。)])")
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
    if not way.level or not others:
        raise Unclear("against no other step")
    if "Q" in text:
        add_value(reading, name_of(reading), place, reading.take().thing)
    for other in others.values():
        add_way(reading, way, (other, place))


@reads(r"(?:从|由|自)?P(?:[=:]?Q(?!\(P)|\(Q\))")
def _at(reading: Reading, text: str) -> None:
    place, q = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)


@reads(r"=?Q\(P\)")
def _of_step(reading: Reading, text: str) -> None:
    q, place = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)


@reads(r"TQ\(P\)")
def _to_at(reading: Reading, text: str) -> None:
    way, q, place = reading.take(), reading.take().thing, reading.take().thing
    before = next((p for p in reversed(reading.places) if p != place), None)
    if before is None:
        raise Unclear("from no step")
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    add_way(reading, way, (before, place))


@reads(r"TPQ")
def _to_step(reading: Reading, text: str) -> None:
    way, place, q = reading.take(), reading.take().thing, reading.take().thing
    if q.unit in {"ratio", "factor"} or (
        q.unit == "%" and not reading.told and not reading.share
    ):  # "缩到 step 9 的 56%": of what it was there
        told = [h.thing for h in reading.held if h.sign == "P" and first_of(h.thing) != first_of(place)]
        if len({first_of(p) for p in told}) != 1:
            raise Unclear("no one other step")
        reading.found.append(Claimed("over", (name_of(reading),), (told[0], place), q))
        add_way(reading, way, (place, told[0]))
        return
    later = [h.thing for h in reading.held[reading.at :] if h.sign == "P"]
    before = reading.places[-1] if reading.places else later[0] if later else None
    if before is None or before == place:
        raise Unclear("from no step")
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    add_way(reading, way, (before, place))


@reads(r"TQ")
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


@reads(r"[AZ]W[,、和]?[AZ]W")
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


@reads(r"[AZ]W")
def _which(reading: Reading, text: str) -> None:
    way = reading.take()
    if not reading.told and len(reading.group) == 2:
        (one, first), (two, second) = ((n, place_of(reading)) for n in reading.group)
    elif len(reading.told) == 2:
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


@reads(r"GP(?:\(Q\)|=?Q)?")
def _than_step(reading: Reading, text: str) -> None:
    way, place = reading.take(), reading.take().thing
    add_way(reading, way, (place, place_of(reading)))
    reading.against = place
    if "Q" in text:
        add_value(reading, name_of(reading), place, reading.take().thing)


@reads(r"W(?:[=:]?Q(?!\(P\)|→|、|到|T|P)|\(Q\))")
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


@reads(r"W")
def _went_so(reading: Reading, text: str) -> None:
    if reading.pair == (FIRST, LAST) and not any(h.sign == "Q" for h in reading.held):
        raise Unclear("a trend")
    add_way(reading, reading.take(), pair_of(reading))


@reads(r"V[=:]?[(]?Q[)]?")
def _changed(reading: Reading, text: str) -> None:
    if reading.share:
        raise Unclear("a change of a share")
    reading.found.append(Claimed("signed", (name_of(reading),), pair_of(reading), reading.take().thing))


@reads(r"D[=:]?Q")
def _differs(reading: Reading, text: str) -> None:
    if reading.share or len({n.keys for n, _ in reading.told}) > 1:
        raise Unclear("of two metrics")
    q = reading.take().thing
    pair = reading.pair if reading.pair is not None and reading.against is None and not q.sign else pair_of(reading)
    reading.found.append(Claimed("signed" if q.sign else "moved", (name_of(reading),), pair, q))


@reads(r"=?Q")
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


@reads(r"N")
def _named(reading: Reading, text: str) -> None:
    reading.names.append(reading.take().thing)


@reads(r"(?:从|由|自|到|至)?P")
def _placed(reading: Reading, text: str) -> None:
    reading.places.append(reading.take().thing)


@reads(r"\(")
def _opens(reading: Reading, text: str) -> None:
    reading.aside = [*reading.places]


@reads(r"\)")
def _closes(reading: Reading, text: str) -> None:
    if reading.aside:  # what a bracket adds is not what the sentence goes on with
        reading.places = [*(p for p in reading.places if p not in reading.aside), *reading.aside]
    reading.aside = []


@reads(r"[,;:.、=→]|和(?=N)")
def _joint(reading: Reading, text: str) -> None:
    pass
