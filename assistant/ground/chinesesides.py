"""Signs of Chinese sentences that set metrics against one another: sums, shares, factors, means, extremes."""

from __future__ import annotations

from dataclasses import replace

from assistant.ground.chinesereading import (
    FIRST,
    LAST,
    Claimed,
    Reading,
    Unclear,
    add_value,
    add_way,
    name_of,
    pair_of,
    place_of,
    reads,
)  # fmt: skip


@reads(r"Y")
def _as_share(reading: Reading, text: str) -> None:
    reading.share = True


@reads(r"H")
def _over_all(reading: Reading, text: str) -> None:
    reading.pair, reading.against = (FIRST, LAST), None


@reads(r"N(?:和N)+S[=:]?Q")
def _summed(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing for _ in range(text.count("N"))]
    reading.names, q = [*reading.group], reading.take().thing
    if q.unit in {"%", "ratio", "factor", "pp"} or q.sign:
        raise Unclear("no sum")
    reading.found.append(Claimed("sum", tuple(reading.group), (place_of(reading),), q))


@reads(r"NS[=:]?Q(?:,=?Q(?=$))?")
def _total(reading: Reading, text: str) -> None:
    name = reading.take().thing
    numbers = [reading.take().thing for _ in range(text.count("Q"))]
    reading.names.append(name)
    if (
        reading.pair is None
        or reading.places
        or any(q.sign or q.unit in {"%", "ratio", "factor", "pp"} for q in numbers)
    ):
        raise Unclear("a sum over no stretch")
    reading.found += [Claimed("total", (name,), reading.pair, q) for q in numbers]


@reads(r"S?O[=:]?Q")
def _part_of_step(reading: Reading, text: str) -> None:
    q = reading.take().thing
    if q.unit != "%" or not reading.names:
        raise Unclear("no share")
    names = tuple(reading.group) if len(reading.group) > 1 else (name_of(reading),)
    reading.found.append(Claimed("share", names, (place_of(reading),), q))


@reads(r"UN")
def _most(reading: Reading, text: str) -> None:
    name = reading.take().thing
    reading.names.append(name)
    reading.found.append(Claimed("most", (name,), (place_of(reading),)))


@reads(r"NL")
def _then(reading: Reading, text: str) -> None:
    before, name = name_of(reading), reading.take().thing
    reading.names.append(name)
    reading.found.append(Claimed("more", (before, name), (place_of(reading),), None, 1))


@reads(r"N(?:和|、|/)N(?=[PR,]*F)")
def _each(reading: Reading, text: str) -> None:
    reading.group = [reading.take().thing, reading.take().thing]


@reads(r"F?WQ[和、,]WQ(?=$|[,;.)])")
def _each_by(reading: Reading, text: str) -> None:
    one, q, two, r = (reading.take() for _ in range(4))
    if len(reading.group) != 2:
        raise Unclear("not of two metrics")
    for name, way, number in zip(reading.group, (one, two), (q.thing, r.thing), strict=True):
        reading.names.append(name)
        add_way(reading, way, pair_of(reading))
        reading.found.append(Claimed("moved", (name,), pair_of(reading), number, way.sense, way.pace))


@reads(r"BMW[=]?Q?")
def _than_mean(reading: Reading, text: str) -> None:
    way = reading.take()
    at, name = (place_of(reading),), name_of(reading)
    reading.found.append(Claimed("over mean", (name,), at, None, way.sense, way.pace))
    if "Q" in text:
        reading.found.append(Claimed("off mean", (name,), at, reading.take().thing))


@reads(r"Q/Q")
def _part_and_whole(reading: Reading, text: str) -> None:
    part, whole = reading.take().thing, reading.take().thing
    if part.unit != "s" or whole.unit != "s":
        raise Unclear("no times")
    reading.found.append(Claimed("value", (name_of(reading),), (place_of(reading),), part))
    reading.found.append(Claimed("whole", (name_of(reading),), (place_of(reading),), whole))


@reads(r"N(?:=?Q|\(Q\))?GN(?:=?Q(?!、)|\(Q\))?")
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


@reads(r"P[IJ](?:=?Q|\(Q\))")
def _extreme_at(reading: Reading, text: str) -> None:
    place, q = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    reading.found.append(Claimed("extreme", (name_of(reading),), (place,), None, 1 if "I" in text else -1))


@reads(r"[IJ]=?Q\(P\)|[IJ]\(Q,P\)")
def _extreme_of(reading: Reading, text: str) -> None:
    q, place = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    reading.found.append(Claimed("extreme", (name_of(reading),), (place,), None, 1 if "I" in text else -1))


@reads(r"NBNW=?Q?")
def _more_by(reading: Reading, text: str) -> None:
    one, two, way = reading.take().thing, reading.take().thing, reading.take()
    place = place_of(reading)
    reading.names += [one, two]
    reading.found.append(Claimed("more", (one, two), (place,), None, way.sense, way.pace))
    if "Q" in text:
        reading.found.append(Claimed("apart", (one, two), (place,), reading.take().thing))


@reads(r"N和ND[=:]?Q")
def _both_apart(reading: Reading, text: str) -> None:
    one, two, q = reading.take().thing, reading.take().thing, reading.take().thing
    reading.names, reading.group = [*reading.names, one, two], [one, two]
    if q.sign:
        raise Unclear("a signed difference of two metrics")
    reading.found.append(Claimed("apart", (one, two), (place_of(reading),), q))


@reads(r"MQ|M=Q")
def _mean_is(reading: Reading, text: str) -> None:
    if reading.pair not in {None, (FIRST, LAST)}:
        raise Unclear("a mean over a stretch")
    reading.found.append(Claimed("mean", (name_of(reading),), (FIRST,), reading.take().thing))


@reads(r"GM")
def _over_the_mean(reading: Reading, text: str) -> None:
    way = reading.take()
    reading.found.append(Claimed("over mean", (name_of(reading),), (place_of(reading),), None, way.sense, way.pace))


@reads(r"N=?Q(?:[+和]N=?Q)+=Q")
def _added(reading: Reading, text: str) -> None:
    place = place_of(reading)
    told = []
    for _ in range(text.count("N")):
        told.append(reading.take().thing)
        add_value(reading, told[-1], place, reading.take().thing)
    reading.names, reading.group = [*reading.names, *told], told
    reading.found.append(Claimed("sum", tuple(told), (place,), reading.take().thing))


@reads(r"FW[,、和]?FW")
def _one_each(reading: Reading, text: str) -> None:
    one, two = reading.take(), reading.take()
    names = list({n.keys: n for n in reading.names}.values())[-2:]
    if len(names) != 2:
        raise Unclear("not of two metrics")
    for name, way in zip(names, (one, two), strict=True):
        reading.names.append(name)
        add_way(reading, way, pair_of(reading))


@reads(r"I=?PQ|J=?PQ")
def _extreme_is_at(reading: Reading, text: str) -> None:
    place, q = reading.take().thing, reading.take().thing
    reading.places.append(place)
    add_value(reading, name_of(reading), place, q)
    reading.found.append(Claimed("extreme", (name_of(reading),), (place,), None, 1 if text[0] == "I" else -1))


@reads(r"N(?:和|/|与)NX[=:]?Q:Q")
def _one_to(reading: Reading, text: str) -> None:
    one, two, q, unit = (reading.take().thing for _ in range(4))
    if unit.number != 1 or q.unit not in {"", "ratio"}:
        raise Unclear("no ratio to one")
    reading.names += [one, two]
    reading.found.append(Claimed("times", (one, two), (place_of(reading),), replace(q, unit="ratio")))


@reads(r"=N=?Q|N/N=?Q|N(?:和|/)NX[=:]?Q")
def _times(reading: Reading, text: str) -> None:
    if text.startswith("="):
        one, two, q = name_of(reading), reading.take().thing, reading.take().thing
    else:
        one, two, q = reading.take().thing, reading.take().thing, reading.take().thing
    if q.unit not in {"ratio", "factor", "%", ""} or (q.unit == "" and text.startswith("=")):
        raise Unclear("no ratio")
    reading.names.append(two)
    reading.found.append(Claimed("times", (one, two), (place_of(reading),), q))
