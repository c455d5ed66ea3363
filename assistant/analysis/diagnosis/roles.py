"""Roles: what a key means, whatever framework spells it; the tables are ``roles.yaml`` and ``roles_*.yaml`` beside.

A role lists, per framework and in order of preference, keys or sums of keys with their transform::

    policy_entropy:
      verl: [actor/entropy, actor/entropy_loss]
      ROLL: [critic/entropy/mean]
    zero_std_share:
      TRL: [frac_reward_zero_std]
      ROLL: [{key: group/mixed_groups_ratio, scale: -1, plus: 1}]
    load_imbalance:
      verl: [{ratio: [global_seqlen/balanced_max, global_seqlen/mean], plus: -1}]

``height: [mean, low, high]`` is (mean − low) / (high − low): where a mean lies between its extremes. ``pace: [count,
rate]`` is the time for one more of a count, from its average rate since the start: Δ(count / rate) / Δcount. ``again:
[key]`` is what a step's last print shows over its first, of steps that stand in the log more than once.

``beside`` names a key that the log must hold too, ``without`` one that it must not: keys that mean something else in
another kind of training.

``any`` serves every framework, and logs whose framework is not known. A key may hold ``*``; of the keys that match,
the one with the most points is read (the larger ``@N`` where they tie).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary, ref

import numpy as np

from assistant.analysis.diagnosis.files import read_yaml
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import Steps, Values, series
from assistant.model import Fact, KnowledgeError, Run

FOLDER = Path(__file__).parent
Kind = Literal["key", "sum", "difference", "ratio", "height", "pace", "again"]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a log spells a role: one key, or two and more put together; then ``scale`` × value + ``plus``."""

    kind: Kind
    keys: tuple[str, ...]
    scale: float = 1.0
    plus: float = 0.0
    beside: str = ""
    without: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is a cell as printed."""
        return self.kind == "key" and self.scale == 1.0 and self.plus == 0.0


@dataclass(frozen=True, eq=False, slots=True)
class RoleSeries:
    """A role's values in one run.

    Attributes:
        role: name.
        whose: the run; not held by what is kept for it, or neither would ever be let go.
        spelling: what it was read from, keys as the log spells them.
        steps: shape (n,), ascending.
        values: shape (n,), finite.
    """

    role: str
    whose: ref[Run]
    spelling: Spelling
    steps: Steps
    values: Values

    @property
    def run(self) -> Run:
        """The run, which whoever asks has in hand."""
        run = self.whose()
        assert run is not None
        return run

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Keys that took part."""
        return self.spelling.keys

    @property
    def name(self) -> str:
        """For display and for names of derived facts."""
        if self.spelling.kind == "height":
            mean, low, high = self.spelling.keys
            return f"({mean} − {low}) / ({high} − {low})"
        if self.spelling.kind == "pace":
            count, rate = self.spelling.keys
            return f"Δ({count} / {rate}) / Δ{count}"
        if self.spelling.kind == "again":
            return f"{self.spelling.keys[0]} (last / first)"
        sign = {"key": "", "sum": " + ", "difference": " − ", "ratio": " / "}[self.spelling.kind]
        text = sign.join(self.spelling.keys)
        scaled = text if self.spelling.scale == 1 else f"{self.spelling.scale:g} × ({text})"
        return scaled if not self.spelling.plus else f"{scaled} {self.spelling.plus:+g}"

    def fact(self, ledger: Ledger, step: int) -> Fact | None:
        """The value at a step: the cell itself, or derived from its cells."""
        cells = [ledger.value(key, step, self.run) for key in self.spelling.keys]
        if any(cell is None for cell in cells):
            return None
        if self.spelling.plain:
            return cells[0]
        place = int(np.searchsorted(self.steps, step))
        if place >= len(self.steps) or self.steps[place] != step:
            return None
        return ledger.add(
            ("derived", self.run.id, self.role, step),
            kind="derived", run=self.run.id, name=self.role, step=step, value=float(self.values[place]),
            formula=self.name, inputs=tuple(cell.id for cell in cells if cell is not None),
            metric=self.metrics[0] if self.spelling.kind == "key" else None,
            unit="fraction" if self.role.endswith("_share") else None,
        )  # fmt: skip


_KEPT: WeakKeyDictionary[Run, dict[str, RoleSeries | None]] = WeakKeyDictionary()


def role(run: Run, name: str) -> RoleSeries | None:
    """A role's values in a run; ``None`` where the log does not hold it. Kept as long as the run."""
    kept = _KEPT.setdefault(run, {})
    if name not in kept:
        kept[name] = _read(run, name)
    return kept[name]


def _read(run: Run, name: str) -> RoleSeries | None:
    table = roles()
    spellings = table[name]
    for spelling in (*spellings.get(run.framework or "", ()), *spellings.get("any", ())):
        found = _matched(run, spelling)
        if found is None:
            continue
        read = _put_together(run, name, found)
        if read is not None and len(read):
            return read
    return None


def _matched(run: Run, spelling: Spelling) -> Spelling | None:
    if (spelling.beside and spelling.beside not in run.columns) or spelling.without in run.columns:
        return None
    keys = []
    for key in spelling.keys:
        if "*" in key:
            able = [metric for metric in run.columns if fnmatchcase(metric, key)]
            if not able:
                return None
            keys.append(max(able, key=lambda metric: (len(run.columns[metric].rows), _samples(metric))))
        elif key in run.columns:
            keys.append(key)
        else:
            return None
    return Spelling(spelling.kind, tuple(keys), spelling.scale, spelling.plus)


def _samples(metric: str) -> int:
    found = re.search(r"@(\d+)", metric)
    return int(found[1]) if found else 0


def _put_together(run: Run, name: str, spelling: Spelling) -> RoleSeries | None:
    if spelling.kind == "height":
        return _height(run, name, spelling)
    if spelling.kind == "pace":
        return _pace(run, name, spelling)
    if spelling.kind == "again":
        return _again(run, name, spelling)
    parts = [series(run, key) for key in spelling.keys]
    steps, values = parts[0].steps, parts[0].values
    for part in parts[1:]:
        common, left, right = np.intersect1d(steps, part.steps, assume_unique=True, return_indices=True)
        mine, other = values[left], part.values[right]
        if spelling.kind == "ratio":
            held = other != 0
            common, mine, other = common[held], mine[held], other[held]
            mine = mine / other
        else:
            mine = mine + other if spelling.kind == "sum" else mine - other
        steps, values = common, mine
    if spelling.scale != 1.0 or spelling.plus:
        values = spelling.scale * values + spelling.plus
    return RoleSeries(name, ref(run), spelling, steps, values)


def _height(run: Run, name: str, spelling: Spelling) -> RoleSeries:
    mean, low, high = (series(run, key) for key in spelling.keys)
    steps = np.intersect1d(np.intersect1d(mean.steps, low.steps), high.steps)
    middle, bottom, top = (part.at(steps).values for part in (mean, low, high))
    held = top > bottom
    values = (middle[held] - bottom[held]) / (top[held] - bottom[held])
    return RoleSeries(name, ref(run), spelling, steps[held], spelling.scale * values + spelling.plus)


def _pace(run: Run, name: str, spelling: Spelling) -> RoleSeries:
    count, rate = (series(run, key) for key in spelling.keys)
    steps = np.intersect1d(count.steps, rate.steps)
    counts, rates = count.at(steps).values, rate.at(steps).values
    held = rates > 0
    steps, counts, rates = steps[held], counts[held], rates[held]
    more = np.diff(counts)
    grows = more > 0
    values = np.diff(counts / rates)[grows] / more[grows]
    return RoleSeries(name, ref(run), spelling, steps[1:][grows], spelling.scale * values + spelling.plus)


def _again(run: Run, name: str, spelling: Spelling) -> RoleSeries:
    column = run.columns[spelling.keys[0]]
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for row, value in zip(column.rows, column.values, strict=True):
        step = run.steps[row]
        if step in first:
            last[step] = float(value)
        first.setdefault(step, float(value))
    steps = np.asarray(sorted(step for step in last if first[step]), dtype=np.int64)
    values = np.asarray([last[step] / first[step] for step in steps.tolist()], dtype=np.float64)
    held = np.isfinite(values)
    return RoleSeries(name, ref(run), spelling, steps[held], spelling.scale * values[held] + spelling.plus)


@lru_cache(maxsize=4)
def roles(folder: Path = FOLDER) -> Mapping[str, Mapping[str, tuple[Spelling, ...]]]:
    """Role → framework → spellings in order of preference, from ``roles*.yaml`` of a folder.

    Raises:
        KnowledgeError: a file breaks its form; names file, role and what is wrong.
    """
    found: dict[str, dict[str, tuple[Spelling, ...]]] = {}
    for path in sorted(folder.glob("roles*.yaml")):
        table = _mapping(path.name, read_yaml(path))
        for name, entry in table.items():
            where = f"{path.name}: {name}"
            if name in found:
                raise KnowledgeError(zh=f"{where} 重复。", en=f"{where} stands twice.")
            found[name] = {
                framework: tuple(_spelling(f"{where}.{framework}", given) for given in _list(where, many))
                for framework, many in _mapping(where, entry).items()
            }
    return found


def _list(where: str, given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise KnowledgeError(zh=f"{where} 的各框架下应为列表。", en=f"{where}: each framework must hold a list.")
    return given


def _mapping(where: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise KnowledgeError(zh=f"{where} 应为键值对。", en=f"{where} must be a mapping.")
    return given


def _spelling(where: str, given: Any) -> Spelling:
    if isinstance(given, str):
        return Spelling("key", (given,))
    kinds = set(get_args(Kind))
    entry = _mapping(where, given)
    kind = next((k for k in entry if k in kinds), None)
    odd = set(entry) - kinds - {"scale", "plus", "beside", "without"}
    if kind is None or odd or len(kinds & set(entry)) != 1:
        what = f"unknown {sorted(odd)}" if odd else f"needs exactly one of {', '.join(get_args(Kind))}"
        raise KnowledgeError(zh=f"{where} 写法不对：{what}。", en=f"{where}: {what}.")
    keys = (entry[kind],) if kind == "key" else tuple(entry[kind])
    numbers = float(entry.get("scale", 1.0)), float(entry.get("plus", 0.0))
    return Spelling(kind, keys, *numbers, entry.get("beside", ""), entry.get("without", ""))  # type: ignore[arg-type]
