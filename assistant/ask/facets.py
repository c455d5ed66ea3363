"""Metrics described by what they are of and what of it is asked (``facets.yaml``): "rollout 一步多少秒"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ask.patterns import late
from assistant.model import KnowledgeError, Run

_CLAUSE: Final = re.compile(r"[,，;；。?？!！\n]|\d\)\s|\s-\s|(?<=[a-z)])\.\s")
_FIELDS: Final = frozenset({"all", "none", "keys", "take", "unless", "weak", "absent"})
_TIMED: Final = re.compile(r"(?i)time|timing|sec|_s$|/s$|duration|latency|_ms")
_TAKES: Final = ("first", "all")


@dataclass(frozen=True, slots=True)
class Rule:
    """What must and must not stand together, and the keys that are then meant; ``absent``: where the log has none of
    them, the first is meant all the same, as no other stands for it."""

    needed: tuple[str, ...]
    barred: tuple[str, ...]
    keys: tuple[str, ...]
    take: str
    unless: re.Pattern[str] | None
    weak: bool
    absent: bool


@dataclass(frozen=True, slots=True)
class Described:
    """A metric described: its keys, the place of its head, and the places of every word that describes it."""

    keys: tuple[str, ...]
    start: int
    end: int
    spans: tuple[tuple[int, int], ...]
    weak: bool


@lru_cache(maxsize=1)
def facets() -> tuple[Mapping[str, re.Pattern[str]], tuple[Rule, ...]]:
    """The words and the rules of ``facets.yaml``.

    Raises:
        KnowledgeError: naming the rule that has an unknown field or names an unknown word.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    words = {name: late(text) for name, text in raw["words"].items()}
    rules = [_rule(path.name, place, entry, words) for place, entry in enumerate(raw["rules"], 1)]
    return words, tuple(rules)


def _rule(file: str, place: int, entry: dict[str, Any], words: Mapping[str, re.Pattern[str]]) -> Rule:
    unknown = (set(entry) - _FIELDS) | (set(entry.get("all", ())) | set(entry.get("none", ()))) - set(words)
    if unknown or not entry.get("all") or not entry.get("keys") or entry.get("take", "first") not in _TAKES:
        names = ", ".join(sorted(unknown)) or str(entry)
        raise KnowledgeError(
            zh=f"{file} 的第 {place} 条规则有误：{names}。", en=f"{file}: rule {place} is malformed: {names}."
        )
    unless = entry.get("unless")
    return Rule(
        tuple(entry["all"]), tuple(entry.get("none", ())), tuple(entry["keys"]), entry.get("take", "first"),
        None if unless is None else late(unless), bool(entry.get("weak")), bool(entry.get("absent")),
    )  # fmt: skip


def described_by_facets(text: str, run: Run) -> list[Described]:
    """The metrics of a log that a question describes, clause by clause; of a clause each head once.

    Args:
        text: the question, normalised.
        run: the log.
    """
    found: list[Described] = []
    for start, end in _clauses(text):
        found += _within(text, start, end, run, found)
    if not found:
        found = _within(text, 0, len(text), run, found)
    return found


def _clauses(text: str) -> list[tuple[int, int]]:
    cuts = [(match.start(), match.end()) for match in _CLAUSE.finditer(text)]
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if end > start]


def _within(text: str, start: int, end: int, run: Run, known: list[Described]) -> list[Described]:
    words, rules = facets()
    piece = text[start:end]
    seen: dict[str, list[tuple[int, int]]] = {}

    def places(name: str) -> list[tuple[int, int]]:
        if name not in seen:
            seen[name] = [(start + match.start(), start + match.end()) for match in words[name].finditer(piece)]
        return seen[name]

    found: list[Described] = []
    for rule in rules:
        heads = places(rule.needed[0])
        if not heads or not all(places(name) for name in rule.needed[1:]) or any(places(name) for name in rule.barred):
            continue
        if rule.unless is not None and rule.unless.search(text):
            continue
        head = _nearest(heads, [place for name in rule.needed[1:] for place in places(name)])
        if any(a < head[1] and head[0] < b for one in (*known, *found) for a, b in one.spans):
            continue
        keys = _keys(rule, run)
        if keys:
            heads = heads if rule.take == "all" else [head]
            others = [places(name) for name in rule.needed[1:]]
            if rule.take != "all":  # the other words are another metric's: "整步耗时和生成耗时"
                others = [[_nearest(of_name, [head])] for of_name in others]
            spans = (*heads, *(place for of_name in others for place in of_name))
            found.append(Described(keys, *head, spans, rule.weak))
    return found


def _nearest(heads: list[tuple[int, int]], others: list[tuple[int, int]]) -> tuple[int, int]:
    """Of several words for what is described, the one that stands nearest to what describes it; the first of equals."""
    return min(heads, key=lambda head: min((abs(head[0] - at) for at, _ in others), default=0))


def _all_cut(run: Run) -> bool:
    """Whether every row of a verl log but its first is cut, so that no row tells what stands at its end."""
    cut = {gap.step for gap in run.missing}
    return run.framework == "verl" and bool(cut) and cut.issuperset(run.distinct_steps[1:])


def _named_alike(rule: Rule, run: Run) -> bool:
    """Whether a key of the log is named as the head is, in words that no pattern of the rule holds: it may be meant."""
    head = facets()[0][rule.needed[0]]
    return any(head.search(re.sub(r"[_/.:-]+", " ", name)) for name in run.metrics if _TIMED.search(name))


def _keys(rule: Rule, run: Run) -> tuple[str, ...]:
    """The log's keys that a rule means: of each pattern the first that answers, of ``first`` rules one."""
    held: list[str] = []
    lost = {gap.metric for gap in run.missing}
    for pattern in rule.keys:
        key = next((key for key in run.metrics if key == pattern or fnmatchcase(key.lower(), pattern.lower())), None)
        key = pattern if key is None and pattern in lost else key  # its value was cut off: no other stands for it
        if key is None and pattern == rule.keys[0] and "*" not in pattern and _all_cut(run):
            key = pattern  # as verl spells it, which comes first
        if key is None and pattern == rule.keys[-1] and rule.absent and not held and not _named_alike(rule, run):
            key = rule.keys[0]
        if key is not None and key not in held:
            held.append(key)
    return tuple(held if rule.take == "all" else held[:1])
