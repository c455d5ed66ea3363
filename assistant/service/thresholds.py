"""Where thresholds come from: the shipped file, a team's own documents, what is mathematically possible, the user."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant import resources
from assistant.analysis.conditions import Condition, Node, never_holds, parse_condition, renamed
from assistant.analysis.thresholds import Band, Text, Threshold, band_threshold, given
from assistant.knowledge import Card
from assistant.model import InputError, KnowledgeError, Run
from assistant.model.fact import Severity

MOST_GIVEN = 200


@lru_cache(maxsize=1)
def shipped() -> tuple[Threshold, ...]:
    """The thresholds of ``knowledge/thresholds.yaml``."""
    return read_thresholds(resources.data_folder("knowledge") / "thresholds.yaml")


def read_thresholds(path: Path) -> tuple[Threshold, ...]:
    """A file of thresholds.

    Raises:
        KnowledgeError: it does not fit the schema, or a condition cannot be read; names file and entry.
    """
    import jsonschema
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    schema = json.loads(Path(__file__).with_name("threshold.schema.json").read_text(encoding="utf-8"))
    error = next(iter(jsonschema.Draft202012Validator(schema).iter_errors(entries)), None)
    if error is not None:
        where = f"{path.name}: {'/'.join(map(str, error.absolute_path))}"
        raise KnowledgeError(zh=f"{where}：{error.message}", en=f"{where}: {error.message}")
    found = []
    for entry in entries:
        try:
            found.append(_entry(entry))
        except InputError as problem:
            where = f"{path.name}: {entry['id']}"
            raise KnowledgeError(zh=f"{where}：{problem.zh}", en=f"{where}: {problem.en}") from None
    return tuple(found)


def _entry(entry: dict[str, Any]) -> Threshold:
    frameworks = tuple(entry["frameworks"])
    if "measure" in entry:
        bands = [
            Band(
                float(band["above"]), band["severity"], _text(band.get("advice")),
                parse_condition(band["confirm"]) if "confirm" in band else None,
            )
            for band in entry["bands"]
        ]  # fmt: skip
        return band_threshold(
            entry["id"], entry["measure"], bands, frameworks=frameworks, source=entry["source"], card=entry["card"]
        )
    return Threshold(
        entry["id"], parse_condition(entry["require"]), entry.get("severity", "warning"), frameworks,
        entry["source"], entry["card"], float(entry.get("share", 0)), advice=_text(entry.get("advice")),
    )  # fmt: skip


def _text(entry: dict[str, str] | None) -> Text | None:
    return None if entry is None else Text(entry["zh"], entry["en"])


def of_cards(run: Run, card: Callable[[str], Card | None]) -> list[Threshold]:
    """What cards say of a run's metrics: values that are possible at all, and a team's own normal ranges."""
    found = []
    for metric in run.metrics:
        known = card(metric)
        if known is None:
            continue
        bounds = known.bounds_of(metric)
        if bounds is not None:
            low, high = bounds
            slack = (None if low is None else low - ROUNDING, None if high is None else high + ROUNDING)
            tree = _between(metric, *slack)
            if tree is not None:
                text = _shown(metric, low, high)
                # A card that knows what a value beyond comes of makes a remark of it.
                severity: Severity = "info" if known.beyond("en") else "warning"
                advice = Text(known.beyond("zh"), known.beyond("en")) if known.beyond("en") else None
                found.append(
                    Threshold(
                        f"possible/{metric}", Condition(text, tree), severity, source=known.id, card=known.id,
                        advice=advice, unmeasured=known.unmeasured,
                    )
                )  # fmt: skip
        ranges = [r for r in known.meta.get("ranges", ()) if r["kind"] == "normal"] if known.own else []
        for number, entry in enumerate(ranges):
            tree = _between(metric, entry["low"], entry["high"])
            if tree is not None:
                text = _shown(metric, entry["low"], entry["high"])
                source = f"{known.meta.get('document', known.id)}:{entry['line']}"
                found.append(
                    Threshold(
                        f"own/{metric}/{number}", Condition(text, tree), "warning", source=source, card=known.id,
                        share=0.2,
                    )
                )  # fmt: skip
    return found


#: What float32 arithmetic may leave beyond a bound that holds exactly.
ROUNDING = 1e-6


def _between(metric: str, low: float | None, high: float | None) -> Node | None:
    key = Node("metric", name=metric)
    links = []
    if low is not None:
        links.append(Node(">=", (key, Node("number", value=float(low)))))
    if high is not None:
        links.append(Node("<=", (key, Node("number", value=float(high)))))
    return Node("and", tuple(links)) if len(links) > 1 else links[0] if links else None


def _shown(metric: str, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:g} <= {metric} <= {high:g}"
    return f"{metric} >= {low:g}" if low is not None else f"{metric} <= {high:g}"


def of_user(texts: Iterable[str], runs: Sequence[Run], key_of: Callable[[str, Run], str | None]) -> list[Threshold]:
    """Thresholds as the user typed them, their metrics resolved to the log's keys.

    Args:
        texts: conditions.
        runs: what was read.
        key_of: name and run → key of the log, ``None`` if nobody knows the name.

    Raises:
        InputError: one cannot be read, or names a metric that no log holds.
    """
    found = []
    for number, text in enumerate(texts, 1):
        if number > MOST_GIVEN:
            raise InputError(zh=f"一次最多 {MOST_GIVEN} 条阈值。", en=f"At most {MOST_GIVEN} thresholds at once.")
        threshold = given(text, number)
        condition = threshold.condition
        assert condition is not None
        if never_holds(condition.tree):
            raise InputError(
                zh=f"阈值“{threshold.text}”不可能满足：下限高于上限。",
                en=f"The threshold “{threshold.text}” can never hold: its lower bound is above its upper one.",
            )
        names: dict[str, str] = {}
        for metric in condition.metrics:
            if any(metric in run.columns for run in runs):
                continue
            keys = [key for run in runs if (key := key_of(metric, run)) is not None]
            if keys:
                names[metric] = keys[0]
        tree = renamed(condition.tree, names)
        found.append(replace(threshold, condition=replace(condition, tree=tree)))
    return found
