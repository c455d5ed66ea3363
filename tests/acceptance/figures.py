"""What the example log says: figures the answers must reach, and an independent reader of the log."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "examples/verl-retool-steps-0-3.log"

ACC = "val-core/aime_2025/acc"
AUX = "val-aux/aime_2025/acc"

# key -> {step: value}; ``test_support.py`` checks that the example log holds exactly these.
LOGGED = {
    f"{ACC}/mean@30": {0: 0.23},
    f"{ACC}/best@30/mean": {0: 0.6026333333333334},
    f"{ACC}/maj@30/mean": {0: 0.3273333333333333},
    "val-aux/aime_2025/reward/mean@30": {0: -0.3851111111376021},
    "val-aux/num_turns/mean": {0: 6.797777777777778},
    "actor/entropy": {1: 0.15639255940914154, 2: 0.15572112798690796, 3: 0.15115246176719666},
    "actor/pg_loss": {1: 0.00021197963747567882, 2: 0.00023838044086896086, 3: -0.0005061326711572889},
    "actor/ppo_kl": {1: 2.393998338045359e-05, 2: 1.373939426656534e-05, 3: 4.5840932960672376e-07},
    "actor/grad_norm": {1: 0.15237574465572834, 2: 0.14691411703824997, 3: 0.12442949786782265},
    "critic/rewards/mean": {1: 0.04688720405101776, 2: 0.15035401284694672, 3: 0.127197265625},
    "critic/advantages/max": {1: 3.749990463256836, 2: 3.7427799701690674, 3: 3.7364845275878906},
    "perf/throughput": {1: 677.3895106607794, 2: 675.6216111814845, 3: 667.2285752891935},
    "perf/total_num_tokens": {1: 23487497.0, 2: 23417748.0, 3: 24647931.0},
    "timing_s/step": {1: 4334.193368503824, 2: 4332.630057349801, 3: 4617.595062778331},
}

# What follows from the log, and must be said.
N_GPUS = 8
N_TRAJECTORIES = 8192
N_PROMPTS = 512
GROUP_SIZE = 16
MAX_ADVANTAGE = 3.75  # (n - 1) / sqrt(n) with n = 16
CLUSTER_THROUGHPUT = 5419.1  # tokens/s, step 1
SEQLEN_GAP = 0.228  # minmax_diff / mean at step 1, before balancing
SHARES = {"timing_s/gen": 0.4945, "timing_s/update_actor": 0.3941, "timing_s/old_log_prob": 0.1108}
REMAINDER_S = 2.134  # timing_s/step minus its phases, step 1
STEPS = (0, 1, 2, 3)

_STEP_LINE = re.compile(r"(?<![\w/])step:(\d+) - (.*)")
_WRAPPED = re.compile(r"np\.\w+\((.*)\)")


@dataclass(frozen=True)
class Row:
    """One logged step: where it stood (line counted from 1), as text and as cells."""

    step: int
    line: int
    text: str
    cells: dict[str, float]


def read_rows(text: str) -> dict[int, Row]:
    """Read verl console lines, one a step, without any of the product's code."""
    rows = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _STEP_LINE.search(line)
        if not found:
            continue
        cells = {}
        for part in found[2].strip().split(" - "):
            key, _, raw = part.rpartition(":")
            wrapped = _WRAPPED.fullmatch(raw)
            cells[key] = float(wrapped[1] if wrapped else raw)
        rows[int(found[1])] = Row(int(found[1]), number, line, cells)
    return rows


def example_text() -> str:
    return (ROOT / EXAMPLE).read_text(encoding="utf-8")


@cache
def example_rows() -> dict[int, Row]:
    return read_rows(example_text())


def logged(metric: str, step: int) -> float:
    return LOGGED[metric][step]


def ratio(metric: str, from_step: int, to_step: int) -> float:
    return logged(metric, to_step) / logged(metric, from_step)
