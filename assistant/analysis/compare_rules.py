"""What a comparison looks at: classes of metrics, keys left out, bands and axes, from ``compare_rules.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from assistant.model import KnowledgeError

MetricClass = Literal["validation", "reward", "stability", "speed"]
Axis = Literal["step", "tokens", "time"]
#: In the order in which they decide; ``speed`` never does, unless it is asked for alone.
DECIDING: tuple[MetricClass, ...] = ("validation", "reward", "stability")


@dataclass(frozen=True, slots=True)
class AxisKeys:
    """Keys that count along an axis, most fitting first."""

    cumulative: tuple[re.Pattern[str], ...]
    per_step: tuple[re.Pattern[str], ...]


@dataclass(frozen=True)
class Rules:
    """``compare_rules.yaml`` as read; see its remarks."""

    classes: Mapping[MetricClass, tuple[float, frozenset[str], tuple[re.Pattern[str], ...]]]
    left_out: tuple[re.Pattern[str], ...]
    instead_of: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    most_neutral_rows: int
    relative_band: float
    share_band: float
    negligible: tuple[tuple[re.Pattern[str], float], ...]
    settings: Mapping[str, tuple[re.Pattern[str], ...]]
    with_kl: tuple[re.Pattern[str], ...]
    timed: tuple[re.Pattern[str], ...]
    work: tuple[re.Pattern[str], ...]
    work_apart: float
    axes: Mapping[str, AxisKeys]

    def class_of(self, metric: str, category: str | None) -> MetricClass:
        """The class of a metric: by its card's category where there is one, else by its key."""
        for name, (_, categories, _) in self.classes.items():
            if category in categories:
                return name
        if category is not None and self._validation(metric):
            return "validation"
        if category is not None:
            return "stability"
        return next(
            (name for name, (_, _, patterns) in self.classes.items() if _any(patterns, metric)), "stability"
        )  # fmt: skip

    def _validation(self, metric: str) -> bool:
        return _any(self.classes["validation"][2], metric)

    def weight(self, name: MetricClass) -> float:
        """The share of the error that a class may spend."""
        return self.classes[name][0]

    def least(self, metric: str) -> float:
        """A change of a metric below which nothing hangs on it, in its own unit; 0 where none is known."""
        return next((below for pattern, below in self.negligible if pattern.fullmatch(metric)), 0.0)

    def setting(self, metric: str) -> str | None:
        """The kind of setting that a key prints, if it does."""
        return next((kind for kind, patterns in self.settings.items() if _any(patterns, metric)), None)

    def contains_kl(self, metric: str) -> bool:
        """Whether a KL penalty is inside of the metric."""
        return _any(self.with_kl, metric)

    def is_timed(self, metric: str) -> bool:
        """Whether the metric is a time or a rate that hangs on how many tokens are worked on."""
        return _any(self.timed, metric)

    def works(self, metrics: Sequence[str]) -> list[str]:
        """Keys of the tokens worked on in a step, the most fitting first."""
        return [metric for pattern in self.work for metric in metrics if pattern.fullmatch(metric)]

    def select(self, metrics: Sequence[str]) -> list[str]:
        """Metrics worth a row, in their order."""
        kept = [metric for metric in metrics if not _any(self.left_out, metric)]
        for better, worse in self.instead_of:
            stems = {_stem(match) for metric in kept if (match := better.fullmatch(metric))}
            kept = [m for m in kept if not ((match := worse.fullmatch(m)) and _stem(match) in stems)]
        return kept


def _stem(match: re.Match[str]) -> str:
    stem = match.groupdict().get("stem") or ""
    return stem.replace("val-core/", "val-aux/")


def _any(patterns: Sequence[re.Pattern[str]], metric: str) -> bool:
    return any(pattern.fullmatch(metric) for pattern in patterns)


@lru_cache(maxsize=1)
def rules() -> Rules:
    """The shipped rules, read once a process."""
    path = Path(__file__).with_name("compare_rules.yaml")
    return read_rules(path.read_text(encoding="utf-8"), path.name)


def read_rules(text: str, where: str) -> Rules:
    """Rules from YAML.

    Raises:
        KnowledgeError: naming the key that is missing or wrong.
    """
    import yaml

    table = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    expected = {"classes", "left_out", "instead_of", "most_neutral_rows", "band", "settings", "with_kl", "work", "axes"}
    if not isinstance(table, dict) or set(table) != expected:
        odd = expected ^ set(table if isinstance(table, dict) else ())
        raise _wrong(where, ", ".join(sorted(odd)), "missing or unknown", "缺少或不认识")
    if set(table["classes"]) != {"validation", "reward", "stability", "speed"}:
        raise _wrong(where, "classes", "must be validation, reward, stability, speed", "应为四类")
    classes: dict[MetricClass, tuple[float, frozenset[str], tuple[re.Pattern[str], ...]]] = {}
    for name, entry in table["classes"].items():
        patterns = _patterns(where, f"classes.{name}.patterns", entry["patterns"])
        classes[name] = (float(entry["weight"]), frozenset(entry["categories"]), patterns)
    if abs(sum(weight for weight, _, _ in classes.values()) - 1) > 1e-9:
        raise _wrong(where, "classes.*.weight", "do not add up to one", "之和不为一")
    pairs = []
    for place, pair in enumerate(table["instead_of"]):
        compiled = _patterns(where, f"instead_of.{place}", pair)
        if len(compiled) != 2:
            raise _wrong(where, f"instead_of.{place}", "needs two patterns", "应有两个模式")
        pairs.append((compiled[0], compiled[1]))
    axes = {
        name: AxisKeys(*(_patterns(where, f"axes.{name}.{kind}", entry[kind]) for kind in ("cumulative", "per_step")))
        for name, entry in table["axes"].items()
    }
    band, work = table["band"], table["work"]
    negligible = tuple(
        (pattern, float(entry["below"]))
        for place, entry in enumerate(band["negligible"])
        for pattern in _patterns(where, f"band.negligible.{place}", entry["patterns"])
    )
    settings = {name: _patterns(where, f"settings.{name}", texts) for name, texts in table["settings"].items()}
    return Rules(
        classes, _patterns(where, "left_out", table["left_out"]), tuple(pairs), int(table["most_neutral_rows"]),
        float(band["relative"]), float(band["share"]), negligible, settings,
        _patterns(where, "with_kl", table["with_kl"]), _patterns(where, "work.timed", work["timed"]),
        _patterns(where, "work.tokens", work["tokens"]), float(work["apart"]), axes,
    )  # fmt: skip


def _patterns(where: str, key: str, texts: Any) -> tuple[re.Pattern[str], ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _wrong(where, key, "must be a list of patterns", "应为模式列表")
    try:
        return tuple(re.compile(text) for text in texts)
    except re.error as error:
        raise _wrong(where, key, f"no regular expression: {error}", f"不是正则表达式：{error}") from None


def _wrong(where: str, key: str, en: str, zh: str) -> KnowledgeError:
    return KnowledgeError(zh=f"{where}：{key} {zh}。", en=f"{where}: {key} {en}.")
