"""Faults that are put into a training run from outside its settings: weights, signals, advantages."""

from __future__ import annotations

import os
import signal
import time
from typing import Any, Final

from transformers import TrainerCallback

WEIGHTS: Final = {"nan_weights": float("nan"), "inf_weights": float("inf")}
SIGNALS: Final = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}


class Spoil(TrainerCallback):
    """Does its harm before a step, or after its log event where a signal ends the process."""

    def __init__(self, kind: str, at: int, size: float) -> None:
        self.kind, self.at, self.size = kind, at, size

    def on_step_begin(self, args: Any, state: Any, control: Any, model: Any = None, **rest: Any) -> None:
        """Weights become nan or infinite, frozen, scaled, or the step waits."""
        late = state.global_step + 1 - self.at
        if self.kind == "wait" and late >= 0:
            time.sleep(self.size * (late + 1))
        if late != 0:
            return
        if self.kind in WEIGHTS:
            model.lm_head.weight.data[3:5] = WEIGHTS[self.kind]
        if self.kind == "scale_weights":
            for weight in model.parameters():
                weight.data.mul_(self.size)

    def on_log(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """The process is ended by a signal."""
        if self.kind in SIGNALS and state.global_step == self.at:
            os.kill(os.getpid(), SIGNALS[self.kind])


def shifted(trainer: type, shift: float, at: int) -> type:
    """A GRPO trainer whose advantages are all lower by ``shift`` from step ``at`` on."""

    class Shifted(trainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            output = super()._generate_and_score_completions(inputs)
            if self.state.global_step + 1 >= at:
                output["advantages"] = output["advantages"] - shift
            return output

    Shifted.__name__ = trainer.__name__
    return Shifted
