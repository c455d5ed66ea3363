"""Which model sizes a logged MFU allows, device by device (I-35)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from assistant.analysis.identities.deriving import derive
from assistant.analysis.identities.steps import number
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

#: Dense bf16 FLOP/s by device (verl/utils/flops_counter.py#_DEVICE_FLOPS).
PEAKS: Final = {
    "GB200": 2.5e15, "B200": 2.25e15, "MI300X": 1336e12, "H100, H200, H800": 989e12, "910B": 354e12,
    "A100, A800": 312e12, "L40S": 362.05e12, "L40": 181.05e12, "A40": 149.7e12, "H20": 148e12, "L20": 119.5e12,
}  # fmt: skip
#: Parameters of dense models in wide use, in billions (their model cards).
SIZES: Final = (0.49, 0.6, 1.24, 1.54, 1.7, 3.09, 3.21, 4.0, 6.7, 7.6, 8.03, 8.2, 14.8, 27.2, 32.5, 32.8, 70.6, 72.7)
#: What attention and the update timer's overhead leave open, as a factor of 6·N (a bound either way).
LOW: Final = 0.95
HIGH: Final = 1.25


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model size that a device's peak allows.

    Attributes:
        device: name of the device.
        billions: parameters of a common dense model.
        factor: implied FLOPs over 6·N, so 1 + attention's share; between 0.95 and 1.25.
    """

    device: str
    billions: float
    factor: float


def candidates(ledger: Ledger, step: int, run: Run | None = None) -> tuple[list[Candidate], Fact | None]:
    """Pairs of device and dense model size that the logged MFU allows, the closest to 6·N first.

    MFU·GPUs·peak·T = 6·N·(1 + attention)·tokens; T is the update's time, the peak is not logged, and so several pairs
    may fit: they are what cannot be ruled out.

    Returns:
        The pairs, and the fact they rest on (``flops_over_peak``); empty where the log lacks it or MFU is 0.
    """
    fact = derive(ledger, "flops_over_peak", step, run)
    ratio = number(fact)
    if fact is None or not ratio:
        return [], None
    found = [
        Candidate(device, size, ratio * peak / (6e9 * size))
        for device, peak in PEAKS.items()
        for size in SIZES
        if LOW <= ratio * peak / (6e9 * size) <= HIGH
    ]
    return sorted(found, key=lambda c: abs(c.factor - 1.08)), fact
