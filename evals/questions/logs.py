"""The logs that the questions are about: files of the repository, simulated runs, and small ones written here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

ROOT: Final = Path(__file__).parents[2]
RUNS: Final = Path(__file__).with_name("runs.yaml")
PROSE: Final = """\
[2025-11-20 09:14:02] INFO launcher: starting the trainer on the cluster
[2025-11-20 09:14:09] INFO launcher: loading the tokenizer and the model
[2025-11-20 09:15:41] WARNING launcher: flash attention is not installed, falling back to sdpa
[2025-11-20 09:15:58] INFO launcher: waiting for the reward server to come up
"""


@lru_cache(maxsize=1)
def runs() -> dict[str, dict[str, Any]]:
    """The entries of ``runs.yaml`` by id."""
    read: dict[str, dict[str, Any]] = yaml.safe_load(RUNS.read_text(encoding="utf-8"))
    return read


@cache
def text(run_id: str) -> str:
    """A run's log; the same text on every call.

    Raises:
        KeyError: for an id that ``runs.yaml`` does not hold, or a kind that is not known.
    """
    entry = runs()[run_id]
    return MAKERS[entry["kind"]](entry)


def _file(entry: dict[str, Any]) -> str:
    return ROOT.joinpath(str(entry["path"])).read_text(encoding="utf-8")


def _case(entry: dict[str, Any]) -> str:
    from evals.diagnosis.cases import make

    made: str = make(entry["label"], entry["seed"], entry["framework"], entry.get("strength")).text
    return made


def _csv(entry: dict[str, Any]) -> str:
    """Some of a case's columns as a tracker exports them: one row a step, empty where nothing was logged."""
    from evals.diagnosis.cases import make

    table = make(entry["label"], entry["seed"], entry["framework"], entry.get("strength")).table
    lines = [",".join(["step", *entry["keys"]])]
    lines += [
        ",".join([str(step), *(str(values.get(key, "")) for key in entry["keys"])])
        for step, values in table
        if values.keys() & set(entry["keys"])
    ]
    return "\n".join(lines) + "\n"


def _cut(entry: dict[str, Any]) -> str:
    limit = int(entry["limit"])
    return "".join(line[:limit] + "\n" for line in text(entry["of"]).splitlines())


def _dicts(entry: dict[str, Any]) -> str:
    """SFT as HF's Trainer prints it: loss falls from 1.6 to about 0.9, the rate warms up, then decays to zero."""
    rng = np.random.default_rng(entry["seed"])
    records, every = int(entry["records"]), int(entry["every"])
    lines = ["***** Running training *****", f"  Total optimization steps = {records * every}"]
    for n in range(1, records + 1):
        loss = 0.9 + 0.7 * np.exp(-n / 7) + 0.015 * rng.standard_normal()
        norm = 1.1 + 1.4 * np.exp(-n / 4) + 0.1 * rng.standard_normal()
        rate = 2e-5 * min(n / 3, (records - n) / (records - 3))
        row = {
            "loss": round(float(loss), 4),
            "grad_norm": float(norm),
            "learning_rate": float(rate),
            "epoch": round(3 * n / records, 2),
        }
        lines.append(str(row))
        if n * every % 50 == 0:
            worse = 0.0 if n < 20 else 0.012 * (n - 15) / 5
            check = {"eval_loss": round(float(0.98 + 0.55 * np.exp(-n / 6) + worse), 4), "epoch": row["epoch"]}
            lines.append(str(check | {"eval_runtime": round(21 + float(rng.random()), 4)}))
    lines.append(str({"train_runtime": 3187.4, "train_samples_per_second": 24.1, "epoch": 3.0}))
    return "\n".join(lines) + "\n"


def _pairs(entry: dict[str, Any]) -> str:
    """A list of values under each step's heading; at step 9 the ratio to the reference leaves its range."""
    rng = np.random.default_rng(entry["seed"])
    lines = []
    for step in range(1, int(entry["steps"]) + 1):
        blown = step >= 9
        ratio = 1 + 0.02 * rng.standard_normal() if not blown else 40.0 * 3 ** (step - 9) * (1 + 0.1 * rng.random())
        kl = 0.002 * step + 0.0005 * rng.random() if not blown else float(np.log(ratio))
        lines += [
            f"step: {step}",
            f"loss: {0.02 * rng.standard_normal() if not blown else 0.3 * ratio:.4f}",
            f"policy_loss: {0.02 * rng.standard_normal() if not blown else 0.29 * ratio:.4f}",
            f"kl_penalty: {kl:.4f}",
            f"mean_ratio: {ratio:.4f}",
            f"mean_advantage: {0.01 * rng.standard_normal():.4f}",
            f"mean_reward: {0.42 + 0.012 * step + 0.01 * rng.standard_normal():.4f}",
            f"std_reward: {0.2 + 0.01 * rng.standard_normal():.4f}",
            "",
        ]
    return "\n".join(lines)


def _prose(entry: dict[str, Any]) -> str:
    return PROSE


MAKERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "file": _file,
    "case": _case,
    "csv": _csv,
    "cut": _cut,
    "dicts": _dicts,
    "pairs": _pairs,
    "prose": _prose,
}
