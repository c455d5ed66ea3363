"""Stable-Baselines3 on small games: its console tables, and its ``progress.csv``."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, configure

from evals.training.runs import Fault, Spec

REWARD_FAULTS = ("constant", "nan", "scale", "sleep", "stall")


class Records(KVWriter):
    """Keeps what the logger was given, unrounded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """One record."""
        # a 32-bit number as the decimal that stands for it, which is what every writer prints
        record = {
            key: float(str(value)) if isinstance(value, np.floating) else value for key, value in key_values.items()
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def close(self) -> None:
        """Nothing is open."""


class Broken(gymnasium.Wrapper):
    """A game whose reward, or speed, fails from a time step on."""

    def __init__(self, game: Any, fault: Fault) -> None:
        super().__init__(game)
        self.fault, self.count = fault, 0

    def step(self, action: Any) -> Any:
        """One time step."""
        seen, reward, ended, cut, info = self.env.step(action)
        self.count += 1
        late = self.count - self.fault.at
        if late >= 0:
            kind, size = self.fault.kind, self.fault.size
            if kind in ("sleep", "stall"):
                time.sleep(size * late if kind == "sleep" else size)
            else:
                reward = {"constant": size, "nan": float("nan"), "scale": float(reward) * size}[kind]
        return seen, reward, ended, cut, info


class Spoil(BaseCallback):
    """Weights become nan at a time step."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if self.fault.at <= self.num_timesteps:
            next(self.model.policy.parameters()).data[:] = float("nan")


def play(spec: Spec, folder: Path, work: Path) -> None:
    """Trains, prints the tables, leaves the records."""
    game: Any = gymnasium.make(spec.task)
    for fault in spec.faults:
        if fault.kind in REWARD_FAULTS:
            game = Broken(game, fault)
    settings = dict(spec.settings)
    method = {"PPO": PPO, "A2C": A2C}[settings.pop("method", "PPO")]
    total = settings.pop("total_timesteps")
    interval = settings.pop("log_interval", 1)
    learner = method("MlpPolicy", game, seed=spec.seed, device="cpu", verbose=1, **settings)
    logger = configure(str(work), ["stdout", "csv"])
    logger.output_formats.append(Records(folder / f"{spec.name}.history.jsonl"))
    learner.set_logger(logger)
    harm = [Spoil(fault) for fault in spec.faults if fault.kind == "nan_weights"]
    np.seterr(all="warn")
    try:
        learner.learn(total, callback=harm or None, log_interval=interval)
    finally:
        logger.close()
        shutil.copyfile(work / "progress.csv", folder / f"{spec.name}.progress.csv")
