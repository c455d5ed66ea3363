"""Where a step's time goes; keys that are parts of others are never added twice.

``timing_layouts.yaml`` says where each framework keeps its times. :func:`slowdown` (in :mod:`slowdown`) tells what
changed when a run became slower.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assistant import resources
from assistant.analysis.keeping import kept_with_run
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, KnowledgeError, Run

if TYPE_CHECKING:
    from assistant.analysis.slowdown import Slowdown

#: Stages whose times add up to ``timing_s/step`` (verl/trainer/ppo/ray_trainer.py#fit); the rest of
#: ``timing_s/*`` is nested in one of them or lies outside the step.
TOP_LEVEL = (
    "gen", "gen_max", "reward", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor",
    "update_weights", "dump_rollout_generations",
)  # fmt: skip
LAYOUTS: Final = Path(__file__).with_name("timing_layouts.yaml")
OVERLAP: Final = 1.0001
"""Times the whole step from which the stages' sum means that they overlap."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a framework keeps its times; the fields are those of ``timing_layouts.yaml``."""

    total: tuple[str, ...]
    stages: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)
    sometimes: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    shifted: bool = False
    sum: bool = False
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stage_tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rates: Mapping[str, str] = field(default_factory=dict)
    tail: Mapping[str, Any] = field(default_factory=dict)


def read_layouts(path: Path) -> dict[str, Layout]:
    """The layouts of a file by framework.

    Raises:
        KnowledgeError: a field is unknown or missing, or a stage's tokens are not among the stages; names file and key.
    """
    result = {}
    known = set(Layout.__dataclass_fields__)
    for name, entry in resources.yaml_table(path).items():
        where = f"{path.name}: {name}"
        if not isinstance(entry, dict) or not {"total", "stages"} <= set(entry) <= known:
            odd = sorted(set(entry) - known) if isinstance(entry, dict) else entry
            raise KnowledgeError(zh=f"{where} 的字段不对：{odd}。", en=f"{where}: fields are wrong: {odd}.")
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        for group in ("tokens", "stage_tokens"):
            fields[group] = {key: tuple(value) for key, value in (entry.get(group) or {}).items()}
        layout = Layout(**fields)
        strange = set(layout.stage_tokens) - set(layout.tokens)
        if strange:
            raise KnowledgeError(
                zh=f"{where}：stage_tokens 用了 tokens 里没有的 {sorted(strange)}。",
                en=f"{where}: stage_tokens names {sorted(strange)}, which tokens lacks.",
            )
        result[str(name)] = layout
    return result


@lru_cache(maxsize=1)
def layouts() -> Mapping[str, Layout]:
    """The shipped layouts, read once a process."""
    return read_layouts(LAYOUTS)


def layout_of(run: Run) -> Layout | None:
    """The layout of a run's framework; of the one whose total is there where the framework is not known."""
    own = layouts().get(run.framework or "")
    if own is not None:
        return own
    return next((layout for layout in layouts().values() if any(key in run.columns for key in layout.total)), None)


def total_key(run: Run, layout: Layout) -> str | None:
    """The key of the whole step's time."""
    return next((key for key in layout.total if key in run.columns), None)


def stage_keys(run: Run, layout: Layout) -> tuple[str, ...]:
    """The keys of the stages that the log holds, in the layout's order, nested ones left out."""
    found: dict[str, None] = {}
    for pattern in layout.stages:
        if "*" in pattern:
            found.update(dict.fromkeys(key for key in run.columns if fnmatch.fnmatchcase(key, pattern)))
        elif pattern in run.columns:
            found[pattern] = None
        if layout.instead.get(pattern, "") in run.columns:
            found[layout.instead[pattern]] = None
    return tuple(key for key in found if not any(fnmatch.fnmatchcase(key, pattern) for pattern in layout.excluded))


def inside_step(run: Run, key: str) -> bool | None:
    """Whether a stage such as the validation is part of the step's time in this log (I-12).

    Both ways are tested at every step that has it: the stages' sum with it must leave a remainder like that of the
    steps without it, and none below zero.

    Returns:
        ``None`` where the log cannot tell.
    """
    layout = layout_of(run)
    whole = None if layout is None else total_key(run, layout)
    if layout is None or whole is None or key not in run.columns:
        return None
    usual = _usual_rest(run, layout, whole)
    votes = 0
    for cell in run.cells(key)[:200]:
        total, own = run.value(whole, cell.step), float(cell.value)
        spent = _spent(run, layout, cell.step)
        if total is None or spent is None or not math.isfinite(own + total) or total <= 0:
            continue
        rest = total - spent
        if rest - own < -0.001 * total:
            votes -= 1
        else:
            votes += 1 if abs(rest - own - usual * total) < abs(rest - usual * total) else -1
    return None if votes == 0 else votes > 0


def _spent(run: Run, layout: Layout, step: int) -> float | None:
    own = [
        float(value)
        for key in stage_keys(run, layout)
        if not _replaced(run, layout, key, step) and (value := run.value(key, step)) is not None
    ]
    return sum(own) if own else None


def _replaced(run: Run, layout: Layout, key: str, step: int) -> bool:
    """Whether a key only stands in for another one that this step has."""
    return any(other == key and run.value(name, step) is not None for name, other in layout.instead.items())


@kept_with_run
def _inside(run: Run, key: str) -> bool | None:
    return inside_step(run, key)


def _usual_rest(run: Run, layout: Layout, whole: str) -> float:
    """Median share of the step that no stage accounts for, at steps without a validation or checkpoint."""
    shares = []
    for step in run.distinct_steps[:400]:
        if any(run.value(key, step) is not None for key in layout.sometimes):
            continue
        total, spent = run.value(whole, step), _spent(run, layout, step)
        if total is not None and spent is not None and total > 0:
            shares.append((total - spent) / total)
    shares = sorted(share for share in shares if math.isfinite(share))
    return shares[len(shares) // 2] if shares else 0.005


def time_shares(ledger: Ledger, step: int, run: Run | None = None) -> tuple[list[Fact], Fact | None]:
    """Shares of the step's time by stage, largest first, and the remainder in seconds.

    The remainder is what no stage accounts for (balancing, concatenation, logging on the driver). A validation or a
    checkpoint counts where the log shows that its time lies within the step's.

    Returns:
        Facts of kind ``share``, and a ``derived`` fact ``unaccounted_time`` (``None`` if the total or every stage
        is absent, if the stages sum to more than the step, which means that they overlap, or if the total is their
        sum by construction).
    """
    run = run or ledger.run
    assert run is not None
    layout = layout_of(run)
    whole_key = None if layout is None else total_key(run, layout)
    if layout is None or whole_key is None:
        return [], None
    row = row_of_total(run, layout, whole_key, step)
    total = None if row is None else ledger.value(whole_key, row, run)
    if total is None or not isinstance(total.value, (int, float)) or not 0 < total.value < math.inf:
        return [], None
    whole = float(total.value)
    stages = []
    for key in stage_keys(run, layout):
        fact = None if _replaced(run, layout, key, step) else ledger.value(key, step, run)
        if fact is not None and isinstance(fact.value, (int, float)) and math.isfinite(fact.value):
            stages.append(fact)
    spent = sum(float(f.value) for f in stages if isinstance(f.value, (int, float)))
    for key in layout.sometimes:
        fact = ledger.value(key, step, run)
        if fact is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value):
            continue
        if spent + fact.value <= whole * OVERLAP and _inside(run, key) is not False:
            stages.append(fact)
            spent += fact.value
    shares = [
        ledger.share(str(f.metric), whole_key, step, float(f.value) / whole, inputs=[f, total], run=run)
        for f in stages
        if isinstance(f.value, (int, float))
    ]
    shares.sort(key=lambda fact: -float(fact.value or 0))
    if not stages or layout.sum or spent > whole * OVERLAP:
        return shares, None
    formula = f"{whole_key} − (" + " + ".join(str(f.metric) for f in stages) + ")"
    rest = ledger.derived(
        "unaccounted_time", whole - spent, unit="s", step=step, formula=formula, inputs=[total, *stages], run=run
    )
    return shares, rest


def row_of_total(run: Run, layout: Layout, key: str, step: int) -> int | None:
    """The row that holds the whole time of a step: ROLL's RLVR pipeline prints it one row later (I-57)."""
    if not layout.shifted:
        return step
    from assistant.analysis.identities.grid import grid_of
    from assistant.analysis.identities.schedules import total_shift

    shift = total_shift(grid_of(run)) or 0
    steps = run.distinct_steps
    if step not in steps:
        return None
    place = steps.index(step) + shift
    return steps[place] if place < len(steps) and run.value(key, steps[place]) is not None else None


def rates(ledger: Ledger, step: int, run: Run | None = None) -> dict[str, Fact]:
    """Tokens per second and GPU in ``generation`` and ``training``, where the log tells them.

    The two count other tokens (generated ones; all), so they do not compare with each other.
    """
    from assistant.analysis.identities import DERIVATIONS, derive

    run = run or ledger.run
    layout = None if run is None else layout_of(run)
    if run is None or layout is None:
        return {}
    found = {
        name: derive(ledger, key, step, run) if key in DERIVATIONS else ledger.value(key, step, run)
        for name, key in layout.rates.items()
    }
    return {name: fact for name, fact in found.items() if fact is not None}


def slowdown(ledger: Ledger, run: Run, window_a: tuple[int, int], window_b: tuple[int, int]) -> Slowdown | None:
    """What changed in a step's time between two windows of steps; see :mod:`assistant.analysis.slowdown`."""
    from assistant.analysis.slowdown import slowdown as compare

    return compare(ledger, run, window_a, window_b)
