"""Numbers that are values: at a step, over some, or at none that is said."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame, places_of
from assistant.ground.changes import _is_reference
from assistant.ground.cues import cue, end_said, outside
from assistant.ground.deciding import Decision
from assistant.ground.extremes import Extremes, beside_extreme, nearest_extreme
from assistant.ground.lexicon import Named
from assistant.ground.places import Place, part_of, training
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees
from assistant.ground.verdicts import as_shown, plain

_BEST_AT: Final = re.compile(
    r"(?i)(?:(?P<best>\bbest\b|最好|最佳)|(?P<worst>\bworst\b|最差)|(?P<max>\bhighest\b|\bpeak(?:s|ed)?\b|\blargest\b|最[高大长慢])|(?P<min>\blowest\b|\bsmallest\b|最[低小短快]))"
    r"[^.;，。；]{0,60}?(?:\bstep\b|[一的]?步|出现在|在第|是第|(?=$))"
)
_EVENT: Final = re.compile(
    r"(?i)exceed|surpass|突破|超过|cross|dropp?ed below|fell below|跌破|reach|went (?:above|over|below)|rose above"
)
#: "The last 10 values": of the metric, at whatever steps.
_OF_VALUES: Final = re.compile(r"(?i)\b(?:values?|points?|readings?|records?|rows?|entries)\b|点|值|记录|数$")
#: "0.9 % at most (step 39) and 0.3 % on average": over all steps.
_ON_AVERAGE: Final = re.compile(
    r"(?i)[`*\s]*(?:s|tokens?)?\s*on average\b(?! (?:at|on|in|by|over|across|during|from|between))"
)
_NEVER: Final = re.compile(r"(?i)\bnever\b|\bat most\s*$|(?:最多|至多)\s*$|从来没有|从未|从没|始终没有|一直没有")
_EVER: Final = re.compile(
    r"(?i)从来|从没|没有|没再|未再|不再|\balways\b|\bthroughout\b|\bnever\b|\bstay(?:s|ed)?\b|\bremain(?:s|ed)?\b|\bkept?\b|\bevery\b|\ball\b|\beach\b|始终|一直|所有|每|全程|均|都|从未|从不|保持"
)
#: "恒为 0", "stays at 0.47": the same at each step, not where the stretch ends.
_CONSTANT: Final = re.compile(
    r"(?i)(?:恒定?|都|均|皆|一直|始终|总|全部|全都?|保持|维持)(?:保持|维持|等于|为|是|在)*\s*[`*]*$"
    r"|\b(?:stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|(?:is|are|was|were) (?:always|constantly|constant|flat|stuck|pinned|fixed)|sits?|sat|stuck|pinned|constant|flat) (?:flat |constant |steady |stuck |fixed |exactly )?at (?:exactly )?[`*]*$"
)


class Cells(Extremes):
    """Decides numbers that are values of one metric."""

    def __init__(self, table: Table, language: str) -> None:
        super().__init__(table, language)
        self.changes.placed = self._placed

    def scope(self, frame: Frame, index: int, key: str) -> tuple[tuple[int, ...], str]:
        """Steps that a number is about, and how: ``one``, ``list``, ``span``, ``pair``, ``carried`` or ``none``."""
        found, _ = places_of(frame, index)
        q, held = frame.numbers[index], self.table.held(key) if key in self.table.run.columns else []
        if held and found and found[0].kind == "ends" and frame.clause(found[0].start) != frame.clause(q.start) and end_said(frame, q) == "end":  # fmt: skip
            return (held[-1],), "one"  # "从 0.88 起步，止于 0.3"
        if (
            found
            and set(found[0].steps) <= excepted(frame, frame.numbers[index])
            and _EXCEPTED.search(frame.text[found[0].end : frame.numbers[index].start])
        ):
            spans = [p for p in frame.places if p.kind == "range"]
            return (spans[0].steps, "span") if spans else ((), "none")
        if found and found[0].kind != "range" and _ON_AVERAGE.match(frame.text[frame.numbers[index].end :]):
            return (), "none"
        if found:
            place = self._placed(frame, found[0], key)
            if place.kind == "range":
                return place.steps, "span"
            if place.kind == "pair":
                return place.steps, "pair"
            return place.steps, "one" if len(place.steps) == 1 else "list"
        carried = frame.carried
        if carried.steps:
            return carried.steps, "carried" if len(carried.steps) == 1 else "carried_list"
        if carried.span:
            return carried.span, "span"
        return (), "none"

    def _placed(self, frame: Frame, place: Place, key: str) -> Place:
        """ "At the start" and "ended at" mean the first and the last step that hold the metric."""
        told = frame.text[place.start : place.end]
        held = self.table.held(key) if key in self.table.run.columns else []
        if place.kind == "range" and held and (part := part_of(told)) is not None:
            count, divisor, tail = part
            rows = held[-(len(held) // divisor) :] if tail else held[: len(held) // divisor]
            of_values = any(_OF_VALUES.search(frame.text[p.start : p.end]) for p in frame.places)
            if of_values and divisor == 1 and count <= len(held):
                rows = held[-count:] if tail else held[:count]
            elif not divisor - 1:
                rows = [s for s in held if place.steps[0] <= s <= place.steps[-1]]
                rows = (
                    held[:count]
                    if not tail and held[0] == 0 and 0 not in self._validated() and count <= len(held)
                    else rows
                )
            return Place(place.start, place.end, (rows[0], rows[-1]), "range") if len(rows) > 1 else place
        if place.kind != "ends" or re.search(r"\d", told):
            return place
        steps = self.table.steps
        if not held:
            return place
        first = place.steps[0] in {steps[0], *training(steps)[:1]} and place.steps[0] != steps[-1]
        if first:
            return Place(place.start, place.end, (held[0],), "ends")
        if not re.search(r"(?i)\bstep\b|步", frame.text[place.start : place.end]):
            return Place(place.start, place.end, (held[-1],), "ends")
        return place

    def _validated(self) -> set[int]:
        """Steps before training that only validate: step 0 where no training metric is logged at it."""
        from assistant.ground.counting import VALIDATION

        first = self.table.steps[0] if self.table.steps else None
        keys = [k for k in self.table.run.columns if not VALIDATION.match(k) and not k.startswith(("timing", "perf/"))]
        trained = any(self.table.value(k, first) is not None for k in keys) if first is not None else True
        return set() if trained or first is None else {first}

    def cell(self, q: Quantity, key: str, step: int) -> Decision:
        """A number as the value of a metric at one step."""
        table = self.table
        value = table.value(key, step)
        if value is None:
            return self.missing(key, step)
        cell = table.run.cell(key, step)
        line = cell.line if cell else 0
        fact = table.ledger.value(key, step, table.run)
        identity = fact.id if fact else None
        held = table.readings(q, key, value)
        if any(agrees(shown, half, value, bound=q.bound) for shown, half in held):
            note = self.say("ok_value", metric=key, step=step, true=as_shown(value, q, table.kind(key)), line=line)
            return Decision("supported", note, identity, key, step)
        shown = as_shown(value, q, table.kind(key))
        note = self.say("bound" if q.bound else "value", metric=key, step=step, true=shown, shown=q.text, line=line)
        return Decision("contradicted", note, identity, key, step)

    def missing(self, key: str, step: int) -> Decision:
        """The verdict on a value said of a cell that is not there."""
        table = self.table
        if step not in table.steps:
            if not table.steps:
                return Decision("unsupported", "")
            note = self.say("no_step", step=step, first=table.steps[0], last=table.steps[-1])
            return Decision("contradicted", note, None, key, step)
        gap = table.run.missing_at(key, step) or next(
            (g for g in table.run.missing if g.metric is None and g.step == step), None
        )
        fact = table.ledger.missing(key, step, table.run)
        note = (
            self.say("missing_cut", metric=key, step=step, line=gap.line) if gap is not None
            else self.say("missing", metric=key, step=step)
        )  # fmt: skip
        return Decision("contradicted", note, fact.id, key, step)

    def _as_value(  # noqa: PLR0917
        self, frame: Frame, index: int, key: str, name: Named, steps: Sequence[int], how: str, *, quiet: bool = False
    ) -> Decision | None:  # fmt: skip
        """The number as a value of a metric: at a step, or the extreme, mean or sum over some."""
        q = frame.numbers[index]
        result = self._value(frame, index, key, name, steps, how)
        if quiet:
            return result if result is not None and result.status == "supported" else None
        if result is not None and q.bound and result.status != "supported":
            return result
        return result

    def _value(  # noqa: PLR0917
        self, frame: Frame, index: int, key: str, name: Named, steps: Sequence[int], how: str
    ) -> Decision | None:
        q, table = frame.numbers[index], self.table
        clause = outside(frame, *frame.clause_span(q.start))
        if name.statistic and _THAN.search(
            frame.text[max([0, *(n.end for n in frame.numbers if n.end <= q.start)]) : q.start]
        ):
            name = replace(name, statistic="")  # "peaks at 0.777, 0.07 above the last step's 0.707"
        if name.statistic in {"max", "min"} and not key.endswith(f"/{name.statistic}"):  # "lowest 3 (…), highest 9 (…)"
            passed = how == "one" and any(
                name.end <= n.start < q.start for n in frame.numbers
            )  # "…最大 10.4，到第 9 步已是 1.03"
            kept = "" if passed and places_of(frame, index)[1] in {"own", "clause"} else name.statistic
            name = replace(name, statistic=beside_extreme(frame, q) or nearest_extreme(frame, q) or kept)
        if not table.readings(q, key):
            return self._wrong_unit(q, key, steps)
        group = frame.group_of(index)
        singles = [p for p in frame.places if len(p.steps) == 1]
        if (
            group is not None and group.form in {"list", "versus"} and len(singles) == len(group.members) > 1
            and (group.form == "versus" or not any(places_of(frame, at)[1] == "own" and _touching(frame, at) for at in group.members))
        ):  # fmt: skip
            if group.form == "versus" and _is_reference(frame, singles[0]) and not _is_reference(frame, singles[-1]):
                singles = singles[::-1]  # "compared with step 1, step 9 has half the entropy (0.12 vs 0.24)"
            steps, how = singles[group.members.index(index)].steps, "one"
        elif (
            group is not None
            and group.form in {"list", "versus"}
            and len(frame.places) == 1
            and len(frame.places[0].steps) == len(group.members)
            and (len(group.members) == 2 or frame.places[0].kind != "range")
        ):
            steps, how = (frame.places[0].steps[group.members.index(index)],), "one"
        if how in {"list", "carried_list"} and group is not None and len(group.members) == len(steps):
            steps, how = (steps[group.members.index(index)],), "one"
        if how == "span" and group is not None and group.form == "list" and len(group.members) > 1:
            rows = table.finite(key, steps)
            numbers = [frame.numbers[at] for at in group.members]
            at = 0
            for step, _ in rows:  # "from step 130 on: -0.69, -0.66, -0.65": in this order
                at += at < len(numbers) and self.cell(numbers[at], key, step).status == "supported"
            if at == len(numbers):
                return Decision("supported", "", None, key)
        if how == "span" and not q.bound and _GONE_TO.search(frame.text[max(0, q.start - 24) : q.start]):
            rows = table.finite(key, (min(steps), max(steps)))
            if rows and (reached := self.cell(q, key, rows[-1][0])).status == "supported":
                return reached  # "over steps 45 to 85 it fell by 46 %, to 853"
        aggregate = self._aggregate(frame, q, key, name, steps, how, clause)
        if aggregate is not None and aggregate.status == "supported":
            return aggregate
        if how in {"one", "carried", "list", "carried_list"}:
            decisions = [self.cell(q, key, step) for step in steps]
            if how in {"list", "carried_list"} and len(steps) > 1:
                if (
                    cue("to").search(outside(frame, max(0, q.start - 20), q.start))
                    and decisions[-1].status == "supported"
                ):
                    return decisions[-1]
                if all(d.status == "supported" for d in decisions):
                    return decisions[0]
                if how == "carried_list" or re.search(r"(?i)\band\b|和|与|、|,", frame.text):
                    good = next((d for d in decisions if d.status == "supported"), None)
                    if good is not None and how == "carried_list":
                        return good
            first = next((d for d in decisions if d.status != "supported"), decisions[0])
            if first.status != "supported" and aggregate is not None and how == "carried":
                return aggregate
            if (
                first.status == "supported"
                and name.statistic in {"max", "min"}
                and not key.endswith(f"/{name.statistic}")
            ):
                extreme = self._extreme(q, key, name.statistic, None, clause, steps[0])
                return first if extreme.status == "supported" else extreme
            superlative = self._superlative(frame, q, clause, name, key)
            if not superlative and how == "one" and len(frame.places) == 1 and not q.sign:
                superlative, clause = self._best_of(frame, q, key), frame.text
            if first.status == "supported" and superlative and how == "one":
                near = any(p.kind == "range" and frame.clause(p.start) == frame.clause(q.start) for p in frame.places)
                extreme = self._extreme(q, key, superlative, self._span(frame) if near else None, clause, steps[0])
                return first if extreme.status == "supported" else extreme
            return first
        if aggregate is not None and how in {"span", "pair"}:
            return aggregate
        if how == "pair" and q.bound and _EVER.search(clause):  # "stays below 0.1 between step 3 and step 9"
            return self._over(frame, q, key, (min(steps), max(steps)), clause)
        if how == "pair":
            ends = [self.cell(q, key, step) for step in steps]
            return next((d for d in ends if d.status == "supported"), ends[-1])
        if how == "span":
            return self._over(frame, q, key, steps, clause)
        if aggregate is not None:
            return aggregate
        everywhere = self._superlative(frame, q, outside(frame, 0, len(frame.text)), name, key)
        if everywhere and len(table.finite(key)) > 1:
            extreme = self._extreme(q, key, everywhere, None, clause, None)
            if extreme.status == "supported":
                return extreme
        return self._somewhere(frame, q, key, clause)

    def _best_of(self, frame: Frame, q: Quantity, key: str) -> str:
        """``best at step 54, with 61.6%``, ``KL 最大的一步是 step 1，达到 0``: which extreme the sentence says the step is of."""
        match = _BEST_AT.search(outside(frame, 0, len(frame.text)))
        if match is None or len({n.keys[:1] for n in frame.names if n.keys}) > 1 or key.endswith(("/max", "/min")):
            return ""
        if match["best"] or match["worst"]:
            better = self.table.better(key)
            if not better:
                return ""
            return "max" if (better == "higher") == bool(match["best"]) else "min"
        return "max" if match["max"] else "min"

    def _over(self, frame: Frame, q: Quantity, key: str, steps: Sequence[int], clause: str) -> Decision:
        """A number said of a stretch of steps: the same at each, a bound that all keep, or where it ends."""
        table = self.table
        left_out = excepted(frame, q)
        rows = [(s, v) for s, v in table.within(key, steps) if s not in left_out]
        if not rows:
            return self.missing(key, steps[-1])
        fits = [self.cell(q, key, step) for step, _ in rows]
        good = [d for d in fits if d.status == "supported"]
        if (
            len(good) == len(fits)
            and q.bound
            and _NEVER.search(frame.text[max(0, q.start - 40) : q.start])
            and not self._close(q, key, rows)
        ):
            return Decision(
                "unsupported",
                self.say(
                    "range",
                    metric=key,
                    low=plain(min(v for _, v in rows)),
                    high=plain(max(v for _, v in rows)),
                    shown=q.text,
                ),
            )
        if len(good) == len(fits) and q.bound and left_out:  # "above 2 but for step 9": there it is not
            inside = [self.cell(q, key, s) for s in sorted(left_out) if min(steps) <= s <= max(steps) and table.value(key, s) is not None]  # fmt: skip
            if (odd := next((d for d in inside if d.status == "supported"), None)) is not None:
                note = self.say("held", metric=key, step=odd.step or 0, true=as_shown(table.value(key, odd.step or 0) or 0.0, q, table.kind(key)), line=0)  # fmt: skip
                return Decision("contradicted", note, odd.fact, key)
        if len(good) == len(fits):
            return good[0]
        if q.bound and len(good) == len(fits):
            return good[0]
        if q.bound and good and not _EVER.search(clause) and _EVENT.search(frame.text[max(0, q.start - 30) : q.start]):
            return good[0]
        if (
            not q.bound
            and cue("to").search(outside(frame, max(0, q.start - 24), q.start))
            and not _CONSTANT.search(frame.text[max(0, q.start - 24) : q.start])
            and fits[-1].status == "supported"
        ):
            return fits[-1]
        bad = next(d for d in fits if d.status != "supported")
        return bad if q.bound else (fits[-1] if fits[-1].status != "supported" else bad)

    def _somewhere(self, frame: Frame, q: Quantity, key: str, clause: str) -> Decision:
        """A number with no step said: the last or first value, the only one, or one that is telling enough."""
        table = self.table
        rows = table.within(key, None)
        if not rows:
            return Decision("contradicted", self.say("no_metric", metric=key))
        if q.bound:
            return self._over(frame, q, key, (rows[0][0], rows[-1][0]), clause)
        if (said := end_said(frame, q)) and not any(n.bound for n in frame.numbers):
            own = [self.cell(q, key, step) for step, _ in (rows[:2] if said == "start" else rows[-1:])]
            return next((d for d in own if d.status == "supported"), own[0])
        hits = [self.cell(q, key, step) for step, _ in rows[:3000]]
        good = [d for d in hits if d.status == "supported"]
        if good and (len(good) == len(rows) or hits[-1].status == "supported" or hits[0].status == "supported"):
            return hits[-1] if hits[-1].status == "supported" else good[0]
        finite = [v for _, v in rows if math.isfinite(v)]
        if good and finite:
            spread = max(finite) - min(finite)
            half = max(b for _, b in table.readings(q, key, finite[0]) or [(0, 0)])
            if len(rows) * 2 * half <= 0.5 * spread or len(rows) <= 6:
                return good[0]
        last_step, last = rows[-1]
        kind = table.kind(key)
        low, high = (min(finite), max(finite)) if finite else (math.nan, math.nan)
        fact = table.ledger.value(key, last_step, table.run)
        if len(rows) == 1:
            return hits[0]
        note = self.say("anywhere", metric=key, shown=q.text, low=as_shown(low, q, kind), high=as_shown(high, q, kind),
                        step=last_step, true=as_shown(last, q, kind))  # fmt: skip
        return Decision("contradicted", note, fact.id if fact else None, key)


_GONE_TO: Final = re.compile(r"(?i)(?:\bto|降到|升到|到|至)\s*(?:about|around|roughly|just|约)?\s*[`*]*$")
_THAN: Final = re.compile(r"(?i)\bthan\b|\babove\b|\bbelow\b|比|较|相比|高于|低于")
_EXCEPT: Final = re.compile(
    r"(?i)(?:\bexcept(?:ing)?(?: for)?|\bapart from|\bother than|\bexcluding|\bbesides|除(?:了|去)?(?:[^，。；、\d]{0,6}的)?|不算|不计)\s*(?:at|in|on|the|在)?\s*(?:the |very )*$"
)


#: "…, and never exceeds 19 in any other step": but for the step named, there or before.
_OTHERS: Final = re.compile(
    r"(?i)\b(?:any|no|every|each|all) other (?:logged |training )?(?:step|iteration|update|row|record)s?\b|其[余他](?:的)?(?:各|每|所有)?一?个?步"
)
_EXCEPTED: Final = re.compile(r"[外，,]|^(?!.*反弹)")


def excepted(frame: Frame, q: Quantity | None = None) -> set[int]:
    """Steps that a sentence leaves out: ``except step 47``, ``除了 step 47 之外``; of a bound also "in any other step"."""
    left_out = {s for p in frame.places if _EXCEPT.search(frame.text[: p.start]) for s in p.steps}
    if 1 in left_out and any(
        p.steps == (1,) and re.search(r"(?i)第一|首|first", frame.text[p.start : p.end]) for p in frame.places
    ):
        left_out.add(0)  # "but for the first": step 0 where that holds the metric
    if left_out or q is None or not q.bound or not _OTHERS.search(frame.text):
        return left_out
    named = {p.steps[0] for p in frame.places if len(p.steps) == 1}
    return named or set(frame.carried.steps[-1:])


def _touching(frame: Frame, index: int) -> bool:
    """Whether a step stands right beside a number."""
    q = frame.numbers[index]
    return any(0 <= p.start - q.end <= 6 or 0 <= q.start - p.end <= 4 for p in frame.places)
