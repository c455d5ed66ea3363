"""What a comparison has to know of metrics (direction, category, same meaning in two logs), and telling its result."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assistant import resources
from assistant.analysis.compare_model import Comparison, Reason
from assistant.ask.context import Context, benchmark_sizes
from assistant.ask.outcomes import direction
from assistant.ground.reading import numbers
from assistant.model import Chart, Fact, KnowledgeError, Run, Series, Verdict
from assistant.write.comparison import write_comparison

#: Metrics whose curves are attached as a chart.
MOST_CHARTS = 3


def knowledge_of(context: Context, a: Run, b: Run) -> dict[str, Any]:
    """Arguments for the functions of :mod:`assistant.analysis.compare` that the cards know."""
    arguments: dict[str, Any] = {
        "direction": lambda metric: direction(context, metric),
        "category": lambda metric: card.category if (card := context.card(metric)) else None,
        "sizes": benchmark_sizes(),
    }
    if a is not b:
        arguments["counterpart"] = _counterpart(a, b, context)
    return arguments


def tell(context: Context, result: Comparison) -> Verdict:
    """Writes a comparison into the context's document, with sources and charts; returns its verdict."""
    told = [(one.side, context.finding(one.check), one.check.severity == "critical") for one in result.lone]
    verdict = write_comparison(
        context.doc, context.ledger, result,
        grave=[(side, text) for side, text, grave in told if grave],
        further=[(side, text) for side, text, grave in told if not grave],
    )  # fmt: skip
    context.metrics.extend(row.metric for row in result.rows)
    for row in result.decisive:
        context.cite(context.card(row.metric))
    _charts(context, result)
    return verdict


# -- the same meaning in two logs -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A metric whose definition changed while its key stayed."""

    framework: str
    keys: re.Pattern[str]
    on: str
    texts: dict[str, str]


@lru_cache(maxsize=1)
def definition_changes() -> tuple[DefinitionChange, ...]:
    """``knowledge/definition_changes.yaml``.

    Raises:
        KnowledgeError: an entry lacks a key, or has an odd one.
    """
    path = resources.data_folder("knowledge") / "definition_changes.yaml"
    result = []
    for place, entry in enumerate(resources.yaml_table(path), 1):
        odd = {"framework", "keys", "date", "source", "zh", "en"} ^ set(entry)
        if odd:
            raise KnowledgeError(
                zh=f"{path.name} 第 {place} 项：{sorted(odd)}。", en=f"{path.name}, entry {place}: {sorted(odd)}."
            )
        texts = {"zh": entry["zh"], "en": entry["en"]}
        result.append(DefinitionChange(entry["framework"], re.compile(entry["keys"]), entry["date"], texts))
    return tuple(result)


def _counterpart(a: Run, b: Run, context: Context) -> Callable[[str], str | Reason]:
    """The key of a metric in the other run, or why it has none."""

    def find(metric: str) -> str | Reason:
        if a.framework == b.framework:
            changed = _changed(metric, a, b)
            if changed is None:
                return metric
            return Reason("changed_definition", {"metric": metric, "differs": changed.texts[context.language]})
        names: dict[str, Fact | str | int] = {"metric": metric}
        shown = {"a": a.framework or a.format, "b": b.framework or b.format}
        card = context.card(metric)
        for also in card.meta.get("also", ()) if card is not None else ():
            key: str | None = next((key for key in also["keys"] if key in b.columns), None)
            if also["framework"] != b.framework or key is None:
                continue
            differs = str(also.get("differs", {}).get(context.language, "")).rstrip("。.")
            if not differs:
                return key
            if not numbers(differs):
                return Reason("other_meaning", names | shown | {"other": key, "differs": differs})
        return Reason("other_framework", names | shown)

    return find


def _changed(metric: str, a: Run, b: Run) -> DefinitionChange | None:
    """A change of definition that lies between the two versions for certain."""
    if a.version is None or b.version is None:
        return None
    for change in definition_changes():
        if change.framework != a.framework or not change.keys.fullmatch(metric):
            continue
        for one, two in ((a.version, b.version), (b.version, a.version)):
            if one.until is not None and two.since is not None and one.until <= change.on <= two.since:
                return change
    return None


# -- what goes with the text ---------------------------------------------------------------------------------
def _charts(context: Context, result: Comparison) -> None:
    """Curves of the decisive metrics of both runs; of others where nothing decides."""
    if result.kind != "runs":
        return
    for row in (result.decisive or result.rows)[:MOST_CHARTS]:
        lines = []
        for side, metric in ((result.a, row.metric), (result.b, row.other)):
            steps, values = side.run.series(metric)
            if len(steps) > 1:
                lines.append(Series(side.run.id, metric, tuple(steps), tuple(values)))
        if lines:
            context.charts.append(Chart(row.metric, "line", tuple(lines)))
