"""One metric over steps: direction, slope with its interval, change points, in a sentence and as a chart."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from assistant.analysis import Ledger
from assistant.analysis.changepoints import ChangePoint
from assistant.analysis.forecast import forecast, reach
from assistant.analysis.series import series
from assistant.analysis.trend import MIN_POINTS, Knot, Scale
from assistant.ask.answer_ahead import confidence_level
from assistant.ask.context import Context
from assistant.ask.course_moves import extremes_of, jump_sentence
from assistant.ask.course_words import course_sentence, tail_sentence
from assistant.ask.in_order_words import order_sentence
from assistant.ask.pace_words import paced_sentence
from assistant.ask.possible import possible
from assistant.knowledge import Resolver
from assistant.model import Answer, Fact, InputError, Run, UnknownMetric, Verdict
from assistant.service.facade import Material
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number, percent, signed

_WAY = {"rising": "up", "falling": "down"}
#: Change points listed below the sentence.
MOST_CHANGES = 5


@dataclass(frozen=True)
class TrendReport:
    """What is known of a metric's course.

    Attributes:
        answer: sentence, verdict, facts, chart: the object that ``explain`` returns.
        run: the run it is about.
        metric: key, as the log spells it.
        steps: of the points looked at, ascending.
        values: the finite values there.
        trend: the trend as a fact, numbered as in the answer; ``None`` where there is no finite value.
        changes: jumps and bends.
        scale: ``log`` where factors were looked at.
        kind: how the metric's numbers are written (:func:`assistant.write.numbers.format_number`).
        knots: steps and levels where the stretches of a ramp or a turn meet.
    """

    answer: Answer
    run: Run
    metric: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    trend: Fact | None
    changes: tuple[ChangePoint, ...]
    scale: Scale
    kind: str
    knots: tuple[Knot, ...] = ()

    def label(self, value: float) -> str:
        """A value as it stands on an axis: short, without a unit in words."""
        return format_number(value, "fraction" if self.kind == "fraction" else "number")

    def lines(self) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        """What to draw over the values: medians between jumps, the line of a trend, the levels of a ramp or turn."""
        if len(self.knots) > 1:
            return [(tuple(step for step, _ in self.knots), tuple(level for _, level in self.knots))]
        if self.trend is not None and self.trend.form == "slope" and self.trend.slope_per_step is not None:
            slope, growth = self.trend.slope_per_step, self.trend.growth_per_step
            base, middle = median(self.steps), median(self.values)
            if growth is not None:
                drawn = tuple(middle * (1 + growth) ** (step - base) for step in self.steps)
            else:
                # Through the median of what is left when the slope is taken away (Conover 1980).
                level = median(v - slope * s for s, v in zip(self.steps, self.values, strict=True))
                drawn = tuple(level + slope * step for step in self.steps)
            return [(self.steps, drawn)]
        if not self.changes or any(change.kind != "level" for change in self.changes):
            return []
        starts = [self.steps[0], *(change.step for change in self.changes)]
        heights = [self.changes[0].before, *(change.after for change in self.changes)]
        lines = []
        for start, end, height in zip(starts, [*starts[1:], self.steps[-1] + 1], heights, strict=True):
            held = tuple(step for step in self.steps if start <= step < end)
            lines.append((held, (height,) * len(held)))
        return lines

    def to_json(self) -> dict[str, Any]:
        """The answer's object, with ``metric`` and ``change_points`` beside it."""
        found = [
            {
                "step": c.step, "kind": c.kind, "before": c.before, "after": c.after, "p_value": c.p_value,
                "strength": c.strength if math.isfinite(c.strength) else None,
            }
            for c in self.changes
        ]  # fmt: skip
        return {**self.answer.to_json(), "metric": self.metric, "change_points": found}


#: Last parts of keys whose values move by factors: divergences and learning rates.
_BY_FACTORS = re.compile(
    r"(?:^|[/_. ])(?:lr|learning_rate|k[123]_kl|(?:approx_?|ppo_?|policy_?|ref_?)?kl(?:_loss|_div)?)(?:$|[/@ ])"
)
#: From this ratio of largest to smallest value on, factors say more than differences.
MANY_FOLD = 10.0


def usual_scale(metric: str, values: Sequence[float]) -> Scale:
    """``log`` for a divergence or learning rate that is positive and spans a factor of ten, else ``linear``."""
    if not values or min(values) <= 0 or not _BY_FACTORS.search(metric.lower()):
        return "linear"
    return "log" if max(values) >= MANY_FOLD * min(values) else "linear"


def trend(
    material: Material, metric: str, *, resolver: Resolver | None = None, run: str | None = None,
    steps: tuple[int | None, int | None] | None = None, last: int | None = None, scale: Scale | None = None,
    at: int | None = None, target: float | None = None, language: str = "en",
) -> TrendReport:  # fmt: skip
    """The course of one metric of a log.

    Args:
        material: what was read.
        metric: key, alias or plain words.
        resolver: of names; by default the service's.
        run: id of the run; by default the first that holds the metric.
        steps: first and last step to look at, either open.
        last: only so many points from the end (of those).
        scale: ``log`` for a metric that grows by factors; by default the metric's own (:func:`usual_scale`).
        at: a future step whose value is asked for.
        target: a value of which is asked when the trend reaches it.
        language: of the sentence, ``zh`` or ``en``.

    Raises:
        InputError: no run, no such run, no value in the range, or no logarithm of a value there.
        UnknownMetric: the log has no such metric; the message names the nearest ones.
    """
    from assistant.ask.understand import Query

    started = time.perf_counter()
    if resolver is None:
        from assistant.service.facade import service

        resolver = service().resolver
    chosen, key = _found(material.runs, metric, resolver, run)
    whole = series(chosen, key)
    part = whole
    if steps is not None:
        low, high = steps
        ends = (int(whole.steps[0]), int(whole.steps[-1])) if len(whole) else (0, 0)
        part = part.between(ends[0] if low is None else low, ends[1] if high is None else high)
    if last is not None:
        part = part.last(last)
    if not len(part):
        raise _nothing(chosen, key, asked=steps is not None)
    if scale is None:
        scale = usual_scale(key, part.values.tolist())
    if scale == "log" and part.values.min() <= 0:
        raise InputError(
            zh=f"{key} 有不大于零的值，不能用对数刻度：去掉 --log。",
            en=f"{key} has values that are not positive, which have no logarithm: leave out --log.",
        )
    context = Context(Query(metric, language, "trend"), (chosen,), resolver, Ledger([chosen]))
    if run is None and len(material.runs) > 1:
        context.warnings.append(context.say("note.other_runs", n=str(len(material.runs)), name=chosen.name))
    picked = None if len(part) == len(whole) else [int(step) for step in part.steps]
    work = _Telling(context, key, picked, scale)
    work.tell(whole.dropped if picked is None else 0)
    work.look_ahead(at, target)
    context.metrics.append(key)
    _chart(context, key, part.steps.tolist(), part.values.tolist())
    from assistant.ask.engine import finish

    answer = finish(context, work.verdict, None, time.perf_counter() - started)
    told = next((fact for fact in answer.facts if fact.kind == "trend"), None)
    return TrendReport(
        answer, chosen, key, tuple(part.steps.tolist()), tuple(part.values.tolist()), told,
        tuple(change for change, _, _ in work.changes), scale, context.kind_of(key),
        work.knots,
    )  # fmt: skip


class _Telling:
    """Sentences about one trend."""

    def __init__(self, context: Context, metric: str, steps: Sequence[int] | None, scale: Scale) -> None:
        self.context, self.metric, self.steps, self.scale = context, metric, steps, scale
        self.kind = context.kind_of(metric)
        fact = context.ledger.trend(metric, steps, scale=scale)
        assert fact is not None  # at least one point was found
        self.fact = fact
        self.changes = context.ledger.changes(fact, steps, scale=scale)
        detail = context.ledger.trend_detail(metric, steps, scale=scale)
        self.knots = () if detail is None else detail.knots
        self.verdict = Verdict("inconclusive", "", "low")

    @property
    def _listed(self) -> list[int] | None:
        return None if self.steps is None else list(self.steps)

    def tell(self, dropped: int) -> None:
        """Writes the answer and sets the verdict."""
        context, fact, doc = self.context, self.fact, self.context.doc
        sentence = self._sentence()
        doc.paragraph(f"**{sentence}**")
        code = fact.direction or "inconclusive"
        further = []
        ends = {"first": self._value(fact.first_step), "last": self._value(fact.last_step)}
        if (fact.n or 0) >= MIN_POINTS and code != "flat" and all(ends.values()):
            levels = context.levels(self.metric, fact)
            further.append(context.say("trend.moved", **levels) if levels else context.say("trend.moved_ends", **ends))
            tail = tail_sentence(context, self.metric, fact, self._listed, scale=self.scale)
            further += [tail] if tail else []
            if fact.low is not None and fact.form in {"walk", "drift", None}:
                further.append(context.say("trend.slope_unsure", t=fact))
        ended = self._ends_not_finite()
        if ended is not None:
            further.append(context.say("trend.not_finite_end", **ended))
        if ended is not None and isinstance(ended["count"].value, int):
            dropped -= ended["count"].value
        if dropped > 0:
            count = context.ledger.count("not_finite", dropped, metric=self.metric)
            further.append(context.say("trend.not_finite", count=count))
        if code == "inconclusive":
            least = context.ledger.constant("least_points", MIN_POINTS, "trend")
            further.append(context.say("trend.few_note", least=least))
        doc.paragraph(*further)
        shown = self.changes[:MOST_CHANGES]
        if len(shown) > 1 or (shown and fact.form not in {"shift", "bend"}):
            sure = fact.form in {"shift", "bend", "ramp", "turn", "slope"}
            doc.heading("trend.changes_heading" if sure else "trend.maybe_heading")
            doc.bullets([self._change(*change) for change in shown])
        self.verdict = Verdict(code, unmark(sentence), "low" if code == "inconclusive" else "medium")

    def look_ahead(self, at: int | None, target: float | None) -> None:
        """What is foreseen, or why nothing is."""
        texts = []
        ended = self._ends_not_finite()
        bounds = possible(self.context, self.metric)
        if ended is not None and (at is not None or target is not None):
            texts.append(self.context.say("trend.refused_ends_not_finite", **ended))
            at = target = None
        if at is not None:
            fact, reason = forecast(
                self.context.ledger, self.metric, at, steps=self.steps, scale=self.scale, possible=bounds
            )
            logged = self.scale == "linear" and fact is not None and "log(" in (fact.formula or "")
            if reason == "impossible":
                texts.append(self._impossible(at, bounds))
            else:
                texts.append(self._ahead(fact, reason, "value_log" if logged else "value", self.kind))
        if target is not None:
            fact, reason = reach(
                self.context.ledger, self.metric, target, steps=self.steps, scale=self.scale, possible=bounds
            )
            asked = self.context.ledger.constant("target", target, "the request")
            shown = self.context.doc.show(asked, None, self.kind)
            latest = fact is None or fact.high is not None
            texts.append(self._ahead(fact, reason, "reach" if latest else "reach_open", "number", target=shown))
        self.context.doc.paragraph(*texts)

    def _impossible(self, at: int, bounds: tuple[float | None, float | None]) -> str:
        """That the line leaves the possible values, and at which step."""
        context, ledger = self.context, self.context.ledger
        asked = ledger.constant("step_ahead", at, "the request")
        bound = bounds[1] if self.fact.direction == "rising" else bounds[0]
        left = None
        if bound is not None:
            left, _ = reach(ledger, self.metric, bound, steps=self.steps, scale=self.scale, possible=bounds)
        if left is None:
            return context.say("trend.refused_impossible_open", metric=self.metric, at=asked)
        edge = context.doc.show(ledger.constant("bound", float(bound or 0), "the metric's definition"), None, "number")
        step = ledger.constant("step_left", int(left.value or 0), left.formula or "")
        return context.say("trend.refused_impossible", metric=self.metric, at=asked, step=step, bound=edge)

    def _ends_not_finite(self) -> dict[str, Fact] | None:
        """How many of the last values are NaN or infinite, the first of them and the last that is not."""
        run, last = self.context.run, self.fact.last_step
        column = run.columns.get(self.metric)
        if column is None or last is None or self.steps is not None:
            return None
        cells = dict(zip((run.steps[row] for row in column.rows), column.values, strict=True))
        after = sorted(step for step in cells if step > last)
        first, final = (self.context.ledger.value(self.metric, step) for step in (after[0] if after else last, last))
        if not after or first is None or final is None:
            return None
        count = self.context.ledger.count("not_finite_end", len(after), metric=self.metric)
        return {"count": count, "first": first, "last": final}

    def _ahead(self, fact: Fact | None, reason: str | None, phrase: str, kind: str, **more: str) -> str:
        context = self.context
        if fact is None:
            return context.say(f"trend.refused_{reason}", **more)
        parts: dict[str, Any] = {"value": context.doc.show(fact, None, kind)}
        parts |= {end: context.doc.show(fact, end, kind) for end in ("low", "high") if getattr(fact, end) is not None}
        level = {"level": confidence_level(context.ledger)} if phrase.startswith("value") else {}
        return context.say(f"trend.ahead_{phrase}", f=fact, **parts, **level, **more)

    def _sentence(self) -> str:
        fact, metric, say = self.fact, self.metric, self.context.say
        code = fact.direction or "inconclusive"
        if code in {"flat", "inconclusive"}:
            ends = {"first": self._value(fact.first_step), "last": self._value(fact.last_step)}
            return say("trend.single" if fact.n == 1 else f"trend.{code}", metric=metric, t=fact, **ends)
        course = order_sentence(self.context, metric, fact, self._listed) or course_sentence(
            self.context, metric, fact, self._listed, scale=self.scale
        )
        if course is not None:
            return course
        way = _WAY.get(code, "none")
        if fact.form in {"shift", "bend"}:
            wanted = "level" if fact.form == "shift" else "slope"
            fitting = [c for c in self.changes if c[0].kind == wanted] or self.changes
            main = max(fitting, key=lambda c: c[0].strength)
            if main[0].kind == "slope":
                return say(f"trend.{way}_bend", metric=metric, t=fact, **self._sides(*main))
            jumped = jump_sentence(self.context, fact, main[0], self._listed, self.scale)
            if jumped is not None:
                return jumped
        if way == "none" and fact.form == "walk":
            ends = {"first": self._value(fact.first_step), "last": self._value(fact.last_step)}
            return say("trend.walk", metric=metric, t=fact, **ends, **extremes_of(self.context, metric, self._listed))
        if way == "none":
            return say("trend.none", metric=metric, t=fact)
        if self.scale == "log" and fact.growth_low is not None:
            return say(f"trend.{way}_growth", metric=metric, t=fact)
        paced = paced_sentence(self.context, metric, fact, self._listed) if self.scale == "linear" else None
        if paced is not None:
            return paced
        return say(f"trend.{way}_slope" if fact.low is not None else f"trend.{way}_slope_open", metric=metric, t=fact)

    def _change(self, change: ChangePoint, before: Fact, after: Fact) -> str:
        return self.context.say(f"trend.change_{change.kind}", **self._sides(change, before, after))

    def _sides(self, change: ChangePoint, before: Fact, after: Fact) -> dict[str, Any]:
        """The levels, or slopes per step, on both sides of a change: the facts, and how they are written."""
        texts = {f"{side}_text": self._side(change, fact) for side, fact in (("before", before), ("after", after))}
        return {"before": before, "after": after, **texts}

    def _side(self, change: ChangePoint, fact: Fact) -> str:
        value, language = float(fact.value or 0), self.context.language
        if change.kind == "level":
            return self.context.doc.show(fact, None, self.kind)
        if self.scale == "log":
            return mark(fact.id, f"{'+' if value > 0 else ''}{percent(value * 100)}%")
        return mark(fact.id, signed(value, self.kind, language=language))

    def _value(self, step: int | None) -> Fact | None:
        return self.context.value(self.metric, step or 0)


def _found(runs: Sequence[Run], name: str, resolver: Resolver, wanted: str | None) -> tuple[Run, str]:
    """The run and the key that a name means: the key itself, or what questions in words would mean by it."""
    if not runs:
        raise InputError(
            zh="文本里没有任何指标，没有趋势可看。", en="The text holds no metric: there is no trend to look at."
        )
    if wanted is not None and all(run.id != wanted for run in runs):
        ids = ", ".join(run.id for run in runs)
        raise InputError(zh=f"没有 run “{wanted}”，有：{ids}。", en=f"There is no run “{wanted}”; there are: {ids}.")
    chosen = [run for run in runs if wanted in {None, run.id}]
    for run in chosen:
        if name in run.columns:
            return run, name
    for run in chosen:
        key = _meant(run, name, resolver)
        if key is not None:
            return run, key
    keys = [key for run in chosen for key in run.metrics]
    near = resolver.nearest(name, keys=keys, only_keys=True)
    raise UnknownMetric(
        zh=f"日志里没有指标“{name}”。最接近的：{'、'.join(near)}。",
        en=f"The log has no metric “{name}”. Nearest: {', '.join(near)}.",
    )


def _meant(run: Run, name: str, resolver: Resolver) -> str | None:
    """The key that an alias or plain words mean; a card with several keys in the log gives the mean, else the first."""
    mentioned = resolver.mentions(name, run.metrics, run.framework)
    for mention in mentioned:
        if mention.key is not None:
            return mention.key
    cards = [mention.card for mention in mentioned if mention.card is not None]
    cards = cards or [found.card for found in resolver.name(name, run.framework)][:1]
    for card in cards:
        held = [k for k in run.metrics if (r := resolver.key(k, run.framework)) is not None and r.card is card]
        if held:
            return next((key for key in held if key.endswith("/mean")), held[0])
    return None


def _nothing(run: Run, metric: str, *, asked: bool) -> InputError:
    steps = run.distinct_steps
    where = f"step {steps[0]}–{steps[-1]}" if steps else "—"
    if asked:
        return InputError(
            zh=f"{metric} 在这个范围内没有有限的值；日志有 {where}。",
            en=f"{metric} has no finite value in that range; the log has {where}.",
        )
    return InputError(zh=f"{metric} 没有任何有限的值。", en=f"{metric} has no finite value.")


def _chart(context: Context, metric: str, steps: Iterable[int], values: Iterable[float]) -> None:
    from assistant.model import Chart, Series

    drawn = Series(context.run.id, metric, tuple(steps), tuple(values))
    if len(drawn.steps) > 1:
        context.charts.append(Chart(context.title(metric), "line", (drawn,)))
