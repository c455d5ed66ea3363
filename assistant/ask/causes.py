"""Why a quantity is zero or negative, rises or does not rise: the causes of ``causes.yaml`` weighed on a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assistant import resources
from assistant.analysis import Ledger
from assistant.analysis.diagnosis import role
from assistant.analysis.series import series
from assistant.ask.concepts import concepts, keys_of
from assistant.ask.outcomes import of_episodes
from assistant.ask.schedules import is_schedule
from assistant.model import KnowledgeError, Run

State = Literal["nonzero", "chance", "zero", "small", "negative", "constant", "flat", "rising"]
_STATES: Final[tuple[State, ...]] = (
    "nonzero", "chance", "negative", "small", "zero", "constant", "flat", "rising"
)  # fmt: skip
Seen = Literal["shown", "denied", "open"]
#: Below this a loss or an advantage counts as near zero; a share from here on counts as high, and as large.
SMALL: Final = 1e-2
#: Values below this differ from zero by rounding alone.
NEGLIGIBLE: Final = 1e-6
HIGH: Final = 0.9
SOME: Final = 0.5
#: The loss of a policy that prefers neither answer of a pair, and how near to it a printed value lies.
LOG_TWO: Final = 0.6931
NEAR_LOG_TWO: Final = 6e-4
_NOUGHT: Final = 1e-12
_FULL: Final = 1 - 1e-9
_TESTS: Final = {"zero", "nonzero", "full", "high", "some", "nan", "absent", "rises", "above", "below", "tiny"}
_FIELDS: Final = {"of", "states", "when", "weight", "card", "where", "unless", "least"}


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that may be why.

    Attributes:
        name: of its sentences.
        of: quantities that it may explain.
        states: states of them.
        when: what must hold at the rows in that state.
        weight: ``expected`` where it is nothing to worry about, ``neutral`` where that is not told, else ``odd``.
        card: what is cited.
        where: which rows may be in that state: ``first``, ``last``, ``only``; empty for any.
        unless: what denies it where it is logged.
        least: fewest rows in that state.
    """

    name: str
    of: tuple[str, ...]
    states: tuple[str, ...]
    when: tuple[Mapping[str, str], ...]
    weight: str
    card: str
    where: str = ""
    unless: tuple[Mapping[str, str], ...] = ()
    least: int = 1


@dataclass(frozen=True, slots=True)
class Weighed:
    """A cause as the log has it.

    Attributes:
        cause: which.
        seen: whether the log shows it, denies it, or does not tell.
        keys: metrics that decide it; where it is open, none.
        lacking: quantities that would tell.
    """

    cause: Cause
    seen: Seen
    keys: tuple[str, ...]
    lacking: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def table() -> tuple[Mapping[str, Mapping[str, Any]], tuple[Cause, ...]]:
    """Quantities and causes of ``causes.yaml``.

    Raises:
        KnowledgeError: an entry lacks a field or names an unknown one.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    quantities = raw["quantities"]
    found = []
    for name, entry in raw["causes"].items():
        wrong = set(entry) - _FIELDS or not {"of", "states", "when", "weight", "card"} <= set(entry)
        wrong = wrong or any(test.get("of", next(iter(quantities))) not in quantities for test in entry["when"])
        wrong = wrong or any(not {test.get("is", "zero")} <= _TESTS for test in entry["when"])
        if wrong or not set(entry["of"]) <= set(quantities):
            raise KnowledgeError(zh=f"{path.name}：{name} 的字段不对。", en=f"{path.name}: {name}: fields are wrong.")
        found.append(
            Cause(
                name, tuple(entry["of"]), tuple(entry["states"]), tuple(entry["when"]), entry["weight"],
                entry["card"], entry.get("where", ""), tuple(entry.get("unless", ())), entry.get("least", 1),
            )
        )  # fmt: skip
    return quantities, tuple(found)


def keys_for(run: Run, quantity: str) -> tuple[str, ...]:
    """The keys of a run that hold a quantity; of roles the first that the log has, else those of a plain word."""
    entry = table()[0][quantity]
    for name in entry["roles"]:
        found = role(run, name)
        if found is not None and found.spelling.plain:
            return found.metrics
    for key in run.metrics if "keys" in entry else ():
        if re.fullmatch(entry["keys"], key, re.IGNORECASE):
            return (key,)
    for name in (entry.get("concept"), entry.get("also")):
        keys = keys_of(concepts()[name], run) if name else []
        if keys:
            return tuple(keys[:1])
    return ()


def quantity_of(run: Run, key: str) -> str | None:
    """The quantity that a key of the run holds, whichever of its spellings it is; ``None`` for none of the table's."""
    for quantity, entry in table()[0].items():
        roles = [role(run, name) for name in entry["roles"]]
        if any(found is not None and found.spelling.plain and key in found.metrics for found in roles):
            return quantity
        if "keys" in entry and re.fullmatch(entry["keys"], key, re.IGNORECASE):
            return quantity
    for quantity, entry in table()[0].items():
        names = [name for name in (entry.get("concept"), entry.get("also")) if name]
        if any(key in keys_of(concepts()[name], run) for name in names):
            return quantity
    return None


def kinds(run: Run) -> set[str]:
    """``rl`` where a reward is logged, ``group`` where rewards within groups are, ``sft`` where neither is.

    ``pair`` where the implicit rewards of preferred and rejected answers are; ``episodes`` where the steps are of
    environments' episodes, else ``answers``.
    """
    source = {"episodes" if of_episodes(run) else "answers"}
    paired = source | {"pair"} if keys_for(run, "chosen") and keys_for(run, "rejected") else source
    rewarded = bool(keys_for(run, "reward") or keys_for(run, "advantage") or keys_for(run, "accuracy_reward"))
    grouped = any(keys_for(run, name) for name in ("zero_std_share", "reward_std"))
    valued = keys_of(concepts()["value_loss"], run)
    if not rewarded:
        return ({"sft"} if keys_for(run, "loss") else set()) | paired
    return ({"rl", "group"} if grouped and not valued else {"rl"}) | paired


def in_state(run: Run, key: str, state: State, steps: Sequence[int] | None = None) -> NDArray[np.intp] | None:
    """Which points of a metric are in a state; ``None`` where that state is not there.

    Zero, not zero, negative, at the loss of a policy without preference (``chance``): points that are so.
    Small: all, where each is near zero. Constant: all, where two and more are
    alike.
    """
    points = series(run, key)
    values = points.values
    chosen = np.arange(len(values)) if steps is None else np.flatnonzero(np.isin(points.steps, list(steps)))
    chosen = chosen[np.isfinite(values[chosen])]
    if not len(chosen):
        return None
    if state == "nonzero":
        found = chosen[np.abs(values[chosen]) > _NOUGHT]
        return found if len(found) else None
    if state == "chance":
        found = chosen[np.abs(values[chosen] - LOG_TWO) < NEAR_LOG_TWO]
        return found if len(found) else None
    if state == "zero":
        if not is_schedule(key) and len(chosen) > 1 and 0 < float(np.abs(values[chosen]).max()) < NEGLIGIBLE:
            return None  # zero but for rounding, at some points exactly so: near zero throughout
        found = chosen[np.abs(values[chosen]) <= _NOUGHT]
        return found if len(found) else None
    if state == "small":
        return chosen if float(np.abs(values[chosen]).max()) < SMALL else None
    if state == "negative":
        found = chosen[values[chosen] < 0]
        return found if len(found) else None
    if state == "constant":
        return chosen if len(chosen) > 1 and float(np.ptp(values[chosen])) == 0 else None
    return chosen


def weigh(run: Run, key: str, quantity: str, state: State, at: NDArray[np.intp]) -> list[Weighed]:
    """Every cause of a quantity's state that could be, in the order of the table.

    Args:
        run: the log.
        key: the metric asked about.
        quantity: what it holds.
        state: what is asked about.
        at: points of the metric in that state.
    """
    points = series(run, key)
    finite = np.flatnonzero(np.isfinite(points.values))
    place = _place(at, finite)
    found = []
    for cause in table()[1]:
        if quantity not in cause.of or state not in cause.states or (cause.where and place != cause.where):
            continue
        if len(at) < cause.least:
            continue
        found.append(_weighed(run, cause, quantity, [int(step) for step in points.steps[at]]))
    return found


def _place(at: NDArray[np.intp], finite: NDArray[np.intp]) -> str:
    """Whether the points in a state are all there are, the first ones, or the last ones."""
    if len(at) == len(finite):
        return "only"
    if np.array_equal(at, finite[: len(at)]):
        return "first"
    return "last" if np.array_equal(at, finite[-len(at) :]) else ""


def _weighed(run: Run, cause: Cause, quantity: str, steps: Sequence[int]) -> Weighed:
    keys: list[str] = []
    lacking: list[str] = []
    denied: list[str] = []
    partly = False
    own = kinds(run)
    for test in cause.when:
        if "kind" in test:
            if test["kind"] not in own:
                return Weighed(cause, "denied", ())
            continue
        held = keys_for(run, test["of"])
        if test["is"] == "absent":
            denied.extend(held[:1])
            continue
        if test["is"] == "rises" and held:
            trend = Ledger([run]).trend(held[0])
            rises = trend is not None and trend.direction == "rising"
            (keys if rises else denied).extend(held[:1])
            continue
        values = _values(run, held[0], steps) if held else np.empty(0)
        if not len(values):
            lacking.append(test["of"])
        elif passes(values, test["is"]):
            keys.extend(held[:1] if test["of"] != quantity else ())
        elif test["is"] == "zero" and float(np.mean(np.abs(values) <= _NOUGHT)) >= SOME:
            partly = True  # zero at most of the rows, which neither shows nor rules out that it is why
        else:
            denied.extend(held[:1])
    for test in cause.unless:
        held = keys_for(run, test["of"])
        if held and passes(_values(run, held[0], steps), test["is"]):
            denied.append(held[0])
    if denied:
        return Weighed(cause, "denied", tuple(denied))
    return Weighed(cause, "open", (), tuple(lacking)) if lacking or partly else Weighed(cause, "shown", tuple(keys))


def _values(run: Run, key: str, steps: Sequence[int]) -> NDArray[np.float64]:
    points = series(run, key)
    if points.dropped:  # values that are no finite number decide some causes
        told, values = run.series(key)
        return np.asarray(values, dtype=np.float64)[np.isin(told, list(steps))]
    return points.values[np.isin(points.steps, list(steps))]


def passes(values: NDArray[np.float64], test: str) -> bool:
    """Whether values pass a test of ``causes.yaml``; those that are no finite number pass ``nan`` alone."""
    if test == "nan":
        return bool((~np.isfinite(values)).any())
    finite = values[np.isfinite(values)]
    if not len(finite):
        return False
    if test in {"above", "below"}:
        return bool((finite > _NOUGHT).all() if test == "above" else (finite < -_NOUGHT).any())
    finite = np.abs(finite)
    if test == "tiny":
        return bool((finite < NEGLIGIBLE).all())
    if test == "zero":
        return bool((finite <= _NOUGHT).all())
    if test == "nonzero":
        return bool((finite > _NOUGHT).all())
    limit = {"full": _FULL, "high": HIGH, "some": SOME}[test]
    return bool((finite >= limit).all()) if test == "full" else float(np.median(finite)) >= limit


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    raw = resources.yaml_table(Path(__file__).with_suffix(".yaml"))["asked"]
    return {name: re.compile("|".join(given), re.IGNORECASE) for name, given in raw.items()}


def asks_why(text: str) -> bool:
    """Whether a question asks for a reason, or whether something is as it should be."""
    return _words()["why"].search(text) is not None


def asked(text: str) -> State | None:
    """The state whose reason a question asks for; ``None`` where it asks for none."""
    return next(iter(all_asked(text)), None)


def all_asked(text: str) -> list[State]:
    """The states whose reason a question may ask for, the likeliest first.

    Args:
        text: the question, with a blank where Chinese meets letters.
    """
    words = _words()
    if not words["why"].search(text):
        return []
    plain = words["not_zero"].sub(" ", text)
    return [state for state in _STATES if words[state].search(plain)]
