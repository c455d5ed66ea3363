"""The labels: what each says, and which failure modes describe it. The statistics themselves are in `label.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a label asks of a diagnosis.

    Attributes:
        says: the statistic, in words.
        modes: failure modes of which one should be named; none where no failure mode describes it.
        also: further modes that are not wrong beside it.
    """

    says: str
    modes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


def _modes(*numbers: int) -> tuple[str, ...]:
    return tuple(f"FM-{number:02d}" for number in numbers)


LABELS: Final[dict[str, Meaning]] = {
    "not_finite": Meaning(
        "loss, grad_norm, entropy, kl or a log-probability is nan or infinite", _modes(15), _modes(3, 13, 20)
    ),
    "no_update": Meaning(
        "learning rate or gradient norm is 0 in nine of ten steps and in the last ones", _modes(13), _modes(3, 14, 20)
    ),
    "reward_constant": Meaning(
        "for the last 10 steps or more the reward does not move and its spread is 0",
        _modes(3, 20),
        _modes(13, 14, 12, 17),
    ),
    "reward_missing": Meaning("5 steps or more without a reward", _modes(15, 20), _modes(3, 13)),
    "zero_signal": Meaning(
        "three quarters of the groups of the last third have no spread, and the reward is not constant",
        _modes(3),
        _modes(1, 13, 20),
    ),
    "reward_jump": Meaning(
        "from one step to the next the reward changes by 8 times what it does in the 10 steps before and after, and "
        "stays there (medians of 5)",
        _modes(16, 20, 37),
        _modes(2, 12, 38, 39, 40, 35),
    ),
    "collapse": Meaning(
        "the score, or the share of right preferences or tokens, ends below half of its best mean of 8 steps; or the "
        "loss of supervised or preference training ends above its first value and 1.5 times its best mean of 4",
        _modes(2, 8, 9, 12, 16, 20, 26),
        _modes(1, 3, 6, 7, 13, 14, 15, 19, 21, 22, 23, 29, 35, 37, 38, 39),
    ),
    "kl_blowup": Meaning(
        "the KL to the reference exceeds 2 nats a token for 5 steps together", _modes(12, 19), _modes(1, 2, 16, 18)
    ),
    "step_too_large": Meaning(
        "the approximate KL of 4 updates or more exceeds 0.1, ten times what Spinning Up aims at",
        _modes(12),
        _modes(1, 2),
    ),
    "entropy_collapse": Meaning(
        "the entropy's tail is below a tenth of its head", _modes(1), _modes(3, 8, 12, 13, 14, 16, 29)
    ),
    "entropy_explosion": Meaning("the entropy's tail is above twice its head", _modes(2), _modes(6, 7, 12, 21, 22, 39)),
    "length_growth": Meaning(
        "the mean length's tail is above twice its head", _modes(2, 6, 7, 16, 29), _modes(1, 3, 12, 19, 21, 39)
    ),
    "length_collapse": Meaning(
        "the mean length's tail is below half of its head", _modes(8), _modes(1, 3, 12, 14, 16, 19, 28)
    ),
    "truncated": Meaning(
        "more than 30% of the answers of the last third were cut off", _modes(7, 21, 29), _modes(2, 6, 22)
    ),
    "slow_down": Meaning(
        "the median step of the last fifth takes twice that of the first third (or the rate is half), and the answers "
        "are not 1.3 times as long",
        _modes(27, 30, 31, 32),
        _modes(34),
    ),
    "overfit": Meaning("the held-out loss ends 1.2 times above its lowest, while the training loss fell", _modes(35)),
    "no_progress": Meaning("the share of right preferences stays between 0.4 and 0.65", (), _modes(13, 14)),
    "resumed": Meaning("a step is logged twice", _modes(38), _modes(9, 10, 12, 19)),
    "interrupted": Meaning("the trainer's closing record is not there", ()),
    "solved": Meaning(
        "the reward's tail is above 0.95 of what can be had: groups without spread and a low entropy follow from it",
        (),
        _modes(1, 3, 13, 14),
    ),
}
"""What each label means. ``interrupted``, ``no_progress`` and ``solved`` are no failure mode of a log's metrics."""

NEUTRAL: Final = frozenset({"interrupted", "solved", "no_progress"})
"""Labels that leave a run healthy, where they are its only ones."""
