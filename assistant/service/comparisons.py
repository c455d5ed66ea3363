"""Comparison as the surfaces call it: from what a user names to a checked answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.analysis import Ledger
from assistant.analysis.compare import compare_runs, compare_sides
from assistant.analysis.compare_model import Comparison, Reason, Row, Side
from assistant.analysis.compare_rules import Axis
from assistant.ask.comparing import knowledge_of, tell
from assistant.ask.context import Context
from assistant.ask.engine import finish
from assistant.ask.understand import Query
from assistant.knowledge import Resolver
from assistant.model import Answer, Fact, InputError, Run, UnknownMetric
from assistant.service.selection import Selected, best_validation
from assistant.write.document import unmark


@dataclass(frozen=True)
class Compared:
    """A comparison, its text, and both as the object that ``compare --format json`` prints."""

    comparison: Comparison
    answer: Answer

    def to_json(self) -> dict[str, Any]:
        """Verdict, rows, reasons and the facts that carry them; ids are those of ``facts``."""
        given, names = self.comparison, {_identity(fact): fact.id for fact in self.answer.facts}
        document = self.answer.to_json()
        return {
            "schema": "metric-assistant/comparison/1",
            "language": self.answer.language,
            "kind": given.kind,
            "align": given.align,
            "verdict": document["verdict"],
            "sides": [
                {"run": side.run.id, "name": side.run.name, "steps": [side.first, side.last]}
                for side in (given.a, given.b)
            ],
            "rows": [_row_json(row, names) for row in given.rows],
            "reasons": [{"code": reason.code} | _plain(reason, names) for reason in given.reasons],
            "not_comparable": [{"code": r.code} | _plain(r, names) for r in given.not_comparable],
            "findings": [
                finding | {"side": lone.side} for lone, finding in zip(given.lone, document["findings"], strict=False)
            ],
            "answer": document["answer"],
            **{key: document[key] for key in ("facts", "charts", "runs", "grounding", "usage", "warnings")},
        }


def compare(
    a: Selected, b: Selected, resolver: Resolver, *, metrics: Sequence[str] = (), align: Axis = "step",
    language: str = "en",
) -> Compared:  # fmt: skip
    """Compares what was selected.

    Args:
        a: before.
        b: after.
        resolver: from keys to cards.
        metrics: names of metrics, in any spelling; none for those worth a row.
        align: axis of two whole runs.
        language: ``zh`` or ``en``.

    Raises:
        InputError: the two are the same, or overlap.
        UnknownMetric: a name that no metric of the log answers to.
    """
    started = time.perf_counter()
    runs = (a.run,) if a.run is b.run else (a.run, b.run)
    if a.run is b.run and (a.side is None or b.side is None):
        raise InputError(
            zh=f"{a.run.name} 与自身比较：请给出 step，例如 {a.run.name}@first10 {a.run.name}@last10。",
            en=f"{a.run.name} is compared with itself: name steps, such as {a.run.name}@first10 {a.run.name}@last10.",
        )
    if (a.side is None) != (b.side is None):
        raise InputError(
            zh="两个 run 要么都指明 step，要么都不指明。",
            en="Name steps of both or neither of the two runs.",
        )
    context = Context(Query("", language, "compare"), runs, resolver, Ledger(runs))
    keys = [key for name in metrics for key in _keys(name, a.run, resolver)] or None
    arguments = knowledge_of(context, a.run, b.run)
    try:
        if a.side is not None and b.side is not None:
            result = compare_sides(context.ledger, a.side, b.side, metrics=keys, **arguments)
        else:
            result = compare_runs(context.ledger, a.run, b.run, align=align, metrics=keys, **arguments)
    except ValueError as error:
        raise InputError(
            zh=f"{_text(a.side)} 与 {_text(b.side)} 重叠，请选不相交的 step。",
            en=f"{_text(a.side)} and {_text(b.side)} overlap: choose steps that do not.",
        ) from error
    verdict = tell(context, result)
    return Compared(result, finish(context, verdict, None, time.perf_counter() - started))


def side_finder(resolver: Resolver, metrics: Sequence[str] = ()) -> Callable[[Run], tuple[int, int] | None]:
    """Finds the best validation of a run (``@best``), by the direction on the metrics' cards."""

    def direction(run: Run, metric: str) -> str:
        found = resolver.key(metric, run.framework)
        return "context" if found is None or found.foreign else found.card.direction

    return best_validation(direction, metrics)


def _text(side: Side | None) -> str:
    if side is None:
        return "?"
    return f"step {side.first}" if side.single else f"step {side.first}–{side.last}"


def _keys(name: str, run: Run, resolver: Resolver) -> list[str]:
    if name in run.columns:
        return [name]
    found = [m.key for m in resolver.mentions(name, run.metrics, run.framework) if m.key is not None]
    if found:
        return list(dict.fromkeys(found))
    near = resolver.nearest(name, keys=run.metrics, only_keys=True)
    raise UnknownMetric(
        zh=f"{run.name} 里没有指标“{name}”。最接近的：{'、'.join(near)}。",
        en=f"{run.name} holds no metric “{name}”. Nearest: {', '.join(near)}.",
    )


# -- what goes with the text ------------------------------------------------------------------------------------------
def _identity(fact: Fact) -> tuple[Any, ...]:
    """What tells a fact from the others of an answer, whatever its id."""
    return (
        fact.kind, fact.run, fact.metric, fact.name.partition("/E")[0] if fact.name else None, fact.step, fact.value,
        fact.from_step, fact.to_step, fact.from_value, fact.to_value, fact.noise, fact.first_step, fact.last_step,
    )  # fmt: skip


def _row_json(row: Row, names: dict[tuple[Any, ...], str]) -> dict[str, Any]:
    corrected = row.p_corrected.value if row.p_corrected is not None else None
    return {
        "metric": row.metric, "other": row.other, "class": row.group, "direction": row.direction, "code": row.code,
        "from": row.change.from_value, "to": row.change.to_value, "delta": row.change.delta,
        "half_width": None if row.half is None else row.half.value, "basis": row.basis, "p_value": row.p,
        "confidence": None if row.half is None else 0.95,
        "conservative": row.conservative,
        "p_corrected": corrected, "significant": row.significant, "points": list(row.points),
        "fact": names.get(_identity(row.change)),
    }  # fmt: skip


def _plain(reason: Reason, names: dict[tuple[Any, ...], str]) -> dict[str, Any]:
    """Values of a reason: ids of facts that the answer holds, texts and steps as they are."""
    values = {}
    for name, value in reason.values.items():
        found = names.get(_identity(value)) if isinstance(value, Fact) else unmark(value) if isinstance(
            value, str
        ) else value  # fmt: skip
        if found is not None:
            values[name] = found
    return values
