"""The list of runs, `runs.yaml`, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

LIST: Final = Path(__file__).with_name("runs.yaml")
TRAINERS: Final = ("GRPO", "DPO", "SFT", "SB3")
_ENDING: Final = ("kill", "terminate", "interrupt")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong.

    Attributes:
        kind: see `rewards.broken`, `faults.Spoil`, `games`; ``shift`` lowers all advantages, ``learning_rate`` is the
            rate after a resumption.
        at: 1-based step (SB3: time step) of its beginning.
        size: what the kind takes.
    """

    kind: str
    at: int = 1
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Spec:
    """One run.

    Attributes:
        name: number and name, which the files are called by.
        trainer: one of :data:`TRAINERS`.
        expect: label that the run was made to show; what it did show is what `label.label` says.
        held: kept back: no rule may be tuned on it.
        task: a task of `tiny.TASKS`, ``mixed``, or a game.
        rewards: names in `rewards.REWARDS`; a reward fault strikes the last.
        warm: share of right answers that the model was warmed on; ``None`` for random weights.
        settings: of the trainer's configuration.
        faults: what goes wrong.
        steps: how many.
        seed: of weights, data and sampling.
        noise: share of preferences that are the wrong way round (DPO).
        examples: how many there are to learn from (SFT).
        evaluates: whether there is a validation set.
        resumes: whether it is taken up again from its last checkpoint after it was ended.
        ends: whether it ends by a signal or an error, as it is meant to.
        buffered: whether what it prints is kept back in blocks, as happens without `python -u`.
        packed: whether it is among the runs that are kept with the code.
        older: whether the one that is kept was made with older versions, whose console prints all digits.
        state: whether its `trainer_state.json` is, too.
    """

    name: str
    trainer: str
    expect: str
    held: bool
    task: str = "copy"
    rewards: tuple[str, ...] = ()
    warm: float | None = 0.5
    settings: dict[str, Any] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    steps: int = 80
    seed: int = 0
    noise: float = 0.0
    examples: int = 2048
    evaluates: bool = False
    resumes: bool = False
    ends: bool = False
    buffered: bool = False
    packed: bool = False
    older: bool = False
    state: bool = False


class BadList(Exception):
    """`runs.yaml` does not say what a run is; the message names the run and the key."""


def read_list(path: Path = LIST) -> list[Spec]:
    """All runs, in the list's order.

    Raises:
        BadList: an unknown or missing key, a name or number that occurs twice, or a held run with an odd number.
    """
    specs: list[Spec] = []
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    for number, given in enumerate(data["runs"], start=1):
        entry = dict(given)
        name = f"{number:02d}-{entry.pop('name', '')}"
        trainer = entry.get("trainer")
        if trainer not in TRAINERS:
            raise BadList(f"{path.name}: {name}: trainer: {trainer!r} is none of {', '.join(TRAINERS)}")
        settings = {**data["defaults"].get(trainer, {}), **entry.pop("settings", {})}
        settings = {key: value for key, value in settings.items() if value is not None}  # null undoes a default
        try:
            faults = tuple(Fault(**fault) for fault in entry.pop("faults", ()))
            ends = entry.pop("ends", False) or any(fault.kind in _ENDING for fault in faults)
            rewards = tuple(entry.pop("rewards", ()))
            spec = Spec(name=name, settings=settings, faults=faults, rewards=rewards, ends=ends, **entry)
        except TypeError as error:
            raise BadList(f"{path.name}: {name}: {error}") from None
        if spec.held != (number % 2 == 0):
            raise BadList(f"{path.name}: {name}: held: the even ones are held, the odd ones are not")
        specs.append(spec)
    names = [spec.name for spec in specs]
    if len(set(names)) < len(names):
        raise BadList(f"{path.name}: a name occurs twice")
    return specs
