"""Names of the stages of a step in ``stages.yaml``, and how a key looks to its words."""

from __future__ import annotations

import re
from typing import Final

NAMES: Final = ("gen", "actor", "critic", "ref", "log_prob", "weights", "wait", "reward", "adv")


def leaf(key: str) -> str:
    """The last part of a key as the words of ``stages.yaml`` see it: "Generate time" is ``generate``."""
    return re.sub(r"_(?:time|latency|s|seconds)$", "", re.sub(r"[^a-z0-9]+", "_", key.rsplit("/", 1)[-1].lower()))
