"""Reward functions of the toy tasks, and what can go wrong with a reward."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, Final

Reward = Callable[..., list[float | None]]
LONGEST: Final = 24
"""Longest completion, in tokens."""


def _words(completions: list[str]) -> list[list[str]]:
    return [completion.split() for completion in completions]


def accuracy_reward(completions: list[str], answer: list[str], **_: Any) -> list[float | None]:
    """1 for the right answer and nothing else, otherwise 0."""
    return [float(words == right.split()) for words, right in zip(_words(completions), answer, strict=True)]


def partial_reward(completions: list[str], answer: list[str], **_: Any) -> list[float | None]:
    """Share of places with the right word, of the longer of the two."""
    values: list[float | None] = []
    for words, right in zip(_words(completions), map(str.split, answer), strict=True):
        hits = sum(a == b for a, b in zip(words, right, strict=False))
        values.append(hits / max(len(words), len(right), 1))
    return values


def format_reward(completions: list[str], **_: Any) -> list[float | None]:
    """1 where the answer consists of digits only and is not empty."""
    return [float(bool(words) and all(word.isdigit() for word in words)) for words in _words(completions)]


def target_length_reward(completions: list[str], **_: Any) -> list[float | None]:
    """1 for 12 words, less the further away."""
    return [max(0.0, 1 - abs(len(words) - 12) / 12) for words in _words(completions)]


def distinct_reward(completions: list[str], **_: Any) -> list[float | None]:
    """Share of different words, where there are at least 6."""
    return [len(set(words)) / len(words) if len(words) >= 6 else 0.0 for words in _words(completions)]


def vowel_reward(completions: list[str], **_: Any) -> list[float | None]:
    """Share of the words that are ``a``, ``e`` or ``i``."""
    return [sum(word in "aei" for word in words) / max(len(words), 1) for words in _words(completions)]


def longer_reward(completions: list[str], **_: Any) -> list[float | None]:
    """The length itself: what a proxy pays that takes long for good."""
    return [len(words) / LONGEST for words in _words(completions)]


def shorter_reward(completions: list[str], **_: Any) -> list[float | None]:
    """More for fewer words."""
    return [1 - len(words) / LONGEST for words in _words(completions)]


def random_reward(completions: list[str], **_: Any) -> list[float | None]:
    """A coin for each completion."""
    dice = random.Random(" ".join(completions))
    return [float(dice.random() < 0.5) for _ in completions]


REWARDS: Final[dict[str, Reward]] = {
    function.__name__: function
    for function in (
        accuracy_reward,
        partial_reward,
        format_reward,
        target_length_reward,
        distinct_reward,
        vowel_reward,
        longer_reward,
        shorter_reward,
        random_reward,
    )
}


def broken(reward: Reward, kind: str, at: int, size: float) -> Reward:
    """A reward function that fails in one way from a step on; it keeps its name, as a broken one does.

    Args:
        reward: the sound one.
        kind: ``constant`` (``size`` for everything), ``nan``, ``none`` (no value), ``scale`` (times ``size``),
            ``sleep`` (``size`` seconds more every step), ``stall`` (``size`` seconds every step).
        at: 1-based step of its beginning.
        size: what the kind takes.

    Raises:
        ValueError: for another kind.
    """
    if kind not in ("constant", "nan", "none", "scale", "sleep", "stall"):
        raise ValueError(f"no reward fault {kind!r}")

    def call(completions: list[str], trainer_state: Any = None, **rest: Any) -> list[float | None]:
        values = reward(completions=completions, **rest)
        late = trainer_state.global_step + 1 - at  # the step that is being made is global_step + 1
        if late < 0:
            return values
        if kind == "constant":
            return [size] * len(values)
        if kind == "nan":
            return [float("nan")] * len(values)
        if kind == "none":
            return [None] * len(values)
        if kind == "scale":
            return [None if value is None else value * size for value in values]
        time.sleep(size * (late + 1) if kind == "sleep" else size)
        return values

    call.__name__ = reward.__name__
    return call
